/* Wires a run to what shows it: text mode (show.c), lines of JSON, the log, the
 * status line and the prompt. The driver does the work. */
#include "cli/session.h"

#include "cli/ends.h"
#include "cli/going_on.h"
#include "cli/log.h"
#include "cli/place.h"
#include "cli/prompt.h"
#include "cli/show.h"
#include "cli/status.h"
#include "driver/report.h"
#include "driver/stream.h"
#include "json/write.h"

#include <signal.h>
#include <unistd.h>

#define LINE_BYTES_MAX (600u << 20) /* the largest record, and a little more */
#define TWIN_MS 100                 /* one press may come twice: from the terminal and a wrapper */
#define LEAVE_MS 250                /* what an interrupted tool gets before it is left */

struct session {
  struct cli *cli;
  struct setup *setup;
  struct going_on *on; /* NULL: a new run */
  enum output output;
  struct loop *loop;
  struct http *http;
  struct store *store; /* NULL: in memory */
  struct driver *driver;
  struct run *run;
  struct show show;
  struct status status;
  struct prompt prompt;
  struct log log;
  bool can_ask;
  int64_t signal_ms; /* when the first signal came; 0 none did */
  struct buf held;   /* streamed text that may be the beginning of a secret */
  bool held_thinking;
};

enum output session_output(const struct cli *cli) {
  struct str word = cli_value(cli, OPTION_ID_OUTPUT)->text;
  if (str_is(word, "json")) return OUTPUT_JSON;
  return str_is(word, "stream-json") ? OUTPUT_STREAM : OUTPUT_TEXT;
}

/* ---- what is watched ------------------------------------------------------- */

/* A lost stdout ends the run: nobody hears the answer any more. */
static void check_stdout(struct session *s) {
  const struct screen *screen = &s->cli->screen;
  if ((screen->out_errno || screen->signum) && s->run) driver_cancel(s->run, screen->signum);
}

static void stream_line(struct session *s, struct str line) {
  struct buf b;
  if (s->output != OUTPUT_STREAM) return;
  buf_init(&b, LINE_BYTES_MAX);
  secrets_mask(&s->cli->secrets, &b, line);
  buf_c(&b, '\n');
  if (b.fail)
    cli_no_memory(s->cli);
  else
    screen_answer(&s->cli->screen, buf_str(&b));
  buf_release(&b);
  check_stdout(s);
}

/* Who is waited for, in a word, after this event. */
static struct str doing(struct session *s, struct run *run, const struct event *event) {
  enum rein_lang lang = s->cli->lang;
  struct call_view view;
  if (agent_ended(run_agent(run))->outcome != REIN_OUTCOME_NONE) return STR_NONE;
  if (event && event->kind == EVENT_STARTED && agent_call(run_agent(run), event->id, &view))
    for (size_t i = 0; i < s->setup->agent.row_count; i++)
      if (str_is(view.name, s->setup->rows[i].name)) return str_of(s->setup->rows[i].name);
  return str_of(text_raw(T_CLI_STATUS_MODEL, lang));
}

static void give_piece(struct session *s, struct str text) {
  struct buf b;
  if (s->output == OUTPUT_TEXT) show_piece(&s->show, text, s->held_thinking);
  if (s->output != OUTPUT_STREAM || !text.n) return;
  buf_init(&b, LINE_BYTES_MAX);
  stream_put_piece(&b, text, s->held_thinking);
  stream_line(s, buf_str(&b));
  buf_release(&b);
}

/* The text of the reply goes no further: what was held is no secret. */
static void give_held(struct session *s) {
  if (s->held.n) give_piece(s, buf_str(&s->held));
  buf_reset(&s->held);
}

static void on_record(void *ctx, struct run *run, struct str line, const struct event *event) {
  struct session *s = ctx;
  give_held(s);
  log_json(&s->log, "record", line);
  stream_line(s, line);
  if (s->output != OUTPUT_TEXT) return;
  show_record(&s->show, run, event);
  if (!s->prompt.open) status_doing(&s->status, run, doing(s, run, event));
}

static bool pieces_show(const struct session *s) {
  return s->output == OUTPUT_STREAM || (s->output == OUTPUT_TEXT && s->cli->screen.out_tty);
}

