/* The bytes of the next request, out of what is fixed and what was said. When one
 * is made, and whether it may go, is agent.c's.
 */
#include "core/state.h"

#define REQUEST_FRAME 1024 /* the model's name, marks and what else is around the messages */

/* Room for the request at once, and an eighth more, not twice what it needs: a
 * fleet holds hundreds. What the last one said is not copied while it grows. */
static void make_room(struct agent *a) {
  size_t need = a->tools_json.n + a->config.system.n + REQUEST_FRAME;
  for (size_t i = 0; i < a->talk.count; i++)
    need += a->talk.bytes[i].n + 1;
  if (need >= a->sending.body.cap) {
    buf_release(&a->sending.body);
    need += need / 8;
  }
  buf_reset(&a->sending.body);
  (void)buf_room(&a->sending.body, need);
}

#define SUMMARY_MAX 4096 /* output tokens of a compaction: some pages */

int64_t request_wanted(const struct agent *a) {
  int64_t most = a->config.output_limit;
  return a->compact.on && most > SUMMARY_MAX ? SUMMARY_MAX : most;
}

int64_t request_estimate(const struct agent *a) {
  int64_t tokens = a->fixed_tokens;
  for (size_t i = 0; i < a->talk.count; i++)
    tokens += a->talk.tokens[i];
  return tokens;
}

/* What asks for the summary, as a message of the user. */
static bool put_ask(struct agent *a, struct buf *out) {
  struct block ask = {.kind = BLOCK_TEXT,
                      .text = str_of(text_raw(T_CORE_NOTE_COMPACT, a->config.model_lang))};
  const struct message m = {ROLE_USER, &ask, 1};
  return a->config.wire->put_message(out, &m, false, a->talk.quirks) && !out->fail;
}

/* The request of a compaction: the messages that become one, as they were sent, and
 * behind them what is asked. So its prompt is in the provider's cache. Tools may be
 * called in it by mistake; forbidding that would be another prompt. */
static bool put_compact(struct agent *a, struct request *r, struct buf *out) {
  struct buf ask;
  size_t cut = a->compact.cut;
  buf_init(&ask, TRANSCRIPT_MAX);
  bool fine = put_ask(a, &ask);
  struct str bytes = a->talk.bytes[cut];
  enum role role = a->talk.roles[cut];
  a->talk.bytes[cut] = buf_str(&ask);
  a->talk.roles[cut] = ROLE_USER;
  r->count = cut + 1;
  if (fine) a->config.wire->put_request(out, r);
  a->talk.bytes[cut] = bytes;
  a->talk.roles[cut] = role;
  a->sending.estimate = a->fixed_tokens + tokens_of(a->talk.tokenizer, buf_str(&ask));
  for (size_t i = 0; i < cut; i++)
    a->sending.estimate += a->talk.tokens[i];
  buf_release(&ask);
  return fine;
}

enum rein_code request_build(struct agent *a, int64_t output_limit, struct err *err) {
  struct request r = {.model = a->config.model,
                      .system = a->config.system,
                      .tools = buf_str(&a->tools_json),
                      .messages = a->talk.bytes,
                      .roles = a->talk.roles,
                      .count = a->talk.count,
                      .output_limit = output_limit,
                      .no_tools = a->wrap.on,
                      .cache_key = a->config.jitter_seed,
                      .quirks = a->talk.quirks};
  struct buf count;
  struct buf *out = a->measures ? &count : &a->sending.body;
  buf_init_count(&count, TRANSCRIPT_MAX);
  if (!a->measures) make_room(a);
  bool fine = true;
  a->sending.estimate = request_estimate(a);
  if (a->compact.on)
    fine = put_compact(a, &r, out);
  else
    a->config.wire->put_request(out, &r);
  a->sending.output_limit = output_limit;
  a->sending.bytes = out->n;
  enum rein_code fail = fine ? out->fail : REIN_MEMORY;
  buf_release(&count);
  return fail ? ERR(err, fail, T_CORE_END_MEMORY) : REIN_OK;
}

