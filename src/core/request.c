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
  a->config.wire->put_request(out, &r);
  a->sending.output_limit = output_limit;
  a->sending.bytes = out->n;
  enum rein_code fail = out->fail;
  buf_release(&count);
  return fail ? ERR(err, fail, T_CORE_END_MEMORY) : REIN_OK;
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
  if (repair == REWRITE_LOOSE_TOOL || repair == REWRITE_MODEL) return REIN_OK; /* none of these */
  if (repair == REWRITE_NONE || is_tried(a, repair)) return REIN_OK;
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
  bool drop = repair == REWRITE_DROP_THINKING, tool = repair == REWRITE_LOOSE_TOOL;
  enum rein_code code =
      tool ? offer_loosen(a, err) : transcript_rewrite(&a->talk, a->sending.quirks, drop, err);
  if (code) return code;
  budget_forget(&a->budget); /* what the past cost says nothing about other bytes */
  if (!tool) a->repaired |= UINT32_C(1) << repair; /* tools remember it themselves */
  a->sending.repairs++;
  return REIN_OK;
}
