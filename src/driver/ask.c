/* ASK: a question about a call, to whoever the run's owner named. Where nobody
 * can be asked the answer is no, at once, with the rule and the flag that would
 * have allowed it.
 */
#include "base/mem.h"
#include "driver/run.h"
#include "text/text.h"

struct asking {
  struct asking *next;
  uint32_t id;
  bool answered, remember;
  enum rein_verdict verdict;
  enum decider by;
  size_t reason_n;
  char reason[ASK_REASON_MAX];
};

static struct asking **find(struct run *run, uint32_t id) {
  struct asking **link = &run->asking;
  while (*link && (*link)->id != id)
    link = &(*link)->next;
  return link;
}

static void answer_nobody(struct run *run, const struct action *action) {
  struct buf reason;
  buf_init(&reason, ASK_REASON_MAX);
  TEXT_PUT(&reason, run->spec.agent.model_lang, T_DRIVER_ASK_NOBODY, action->tool->name,
           action->rule, action->lift);
  driver_answer(run, action->id, REIN_DENY, BY_NOBODY, buf_str(&reason), false);
  buf_release(&reason);
}

void ask_start(struct run *run, const struct action *action) {
  struct asking *a = mem_zero(sizeof *a);
  if (!a) {
    run_break_memory(run);
    return;
  }
  a->id = action->id;
  a->next = run->asking;
  run->asking = a;
  if (!run->spec.ask)
    answer_nobody(run, action);
  else
    run->spec.ask(run->spec.ask_ctx, run, action);
}

void driver_answer(struct run *run, uint32_t call, enum rein_verdict verdict, enum decider by,
                   struct str reason, bool remember) {
  struct asking *a = *find(run, call);
  if (!a || a->answered) return;
  struct str kept = reason.n > ASK_REASON_MAX ? utf8_head(reason, ASK_REASON_MAX / 4) : reason;
  a->answered = true;
  a->verdict = verdict == REIN_ALLOW ? REIN_ALLOW : REIN_DENY;
  a->by = by;
  a->remember = remember;
  a->reason_n = kept.n > ASK_REASON_MAX ? 0 : kept.n; /* one grapheme that fills it all */
  if (a->reason_n > 0) memcpy(a->reason, kept.p, a->reason_n);
  run_note(run, &(struct note){.kind = EVENT_VERDICT, .id = call});
}

void ask_deliver(struct run *run, uint32_t id) {
  struct asking **link = find(run, id), *a = *link;
  if (!a || !a->answered) return;
  *link = a->next;
  run_deliver(run, &(struct event){.kind = EVENT_VERDICT,
                                   .id = id,
                                   .text = {a->reason, a->reason_n},
                                   .verdict = {a->verdict, a->by, a->remember}});
  mem_free(a);
}

void ask_drop(struct run *run, uint32_t id) {
  struct asking **link = find(run, id), *a = *link;
  if (!a) return;
  *link = a->next;
  mem_free(a);
}

void ask_drop_all(struct run *run) {
  while (run->asking)
    ask_drop(run, run->asking->id);
}