static void join_piece(struct session *s, struct str text, bool thinking) {
  struct buf b;
  if (thinking != s->held_thinking) give_held(s);
  s->held_thinking = thinking;
  buf_init(&b, LINE_BYTES_MAX);
  secrets_join(&s->cli->secrets, &s->held, &b, text);
  give_piece(s, buf_str(&b));
  buf_release(&b);
}

static void on_piece(void *ctx, struct run *run, struct str text, bool thinking) {
  struct session *s = ctx;
  (void)run;
  if (pieces_show(s)) join_piece(s, text, thinking);
  check_stdout(s);
}

static void on_withdrawn(void *ctx, struct run *run) {
  struct session *s = ctx;
  struct buf b;
  (void)run;
  buf_reset(&s->held);
  buf_init(&b, 256);
  stream_put_withdrawn(&b);
  log_json(&s->log, "stream", buf_str(&b));
  stream_line(s, buf_str(&b));
  buf_release(&b);
  if (s->output == OUTPUT_TEXT) show_withdrawn(&s->show);
}

static void on_retry(void *ctx, struct run *run, const struct fault *fault, int64_t wait_ms) {
  struct session *s = ctx;
  struct buf b;
  buf_init(&b, LINE_BYTES_MAX);
  stream_put_retry(&b, fault, wait_ms);
  log_json(&s->log, "stream", buf_str(&b));
  stream_line(s, buf_str(&b));
  buf_release(&b);
  if (s->output != OUTPUT_TEXT) return;
  show_retry(&s->show, fault, wait_ms);
  status_doing(&s->status, run, str_of(text_raw(T_CLI_STATUS_RETRY, s->cli->lang)));
}

static void on_note(void *ctx, struct run *run, struct str text) {
  struct session *s = ctx;
  (void)run;
  log_text(&s->log, "note", text);
}

static void on_warn(void *ctx, struct run *run, struct str text) {
  struct session *s = ctx;
  struct buf b;
  (void)run;
  buf_init(&b, LINE_BYTES_MAX);
  stream_put_warning(&b, text);
  log_json(&s->log, "stream", buf_str(&b));
  stream_line(s, buf_str(&b));
  buf_release(&b);
  cli_say(s->cli, T_CLI_WARNING, text);
}

static void on_ended(void *ctx, struct run *run, const struct agent_end *end) {
  struct session *s = ctx;
  (void)end;
  if (s->can_ask) prompt_drop(&s->prompt);
  status_doing(&s->status, run, STR_NONE);
}

/* ---- approval --------------------------------------------------------------- */

/* Nobody is there: no, at once, with the rule and the flag that would allow it. */
static void refuse(struct session *s, struct run *run, const struct action *ask) {
  struct buf reason;
  buf_init(&reason, ASK_REASON_MAX);
  cli_say(s->cli, T_DRIVER_ASK_NOBODY, ask->tool->name, ask->rule, ask->lift);
  TEXT_PUT(&reason, s->setup->agent.model_lang, T_DRIVER_ASK_NOBODY, ask->tool->name, ask->rule,
           ask->lift);
  driver_answer(run, ask->id, REIN_DENY, BY_NOBODY, buf_str(&reason), false);
  buf_release(&reason);
}

static void on_ask(void *ctx, struct run *run, const struct action *ask) {
  struct session *s = ctx;
  if (!s->can_ask) {
    refuse(s, run, ask);
    return;
  }
  status_doing(&s->status, run, STR_NONE);
  s->prompt.root = str_of(s->setup->files.root);
  prompt_ask(&s->prompt, run, ask);
}

/* Once: the run ends in order, at the loop's next turn. Again, by another press:
 * at once. What is in the journal is enough to go on from. */
static void on_signal(void *ctx, int signum) {
  struct session *s = ctx;
  int64_t now = loop_now(s->loop);
  if (s->signal_ms && now - s->signal_ms >= TWIN_MS) {
    screen_status(&s->cli->screen, STR_NONE);
    _exit(session_none(s->cli, REIN_OUTCOME_CANCELLED, signum));
  }
  if (!s->signal_ms) s->signal_ms = now;
  driver_cancel(s->run, signum);
}

