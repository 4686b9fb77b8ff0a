/* The pump: takes what happened in order, writes it into the journal, feeds it
 * to the machine, and does what the machine then wants. It is entered from the
 * loop's own turn alone, through the run's timer. The kinds of action stand
 * beside it: send.c, run_call.c, ask.c; what time brings, in tick.c.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "driver/report.h"
#include "driver/run.h"
#include "text/text.h"

#include <assert.h>

int64_t run_now(const struct run *run) {
  return loop_now(run->driver->loop) - run->born_ms;
}

void run_wake(struct run *run, int64_t at_ms) {
  if (at_ms >= run->timer_ms) return;
  run->timer_ms = at_ms;
  loop_timer_set(run->timer, run->born_ms + at_ms);
}

void run_break(struct run *run, enum rein_outcome outcome, const struct err *why) {
  if (run->broken) return; /* the first failure is the cause */
  run->broken = true;
  run->end = (struct agent_end){.outcome = outcome, .why = *why};
  run_wake(run, 0);
}

void run_break_memory(struct run *run) {
  struct err err = {0};
  ERR(&err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  run_break(run, REIN_OUTCOME_INTERNAL, &err);
}

void note_release(struct note *note) {
  mem_free(note->words);
  note->words = NULL;
}

void run_note(struct run *run, const struct note *note) {
  if (run->note_count == run->note_room) {
    size_t room = run->note_room ? run->note_room * 2 : 8;
    struct note *notes = room <= NOTES_MAX ? mem_resize(run->notes, room * sizeof *notes) : NULL;
    if (!notes) {
      struct note lost = *note;
      note_release(&lost);
      run_break_memory(run);
      return;
    }
    run->notes = notes;
    run->note_room = room;
  }
  run->notes[run->note_count++] = *note;
  run_wake(run, 0);
}

static bool over(const struct run *run) {
  return run->broken || agent_ended(run->agent)->outcome != REIN_OUTCOME_NONE;
}

static void perform(struct run *run, const struct action *action) {
  switch (action->kind) {
  case ACTION_NONE:
  case ACTION_DONE: return; /* the pump sees that it ended */
  case ACTION_RESERVE:
    /* A budget that many runs share is asked here, and may answer REFUSED. */
    run_note(run, &(struct note){.kind = EVENT_GRANTED,
                                 .id = action->id,
                                 .number = action->tokens,
                                 .bytes = (int64_t)action->body.n,
                                 .hash = hash_bytes(action->body)});
    return;
  case ACTION_SEND: send_start(run, action); return;
  case ACTION_REWRITE:
    run_note(run,
             &(struct note){.kind = EVENT_REWRITE, .id = action->id, .rewrite = action->rewrite});
    return;
  case ACTION_ASK: ask_start(run, action); return;
  case ACTION_RUN: call_prepare(run, action); return;
  case ACTION_ABORT_SEND: send_drop(run); return;
  case ACTION_ABORT_RUN:
    call_drop(run, action->id);
    ask_drop(run, action->id);
    return;
  }
}

/* All that the machine wants now, before it is told anything more: a replay
 * pulls in the same order. */
static void pull(struct run *run) {
  struct action action;
  while (!run->broken && agent_next(run->agent, &action))
    perform(run, &action);
}

/* Text is mended before it is written down, so that the record read back is
 * the event that was fed. */
static void mend(struct run *run, struct event *event, struct buf *room) {
  if (event->text.n == 0 || utf8_valid(event->text)) return;
  utf8_repair(room, event->text);
  if (room->fail) run_break_memory(run);
  event->text = buf_str(room);
}

void run_deliver(struct run *run, struct event *event) {
  struct arena masked;
  struct buf mended;
  struct err err = {0};
  if (run->broken) return;
  arena_init(&masked, 2 * (size_t)RECORD_BYTES_MAX);
  buf_init(&mended, RECORD_BYTES_MAX);
  mend(run, event, &mended);
  event->at_ms = run_now(run);
  if (!run->broken && keep_event(run, &masked, event)) {
    /* Mostly the machine ends itself when it fails, and says why. */
    if (agent_feed(run->agent, event, &err) != REIN_OK && !over(run))
      run_break(run, REIN_OUTCOME_INTERNAL, &err);
    if (run->spec.watch.record)
      run->spec.watch.record(run->spec.watch.ctx, run, buf_str(&run->line), event);
    pull(run);
  }
  if (run->line.cap > RECORD_BYTES_KEPT) {
    buf_release(&run->line);
    buf_init(&run->line, RECORD_BYTES_MAX);
  }
  buf_release(&mended);
  arena_release(&masked);
}

static void deliver_cancel(struct run *run, const struct note *note) {
  struct num_text room;
  struct buf by;
  buf_init(&by, 256);
  if (note->number == 0)
    TEXT_PUT(&by, run->spec.agent.lang, T_DRIVER_EMBEDDER);
  else
    TEXT_PUT(&by, run->spec.agent.lang, T_DRIVER_SIGNAL, str_num(&room, note->number));
  run_deliver(run, &(struct event){
                       .kind = EVENT_CANCEL, .signal = (int)note->number, .text = buf_str(&by)});
  buf_release(&by);
}

static void deliver_rewrite(struct run *run, const struct note *note) {
  struct event event = {.kind = EVENT_REWRITE, .id = note->id, .rewrite = note->rewrite};
  if (note->rewrite == REWRITE_COMPACT) event.compacted = agent_compacted(run->agent);
  run_deliver(run, &event);
  tell_rewrite(run, note->rewrite);
}

static void take(struct run *run, const struct note *note) {
  switch (note->kind) {
  case EVENT_SAY:
    run_deliver(run, &(struct event){.kind = EVENT_SAY, .text = {note->words, note->words_n}});
    return;
  case EVENT_GRANTED:
    run_deliver(run, &(struct event){.kind = EVENT_GRANTED,
                                     .id = note->id,
                                     .tokens = note->number,
                                     .compacts = agent_compacts(run->agent),
                                     .body = {note->bytes, note->hash}});
    return;
  case EVENT_REFUSED:
    run_deliver(run, &(struct event){.kind = EVENT_REFUSED, .id = note->id});
    return;
  case EVENT_REPLY:
  case EVENT_FAILED: send_deliver(run, note->id); return;
  case EVENT_VERDICT: ask_deliver(run, note->id); return;
  case EVENT_STARTED: call_deliver_started(run, note->id); return;
  case EVENT_RESULT: call_deliver_result(run, note->id); return;
  case EVENT_REWRITE:
    if (note->rewrite == REWRITE_MODEL)
      resume_deliver_model(run);
    else
      deliver_rewrite(run, note);
    return;
  case EVENT_CANCEL: deliver_cancel(run, note); return;
  case EVENT_TICK: run_deliver(run, &(struct event){.kind = EVENT_TICK}); return;
  case EVENT_LIMITS:
    run_deliver(
        run,
        &(struct event){.kind = EVENT_LIMITS, .limits = run->limits, .now = run->spec.agent.facts});
    return;
  case EVENT_RESUME: resume_deliver(run, note); return;
  case EVENT_OUTCOME: return; /* delivered as it comes, never noted */
  }
}

/* What counts also after the end, and leads out of it. */
static bool begins(const struct note *note) {
  return note->kind == EVENT_SAY || note->kind == EVENT_RESUME || note->kind == EVENT_LIMITS ||
         (note->kind == EVENT_REWRITE && note->rewrite == REWRITE_MODEL);
}

/* In the order of arrival; more may join while it goes on. After the end only
 * new words count: what else comes is late and is dropped. A request that is
 * ready goes out before anything more is heard: its bytes are the machine's. */
static void take_all(struct run *run) {
  size_t i = 0;
  for (; i < run->note_count && !send_held(run); i++) {
    struct note note = run->notes[i];
    run->notes[i].words = NULL;
    if (!run->broken && (begins(&note) || !over(run))) take(run, &note);
    note_release(&note);
  }
  if (i == 0) return;
  run->note_count -= i;
  memmove(run->notes, run->notes + i, run->note_count * sizeof *run->notes);
}

/* ---- the end ------------------------------------------------------------------ */

/* Nothing goes on any more, and the journal tells how it ended. */
static void wind_up(struct run *run) {
  run->told = true;
  send_drop(run);
  call_drop_all(run);
  ask_drop_all(run);
  if (run->broken) return;
  struct agent_stats stats = agent_stats(run->agent);
  run->end = *agent_ended(run->agent);
  run_deliver(run, &(struct event){.kind = EVENT_OUTCOME,
                                   .ending = {.outcome = run->end.outcome,
                                              .exit = report_exit(run),
                                              .turns = stats.turns,
                                              .requests = stats.requests,
                                              .spent = stats.spent,
                                              .usage = stats.usage,
                                              .ms = run_ms(run)}});
}

static void end(struct run *run) {
  run->live = run->told = false;
  run->ended_ms = run_now(run);
  run->driver->live--;
  if (run->spec.watch.ended) run->spec.watch.ended(run->spec.watch.ctx, run, &run->end);
  if (run->driver->live == 0) loop_stop(run->driver->loop);
}

/* ---- the pump ----------------------------------------------------------------- */

/* What must not happen before it is written down. A question is none of it, but a
 * person may think for long, and the reply was paid for. */
static bool holds(const struct run *run) {
  return send_held(run) || call_held(run) || run->asking || (run->live && over(run));
}

/* What was held, its records being safe. */
static void let_go(struct run *run) {
  send_go(run);
  call_launch(run);
  if (run->live && over(run) && run->told) end(run);
}

void run_pump(void *ctx) {
  struct run *run = ctx;
  assert(!run->pumping);
  run->timer_ms = INT64_MAX; /* it fired */
  if (run->writing) return;  /* its answer wakes the run */
  run->pumping = true;
  if (!run->dirty) let_go(run);
  tick_look(run);
  take_all(run);
  if (run->live && over(run) && !run->told) wind_up(run);
  if (holds(run) && (run->broken || keep_safe(run))) let_go(run);
  run->pumping = false;
  if (!run->writing) tick_set(run);
}
