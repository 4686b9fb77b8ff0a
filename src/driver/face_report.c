/* What rein.h tells of a run that ended: copied out of it, so that it outlives
 * loop, run and options. */
#include "driver/face_report.h"

#include "base/mem.h"
#include "driver/report.h"

#define REPORT_BYTES_MAX (512u << 20) /* the text of one reply, escaped, and the refusals */

struct rein_report {
  enum rein_outcome outcome;
  int64_t turns, requests, cost_uusd;
  struct rein_usage usage;
  struct buf text, reason, json;
};

struct rein_report *face_report_new(void) {
  struct rein_report *r = mem_zero(sizeof *r);
  if (!r) return NULL;
  r->outcome = REIN_OUTCOME_NONE;
  buf_init(&r->text, REPORT_BYTES_MAX);
  buf_init(&r->reason, REPORT_BYTES_MAX);
  buf_init(&r->json, REPORT_BYTES_MAX);
  return r;
}

/* Half a text would be taken for the whole. */
static void whole_or_empty(struct buf *text) {
  if (text->fail) buf_reset(text);
}

void face_report_fill(struct rein_report *report, const struct run *run, enum rein_lang lang) {
  const struct agent *agent = run_agent(run);
  struct agent_stats stats = agent_stats(agent);
  report->outcome = run_ended(run)->outcome;
  report->turns = stats.turns;
  report->requests = stats.requests;
  report->usage = face_usage(&stats.usage);
  report->cost_uusd = face_cost(stats.cost);
  buf_put(&report->text, agent_text(agent));
  report_put_reason(&report->reason, run, lang);
  report_put_json(&report->json, run, lang);
  whole_or_empty(&report->text);
  whole_or_empty(&report->reason);
  whole_or_empty(&report->json);
}

int64_t face_cost(int64_t pico) {
  return pico < 0 ? -1 : pico / PICO_PER_MICRO + (pico % PICO_PER_MICRO > 0);
}

struct str face_report_line(const struct rein_report *report) {
  return buf_str(&report->json);
}

struct rein_usage face_usage(const struct usage *usage) {
  return (struct rein_usage){.input = usage->input,
                             .output = usage->output,
                             .cache_read = usage->cache_read,
                             .cache_write = usage->cache_write};
}

enum rein_outcome rein_report_outcome(const struct rein_report *report) {
  return report->outcome;
}

const char *rein_report_text(const struct rein_report *report) {
  return buf_z(&report->text);
}

const char *rein_report_reason(const struct rein_report *report) {
  return buf_z(&report->reason);
}

const char *rein_report_json(const struct rein_report *report) {
  return buf_z(&report->json);
}

int64_t rein_report_turns(const struct rein_report *report) {
  return report->turns;
}

int64_t rein_report_requests(const struct rein_report *report) {
  return report->requests;
}

struct rein_usage rein_report_usage(const struct rein_report *report) {
  return report->usage;
}

int64_t rein_report_cost_uusd(const struct rein_report *report) {
  return report->cost_uusd;
}

void rein_report_free(struct rein_report *report) {
  if (!report) return;
  buf_release(&report->text);
  buf_release(&report->reason);
  buf_release(&report->json);
  mem_free(report);
}
