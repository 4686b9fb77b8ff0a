/* The way out of the machine: what is wanted next, pulled one at a time, and when
 * time itself is an event. Decides nothing: agent.c did.
 */
#include "core/state.h"

int64_t agent_deadline(const struct agent *a) {
  if (!agent_lives(a)) return INT64_MAX;
  int64_t at = agent_time_out_at(a);
  if (a->state == STATE_PAUSED && a->sending.resume_at < at) at = a->sending.resume_at;
  return at;
}

/* A call to run, or one whose answer is not wanted any more because the run ended. */
static bool next_call(struct agent *a, struct action *out) {
  bool ended = a->state == STATE_ENDED || a->wrap.on;
  for (size_t i = 0; i < a->turn.count; i++) {
    struct call *c = &a->turn.calls[i];
    bool abort = ended && c->run_given && !c->heard && !c->abort_given;
    bool run = !ended && c->state == CALL_READY && !c->run_given;
    if (!abort && !run) continue;
    *out = (struct action){.kind = abort ? ACTION_ABORT_RUN : ACTION_RUN,
                           .id = c->id,
                           .tool = c->tool,
                           .args = c->args};
    c->abort_given = abort;
    c->run_given = true;
    return true;
  }
  return false;
}

bool agent_next(struct agent *a, struct action *out) {
  *out = (struct action){.kind = ACTION_NONE};
  if (a->sending.abort) {
    *out = (struct action){.kind = ACTION_ABORT_SEND, .id = a->sending.abort};
    a->sending.abort = 0;
    return true;
  }
  if (next_call(a, out)) return true;
  if (a->give == ACTION_NONE) return false;
  *out = (struct action){.kind = a->give, .id = a->sending.id};
  if (a->give == ACTION_RESERVE) out->tokens = a->sending.reserved;
  if (a->give == ACTION_SEND || a->give == ACTION_RESERVE) out->body = buf_str(&a->sending.body);
  if (a->give == ACTION_REWRITE) out->rewrite = a->sending.repair;
  if (a->give == ACTION_DONE) out->outcome = a->end.outcome;
  if (a->give == ACTION_ASK) turn_asked(a, out);
  a->sending.in_flight = a->sending.in_flight || a->give == ACTION_SEND;
  a->give = ACTION_NONE;
  return true;
}
