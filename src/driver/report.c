/* The end of a run as an object, a sentence and a number. Nothing is decided
 * here: the outcome is the machine's, or the driver's own failure. */
#include "driver/report.h"

#include "json/write.h"
#include "driver/run.h"
#include "text/text.h"

#define REASON_BYTES_MAX 65536 /* an error holds far less, spelled out or not */

int report_exit(const struct run *run) {
  const struct agent_end *end = run_ended(run);
  if (end->outcome == REIN_OUTCOME_CANCELLED && end->signal > 0) return 128 + end->signal;
  return rein_outcome_exit(end->outcome);
}

/* A provider's own words may stand in it. */
static void put_masked(struct buf *out, enum rein_lang lang, const struct err *why,
                       const struct secret *key) {
  struct buf plain;
  buf_init(&plain, REASON_BYTES_MAX);
  err_put(&plain, lang, why);
  if (plain.fail)
    out->fail = plain.fail;
  else
    secret_mask(out, key, buf_str(&plain));
  buf_release(&plain);
}

void report_put_reason(struct buf *out, const struct run *run, enum rein_lang lang) {
  const struct agent_end *end = run_ended(run);
  if (end->why.text != T_NONE)
    put_masked(out, lang, &end->why, &run->key);
  else if (end->outcome == REIN_OUTCOME_NONE)
    TEXT_PUT(out, lang, T_DRIVER_RUNNING);
  else
    TEXT_PUT(out, lang, T_DRIVER_FINISHED);
}

static void put_usage(struct json_out *w, const struct usage *usage) {
  json_key(w, "usage");
  json_open(w, '{');
  json_key(w, "input");
  json_put_num(w, usage->input);
  json_key(w, "output");
  json_put_num(w, usage->output);
  json_key(w, "cache_read");
  json_put_num(w, usage->cache_read);
  json_key(w, "cache_write");
  json_put_num(w, usage->cache_write);
  json_key(w, "total");
  json_put_num(w, usage_total(usage));
  json_close(w, '}');
}

static const char *decider_word(enum decider by) {
  switch (by) {
  case BY_RULE: return "rule";
  case BY_PERSON: return "person";
  case BY_NOBODY: return "nobody";
  }
  return "";
}

static void put_refused(struct json_out *w, const struct agent *agent) {
  json_key(w, "refused");
  json_open(w, '[');
  for (size_t i = 0; i < agent_refusals(agent); i++) {
    struct str tool, args, why;
    enum decider by;
    agent_refusal(agent, i, &tool, &args, &why, &by);
    json_open(w, '{');
    json_key(w, "tool");
    json_put_text(w, tool);
    json_key(w, "args"); /* a text: the model may have written it over many lines */
    json_put_text(w, args);
    json_key(w, "why");
    json_put_text(w, why);
    json_key(w, "by");
    json_put_text(w, str_of(decider_word(by)));
    json_close(w, '}');
  }
  json_close(w, ']');
}

/* What was booked, and what lost attempts may have cost; null without a price. */
static void put_cost(struct json_out *w, int64_t cost) {
  struct buf b;
  buf_init(&b, 64);
  json_key(w, "cost_usd");
  if (cost < 0)
    json_put_null(w);
  else
    money_put(&b, cost);
  if (b.fail) w->buf->fail = b.fail;
  if (cost >= 0) json_put_raw(w, buf_str(&b));
  buf_release(&b);
}

static void put_reason(struct json_out *w, const struct run *run, enum rein_lang lang) {
  struct buf reason;
  buf_init(&reason, REASON_BYTES_MAX);
  report_put_reason(&reason, run, lang);
  if (reason.fail) w->buf->fail = reason.fail;
  json_key(w, "reason");
  json_put_text(w, buf_str(&reason));
  buf_release(&reason);
}

void report_put_json(struct buf *out, const struct run *run, enum rein_lang lang) {
  const struct agent *agent = run_agent(run);
  struct agent_stats stats = agent_stats(agent);
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "run");
  json_put_text(&w, run_id(run));
  json_key(&w, "outcome");
  json_put_text(&w, str_of(rein_outcome_word(run_ended(run)->outcome)));
  json_key(&w, "exit");
  json_put_num(&w, report_exit(run));
  json_key(&w, "text");
  json_put_text(&w, agent_text(agent));
  json_key(&w, "turns");
  json_put_num(&w, stats.turns);
  json_key(&w, "requests");
  json_put_num(&w, stats.requests);
  put_usage(&w, &stats.usage);
  put_cost(&w, stats.cost);
  json_key(&w, "duration_ms");
  json_put_num(&w, run_ms(run));
  put_reason(&w, run, lang);
  put_refused(&w, agent);
  json_close(&w, '}');
}
