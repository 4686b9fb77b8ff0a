/* Records in, an agent out. It performs nothing: what the machine wants while
 * it is rebuilt was done, and what came of it is the next record. */
#include "driver/replay.h"

#include "driver/driver.h"
#include "text/text.h"
#include "wire/wires.h"

#define REPLAY_BYTES_MAX ((size_t)2 << 30) /* twice what a journal in memory may hold */

static void pull(struct agent *agent, const struct replay_watch *watch) {
  struct action action;
  while (agent_next(agent, &action))
    if (watch && watch->action) watch->action(watch->ctx, &action);
}

/* The record in the arena; empty when there is none. */
static enum rein_code record(struct replay *r, struct journal *journal, size_t i, struct str *line,
                             struct err *err) {
  struct str borrowed;
  *line = STR_NONE;
  enum rein_code code = journal->kind->record(journal, i, &borrowed, err);
  if (code != REIN_OK || borrowed.n == 0) return code;
  if (!arena_str(&r->arena, borrowed, line)) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return REIN_OK;
}

static enum rein_code start(struct replay *r, struct journal *journal, struct err *err) {
  struct str line;
  enum rein_code code = record(r, journal, 0, &line, err);
  if (code != REIN_OK) return code;
  if (line.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_REPLAY_EMPTY);
  code = record_read_start(&r->arena, line, wire_by_name, &r->config, &r->head, err);
  if (code != REIN_OK) return code;
  r->records = 1;
  return agent_new(&r->config, &r->agent, err);
}

static enum rein_code feed(struct replay *r, struct str line, const struct replay_watch *watch,
                           struct err *err) {
  struct event event;
  enum rein_code code = record_read(&r->arena, line, &event, err);
  if (code != REIN_OK) return code;
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
  *r = (struct replay){0};
  arena_init(&r->arena, REPLAY_BYTES_MAX);
  enum rein_code code = start(r, journal, err);
  while (code == REIN_OK && r->records < count) {
    code = record(r, journal, r->records, &line, err);
    if (code != REIN_OK || line.n == 0) break;
    code = feed(r, line, watch, err);
  }
  return code;
}

void replay_close(struct replay *replay) {
  agent_free(replay->agent);
  arena_release(&replay->arena);
  *replay = (struct replay){0};
}
