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

struct seen; /* of files: run.h */

struct replay {
  struct arena fixed;   /* of the first record; the agent borrows from it */
  struct arena scratch; /* of the record being fed */
  struct agent_config config;
  struct record_head head;
  struct agent *agent;
  struct seen *seen;        /* what its calls have seen of files */
  size_t records;           /* fed, the first record included */
  int64_t at_ms;            /* of the last one */
  enum event_kind last;     /* SAY when there is none beside the first */
  enum rein_outcome ending; /* of the last OUTCOME, when it is the last record; else NONE */
};

/* Sees what the live watcher and driver saw, in the same order. */
struct replay_watch {
  /* The first record, before there is an agent: what it says may be changed. */
  enum rein_code (*start)(void *ctx, struct agent_config *config, struct err *err);
  /* A record, before it is fed. False: it is passed over. */
  bool (*event)(void *ctx, size_t record, struct event *event, const struct agent *agent);
  void (*fed)(void *ctx, size_t record, const struct agent *agent); /* not yet pulled */
  void (*action)(void *ctx, const struct action *action);
  void *ctx;
  bool bodies; /* requests are built, so that their actions have the bytes */
};

/* Feeds the first `count` records of the journal (fewer when it has fewer) and
 * pulls all actions after each, as the pump does. REIN_INPUT: a record that
 * cannot be read. Members of `watch` may be NULL, and it too. The agent keeps its
 * blocks: see agent_keep_blocks. Close it in any case. */
enum rein_code replay_open(struct journal *journal, size_t count, const struct replay_watch *watch,
                           struct replay *replay, struct err *err) REIN_CHECKED;
void replay_close(struct replay *replay);
