/* How a run ends: the outcome, the one sentence for the person, and an answer
 * for every call that is still open, so that the transcript stays whole and the
 * run can go on later. Why it ends is decided in agent.c.
 */
#include "core/state.h"

/* A request under way is given up and books its reservation: nobody knows what
 * it cost. Calls must be answered already, unless memory ran out. */
void end_request(struct agent *a) {
  if (a->sending.in_flight) {
    a->sending.abort = a->sending.id;
    a->sending.in_flight = false;
    budget_lose(&a->budget, &(struct usage){0});
  }
  budget_free(&a->budget);
}

/* What becomes of a wrap-up does not change why the run ended, unless somebody ended it. */
void end_now(struct agent *a, enum rein_outcome outcome) {
  end_request(a);
  if (a->wrap.on && outcome != REIN_OUTCOME_CANCELLED && outcome != REIN_OUTCOME_INTERNAL) {
    outcome = a->wrap.outcome;
    a->end.why = *a->wrap.why;
    a->wrapped = !transcript_ends_with_user(&a->talk);
  }
  a->wrap.on = false;
  compact_drop(a);
  a->end.outcome = outcome;
  agent_enter(a, STATE_ENDED, ACTION_DONE);
}

void duration_put(struct buf *out, enum rein_lang lang, int64_t ms) {
  const char *const *units = lang == REIN_KOREAN ? (const char *const[]){"시간", "분", "초"}
                                                 : (const char *const[]){" h", " min", " s"};
  int64_t hours = ms / 3600000, minutes = ms / 60000 % 60, rest = ms % 60000;
  if (hours) buf_fmt(out, "%lld%s", (long long)hours, units[0]);
  if (minutes) buf_fmt(out, "%s%lld%s", hours ? " " : "", (long long)minutes, units[1]);
  if (rest == 0 && ms > 0) return;
  if (hours || minutes) buf_c(out, ' ');
  buf_fmt(out, "%lld", (long long)(rest / 1000));
  if (rest % 1000 >= 100) buf_fmt(out, ".%lld", (long long)(rest % 1000 / 100));
  if (rest % 1000 && rest < 100) buf_fmt(out, ".%03lld", (long long)rest);
  buf_put(out, str_of(units[2]));
}

static struct str duration(struct agent *a, struct buf *b, int64_t ms) {
  duration_put(b, a->config.lang, ms);
  return buf_str(b);
}

enum rein_code end_with_calls(struct agent *a, enum rein_outcome outcome, enum text_id idle,
                              enum text_id ran, struct str value, struct err *err) {
  if (a->talk.open > 0) {
    enum rein_code code = turn_close(a, idle, ran, value, err);
    if (code == REIN_OK) code = turn_commit(a, STR_NONE, err);
    if (code) return code;
  }
  return wrap_up(a, outcome, err);
}

enum rein_code end_turns(struct agent *a, struct err *err) {
  struct num_text room;
  struct str n = str_num(&room, a->config.limits.max_turns);
  bool none = a->config.limits.max_turns == 0; /* as in `rein ask`: nothing to raise there */
  (void)ERR(&a->end.why, REIN_LIMIT, none ? T_CORE_END_NO_TURNS : T_CORE_END_TURNS, n);
  return end_with_calls(a, REIN_OUTCOME_TURNS, T_CORE_CALL_TURNS, T_CORE_CALL_STOPPED, n, err);
}

/* Dollars of pico-dollars, not less: the sentence and the limit must agree. */
static struct str dollars(struct buf *b, int64_t pico) {
  buf_init(b, 64);
  money_put(b, pico);
  return buf_str(b);
}

static enum rein_code end_cost(struct agent *a, int64_t next, struct err *err) {
  struct buf spent, limit, more;
  const struct budget *b = &a->budget;
  int64_t need = budget_cost(b, next, OUTPUT_LIMIT_MIN);
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_COST, dollars(&spent, b->cost),
            dollars(&limit, b->cost_limit), dollars(&more, need));
  buf_release(&spent);
  buf_release(&limit);
  buf_release(&more);
  return end_with_calls(a, REIN_OUTCOME_COST, T_CORE_CALL_COST, T_CORE_CALL_STOPPED, STR_NONE, err);
}

