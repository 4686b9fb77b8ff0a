/* Records in, an agent out. It performs nothing: what the machine wants while
 * it is rebuilt was done, and what came of it is the next record. */
#include "driver/replay.h"

#include "driver/run.h"
#include "text/text.h"
#include "wire/wires.h"

#define REPLAY_BYTES_MAX ((size_t)2 << 30) /* twice what a journal in memory may hold */

static void pull(struct agent *agent, const struct replay_watch *watch) {
  struct action action;
  while (agent_next(agent, &action))
    if (watch && watch->action) watch->action(watch->ctx, &action);
}

/* The record in the arena; empty when there is none. */
static enum rein_code record(struct arena *arena, struct journal *journal, size_t i,
                             struct str *line, struct err *err) {
  struct str borrowed;
  *line = STR_NONE;
  enum rein_code code = journal->kind->record(journal, i, &borrowed, err);
  if (code != REIN_OK || borrowed.n == 0) return code;
  if (!arena_str(arena, borrowed, line)) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return REIN_OK;
}

static enum rein_code start(struct replay *r, struct journal *journal,
                            const struct replay_watch *watch, struct err *err) {
  struct str line;
  enum rein_code code = record(&r->fixed, journal, 0, &line, err);
  if (code != REIN_OK) return code;
  if (line.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_REPLAY_EMPTY);
  code = record_read_start(&r->fixed, line, wire_by_name, &r->config, &r->head, err);
  if (code == REIN_OK && watch && watch->start) code = watch->start(watch->ctx, &r->config, err);
  if (code != REIN_OK) return code;
  r->records = 1;
  code = agent_new(&r->config, &r->agent, err);
  if (code) return code;
  agent_measure(r->agent, !watch || !watch->bodies);
  return agent_keep_blocks(r->agent, true, err);
}

static enum rein_code feed(struct replay *r, struct str line, const struct replay_watch *watch,
                           struct err *err) {
  struct event event;
  enum rein_code code = record_read(&r->scratch, line, &event, err);
  if (code != REIN_OK) return code;
  r->at_ms = event.at_ms;
  r->last = event.kind;
  r->ending = event.kind == EVENT_OUTCOME ? event.ending.outcome : REIN_OUTCOME_NONE;
  if (watch && watch->event && !watch->event(watch->ctx, r->records, &event, r->agent)) {
    r->records++;
    return REIN_OK;
  }
  if (!seen_keep(&r->seen, &event)) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  code = agent_feed(r->agent, &event, err);
  /* A machine that ended itself over it did so when it was live. */
  if (code != REIN_OK && agent_ended(r->agent)->outcome == REIN_OUTCOME_NONE) return code;
  if (watch && watch->fed) watch->fed(watch->ctx, r->records, r->agent);
  pull(r->agent, watch);
  r->records++;
  return REIN_OK;
}

enum rein_code replay_open(struct journal *journal, size_t count, const struct replay_watch *watch,
                           struct replay *replay, struct err *err) {
  struct replay *r = replay;
  struct str line;
  *r = (struct replay){.ending = REIN_OUTCOME_NONE};
  arena_init(&r->fixed, REPLAY_BYTES_MAX);
  enum rein_code code = start(r, journal, watch, err);
  while (code == REIN_OK && r->records < count) {
    arena_release(&r->scratch);
    arena_init(&r->scratch, REPLAY_BYTES_MAX);
    code = record(&r->scratch, journal, r->records, &line, err);
    if (code != REIN_OK || line.n == 0) break;
    code = feed(r, line, watch, err);
  }
  arena_release(&r->scratch);
  return code;
}

void replay_close(struct replay *replay) {
  agent_free(replay->agent);
  seen_drop(&replay->seen);
  arena_release(&replay->fixed);
  *replay = (struct replay){0};
}
