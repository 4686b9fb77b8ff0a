/* A run taken up again: what was under way when its process died is settled, other
 * limits and another model are taken over. What follows is agent.c's to decide.
 *
 * Nobody knows what became of a request that was sent: it books its reservation,
 * and is sent again. A call that was STARTED is not run again, unless that does no
 * harm; the model is told, and so is the person (call_view.lost).
 */
#include "core/state.h"

bool agent_goes_on(const struct agent *a) {
  if (a->state == STATE_READY) return false;
  return a->state != STATE_ENDED || a->talk.open > 0 || a->wrapped ||
         transcript_ends_with_user(&a->talk);
}

enum rein_code agent_keep_blocks(struct agent *a, bool keep, struct err *err) {
  return transcript_keep(&a->talk, keep, err);
}

enum rein_code resume_close(struct agent *a, struct err *err) {
  if (a->talk.open == 0) return REIN_OK;
  enum rein_code code = turn_close(a, T_CORE_CALL_STOPPED, T_CORE_CALL_STOPPED, STR_NONE, err);
  return code ? code : turn_commit(a, STR_NONE, err);
}

/* It was told to sum up, and did: now it is told to go on. */
static enum rein_code go_on_words(struct agent *a, struct err *err) {
  wrap_reset(a);
  return transcript_note(&a->talk, str_of(text_raw(T_CORE_NOTE_GO_ON, a->config.model_lang)), err);
}

/* As it stood, without new words. */
static enum resume_next as_it_stood(struct agent *a) {
  switch (a->state) {
  case STATE_READY:
  case STATE_PAUSED: return RESUME_WAITS;
  case STATE_RESERVING:
  case STATE_SENDING: return RESUME_REQUEST;
  case STATE_CALLS: return RESUME_CALLS;
  case STATE_REWRITING: agent_enter(a, STATE_REWRITING, ACTION_REWRITE); return RESUME_WAITS;
  case STATE_ASKING: agent_enter(a, STATE_ASKING, ACTION_ASK); return RESUME_WAITS;
  case STATE_ENDED:
    if (!transcript_ends_with_user(&a->talk)) return RESUME_WAITS;
    a->end = (struct agent_end){.outcome = REIN_OUTCOME_NONE};
    a->refusals.nobody = a->nudged = false;
    a->sending.retries = a->sending.repairs = a->compact.tries = 0;
    a->repaired &= ~(UINT32_C(1) << REWRITE_DROP_THINKING);
    return RESUME_REQUEST;
  }
  return RESUME_WAITS;
}

enum rein_code resume_settle(struct agent *a, struct str words, enum resume_next *next,
                             struct err *err) {
  bool spoken = !str_blank(words);
  if (a->sending.in_flight) budget_lose(&a->budget, &(struct usage){0});
  a->sending.in_flight = false;
  a->sending.abort = 0;
  *next = RESUME_WAITS;
  enum rein_code code = turn_resume(a, !spoken, err);
  if (!code && (spoken || a->state == STATE_ENDED)) code = resume_close(a, err);
  if (!code && !spoken && a->wrapped) code = go_on_words(a, err);
  if (!code) *next = spoken ? RESUME_WORDS : as_it_stood(a);
  return code;
}

enum rein_code resume_limits(struct agent *a, const struct event *e, struct err *err) {
  struct agent_config *c = &a->config;
  if (!c->facts.priced && e->now.priced) {
    c->facts = e->now;
    budget_price(&a->budget, &e->now);
  }
  if (e->limits.cost_uusd != REIN_OFF && !c->facts.priced)
    return ERR(err, REIN_INPUT, T_CORE_NO_PRICE, c->model);
  c->limits = e->limits;
  budget_limits(&a->budget, &e->limits);
  if (a->wrap.on) a->budget.slice = 0;
  a->progress.preset = e->limits.no_progress;
  return REIN_OK;
}

/* A new prefix: no size of the past says anything about it. */
enum rein_code resume_model(struct agent *a, const struct event *e, struct err *err) {
  struct agent_config *c = &a->config;
  const struct wire *wire = c->wires ? c->wires(e->to.wire) : NULL;
  struct str model, address;
  if (!wire) return ERR(err, REIN_INPUT, T_CORE_NO_WIRE, e->to.wire);
  if (c->limits.cost_uusd != REIN_OFF && !e->to.facts.priced)
    return ERR(err, REIN_INPUT, T_CORE_NO_PRICE, e->to.model);
  if (!arena_str(&a->fixed, e->to.model, &model) || !arena_str(&a->fixed, e->to.address, &address))
    return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  const struct quirks *quirks = wire->find_quirks ? wire->find_quirks(address) : NULL;
  enum tokenizer tokenizer = e->to.facts.tokenizer ? e->to.facts.tokenizer : wire->tokenizer;
  enum rein_code code = transcript_rewire(&a->talk, wire, quirks, tokenizer, err);
  if (code) return code;
  compact_drop(a);
  a->gauge = (struct gauge){0};
  c->wire = wire;
  c->facts = e->to.facts;
  budget_price(&a->budget, &c->facts);
  c->model = model;
  c->address = address;
  a->talk.reply_bytes = 0;
  a->repaired = 0; /* another server: nothing was refused by it */
  budget_forget(&a->budget);
  return offer_renew(a, err);
}