enum rein_code end_budget(struct agent *a, int64_t next, struct err *err) {
  bool cost = budget_lowest(&a->budget, next, a->config.output_limit) == REIN_OUTCOME_COST;
  if (cost) return end_cost(a, next, err);
  struct num_text spent, limit, more;
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TOKENS, str_num(&spent, a->budget.spent),
            str_num(&limit, a->budget.limit), str_num(&more, next));
  return end_with_calls(a, REIN_OUTCOME_TOKENS, T_CORE_CALL_TOKENS, T_CORE_CALL_STOPPED, STR_NONE,
                        err);
}

enum rein_code end_time(struct agent *a, struct err *err) {
  struct buf b;
  buf_init(&b, 64);
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TIME, duration(a, &b, a->config.limits.time_ms));
  buf_release(&b);
  return end_with_calls(a, REIN_OUTCOME_TIME, T_CORE_CALL_TIME, T_CORE_CALL_TIME_RAN, STR_NONE,
                        err);
}

void end_time_retry(struct agent *a, const struct fault *f, int64_t wait_ms) {
  struct buf wait, limit, words;
  buf_init(&words, 8192);
  buf_init(&wait, 64);
  buf_init(&limit, 64);
  fault_put(&words, a->config.lang, f);
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TIME_RETRY, duration(a, &wait, wait_ms),
            duration(a, &limit, a->config.limits.time_ms), buf_str(&words));
  buf_release(&words);
  buf_release(&wait);
  buf_release(&limit);
  end_now(a, REIN_OUTCOME_TIME);
}

enum rein_code end_loop(struct agent *a, size_t culprit, struct err *err) {
  struct str name = a->turn.calls[culprit].use->name;
  enum rein_no_progress preset = a->config.limits.no_progress;
  if (preset == REIN_PROGRESS_DEFAULT) {
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_LOOP, name);
  } else {
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_LOOP_PRESET, name, str_of(progress_word(preset)));
  }
  return end_with_calls(a, REIN_OUTCOME_NO_PROGRESS, T_CORE_CALL_LOOP_STOP, T_CORE_CALL_STOPPED,
                        STR_NONE, err);
}

enum rein_code end_bad_tool(struct agent *a) {
  const struct tool *t = a->bad_tool;
  (void)ERR(&a->end.why, REIN_INPUT, T_CORE_END_BAD_TOOL, t->name, t->left_out);
  end_now(a, REIN_OUTCOME_BAD_TOOL);
  return REIN_OK;
}

/* A finished run in which somebody should have been asked is not `finished`. */
void end_finished(struct agent *a) {
  const struct refusals *r = &a->refusals;
  if (!r->nobody) {
    end_now(a, REIN_OUTCOME_FINISHED);
    return;
  }
  size_t i = r->count - 1;
  while (i > 0 && r->v[i].by != BY_NOBODY)
    i--;
  enum text_id why = r->v[i].tainted ? T_CORE_END_UNAPPROVED_TAINT : T_CORE_END_UNAPPROVED;
  (void)ERR(&a->end.why, REIN_INPUT, why, r->v[i].tool);
  end_now(a, REIN_OUTCOME_UNAPPROVED);
}

/* The output limit cut an answer: the budget's doing, or the limit's own. */
void end_cut(struct agent *a, struct str stop_word) {
  struct num_text out, limit;
  struct buf money;
  struct str cut_at = str_num(&out, a->sending.output_limit);
  if (a->sending.lowered && a->sending.lowest == REIN_OUTCOME_COST) {
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_COST_CUT, cut_at,
              dollars(&money, a->budget.cost_limit));
    buf_release(&money);
    end_now(a, REIN_OUTCOME_COST);
    return;
  }
  if (a->sending.lowered) {
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TOKENS_CUT, cut_at,
              str_num(&limit, a->budget.limit));
    end_now(a, REIN_OUTCOME_TOKENS);
    return;
  }
  (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_TRUNCATED, cut_at, stop_word);
  end_now(a, REIN_OUTCOME_TRUNCATED);
}

