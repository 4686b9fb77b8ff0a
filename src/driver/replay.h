/* A run rebuilt from its journal: for resume, and for the test that a replay
 * equals the live run.
 *
 *   struct replay replay;
 *   replay_open(journal, SIZE_MAX, NULL, NULL, &replay, &err);
 *   ... replay.agent ...
 *   replay_close(&replay);
 */
#pragma once

#include "base/arena.h"
#include "core/agent.h"
#include "store/journal.h"

struct replay {
  struct arena arena; /* of the records; the agent borrows from it */
  struct agent_config config;
  struct agent *agent;
  size_t records; /* fed, the first record included */
};

/* Sees each action that the machine gives out, in the live order. */
typedef void (*replay_action_fn)(void *ctx, const struct action *action);

/* Feeds the first `count` records of the journal (fewer when it has fewer) and
 * pulls all actions after each, as the pump does. REIN_INPUT: a record that
 * cannot be read, by its number. Close it in any case. */
enum rein_code replay_open(struct journal *journal, size_t count, replay_action_fn action,
                           void *ctx, struct replay *replay, struct err *err) REIN_CHECKED;
void replay_close(struct replay *replay);
