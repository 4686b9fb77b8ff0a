/* The wrap-up: when a valve closes, one last request that sums up. A slice of tokens,
 * money and time is held back for it from the start (budget.c, agent_time_out_at); the
 * outcome stays the valve's, whatever becomes of it. Who closes when is agent.c's.
 */
#include "core/state.h"

#define WRAP_TIME_PART 8 /* of the time limit */
#define WRAP_TIME_MAX_MS 60000
#define WRAP_NOTE_BYTES 1024 /* what it adds to the last prompt */

int64_t agent_time_out_at(const struct agent *a) {
  int64_t limit = a->config.limits.time_ms, slice = 0;
  if (limit == REIN_OFF || a->started < 0) return INT64_MAX;
  if (a->config.limits.wrap_up && !a->wrap.on) slice = limit / WRAP_TIME_PART;
  return a->started + limit - (slice < WRAP_TIME_MAX_MS ? slice : WRAP_TIME_MAX_MS);
}

static bool is_valve(enum rein_outcome outcome) {
  return outcome == REIN_OUTCOME_TURNS || outcome == REIN_OUTCOME_TOKENS ||
         outcome == REIN_OUTCOME_COST || outcome == REIN_OUTCOME_TIME ||
         outcome == REIN_OUTCOME_NO_PROGRESS;
}

static bool has_room(struct agent *a, enum rein_code *code, struct err *err) {
  struct budget whole = a->budget;
  whole.slice = 0;
  *code = request_build(a, a->config.output_limit, err);
  int64_t bound =
      budget_bound(&whole, a->sending.bytes + WRAP_NOTE_BYTES,
                   whole.known ? a->talk.reply_bytes : 0, a->config.wire->overhead_tokens);
  return *code == REIN_OK && budget_output(&whole, bound, a->config.output_limit) >= 0;
}

enum rein_code wrap_up(struct agent *a, enum rein_outcome outcome, struct err *err) {
  enum rein_code code = REIN_OK;
  compact_drop(a);
  bool due = a->config.limits.wrap_up && !a->wrap.on && is_valve(outcome) && a->requests > 0;
  if (due) end_request(a);
  if (!due || !has_room(a, &code, err)) {
    if (code == REIN_OK) end_now(a, outcome);
    return code;
  }
  struct str note = str_of(text_raw(T_CORE_NOTE_WRAP_UP, a->config.model_lang));
  struct err *why = arena_new(&a->fixed, struct err);
  code = why ? transcript_note(&a->talk, note, err) : ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  if (code) return code;
  *why = a->end.why;
  a->wrap = (struct wrap){.on = true, .outcome = outcome, .why = why};
  a->budget.slice = 0;
  a->sending.retries = a->sending.repairs = 0;
  return agent_prepare(a, err);
}

/* Its tools are listed, since the prefix must not change; a call all the same is not run. */
enum rein_code wrap_reply(struct agent *a, const struct reply *r, struct err *err) {
  const struct message *ignored;
  enum rein_code code = REIN_OK;
  size_t calls = reply_count(r, BLOCK_TOOL_USE);
  bool kept = r->stop != STOP_REFUSAL && r->count > 0;
  if (kept && calls > 0) code = turn_begin(a, r, err);
  if (kept && calls == 0) code = transcript_reply(&a->talk, r->blocks, r->count, &ignored, err);
  return code ? code
              : end_with_calls(a, a->wrap.outcome, T_CORE_CALL_STOPPED, T_CORE_CALL_STOPPED,
                               STR_NONE, err);
}

void wrap_reset(struct agent *a) {
  a->wrap = (struct wrap){.on = false};
  a->wrapped = false;
  budget_limits(&a->budget, &a->config.limits);
}
