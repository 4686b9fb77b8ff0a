/* rein stats: what finished runs needed, as a spread, and the limits that it suggests.
 * All of it is read from the journals; the arithmetic is spread.c's.
 */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/going_on.h"
#include "cli/past.h"
#include "cli/reveal.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/spread.h"

#define STATS_ARENA_MAX ((size_t)2 << 30)
#define STATS_BYTES_MAX (64u << 20)
#define MODEL_COLUMNS 60
#define UNKNOWN (-1)

/* What is measured: its key in JSON, the unit in which a limit is given, its option. */
#define MEASURES(X)                                                                                \
  X(TURNS, "turns", 1, "--max-turns")                                                              \
  X(TOKENS, "tokens", 1, "--token-budget")                                                         \
  X(COST, "cost", PICO_PER_MICRO, "--cost-limit")                                                  \
  X(TIME, "time_ms", 1000, "--time-limit")

enum measure {
#define MEASURE_X(id, key, unit, option) MEASURE_##id,
  MEASURES(MEASURE_X)
#undef MEASURE_X
      MEASURE_COUNT
};

static const struct {
  const char *key;
  int64_t unit;
  const char *option;
  enum text_id name;
} measures[] = {
#define MEASURE_X(id, key, unit, option) {key, unit, option, T_CLI_STATS_##id},
    MEASURES(MEASURE_X)
#undef MEASURE_X
};

/* One finished run. */
struct sample {
  struct str model;
  int64_t need[MEASURE_COUNT]; /* cost in pico-dollars; UNKNOWN: no price is known */
};

struct stats {
  struct cli *cli;
  struct store *store;
  struct arena arena; /* of the models' names */
  struct sample *samples;
  size_t count, room;
  size_t all; /* runs, finished or not */
  size_t damaged;
  int64_t *values; /* room for a number of each */
  enum rein_code code;
  struct err err;
};

/* ---- reading ------------------------------------------------------------------- */

/* A run as its records go by. */
struct passing {
  struct stats *stats;
  struct sample sample;
  struct model_facts facts;
  bool finished;
};

static void add_cost(struct passing *p, const struct usage *usage) {
  int64_t *cost = &p->sample.need[MEASURE_COST];
  if (!p->facts.priced) *cost = UNKNOWN;
  if (*cost != UNKNOWN) *cost = money_add(*cost, price_of(&p->facts, usage));
}

static enum rein_code pass(void *ctx, size_t record, const struct event *e, struct err *err) {
  struct passing *p = ctx;
  (void)record;
  p->finished = e->kind == EVENT_OUTCOME && e->ending.outcome == REIN_OUTCOME_FINISHED;
  if (e->kind == EVENT_REPLY) add_cost(p, &e->reply->usage);
  if (e->kind == EVENT_FAILED && e->fault->billed) add_cost(p, &e->fault->usage);
  if (e->kind == EVENT_LIMITS && e->now.priced) p->facts = e->now;
  if (e->kind == EVENT_REWRITE && e->rewrite == REWRITE_MODEL) {
    p->facts = e->to.facts;
    if (!arena_str(&p->stats->arena, e->to.model, &p->sample.model))
      return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  }
  if (!p->finished) return REIN_OK;
  p->sample.need[MEASURE_TURNS] = e->ending.turns;
  p->sample.need[MEASURE_TOKENS] = e->ending.spent;
  p->sample.need[MEASURE_TIME] = e->ending.ms;
  return REIN_OK;
}

static enum rein_code read_run(struct passing *p, struct journal *journal, struct err *err) {
  struct agent_config config;
  struct record_head head;
  struct arena first;
  arena_init(&first, STATS_ARENA_MAX);
  enum rein_code code = past_start(journal, &first, &config, &head, err);
  if (!code) p->facts = config.facts;
  if (!code && !arena_str(&p->stats->arena, config.model, &p->sample.model))
    code = ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  if (!code) code = past_each(journal, pass, p, err);
  arena_release(&first);
  return code;
}

static bool keep(struct stats *s, const struct sample *sample) {
  if (s->count == s->room) {
    size_t room = s->room ? s->room * 2 : 64;
    struct sample *more = mem_resize(s->samples, room * sizeof *more);
    if (!more) return false;
    s->samples = more;
    s->room = room;
  }
  s->samples[s->count++] = *sample;
  return true;
}

