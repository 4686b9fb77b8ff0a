/* Records in, an agent out. It performs nothing: what the machine wants while
 * it is rebuilt was done, and what came of it is the next record. */
#include "driver/replay.h"

#include "core/record.h"
#include "driver/driver.h"
#include "text/text.h"
#include "wire/wires.h"

#define REPLAY_BYTES_MAX ((size_t)2 << 30) /* twice what a journal in memory may hold */

static void pull(struct agent *agent, const struct replay_watch *watch) {
  struct action action;
  while (agent_next(agent, &action))
    if (watch && watch->action) watch->action(watch->ctx, &action);
}

static enum rein_code feed(struct replay *r, struct str line, struct err *err) {
  struct event event;
  enum rein_code code = record_read(&r->arena, line, &event, err);
  if (code != REIN_OK) return code;
  code = agent_feed(r->agent, &event, err);
  /* A machine that ended itself over it did so when it was live. */
  return agent_ended(r->agent)->outcome != REIN_OUTCOME_NONE ? REIN_OK : code;
}

enum rein_code replay_open(struct journal *journal, size_t count, const struct replay_watch *watch,
                           struct replay *replay, struct err *err) {
  struct replay *r = replay;
  *r = (struct replay){0};
  arena_init(&r->arena, REPLAY_BYTES_MAX);
  struct str line = journal->kind->record(journal, 0), copy;
  if (count == 0 || line.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_REPLAY_EMPTY);
  if (!arena_str(&r->arena, line, &copy)) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  enum rein_code code = record_read_start(&r->arena, copy, wire_by_name, &r->config, err);
  if (code == REIN_OK) code = agent_new(&r->config, &r->agent, err);
  for (r->records = 1; code == REIN_OK && r->records < count; r->records++) {
    line = journal->kind->record(journal, r->records);
    if (line.n == 0) break;
    if (!arena_str(&r->arena, line, &copy)) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
    code = feed(r, copy, err);
    if (code == REIN_OK && watch && watch->fed) watch->fed(watch->ctx, r->records, r->agent);
    if (code == REIN_OK) pull(r->agent, watch);
  }
  return code;
}

void replay_close(struct replay *replay) {
  agent_free(replay->agent);
  arena_release(&replay->arena);
  *replay = (struct replay){0};
}