/* ---- start and end ------------------------------------------------------------ */

static enum rein_code start_host(struct session *s, struct err *err) {
  struct setup *setup = s->setup;
  struct http_options options = setup_http(setup);
  enum rein_code code = s->loop ? REIN_OK : loop_new(&s->loop, err);
  if (!code) code = http_new(s->loop, &options, &s->http, err);
  if (!code) code = driver_new(s->loop, s->http, &s->driver, err);
  s->can_ask = prompt_possible(s->cli);
  if (!code && s->can_ask) code = prompt_open(&s->prompt, s->cli, s->loop, err);
  return code;
}

static enum rein_code hear_signals(struct session *s) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  bool ignored[3];
  for (size_t i = 0; i < 3; i++)
    ignored[i] = ends_ignores(ends[i]);
  enum rein_code code = loop_signals(s->loop, on_signal, s);
  for (size_t i = 0; i < 3; i++)
    if (ignored[i]) signal(ends[i], SIG_IGN);
  return code;
}

static struct run_spec spec_of(struct session *s) {
  struct setup *setup = s->setup;
  return (struct run_spec){
      .agent = setup->agent,
      .provider = setup->provider_name,
      .base_url = setup->base_url,
      .key = setup->key,
      .script = setup->provider.script,
      .files = setup->has_files ? &setup->files : NULL,
      .idle_ms = setup->idle_ms,
      .read_points_max = setup->read_points_max,
      .sandbox = setup->sandbox,
      .ask = on_ask,
      .ask_ctx = s,
      .watch = {on_record, on_piece, on_withdrawn, on_retry, on_ended, on_warn, on_note, s},
      .github_url = setup->github_url,
      .github_token = setup->github_token,
      .masks = s->cli->secrets.values,
      .mask_count = s->cli->secrets.count,
      .git_env = setup->git_env,
  };
}

static enum rein_code add_run(struct session *s, struct err *err) {
  struct run_name name;
  struct run_spec spec = spec_of(s);
  enum rein_code code = run_id_make(&name, err);
  spec.id = str_of(code ? NULL : name.s);
  spec.wall_ms = run_wall_ms();
  if (!code) code = run_seed_make(&spec.agent.jitter_seed, err);
  if (!code && s->store) code = store_begin(s->store, spec.id, spec.wall_ms, &spec.journal, err);
  if (!code && !s->store) code = journal_open_memory(&spec.journal, err);
  return code ? code : driver_add(s->driver, &spec, &s->run, err);
}

static enum rein_code resume_run(struct session *s, struct err *err) {
  struct going_on *on = s->on;
  struct run_spec spec = spec_of(s);
  spec.id = on->run;
  spec.journal = on->journal;
  spec.agent.model_lang = on->replay.config.model_lang;
  on->journal = NULL; /* taken */
  return driver_resume(s->driver, &spec, &on->replay, &s->run, err);
}

static enum rein_code begin(struct session *s, struct str words, struct err *err) {
  enum rein_code code = s->on ? resume_run(s, err) : add_run(s, err);
  if (!code && (code = hear_signals(s))) code = ERR(err, code, T_CLI_NO_SIGNALS);
  if (code) return code;
  show_open(&s->show, s->cli);
  if (!s->on) return driver_say(s->run, words, err);
  struct agent_stats stats = agent_stats(run_agent(s->run));
  s->show.turn = stats.turns;
  return driver_go_on(s->run, words, s->on->limits, err);
}

static int tell_end(struct session *s) {
  struct buf b, masked;
  int exit = report_exit(s->run);
  if (s->output == OUTPUT_TEXT) show_end(&s->show, s->run);
  buf_init(&b, LINE_BYTES_MAX);
  report_put_json(&b, s->run, s->cli->lang);
  log_json(&s->log, "end", buf_str(&b));
  buf_init(&masked, LINE_BYTES_MAX);
  secrets_mask(&s->cli->secrets, &masked, buf_str(&b));
  buf_c(&masked, '\n');
  if (b.fail || masked.fail)
    exit = cli_no_memory(s->cli);
  else if (s->output != OUTPUT_TEXT)
    screen_answer(&s->cli->screen, buf_str(&masked));
  buf_release(&masked);
  buf_release(&b);
  return cli_exit(s->cli, exit);
}

