/* Asks, waits, answers. What the question looks like and what a line answers
 * are in question.c. */
#include "cli/prompt.h"

#include "cli/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#define QUESTION_BYTES_MAX (256u << 20) /* arguments shown whole, each byte spelled out */

bool prompt_possible(const struct cli *cli) {
  return cli->screen.err_tty && isatty(STDIN_FILENO);
}

static void on_input(uv_poll_t *poll, int status, int events);

enum rein_code prompt_open(struct prompt *prompt, struct cli *cli, struct loop *loop,
                           struct err *err) {
  prompt->cli = cli;
  prompt->loop = loop;
  prompt->poll.data = prompt;
  buf_init(&prompt->args, QUESTION_BYTES_MAX);
  buf_init(&prompt->rule, QUESTION_BYTES_MAX);
  int flags = fcntl(STDIN_FILENO, F_GETFL);
  int failed = uv_poll_init(loop_uv(loop), &prompt->poll, STDIN_FILENO);
  if (failed) return ERR(err, REIN_SYSTEM, T_CLI_PROMPT_FAILED, str_of(uv_strerror(failed)));
  /* libuv made it non-blocking, which the shell and our own stderr would share. */
  if (flags >= 0) (void)fcntl(STDIN_FILENO, F_SETFL, flags);
  prompt->polls = true;
  return REIN_OK;
}

static void finish(struct prompt *prompt) {
  uv_poll_stop(&prompt->poll);
  prompt->open = false;
}

static void answer(struct prompt *prompt, enum rein_verdict verdict, struct str reason,
                   bool remember) {
  finish(prompt);
  driver_answer(prompt->run, prompt->call, verdict, BY_PERSON, reason, remember);
}

/* The short question; its time counts from here, and what was typed before it
 * is thrown away. */
static void show_question(struct prompt *prompt) {
  struct buf b;
  buf_init(&b, 4096);
  TEXT_PUT(&b, prompt->cli->lang, T_CLI_ASK);
  buf_c(&b, ' ');
  tcflush(STDIN_FILENO, TCIFLUSH);
  prompt->line_n = 0;
  screen_ask(&prompt->cli->screen, buf_str(&b));
  prompt->shown_ms = loop_now(prompt->loop);
  buf_release(&b);
}

static void put_warning(struct buf *out, enum rein_lang lang, enum text_id why) {
  buf_lit(out, "\n  ! ");
  TEXT_PUT(out, lang, why);
}

static void show_call(struct prompt *prompt, bool all) {
  struct buf b;
  buf_init(&b, QUESTION_BYTES_MAX);
  prompt_put(&b, prompt->cli->lang, prompt->tool->name, buf_str(&prompt->rule),
             buf_str(&prompt->args), all);
  if (prompt->tainted) put_warning(&b, prompt->cli->lang, T_CLI_ASK_TAINTED);
  if (prompt->unclear) put_warning(&b, prompt->cli->lang, T_CLI_ASK_UNCLEAR);
  if (b.fail)
    cli_no_memory(prompt->cli);
  else
    screen_talk(&prompt->cli->screen, buf_str(&b));
  buf_release(&b);
}

void prompt_ask(struct prompt *prompt, struct run *run, const struct action *ask) {
  prompt->run = run;
  prompt->call = ask->id;
  prompt->tool = ask->tool;
  prompt->tainted = ask->tainted;
  prompt->unclear = ask->unclear;
  prompt->open = true;
  buf_reset(&prompt->args);
  buf_reset(&prompt->rule);
  buf_put(&prompt->args, ask->args);
  buf_put(&prompt->rule, ask->rule);
  screen_status(&prompt->cli->screen, STR_NONE);
  int failed = uv_poll_start(&prompt->poll, UV_READABLE | UV_DISCONNECT, on_input);
  if (failed || prompt->args.fail || prompt->rule.fail) {
    cli_say(prompt->cli, T_CLI_PROMPT_FAILED, str_of(uv_strerror(failed ? failed : UV_ENOMEM)));
    answer(prompt, REIN_DENY, STR_NONE, false);
    return;
  }
  show_call(prompt, false);
  show_question(prompt);
}

/* What was shown, for this folder and later runs; when that fails it is said,
 * and the yes holds for this run. */
static void keep(struct prompt *prompt) {
  struct str tool = prompt->tool->name, args = buf_str(&prompt->args);
  if (kept_grant(prompt->cli, prompt->root, tool, args)) return;
  cli_say(prompt->cli, T_CLI_ASK_PROJECT, prompt->root);
}

/* Why this yes does not count; T_NONE: it does. */
static enum text_id refuse_yes(const struct prompt *prompt, enum answer said) {
  bool once = prompt->tainted || prompt->unclear;
  if (loop_now(prompt->loop) - prompt->shown_ms < PROMPT_MS) return T_CLI_ASK_SOON;
  if (once && said == ANSWER_ENTER) return T_CLI_ASK_TYPED;
  if (once && said != ANSWER_YES) return T_CLI_ASK_ONCE;
  return T_NONE;
}

static void on_line(struct prompt *prompt, struct str line) {
  struct str reason = STR_NONE;
  screen_asked(&prompt->cli->screen);
  enum answer said = prompt_read(line, &reason);
  enum text_id again = refuse_yes(prompt, said);
  switch (said) {
  case ANSWER_NO: answer(prompt, REIN_DENY, reason, false); return;
  case ANSWER_ENTER:
  case ANSWER_YES:
  case ANSWER_THIS:
  case ANSWER_PROJECT:
    if (!again) {
      if (said == ANSWER_PROJECT) keep(prompt);
      answer(prompt, REIN_ALLOW, STR_NONE, said == ANSWER_THIS || said == ANSWER_PROJECT);
      return;
    }
    cli_say(prompt->cli, again);
    break;
  case ANSWER_VIEW: show_call(prompt, true); break;
  case ANSWER_OTHER: cli_say(prompt->cli, T_CLI_ASK_OTHER); break;
  }
  show_question(prompt);
}

/* The end of input, and a terminal that is gone, are a no. */
static void on_input(uv_poll_t *poll, int status, int events) {
  struct prompt *prompt = poll->data;
  (void)events;
  ssize_t n = -1;
  if (!status) {
    do
      n = read(STDIN_FILENO, prompt->line + prompt->line_n, PROMPT_LINE_MAX - prompt->line_n);
    while (n < 0 && errno == EINTR);
  }
  if (n < 0 && !status && errno == EAGAIN) return;
  if (n <= 0) {
    answer(prompt, REIN_DENY, STR_NONE, false);
    return;
  }
  prompt->line_n += (size_t)n;
  struct str all = {prompt->line, prompt->line_n}, line, rest;
  if (str_split(all, '\n', &line, &rest))
    on_line(prompt, line);
  else if (prompt->line_n == PROMPT_LINE_MAX)
    on_line(prompt, STR("?"));
}

void prompt_drop(struct prompt *prompt) {
  if (prompt->open) finish(prompt);
}

static void closed(uv_handle_t *handle) {
  (void)handle;
}

void prompt_close(struct prompt *prompt) {
  if (!prompt->polls) return;
  prompt_drop(prompt);
  uv_close((uv_handle_t *)&prompt->poll, closed);
  /* The handle lives in our struct: let the loop forget it now. */
  uv_run(loop_uv(prompt->loop), UV_RUN_NOWAIT);
  buf_release(&prompt->args);
  buf_release(&prompt->rule);
  prompt->polls = false;
}