/* Of a compaction: as much as all messages, of which it has a part, and what is asked. */
enum rein_code request_bound(struct agent *a, int64_t *bound, struct err *err) {
  size_t answered = a->budget.known ? a->talk.reply_bytes : 0, more = 0;
  enum rein_code code = REIN_OK;
  bool compacts = a->compact.on && a->budget.known;
  struct buf ask;
  buf_init_count(&ask, TRANSCRIPT_MAX);
  if (compacts) {
    a->compact.on = false;
    code = put_ask(a, &ask) ? request_build(a, request_wanted(a), err)
                            : ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
    a->compact.on = true;
    more = ask.n;
  } else {
    code = request_build(a, request_wanted(a), err);
  }
  int64_t overhead = a->config.wire->overhead_tokens;
  *bound = budget_bound(&a->budget, a->sending.bytes, answered, overhead) + (int64_t)more;
  buf_release(&ask);
  return code || !compacts ? code : request_build(a, request_wanted(a), err);
}

/* A summary's prompt is none that the next one begins with. */
void request_booked(struct agent *a, const struct usage *usage) {
  struct budget before = a->budget;
  a->sending.in_flight = false;
  budget_book(&a->budget, usage, a->sending.bytes);
  if (a->budget.known) gauge_set(&a->gauge, a->budget.prompt, a->sending.estimate);
  if (a->compact.on) {
    budget_recall(&a->budget, &before);
    return;
  }
  a->known_estimate = a->sending.estimate;
  a->talk.reply_bytes = 0; /* until it is kept: then it goes back */
  compact_counted(a);
}

void agent_measure(struct agent *a, bool on) {
  a->measures = on;
  if (on) buf_release(&a->sending.body);
}

bool request_has_room(struct agent *a) {
  if (!a->sending.lowered || !a->budget.known) return false;
  struct budget after = a->budget;
  budget_withdraw(&after);
  int64_t bound = budget_bound(&after, a->sending.bytes, 0, a->config.wire->overhead_tokens);
  int64_t room = budget_output(&after, bound, a->config.output_limit);
  if (room < a->sending.output_limit + OUTPUT_LIMIT_MIN) return false;
  a->budget = after;
  return true;
}

static bool is_tried(const struct agent *a, enum rewrite repair) {
  return a->repaired >> repair & 1;
}

/* By a fault: what is not comes from elsewhere. */
static bool is_asked_for(enum rewrite repair) {
  return repair != REWRITE_NONE && repair != REWRITE_LOOSE_TOOL && repair != REWRITE_MODEL &&
         repair != REWRITE_COMPACT;
}

/* A signature also when no signed block is known here: the provider's word counts. */
enum rein_code request_repair(struct agent *a, const struct fault *f, struct err *err) {
  const struct wire *wire = a->config.wire;
  enum rewrite repair = f->kind == FAULT_BOUND ? REWRITE_DROP_THINKING : f->repair;
  const struct quirks *quirks = a->talk.quirks;
  a->sending.repair = REWRITE_NONE;
  if (offer_can_loosen(a, f)) {
    a->sending.repair = REWRITE_LOOSE_TOOL;
    return arena_str(&a->fixed, f->message, &a->sending.refused)
               ? REIN_OK
               : ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  }
  if (!is_asked_for(repair) || is_tried(a, repair)) return REIN_OK;
  if (repair != REWRITE_DROP_THINKING) {
    if (!wire->repair) return REIN_OK;
    if (!wire->repair(&a->fixed, repair, &quirks)) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
    if (quirks == a->talk.quirks) return REIN_OK; /* it is so already: the same would go out */
  }
  a->sending.repair = repair;
  a->sending.quirks = quirks;
  return REIN_OK;
}

enum rein_code request_rewrite(struct agent *a, struct err *err) {
  enum rewrite repair = a->sending.repair;
  if (repair == REWRITE_COMPACT) return compact_apply(a, err);
  bool drop = repair == REWRITE_DROP_THINKING, tool = repair == REWRITE_LOOSE_TOOL;
  enum rein_code code =
      tool ? offer_loosen(a, err) : transcript_rewrite(&a->talk, a->sending.quirks, drop, err);
  if (code) return code;
  budget_forget(&a->budget); /* what the past cost says nothing about other bytes */
  if (!tool) a->repaired |= UINT32_C(1) << repair; /* tools remember it themselves */
  a->sending.repairs++;
  return REIN_OK;
}
