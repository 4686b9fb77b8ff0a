/* The loop. An event comes in, the state says whether it counts, and one function
 * decides what is wanted next; agent_next gives it out.
 *
 * Read it from on_say down: prepare a request, on_granted, on_reply, begin_calls,
 * go_on, finish_turn, and prepare again. Each valve has one fixed place: tokens
 * and time before a request (prepare), turns, tokens and time before a batch of
 * calls (gate), no progress before a batch and per call, policy per call
 * (turn.c). A request's bytes are in request.c, how a run ends is in end.c.
 */
#include "core/agent.h"

#include "base/utf8.h"
#include "core/limits.h"
#include "core/state.h"

#include <assert.h>

/* ---- states ------------------------------------------------------------ */

static bool legal(enum state from, enum state to) {
#define MOVE_X(a, b, why)                                                                          \
  if (from == STATE_##a && to == STATE_##b) return true;
  MOVES(MOVE_X)
#undef MOVE_X
  return false;
}

/* The only place where the state changes. `give` is what is wanted next. */
void agent_enter(struct agent *a, enum state to, enum action_kind give) {
  assert(a->state == to || legal(a->state, to));
  a->state = to;
  a->give = give;
}

/* ---- valves ------------------------------------------------------------ */

static bool time_is_up(const struct agent *a) {
  return a->now >= agent_time_out_at(a);
}

/* What the next request needs at least, before its results are known. */
static int64_t next_need(const struct agent *a) {
  return budget_bound(&a->budget, a->sending.bytes + a->talk.reply_bytes, a->talk.reply_bytes,
                      a->config.wire->overhead_tokens);
}

/* Turns, tokens, time: before a batch of calls, and before a paused reply goes
 * back. *closed when the run ended here. */
static enum rein_code gate(struct agent *a, bool *closed, struct err *err) {
  *closed = true;
  int64_t need = next_need(a);
  if (a->config.limits.max_turns != REIN_OFF && a->turns >= a->config.limits.max_turns)
    return end_turns(a, err);
  if (budget_output(&a->budget, need, a->config.output_limit) < 0) return end_budget(a, need, err);
  if (time_is_up(a)) return end_time(a, err);
  if (a->compact.stuck) return compact_end(a, err);
  *closed = false;
  return REIN_OK;
}

/* ---- a request --------------------------------------------------------- */

/* Makes the request ready and asks for its worst case; or the valve closes. */
enum rein_code agent_prepare(struct agent *a, struct err *err) {
  if (a->bad_tool) return end_bad_tool(a);
  if (time_is_up(a)) return end_time(a, err);
  if (compact_is_ready(a)) return REIN_OK;
  int64_t bound, wanted = request_wanted(a);
  enum rein_code code = request_bound(a, &bound, err);
  if (code) return code;
  int64_t output = budget_output(&a->budget, bound, wanted);
  if (output < 0) return end_budget(a, bound, err);
  a->sending.lowered = output < wanted;
  a->sending.lowest = budget_lowest(&a->budget, bound, wanted);
  if (a->sending.lowered) code = request_build(a, output, err);
  if (code) return code;
  a->sending.reserved = bound + output;
  a->sending.id++;
  agent_enter(a, STATE_RESERVING, ACTION_RESERVE);
  return REIN_OK;
}

static enum rein_code first_attempt(struct agent *a, struct err *err) {
  a->sending.retries = 0;
  a->sending.repairs = 0;
  a->compact.tries = 0;
  a->repaired &= ~(UINT32_C(1) << REWRITE_DROP_THINKING);
  return agent_prepare(a, err);
}

static enum rein_code say_mended(struct agent *a, struct str words, struct err *err) {
  struct buf mended;
  buf_init(&mended, TRANSCRIPT_MAX);
  utf8_repair(&mended, words);
  enum rein_code code = mended.fail ? ERR(err, mended.fail, T_CORE_END_MEMORY)
                                    : transcript_say(&a->talk, buf_str(&mended), err);
  buf_release(&mended);
  return code;
}

static enum rein_code take_words(struct agent *a, struct str words, struct err *err) {
  enum rein_code code = say_mended(a, words, err);
  if (code) return code;
  if (a->started < 0) a->started = a->now;
  progress_words(&a->progress);
  compact_drop(a);
  wrap_reset(a);
  a->refusals.nobody = a->nudged = false;
  a->end = (struct agent_end){.outcome = REIN_OUTCOME_NONE};
  buf_reset(&a->text);
  return first_attempt(a, err);
}

static enum rein_code on_say(struct agent *a, const struct event *e, struct err *err) {
  if (a->state != STATE_READY && a->state != STATE_ENDED) return REIN_OK; /* doubled */
  if (str_blank(e->text)) return ERR(err, REIN_INPUT, T_CORE_BLANK_WORDS);
  enum rein_code code = resume_close(a, err); /* memory ran out once, with calls open */
  return code ? code : take_words(a, e->text, err);
}

static enum rein_code on_granted(struct agent *a, const struct event *e, struct err *err) {
  (void)err;
  if (a->state != STATE_RESERVING || e->id != a->sending.id) return REIN_OK;
  budget_reserve(&a->budget, a->sending.reserved - a->sending.output_limit,
                 a->sending.output_limit);
  a->requests++;
  agent_enter(a, STATE_SENDING, ACTION_SEND);
  return REIN_OK;
}

static enum rein_code on_refused(struct agent *a, const struct event *e, struct err *err) {
  (void)err;
  if (a->state != STATE_RESERVING || e->id != a->sending.id) return REIN_OK;
  struct num_text room;
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TOKENS_SHARED, str_num(&room, a->sending.reserved));
  end_now(a, REIN_OUTCOME_TOKENS);
  return REIN_OK;
}

