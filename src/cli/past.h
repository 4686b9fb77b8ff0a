/* The records of a run of the past, one after another, for commands that only look.
 * Nothing is fed to a machine here: that is driver/replay.h.
 */
#pragma once

#include "core/record.h"
#include "store/journal.h"

/* A record that follows the first one; what the event holds lives until the return. */
typedef enum rein_code (*past_fn)(void *ctx, size_t record, const struct event *event,
                                  struct err *err);

/* Reads the first record (config and head into the arena) and hands the others to `fn`,
 * until there are no more or it fails. REIN_INPUT: a record that cannot be read. */
enum rein_code past_start(struct journal *journal, struct arena *arena, struct agent_config *config,
                          struct record_head *head, struct err *err) REIN_CHECKED;
enum rein_code past_each(struct journal *journal, past_fn fn, void *ctx, struct err *err)
    REIN_CHECKED;
