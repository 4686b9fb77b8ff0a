/* rein show: the records of a run, as lines of JSON or a line each for people. */
#include "cli/command.h"
#include "cli/diagnosis.h"
#include "cli/going_on.h"
#include "cli/meter.h"
#include "cli/reveal.h"
#include "cli/session.h"
#include "core/record.h"
#include "wire/wires.h"

#define SHOWN_COLUMNS 160
#define SHOW_ARENA_MAX ((size_t)2 << 30)

static void put_calls(struct buf *out, const struct reply *reply) {
  for (size_t i = 0; i < reply->count; i++) {
    const struct block *b = &reply->blocks[i];
    if (b->kind == BLOCK_TEXT) {
      buf_c(out, ' ');
      reveal_line(out, b->text, SHOWN_COLUMNS);
    } else if (b->kind == BLOCK_TOOL_USE) {
      buf_c(out, ' ');
      reveal_line(out, b->name, SHOWN_COLUMNS);
      buf_c(out, '(');
      reveal_line(out, b->args, SHOWN_COLUMNS);
      buf_c(out, ')');
    } else {
      buf_lit(out, " …");
    }
  }
}

static void put_rewrite(struct buf *out, enum rein_lang lang, const struct event *e) {
  buf_fmt(out, " %s", rewrite_word(e->rewrite));
  if (e->rewrite != REWRITE_COMPACT) return;
  buf_lit(out, ": ");
  compacted_put(out, lang, &e->compacted);
}

/* What the event says beside its name and number. */
static void put_event(struct buf *out, enum rein_lang lang, const struct event *e) {
  if (e->id) buf_fmt(out, " #%u", e->id);
  if (e->kind == EVENT_GRANTED)
    buf_fmt(out, " %lld tokens%s", (long long)e->tokens, e->compacts ? ", compacts" : "");
  if (e->kind == EVENT_FAILED) buf_fmt(out, " %s %d", fault_word(e->fault->kind), e->fault->status);
  if (e->kind == EVENT_VERDICT) buf_fmt(out, " %s", verdict_word(e->verdict.verdict));
  if (e->kind == EVENT_RESULT && e->is_error) buf_lit(out, " error");
  if (e->kind == EVENT_REWRITE) put_rewrite(out, lang, e);
  if (e->kind == EVENT_OUTCOME) buf_fmt(out, " %s", rein_outcome_word(e->ending.outcome));
  if (e->kind == EVENT_REPLY) put_calls(out, e->reply);
  if (e->text.n) {
    buf_c(out, ' ');
    reveal_line(out, e->text, SHOWN_COLUMNS);
  }
}

static enum rein_code put_start(struct buf *out, struct arena *arena, struct str line,
                                struct err *err) {
  struct agent_config config;
  struct record_head head;
  enum rein_code code = record_read_start(arena, line, wire_by_name, &config, &head, err);
  if (code) return code;
  buf_fmt(out, "start %.*s, %s/%.*s, %zu tools", (int)head.run.n, head.run.p, config.wire->name,
          (int)config.model.n, config.model.p, config.row_count);
  return REIN_OK;
}

static enum rein_code put_line(struct buf *out, enum rein_lang lang, size_t i, struct str line,
                               struct err *err) {
  struct arena arena;
  struct event event;
  enum rein_code code;
  arena_init(&arena, SHOW_ARENA_MAX);
  buf_fmt(out, "%6zu ", i + 1);
  if (i == 0) {
    code = put_start(out, &arena, line, err);
  } else {
    code = record_read(&arena, line, &event, err);
    if (!code) buf_fmt(out, "%8.3f %s", (double)event.at_ms / 1000, event_word(event.kind));
    if (!code) put_event(out, lang, &event);
  }
  buf_c(out, '\n');
  arena_release(&arena);
  return code;
}

static enum rein_code show_meter(struct cli *cli, struct journal *journal, struct err *err) {
  struct buf out;
  buf_init(&out, SHOW_ARENA_MAX);
  enum rein_code code = meter_put(&out, cli->lang, journal, err);
  if (!code && out.fail) code = ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  if (!code) screen_answer(&cli->screen, buf_str(&out));
  buf_release(&out);
  return code;
}

/* What the records as a whole say. */
static enum rein_code tell_more(struct cli *cli, struct journal *journal, bool text,
                                struct err *err) {
  enum rein_code code = text ? show_meter(cli, journal, err) : REIN_OK;
  return code ? code : diagnosis_tell(cli, journal, text, err);
}

static int show(struct cli *cli, struct journal *journal) {
  struct err err = {0};
  struct str line;
  enum rein_code code = REIN_OK;
  bool text = session_output(cli) == OUTPUT_TEXT;
  for (size_t i = 0; !code; i++) {
    struct buf out;
    code = journal->kind->record(journal, i, &line, &err);
    if (code || line.n == 0) break;
    buf_init(&out, 2 * line.n + 65536);
    if (text)
      code = put_line(&out, cli->lang, i, line, &err);
    else
      buf_put(&out, line);
    if (!text) buf_c(&out, '\n');
    if (out.fail) code = ERR(&err, REIN_MEMORY, T_CLI_NO_MEMORY);
    if (!code) screen_answer(&cli->screen, buf_str(&out));
    buf_release(&out);
  }
  if (!code) code = tell_more(cli, journal, text, &err);
  if (!code) return cli_exit(cli, 0);
  int exit = cli_fail(cli, &err);
  return code == REIN_MEMORY ? exit : rein_outcome_exit(REIN_OUTCOME_STORE_FAILED);
}

static int run(struct cli *cli) {
  return going_on_read(cli, show);
}

const struct command command_show = {
    .name = "show",
    .summary = T_CLI_CMD_SHOW,
    .usage = "ID|FILE|--last [options]",
    .takes = TAKES(LAST) | TAKES(STORE) | TAKES(OUTPUT) | TAKES(CONFIG),
    .configured = true,
    .run = run,
};