/* A stop reason that nobody here knows: whether the reply is whole cannot be told. */
enum rein_code end_unknown(struct agent *a, struct str stop_word, struct err *err) {
  bool calls = a->talk.open > 0;
  (void)ERR(&a->end.why, REIN_PEER, calls ? T_CORE_END_UNKNOWN_STOP_CALLS : T_CORE_END_UNKNOWN_STOP,
            stop_word);
  return end_with_calls(a, REIN_OUTCOME_MODEL_ERROR, T_CORE_CALL_UNKNOWN_STOP, T_CORE_CALL_STOPPED,
                        stop_word, err);
}

/* ---- faults ------------------------------------------------------------ */

static enum text_id sentence_of(const struct fault *f) {
  if (f->status >= 300) return T_CORE_FAULT_STATUS;
  switch (f->kind) {
  case FAULT_CONNECT: return T_CORE_FAULT_CONNECT;
  case FAULT_BROKEN: return T_CORE_FAULT_BROKEN;
  case FAULT_STALLED: return T_CORE_FAULT_STALLED;
  case FAULT_GARBLED: return T_CORE_FAULT_GARBLED;
  case FAULT_OVERLOADED:
  case FAULT_MISCALL:
  case FAULT_INVALID:
  case FAULT_BOUND:
  case FAULT_CONTEXT:
  case FAULT_SCHEMA:
  case FAULT_AUTH:
  case FAULT_QUOTA: return T_CORE_FAULT_EVENT;
  }
  return T_CORE_FAULT_EVENT;
}

void fault_put(struct buf *out, enum rein_lang lang, const struct fault *f) {
  struct num_text room;
  struct buf id, words;
  buf_init(&id, 512);
  buf_init(&words, 4096);
  if (f->request_id.n) TEXT_PUT(&id, lang, T_CORE_FAULT_ID, f->request_id);
  if (f->type.n && f->status != 0) buf_fmt(&words, "%.*s: ", (int)f->type.n, f->type.p);
  buf_put(&words, f->message);
  TEXT_PUT(out, lang, sentence_of(f), str_num(&room, f->status), buf_str(&words), buf_str(&id));
  buf_release(&words);
  buf_release(&id);
}

static enum rein_outcome outcome_of(enum fault_kind kind) {
  switch (kind) {
  case FAULT_AUTH:
  case FAULT_QUOTA: return REIN_OUTCOME_NOT_AUTHORISED;
  case FAULT_CONTEXT: return REIN_OUTCOME_CONTEXT_FULL;
  case FAULT_SCHEMA: return REIN_OUTCOME_BAD_TOOL;
  case FAULT_CONNECT:
  case FAULT_BROKEN:
  case FAULT_STALLED:
  case FAULT_GARBLED:
  case FAULT_OVERLOADED:
  case FAULT_MISCALL:
  case FAULT_INVALID:
  case FAULT_BOUND: return REIN_OUTCOME_MODEL_ERROR;
  }
  return REIN_OUTCOME_MODEL_ERROR;
}

static enum text_id why_of(enum rein_outcome outcome) {
  if (outcome == REIN_OUTCOME_NOT_AUTHORISED) return T_CORE_END_AUTH;
  if (outcome == REIN_OUTCOME_CONTEXT_FULL) return T_CORE_END_CONTEXT;
  if (outcome == REIN_OUTCOME_BAD_TOOL) return T_CORE_END_SCHEMA;
  return T_CORE_END_FAULT;
}

void end_fault(struct agent *a, const struct fault *f, int64_t wait_ms) {
  struct num_text tries;
  struct buf words, wait;
  buf_init(&words, 8192);
  buf_init(&wait, 64);
  fault_put(&words, a->config.lang, f);
  enum rein_outcome outcome = outcome_of(f->kind);
  if (wait_ms > 0) {
    (void)ERR(&a->end.why, REIN_PEER, T_CORE_END_WAIT_LONG, duration(a, &wait, wait_ms),
              buf_str(&words));
  } else {
    (void)ERR(&a->end.why, REIN_PEER, why_of(outcome), buf_str(&words),
              str_num(&tries, a->sending.retries + 1 + a->sending.repairs));
  }
  buf_release(&words);
  buf_release(&wait);
  end_now(a, outcome);
}