/* ---- a reply ----------------------------------------------------------- */

static enum rein_code keep_text(struct agent *a, const struct reply *r, struct err *err) {
  if (reply_count(r, BLOCK_TEXT) == 0) return REIN_OK;
  buf_reset(&a->text);
  for (size_t i = 0; i < r->count; i++)
    if (r->blocks[i].kind == BLOCK_TEXT) buf_put(&a->text, r->blocks[i].text);
  return a->text.fail ? ERR(err, a->text.fail, T_CORE_END_MEMORY) : REIN_OK;
}

static enum rein_code on_empty(struct agent *a, struct err *err) {
  if (a->nudged || !transcript_ends_with_results(&a->talk)) {
    (void)ERR(&a->end.why, REIN_PEER, T_CORE_END_EMPTY);
    end_now(a, REIN_OUTCOME_EMPTY);
    return REIN_OK;
  }
  struct str nudge = str_of(text_raw(T_CORE_NOTE_NUDGE, a->config.model_lang));
  enum rein_code code = transcript_note(&a->talk, nudge, err);
  if (code) return code;
  a->nudged = true;
  return first_attempt(a, err);
}

/* A reply without calls: its stop reason decides. */
static enum rein_code on_answer(struct agent *a, const struct reply *r, struct err *err) {
  bool closed;
  enum rein_code code;
  if (a->compact.stuck) return compact_end(a, err);
  switch (r->stop) {
  case STOP_END:
  case STOP_TOOLS: /* asked for tools and named none: the text is the answer */
    end_finished(a);
    return REIN_OK;
  case STOP_LENGTH: end_cut(a, r->stop_word); return REIN_OK;
  case STOP_PAUSE:
    code = gate(a, &closed, err);
    if (code || closed) return code;
    a->turns++;
    return first_attempt(a, err);
  case STOP_CONTEXT:
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_CONTEXT, r->stop_word);
    end_now(a, REIN_OUTCOME_CONTEXT_FULL);
    return REIN_OK;
  case STOP_REFUSAL:
    (void)ERR(&a->end.why, REIN_PEER, T_CORE_END_REFUSED);
    end_now(a, REIN_OUTCOME_REFUSED);
    return REIN_OK;
  case STOP_UNKNOWN: return end_unknown(a, r->stop_word, err);
  }
  return REIN_OK;
}

static enum rein_code go_on(struct agent *a, struct err *err);

/* A reply with calls: the gates, then the calls in order. */
static enum rein_code begin_calls(struct agent *a, const struct reply *r, struct err *err) {
  enum rein_code code = turn_begin(a, r, err);
  if (code) return code;
  agent_enter(a, STATE_CALLS, ACTION_NONE);
  if (r->stop == STOP_UNKNOWN) return end_unknown(a, r->stop_word, err);
  bool closed;
  code = gate(a, &closed, err);
  if (code || closed) return code;
  size_t culprit;
  switch (turn_arrive(a, &culprit)) {
  case PROGRESS_STOP: return end_loop(a, culprit, err);
  case PROGRESS_NO_MEMORY: return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  case PROGRESS_PASS:
  case PROGRESS_NOTE:
  case PROGRESS_STOP_IDLE: break;
  }
  a->turns++;
  return go_on(a, err);
}

