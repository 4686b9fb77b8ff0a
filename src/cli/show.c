/* The lines of DESIGN's text mode. It prints and remembers what it printed; it
 * decides nothing. */
#include "cli/show.h"

#include "base/utf8.h"
#include "cli/reveal.h"
#include "driver/report.h"

#define LINE_COLUMNS 200 /* of arguments and results: enough to recognise, short enough to skim */
#define LINE_BYTES_MAX 65536
#define ANSWER_BYTES_MAX (512u << 20) /* a reply ends long before */

void show_open(struct show *show, struct cli *cli) {
  *show = (struct show){.cli = cli, .quiet = cli_value(cli, OPTION_ID_QUIET)->num};
}

static void line(struct show *show, enum text_id id, const struct str *args, size_t n) {
  struct buf b;
  if (show->quiet) return;
  buf_init(&b, LINE_BYTES_MAX);
  text_put(&b, show->cli->lang, id, args, n);
  screen_faint(&show->cli->screen, buf_str(&b));
  buf_release(&b);
}
#define LINE(show, id, ...)                                                                        \
  line((show), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                                   \
       sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)

static void show_call(struct show *show, const struct block *call) {
  struct num_text turn;
  struct buf name, args;
  buf_init(&name, LINE_BYTES_MAX);
  buf_init(&args, LINE_BYTES_MAX);
  reveal_line(&name, call->name, 80);
  reveal_line(&args, call->args, LINE_COLUMNS);
  LINE(show, T_CLI_LINE_CALL, str_num(&turn, show->turn), buf_str(&name), buf_str(&args));
  buf_release(&name);
  buf_release(&args);
}

static void show_result(struct show *show, const struct call_view *view) {
  struct num_text turn;
  struct buf text;
  buf_init(&text, LINE_BYTES_MAX);
  reveal_line(&text, view->result, LINE_COLUMNS);
  LINE(show, view->is_error ? T_CLI_LINE_ERROR : T_CLI_LINE_RESULT, str_num(&turn, show->turn),
       buf_str(&text));
  buf_release(&text);
}

/* Calls are answered by their tool, or without running: then no event tells. */
static void show_results(struct show *show, const struct agent *agent) {
  struct call_view view;
  for (size_t i = 0; i < show->calls && i < SHOW_CALLS_MAX; i++) {
    if (show->told[i] || !agent_nth_call(agent, i, &view) || !view.answered) continue;
    show->told[i] = true;
    show_result(show, &view);
  }
}

/* Text that is not the answer: to stderr, unless the terminal has it already. */
static void show_beside(struct show *show, const struct reply *reply) {
  struct screen *screen = &show->cli->screen;
  bool on_screen = show->streamed && screen->err_tty;
  if (show->streamed) screen_end_answer(screen);
  if (on_screen || show->quiet) return;
  for (size_t i = 0; i < reply->count; i++) {
    if (reply->blocks[i].kind != BLOCK_TEXT) continue;
    struct buf b;
    buf_init(&b, reply->blocks[i].text.n * 10 + 16);
    utf8_show(&b, str_trim(reply->blocks[i].text), true);
    screen_talk(screen, buf_str(&b));
    buf_release(&b);
  }
}

static size_t count_calls(const struct reply *reply) {
  size_t n = 0;
  for (size_t i = 0; i < reply->count; i++)
    n += reply->blocks[i].kind == BLOCK_TOOL_USE;
  return n;
}

static void show_reply(struct show *show, const struct reply *reply) {
  struct num_text turn;
  size_t calls = count_calls(reply);
  bool goes_on = calls || reply->stop == STOP_PAUSE;
  show->turn++;
  if (goes_on) show_beside(show, reply);
  show->calls = calls;
  memset(show->told, 0, sizeof show->told);
  for (size_t i = 0; i < reply->count; i++)
    if (reply->blocks[i].kind == BLOCK_TOOL_USE) show_call(show, &reply->blocks[i]);
  if (!calls)
    LINE(show, goes_on ? T_CLI_LINE_PAUSE : T_CLI_LINE_END, str_num(&turn, show->turn),
         reply->stop_word);
  show->answered = !goes_on;
  show->answer_streamed = !goes_on && show->streamed;
  show->streamed = false;
}

void show_record(struct show *show, struct run *run, const struct event *event) {
  if (!event) return; /* the first record */
  const struct agent *agent = run_agent(run);
  bool counts = !agent_withdrew(agent) && !agent_heard_summary(agent);
  if (event->kind == EVENT_REPLY && counts) show_reply(show, event->reply);
  show_results(show, run_agent(run));
}

