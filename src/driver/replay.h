/* A run rebuilt from its journal: for resume, and for the test that a replay
 * equals the live run.
 *
 *   struct replay replay;
 *   replay_open(journal, SIZE_MAX, NULL, &replay, &err);
 *   ... replay.agent ...
 *   replay_close(&replay);
 */
#pragma once

#include "base/arena.h"
#include "core/record.h"
#include "store/journal.h"

struct replay {
  struct arena arena; /* of the records; the agent borrows from it */
  struct agent_config config;
  struct record_head head;
  struct agent *agent;
  size_t records; /* fed, the first record included */
};

/* Sees what the live watcher and driver saw, in the same order. */
struct replay_watch {
  void (*fed)(void *ctx, size_t record, const struct agent *agent); /* not yet pulled */
  void (*action)(void *ctx, const struct action *action);
  void *ctx;
};

/* Feeds the first `count` records of the journal (fewer when it has fewer) and
 * pulls all actions after each, as the pump does. REIN_INPUT: a record that
 * cannot be read. `watch` may be NULL. Close it in any case. */
enum rein_code replay_open(struct journal *journal, size_t count, const struct replay_watch *watch,
                           struct replay *replay, struct err *err) REIN_CHECKED;
void replay_close(struct replay *replay);