static bool look(void *ctx, struct str name, int64_t started_ms) {
  struct stats *s = ctx;
  struct passing p = {.stats = s};
  struct journal *journal;
  struct err why = {0};
  (void)started_ms;
  s->all++;
  s->code = store_look(s->store, name, &journal, &s->err);
  if (s->code) return false;
  enum rein_code code = read_run(&p, journal, &why);
  journal->kind->close(journal);
  s->damaged += code != REIN_OK && code != REIN_MEMORY;
  bool kept = code || !p.finished || keep(s, &p.sample);
  if (code == REIN_MEMORY || !kept) s->code = ERR(&s->err, REIN_MEMORY, T_CLI_NO_MEMORY);
  return s->code == REIN_OK;
}

/* ---- what is told of one measure -------------------------------------------------- */

/* The numbers of the runs of this model (empty: all), as far as they are known. */
static size_t gather(const struct stats *s, struct str model, enum measure m) {
  size_t n = 0;
  for (size_t i = 0; i < s->count; i++) {
    const struct sample *sample = &s->samples[i];
    if (model.n && !str_eq(sample->model, model)) continue;
    if (sample->need[m] != UNKNOWN) s->values[n++] = sample->need[m];
  }
  return n;
}

static void put_value(struct buf *out, enum measure m, int64_t v) {
  switch (m) {
  case MEASURE_TURNS:
  case MEASURE_TOKENS: show_put_number(out, v); break;
  case MEASURE_COST:
    buf_c(out, '$');
    money_put(out, v);
    break;
  case MEASURE_TIME:
    show_put_seconds(out, v);
    buf_c(out, 's');
    break;
  case MEASURE_COUNT: break;
  }
}

/* As the option takes it. */
static void put_limit(struct buf *out, enum measure m, int64_t v) {
  buf_put(out, str_of(measures[m].option));
  buf_c(out, ' ');
  if (m == MEASURE_COST)
    money_put(out, v);
  else
    buf_num(out, v / measures[m].unit);
  if (m == MEASURE_TIME) buf_c(out, 's');
}

static void put_bars(struct buf *out, const struct spread *s) {
  static const char *const heights[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  size_t highest = 1;
  for (size_t i = 0; i < SPREAD_BARS; i++)
    if (s->bars[i] > highest) highest = s->bars[i];
  for (size_t i = 0; i < SPREAD_BARS; i++)
    buf_put(out, str_of(heights[(s->bars[i] * 8 + highest - 1) / highest]));
}

static void put_text(struct stats *s, struct buf *out, struct str model, enum measure m) {
  enum rein_lang lang = s->cli->lang;
  size_t n = gather(s, model, m);
  struct spread spread = spread_of(s->values, n);
  int64_t shown[] = {spread.least,
                     spread.most,
                     spread.quarter,
                     spread.half,
                     spread.three_quarters,
                     spread.nine_tenths,
                     0};
  enum { PICTURE = sizeof shown / sizeof *shown - 1, PARTS };
  struct buf b[PARTS];
  struct num_text cut, of;
  if (n == 0) return;
  for (size_t i = 0; i < PARTS; i++) {
    buf_init(&b[i], 256);
    if (i < PICTURE) put_value(&b[i], m, shown[i]);
  }
  put_bars(&b[PICTURE], &spread);
  buf_lit(out, "  ");
  TEXT_PUT(out, lang, T_CLI_STATS_SPREAD, str_of(text_raw(measures[m].name, lang)), buf_str(&b[0]),
           buf_str(&b[PICTURE]), buf_str(&b[1]), buf_str(&b[2]), buf_str(&b[3]), buf_str(&b[4]),
           buf_str(&b[5]));
  int64_t limit = spread_limit(&spread, measures[m].unit);
  buf_reset(&b[0]);
  put_limit(&b[0], m, limit);
  buf_lit(out, "\n    ");
  TEXT_PUT(out, lang, T_CLI_STATS_LIMIT, buf_str(&b[0]),
           str_num(&cut, (int64_t)spread_above(s->values, n, limit)), str_num(&of, (int64_t)n));
  buf_c(out, '\n');
  for (size_t i = 0; i < PARTS; i++) {
    if (b[i].fail) out->fail = b[i].fail;
    buf_release(&b[i]);
  }
}

/* Money as a number of dollars. */
static void put_json_value(struct json_out *w, const char *key, enum measure m, int64_t v) {
  struct buf b;
  json_key(w, key);
  if (m != MEASURE_COST) {
    json_put_num(w, v);
    return;
  }
  buf_init(&b, 64);
  money_put(&b, v);
  if (b.fail) w->buf->fail = b.fail;
  json_put_raw(w, buf_str(&b));
  buf_release(&b);
}

static void put_json(const struct stats *s, struct json_out *w, struct str model, enum measure m) {
  size_t n = gather(s, model, m);
  struct spread spread = spread_of(s->values, n);
  int64_t limit = spread_limit(&spread, measures[m].unit);
  if (n == 0) return;
  json_key(w, measures[m].key);
  json_open(w, '{');
  json_key(w, "runs");
  json_put_num(w, (int64_t)n);
  put_json_value(w, "min", m, spread.least);
  put_json_value(w, "p25", m, spread.quarter);
  put_json_value(w, "p50", m, spread.half);
  put_json_value(w, "p75", m, spread.three_quarters);
  put_json_value(w, "p90", m, spread.nine_tenths);
  put_json_value(w, "max", m, spread.most);
  put_json_value(w, "suggested", m, limit);
  json_key(w, "would_have_cut");
  json_put_num(w, (int64_t)spread_above(s->values, n, limit));
  json_close(w, '}');
}

/* ---- all of it ------------------------------------------------------------------- */

/* The i-th sample is the first one of its model. */
static bool begins_model(const struct stats *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (str_eq(s->samples[k].model, s->samples[i].model)) return false;
  return true;
}

static size_t models_of(const struct stats *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->count; i++)
    n += begins_model(s, i);
  return n;
}