void show_piece(struct show *show, struct str text, bool thinking) {
  struct screen *screen = &show->cli->screen;
  struct buf b;
  if (thinking || !screen->out_tty || !text.n) return;
  buf_init(&b, text.n * 10 + 16);
  utf8_show(&b, text, true);
  if (!b.fail) screen_answer(screen, buf_str(&b));
  buf_release(&b);
  show->streamed = true;
}

void show_withdrawn(struct show *show) {
  if (!show->streamed) return;
  screen_end_answer(&show->cli->screen);
  cli_say(show->cli, T_CLI_WITHDRAWN);
  show->streamed = false;
}

void show_put_seconds(struct buf *out, int64_t ms) {
  buf_fmt(out, "%lld.%lld", (long long)(ms / 1000), (long long)(ms % 1000 / 100));
}

void show_retry(struct show *show, const struct fault *fault, int64_t wait_ms) {
  struct num_text status;
  struct buf wait, why;
  buf_init(&wait, 64);
  buf_init(&why, LINE_BYTES_MAX);
  show_put_seconds(&wait,
                   wait_ms + 50); /* to the nearest tenth: what was asked for, not what is left */
  reveal_line(&why, fault->message, LINE_COLUMNS);
  if (fault->status >= 300)
    LINE(show, T_CLI_RETRY_STATUS, str_num(&status, fault->status), buf_str(&why), buf_str(&wait));
  else
    LINE(show, T_CLI_RETRY, buf_str(&why), buf_str(&wait));
  buf_release(&wait);
  buf_release(&why);
}

void show_put_number(struct buf *out, int64_t n) {
  struct num_text room;
  struct str digits = str_num(&room, n);
  for (size_t i = 0; i < digits.n; i++) {
    if (i && (digits.n - i) % 3 == 0 && digits.p[i - 1] != '-') buf_c(out, ',');
    buf_c(out, digits.p[i]);
  }
}

void show_put_sum(struct buf *out, enum rein_lang lang, const struct agent_stats *stats,
                  int64_t ms) {
  struct buf b[6];
  for (size_t i = 0; i < 6; i++)
    buf_init(&b[i], 64);
  show_put_number(&b[0], stats->turns);
  show_put_number(&b[1], stats->requests);
  show_put_number(&b[2], usage_prompt(&stats->usage));
  show_put_number(&b[3], stats->usage.output);
  show_put_seconds(&b[4], ms);
  if (stats->cost >= 0) money_put(&b[5], stats->cost);
  bool one_turn = stats->turns == 1, one_request = stats->requests == 1;
  TEXT_PUT(out, lang, one_turn ? T_CLI_SUM_TURN : T_CLI_SUM_TURNS, buf_str(&b[0]));
  TEXT_PUT(out, lang, one_request ? T_CLI_SUM_REQUEST : T_CLI_SUM_REQUESTS, buf_str(&b[1]));
  TEXT_PUT(out, lang, b[5].n ? T_CLI_SUM_REST_COST : T_CLI_SUM_REST, buf_str(&b[2]), buf_str(&b[3]),
           buf_str(&b[4]), buf_str(&b[5]));
  for (size_t i = 0; i < 6; i++) {
    if (b[i].fail) out->fail = b[i].fail;
    buf_release(&b[i]);
  }
}

static void show_answer(struct show *show, const struct run *run) {
  struct screen *screen = &show->cli->screen;
  bool cancelled = run_ended(run)->outcome == REIN_OUTCOME_CANCELLED;
  struct buf masked;
  buf_init(&masked, ANSWER_BYTES_MAX);
  secrets_mask(screen->secrets, &masked, agent_text(run_agent(run)));
  if (masked.fail)
    cli_no_memory(show->cli);
  else if (show->answered && !cancelled && !show->answer_streamed)
    screen_answer(screen, buf_str(&masked));
  buf_release(&masked);
  screen_end_answer(screen);
}

static void show_why(struct show *show, const struct run *run) {
  struct buf b;
  if (run_ended(run)->outcome == REIN_OUTCOME_FINISHED) return;
  buf_init(&b, LINE_BYTES_MAX);
  buf_lit(&b, "rein: ");
  report_put_reason(&b, run, show->cli->lang);
  screen_talk(&show->cli->screen, buf_str(&b));
  buf_release(&b);
}

void show_end(struct show *show, const struct run *run) {
  struct agent_stats stats = agent_stats(run_agent(run));
  struct buf b;
  show_results(show, run_agent(run));
  show_answer(show, run);
  show_why(show, run);
  if (show->quiet) return;
  buf_init(&b, LINE_BYTES_MAX);
  show_put_sum(&b, show->cli->lang, &stats, run_ms(run));
  screen_talk(&show->cli->screen, buf_str(&b));
  buf_release(&b);
}
