/* Time: one timer per run stands at whatever is due next: the machine's own
 * deadline (valves, waits between retries), a call's limit, the idle limit. */
#include "driver/run.h"

#include <assert.h>

static int64_t sooner(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void tick_look(struct run *run) {
  int64_t now = run_now(run);
  if (!run->live) return;
  send_look(run, now);
  call_look(run, now);
  if (agent_deadline(run->agent) <= now) run_note(run, &(struct note){.kind = EVENT_TICK});
}

void tick_set(struct run *run) {
  if (run->note_count > 0 || (run->live && run->broken)) {
    run_wake(run, 0);
    return;
  }
  int64_t due = INT64_MAX;
  if (run->live) {
    due = agent_deadline(run->agent);
    due = sooner(due, send_due(run));
    due = sooner(due, call_due(run));
  }
  run->timer_ms = due;
  loop_timer_set(run->timer, due == INT64_MAX ? INT64_MAX : run->born_ms + due);
}