/* An end without a word and without a call; a pause without anything. */
static bool is_empty(const struct reply *r) {
  if (r->stop == STOP_PAUSE) return r->count == 0;
  if (r->stop != STOP_END && r->stop != STOP_TOOLS) return false;
  return reply_count(r, BLOCK_TOOL_USE) + reply_count(r, BLOCK_TEXT) == 0;
}

/* An answer that need not have been cut. */
static bool is_cut_short(struct agent *a, const struct reply *r) {
  if (reply_count(r, BLOCK_TOOL_USE) > 0 || time_is_up(a)) return false;
  return r->stop == STOP_CONTEXT ? compact_refused(a)
                                 : r->stop == STOP_LENGTH && request_has_room(a);
}

static enum rein_code take_reply(struct agent *a, const struct reply *r, struct err *err) {
  const struct message *ignored;
  enum rein_code code = REIN_OK;
  if (is_empty(r)) return on_empty(a, err);
  bool kept = r->stop != STOP_REFUSAL && r->count > 0; /* or each later turn refuses again */
  if (kept && reply_count(r, BLOCK_TOOL_USE) > 0) return begin_calls(a, r, err);
  if (kept) code = transcript_reply(&a->talk, r->blocks, r->count, &ignored, err);
  return code ? code : on_answer(a, r, err);
}

static enum rein_code on_reply(struct agent *a, const struct event *e, struct err *err) {
  if (a->state != STATE_SENDING || e->id != a->sending.id) return REIN_OK;
  const struct reply *r = e->reply;
  request_booked(a, &r->usage);
  if (a->compact.on) return compact_reply(a, r, err);
  a->sending.withdrawn = is_cut_short(a, r);
  if (a->sending.withdrawn) return agent_prepare(a, err); /* once more: its retries go on */
  buf_release(&a->sending.body); /* of a run that waits for its tools nobody needs it */
  enum rein_code code = keep_text(a, r, err);
  return code ? code : a->wrap.on ? wrap_reply(a, r, err) : take_reply(a, r, err);
}

/* ---- calls ------------------------------------------------------------- */

/* Every call is answered: results, what the progress valve says, next request. */
static enum rein_code finish_turn(struct agent *a, struct err *err) {
  enum progress_say say;
  struct num_text room;
  enum rein_code code = turn_finish(a, &say, err);
  if (code) return code;
  if (say != PROGRESS_STOP_IDLE) return first_attempt(a, err);
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_NOTHING_RAN, str_num(&room, PROGRESS_IDLE_TURNS));
  return end_with_calls(a, REIN_OUTCOME_NO_PROGRESS, T_NONE, T_NONE, STR_NONE, err); /* none open */
}

static enum rein_code go_on(struct agent *a, struct err *err) {
  bool done, asks;
  enum rein_code code = turn_advance(a, &done, &asks, err);
  if (code) return code;
  if (done) return finish_turn(a, err);
  if (asks && a->state == STATE_CALLS) agent_enter(a, STATE_ASKING, ACTION_ASK);
  return REIN_OK;
}

static enum rein_code on_verdict(struct agent *a, const struct event *e, struct err *err) {
  if (a->state != STATE_ASKING) return REIN_OK;
  struct call *c = turn_call(a, e->id);
  if (!c || c->state != CALL_ASKED) return REIN_OK;
  enum rein_code code = turn_verdict(a, c, e, err);
  if (code) return code;
  agent_enter(a, STATE_CALLS, ACTION_NONE);
  return go_on(a, err);
}

static enum rein_code on_started(struct agent *a, const struct event *e, struct err *err) {
  (void)err;
  struct call *c = a->state == STATE_CALLS ? turn_call(a, e->id) : NULL;
  if (!c || c->state != CALL_READY) return REIN_OK;
  c->state = CALL_RUNNING;
  c->progress.ran = true;
  return REIN_OK;
}

static enum rein_code on_result(struct agent *a, const struct event *e, struct err *err) {
  struct call *c = a->state == STATE_CALLS ? turn_call(a, e->id) : NULL;
  if (!c || c->state != CALL_RUNNING) return REIN_OK;
  enum rein_code code = turn_result(a, c, e, err);
  return code ? code : go_on(a, err);
}

/* ---- what goes wrong, and what interrupts ------------------------------ */

/* Another attempt after a wait, or the end. */
static void try_later(struct agent *a, const struct fault *f) {
  bool again = fault_is_worth_retrying(f) && a->sending.retries < a->config.retries;
  int64_t wait = fault_wait_ms(f, a->sending.retries, a->config.jitter_seed + a->sending.id);
  if (again && wait >= agent_time_out_at(a) - a->now) {
    end_time_retry(a, f, wait);
  } else if (!again || wait > RETRY_WAIT_MAX_MS) {
    end_fault(a, f, again ? wait : 0);
  } else {
    a->sending.retries++;
    a->sending.resume_at = a->now + wait;
    agent_enter(a, STATE_PAUSED, ACTION_NONE);
  }
}

