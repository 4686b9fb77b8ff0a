/* rein runs: the runs of the store, newest first; with a word, those in which it
 * was said. What a run is about is read from its records: nothing is kept twice.
 */
#include "cli/command.h"
#include "cli/going_on.h"
#include "cli/past.h"
#include "cli/reveal.h"
#include "cli/session.h"

#include <time.h>

#define RUNS_ARENA_MAX ((size_t)2 << 30)
#define TASK_COLUMNS 72
#define LIST_BYTES_MAX (256u << 20)

struct listing {
  struct cli *cli;
  struct store *store;
  struct buf *out;
  struct json_out json;
  struct str needle; /* empty: all */
  bool text;
  size_t count;
  enum rein_code code;
  struct err err;
};

/* One run, as its records tell. */
struct seen_run {
  struct arena arena; /* of the texts below */
  struct str task, model;
  const char *outcome;
  int64_t turns;
  bool found; /* the needle */
};

/* ASCII case is ignored; Korean syllables are compared as they are. */
static bool says(struct str text, struct str needle) {
  for (size_t i = 0; i + needle.n <= text.n; i++)
    if (str_eq_nocase(str_part(text, i, needle.n), needle)) return true;
  return false;
}

static bool event_says(const struct event *e, struct str needle) {
  if (says(e->text, needle)) return true;
  for (size_t i = 0; e->kind == EVENT_REPLY && i < e->reply->count; i++)
    if (says(e->reply->blocks[i].text, needle) || says(e->reply->blocks[i].args, needle))
      return true;
  return false;
}

static enum rein_code look_at(struct seen_run *run, const struct event *e, struct str needle) {
  bool words = (e->kind == EVENT_SAY || e->kind == EVENT_RESUME) && e->text.n > 0;
  if (words && run->task.n == 0 && !arena_str(&run->arena, e->text, &run->task)) return REIN_MEMORY;
  if (e->kind == EVENT_REWRITE && e->rewrite == REWRITE_MODEL &&
      !arena_str(&run->arena, e->to.model, &run->model))
    return REIN_MEMORY;
  run->turns += e->kind == EVENT_REPLY;
  run->outcome = e->kind == EVENT_OUTCOME ? rein_outcome_word(e->ending.outcome) : "interrupted";
  if (e->kind == EVENT_OUTCOME) run->turns = e->ending.turns;
  run->found = run->found || event_says(e, needle);
  return REIN_OK;
}

struct looking {
  struct seen_run *run;
  struct str needle;
};

static enum rein_code look(void *ctx, size_t record, const struct event *event, struct err *err) {
  const struct looking *l = ctx;
  (void)record, (void)err;
  return look_at(l->run, event, l->needle);
}

static enum rein_code read_run(struct journal *journal, struct seen_run *run, struct str needle,
                               struct err *err) {
  struct agent_config config;
  struct record_head head;
  run->outcome = "interrupted";
  enum rein_code code = past_start(journal, &run->arena, &config, &head, err);
  if (code) return code;
  run->model = config.model;
  return past_each(journal, look, &(struct looking){run, needle}, err);
}

static void put_started(struct buf *out, int64_t started_ms) {
  char text[32];
  struct tm tm = {0};
  time_t at = (time_t)(started_ms / 1000);
  gmtime_r(&at, &tm);
  size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
  buf_put(out, (struct str){text, n});
}

static void put_json(struct listing *l, struct str name, const struct seen_run *run,
                     struct str started) {
  struct json_out *w = &l->json;
  json_open(w, '{');
  json_key(w, "run");
  json_put_text(w, name);
  json_key(w, "outcome");
  json_put_text(w, str_of(run->outcome));
  json_key(w, "task");
  json_put_text(w, run->task);
  json_key(w, "model");
  json_put_text(w, run->model);
  json_key(w, "turns");
  json_put_num(w, run->turns);
  json_key(w, "started");
  json_put_text(w, started);
  json_close(w, '}');
}

static void put_text(struct listing *l, struct str name, const struct seen_run *run,
                     struct str started) {
  buf_fmt(l->out, "%.*s  %.*s  %-12s %4lld  ", (int)name.n, name.p, (int)started.n, started.p,
          run->outcome, (long long)run->turns);
  reveal_line(l->out, run->task, TASK_COLUMNS);
  buf_c(l->out, '\n');
}

/* A run that cannot be read is listed as that: the others do not suffer. */
static bool list_run(void *ctx, struct str name, int64_t started_ms) {
  struct listing *l = ctx;
  struct seen_run run = {.outcome = "damaged"};
  struct journal *journal;
  struct buf started;
  struct err why = {0};
  l->code = store_look(l->store, name, &journal, &l->err);
  if (l->code) return false;
  arena_init(&run.arena, RUNS_ARENA_MAX);
  buf_init(&started, 64);
  put_started(&started, started_ms);
  enum rein_code code = read_run(journal, &run, l->needle, &why);
  if (code == REIN_MEMORY) l->code = ERR(&l->err, REIN_MEMORY, T_CLI_NO_MEMORY);
  if (code) run.outcome = "damaged";
  if (l->needle.n == 0 || run.found) {
    if (l->text)
      put_text(l, name, &run, buf_str(&started));
    else
      put_json(l, name, &run, buf_str(&started));
    l->count++;
  }
  buf_release(&started);
  arena_release(&run.arena);
  journal->kind->close(journal);
  return l->code == REIN_OK;
}

static int list(struct cli *cli, struct store *store, struct buf *out) {
  struct listing l = {.cli = cli,
                      .store = store,
                      .out = out,
                      .json = json_out(out),
                      .needle = cli->word_count ? cli->words[0] : STR_NONE,
                      .text = session_output(cli) == OUTPUT_TEXT};
  if (!l.text) json_open(&l.json, '[');
  enum rein_code code = store_each(store, list_run, &l, &l.err);
  if (!l.text) {
    json_close(&l.json, ']');
    buf_c(out, '\n');
  }
  if (code || l.code) return going_on_fail(cli, &l.err);
  if (l.count == 0 && l.needle.n) cli_say(cli, T_CLI_RUNS_NONE_SAY, l.needle);
  if (l.count == 0 && !l.needle.n) cli_say(cli, T_STORE_NO_RUNS, store_path(store));
  return cli_print(cli, out);
}

static int run(struct cli *cli) {
  struct going_on on = {0};
  struct buf out;
  if (cli->word_count > 1) return cli_usage(cli, T_CLI_NO_WORDS, STR("runs"), cli->words[1]);
  int exit = going_on_open(cli, &on);
  buf_init(&out, LIST_BYTES_MAX);
  if (!exit) exit = list(cli, on.store, &out);
  buf_release(&out);
  going_on_release(&on);
  return exit;
}

const struct command command_runs = {
    .name = "runs",
    .summary = T_CLI_CMD_RUNS,
    .usage = "[\"word\"] [options]",
    .takes = TAKES(STORE) | TAKES(OUTPUT) | TAKES(CONFIG),
    .configured = true,
    .run = run,
};