/* Why a run that is shown as JSON did not go well, for people. */
static void say_why(struct session *s) {
  struct buf b;
  if (s->output == OUTPUT_TEXT || run_ended(s->run)->outcome == REIN_OUTCOME_FINISHED) return;
  buf_init(&b, 65536);
  buf_lit(&b, "rein: ");
  report_put_reason(&b, s->run, s->cli->lang);
  screen_talk(&s->cli->screen, buf_str(&b));
  buf_release(&b);
}

static void stop_host(struct session *s) {
  status_close(&s->status);
  if (s->can_ask) prompt_close(&s->prompt);
  driver_free(s->driver);
  if (s->on && s->on->journal) s->on->journal->kind->close(s->on->journal);
  if (s->on) s->on->journal = NULL;
  store_close(s->store);
  http_free(s->http);
  if (s->loop) loop_free(s->loop, LEAVE_MS);
  s->loop = NULL;
}

static enum rein_outcome outcome_of(int exit) {
  bool store = exit == rein_outcome_exit(REIN_OUTCOME_STORE_FAILED);
  return store ? REIN_OUTCOME_STORE_FAILED : REIN_OUTCOME_INTERNAL;
}

static int carry(struct session *s, struct str task) {
  struct err err = {0};
  enum rein_code code = start_host(s, &err);
  int exit = code || s->on ? 0 : place_open(s->cli, s->loop, &s->store);
  if (exit) return exit == 2 ? 2 : session_none(s->cli, outcome_of(exit), 0);
  if (!code) code = begin(s, task, &err);
  if (code) {
    exit = cli_fail(s->cli, &err);
    return exit == 2 ? 2 : session_none(s->cli, REIN_OUTCOME_INTERNAL, 0);
  }
  status_open(&s->status, s->cli, s->loop);
  loop_run(s->loop);
  ends_block(NULL); /* what comes now is too late to change what is told */
  say_why(s);
  return tell_end(s);
}

static int open_and_carry(struct session *s, struct str words) {
  int exit = log_open(&s->log, s->cli);
  if (exit) return exit;
  buf_init(&s->held, LINE_BYTES_MAX);
  exit = carry(s, words);
  stop_host(s);
  buf_release(&s->held);
  log_close(&s->log);
  return exit;
}

int session_run(struct cli *cli, struct setup *setup, struct str task) {
  struct session s = {.cli = cli, .setup = setup, .output = session_output(cli)};
  return open_and_carry(&s, task);
}

int session_go_on(struct cli *cli, struct setup *setup, struct going_on *on, struct str words) {
  struct session s = {.cli = cli,
                      .setup = setup,
                      .on = on,
                      .loop = on->loop,
                      .store = on->store,
                      .output = session_output(cli)};
  int exit = open_and_carry(&s, words);
  if (!s.loop) { /* closed with the session */
    on->loop = NULL;
    on->store = NULL;
  }
  return exit;
}

/* The members are those of report_put_json; a test holds the two together. */
int session_none(struct cli *cli, enum rein_outcome outcome, int signum) {
  int exit = signum ? 128 + signum : rein_outcome_exit(outcome);
  struct buf b;
  if (session_output(cli) == OUTPUT_TEXT) return exit;
  buf_init(&b, 4096);
  buf_fmt(&b,
          "{\"run\":\"\",\"outcome\":\"%s\",\"exit\":%d,\"text\":\"\",\"turns\":0,\"requests\":0,",
          rein_outcome_word(outcome), exit);
  buf_lit(&b, "\"usage\":{\"input\":0,\"output\":0,\"cache_read\":0,\"cache_write\":0,\"total\":0},"
              "\"cost_usd\":null,\"duration_ms\":0,\"reason\":");
  json_quote(&b, str_of(text_raw(T_CLI_BEFORE_RUN, cli->lang)));
  buf_lit(&b, ",\"refused\":[]}\n");
  screen_answer(&cli->screen, buf_str(&b));
  buf_release(&b);
  return cli_exit(cli, exit);
}