static enum rein_code on_failed(struct agent *a, const struct event *e, struct err *err) {
  if (a->state != STATE_SENDING || e->id != a->sending.id) return REIN_OK;
  const struct fault *f = e->fault;
  a->sending.in_flight = false;
  if (f->billed)
    budget_lose(&a->budget, &f->usage);
  else
    budget_free(&a->budget);
  if (f->kind == FAULT_CONTEXT && compact_refused(a)) return agent_prepare(a, err);
  enum rein_code code = request_repair(a, f, err);
  if (code) return code;
  if (a->sending.repair != REWRITE_NONE) {
    agent_enter(a, STATE_REWRITING, ACTION_REWRITE);
    return REIN_OK;
  }
  try_later(a, f);
  return REIN_OK;
}

static enum rein_code on_rewrite(struct agent *a, const struct event *e, struct err *err) {
  if (e->rewrite == REWRITE_MODEL) return resume_model(a, e, err);
  if (a->state != STATE_REWRITING || e->rewrite != a->sending.repair) return REIN_OK;
  enum rein_code code = request_rewrite(a, err);
  return code ? code : agent_prepare(a, err);
}

bool agent_lives(const struct agent *a) {
  return a->state != STATE_READY && a->state != STATE_ENDED;
}

static enum rein_code on_tick(struct agent *a, const struct event *e, struct err *err) {
  (void)e;
  if (agent_lives(a) && time_is_up(a)) return end_time(a, err);
  if (a->state == STATE_PAUSED && a->now >= a->sending.resume_at) return agent_prepare(a, err);
  return REIN_OK;
}

static enum rein_code on_cancel(struct agent *a, const struct event *e, struct err *err) {
  if (a->state == STATE_ENDED) return REIN_OK;
  a->end.signal = e->signal;
  (void)ERR(&a->end.why, REIN_CANCELLED, T_CORE_END_CANCELLED, e->text);
  return end_with_calls(a, REIN_OUTCOME_CANCELLED, T_CORE_CALL_INTERRUPTED,
                        T_CORE_CALL_INTERRUPTED_RAN, STR_NONE, err);
}

static enum rein_code on_outcome(struct agent *a, const struct event *e, struct err *err) {
  (void)a, (void)e, (void)err; /* told to whoever reads the journal */
  return REIN_OK;
}

/* Taken up again by another process, or after its end. */
static enum rein_code on_resume(struct agent *a, const struct event *e, struct err *err) {
  enum resume_next next;
  enum rein_code code = resume_settle(a, e->text, &next, err);
  if (code) return code;
  switch (next) {
  case RESUME_WAITS: return REIN_OK;
  case RESUME_WORDS: return take_words(a, e->text, err);
  case RESUME_REQUEST: return agent_prepare(a, err);
  case RESUME_CALLS: return go_on(a, err);
  }
  return REIN_OK;
}

/* ---- the way in (the way out is next.c) -------------------------------- */

enum rein_code agent_feed(struct agent *a, const struct event *e, struct err *err) {
  static enum rein_code (*const on[])(struct agent *, const struct event *, struct err *) = {
      [EVENT_SAY] = on_say,         [EVENT_GRANTED] = on_granted, [EVENT_REFUSED] = on_refused,
      [EVENT_REPLY] = on_reply,     [EVENT_FAILED] = on_failed,   [EVENT_VERDICT] = on_verdict,
      [EVENT_STARTED] = on_started, [EVENT_RESULT] = on_result,   [EVENT_REWRITE] = on_rewrite,
      [EVENT_CANCEL] = on_cancel,   [EVENT_TICK] = on_tick,       [EVENT_LIMITS] = resume_limits,
      [EVENT_OUTCOME] = on_outcome, [EVENT_RESUME] = on_resume,
  };
  if (e->at_ms > a->now) a->now = e->at_ms; /* a clock that steps back stands still */
  struct err why = {0};
  a->sending.withdrawn = a->compact.heard = false;
  enum rein_code code = on[e->kind](a, e, &why);
  if (code == REIN_OK) return REIN_OK;
  if (err) *err = why;
  if (code == REIN_INPUT || a->state == STATE_ENDED) return code;
  a->end.why = why;
  end_now(a, code == REIN_LIMIT ? REIN_OUTCOME_CONTEXT_FULL : REIN_OUTCOME_INTERNAL);
  return code;
}