static void put_all_text(struct stats *s, struct buf *out) {
  struct num_text one, two;
  TEXT_PUT(out, s->cli->lang, T_CLI_STATS_HEAD, str_num(&one, (int64_t)s->count),
           str_num(&two, (int64_t)s->all));
  buf_c(out, '\n');
  for (int m = 0; m < MEASURE_COUNT; m++)
    put_text(s, out, STR_NONE, (enum measure)m);
  if (models_of(s) < 2) return;
  for (size_t i = 0; i < s->count; i++) {
    struct str model = s->samples[i].model;
    if (!begins_model(s, i)) continue;
    buf_c(out, '\n');
    reveal_line(out, model, MODEL_COLUMNS);
    buf_fmt(out, " (%zu)\n", gather(s, model, MEASURE_TURNS));
    for (int m = 0; m < MEASURE_COUNT; m++)
      put_text(s, out, model, (enum measure)m);
  }
}

static void put_all_json(struct stats *s, struct buf *out) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "runs");
  json_put_num(&w, (int64_t)s->all);
  json_key(&w, "finished");
  json_put_num(&w, (int64_t)s->count);
  json_key(&w, "damaged");
  json_put_num(&w, (int64_t)s->damaged);
  for (int m = 0; m < MEASURE_COUNT; m++)
    put_json(s, &w, STR_NONE, (enum measure)m);
  json_key(&w, "models");
  json_open(&w, '[');
  for (size_t i = 0; i < s->count; i++) {
    if (!begins_model(s, i)) continue;
    json_open(&w, '{');
    json_key(&w, "model");
    json_put_text(&w, s->samples[i].model);
    for (int m = 0; m < MEASURE_COUNT; m++)
      put_json(s, &w, s->samples[i].model, (enum measure)m);
    json_close(&w, '}');
  }
  json_close(&w, ']');
  json_close(&w, '}');
  buf_c(out, '\n');
}

static int tell(struct stats *s) {
  struct buf out;
  struct num_text n;
  if (s->count && !(s->values = mem_resize(NULL, s->count * sizeof *s->values)))
    return cli_no_memory(s->cli);
  if (s->damaged) cli_say(s->cli, T_CLI_STATS_DAMAGED, str_num(&n, (int64_t)s->damaged));
  buf_init(&out, STATS_BYTES_MAX);
  if (session_output(s->cli) != OUTPUT_TEXT)
    put_all_json(s, &out);
  else if (s->count)
    put_all_text(s, &out);
  else
    cli_say(s->cli, T_CLI_STATS_NONE, store_path(s->store));
  int exit = cli_print(s->cli, &out);
  buf_release(&out);
  return exit;
}

static int run(struct cli *cli) {
  struct going_on on = {0};
  struct stats s = {.cli = cli};
  if (cli->word_count) return cli_usage(cli, T_CLI_NO_WORDS, STR("stats"), cli->words[0]);
  int exit = going_on_open(cli, &on);
  arena_init(&s.arena, STATS_ARENA_MAX);
  s.store = on.store;
  if (!exit && (store_each(on.store, look, &s, &s.err) || s.code))
    exit = going_on_fail(cli, &s.err);
  if (!exit) exit = tell(&s);
  mem_free(s.samples);
  mem_free(s.values);
  arena_release(&s.arena);
  going_on_release(&on);
  return exit;
}

const struct command command_stats = {
    .name = "stats",
    .summary = T_CLI_CMD_STATS,
    .usage = "[options]",
    .takes = TAKES(STORE) | TAKES(OUTPUT) | TAKES(CONFIG),
    .configured = true,
    .run = run,
};
