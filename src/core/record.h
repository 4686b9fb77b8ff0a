/* Records of the journal: an event as one line of JSON, and back.
 *
 * The first record ("start") holds all that is fixed for a run, never the key.
 */
#pragma once

#include "core/agent.h"
#include "json/write.h"

const char *event_word(enum event_kind kind);
/* Appends the record, without a line end. */
void record_put(struct buf *out, const struct event *event);
/* What the first record says beside the machine's own. Slices of a record that
 * was read are in the arena. */
struct record_head {
  struct str run;      /* its name */
  struct str rein;     /* the version that began it */
  struct str provider; /* as -m names it; empty: of the machine alone */
  int64_t wall_ms;     /* since 1970 */
};
/* `config` with its defaults filled in: agent_config() of the agent made from it. */
void record_put_start(struct buf *out, const struct agent_config *config,
                      const struct record_head *head);
/* The first record `line` with another head: for a run that begins as a copy. */
void record_put_restart(struct buf *out, struct str line, const struct record_head *head);
/* A record back to an event, in the arena; `line` must live as long. */
enum rein_code record_read(struct arena *arena, struct str line, struct event *event,
                           struct err *err) REIN_CHECKED;
/* The first record back to a config; `wires` finds a wire by name. */
enum rein_code record_read_start(struct arena *arena, struct str line,
                                 const struct wire *(*wires)(struct str name),
                                 struct agent_config *config, struct record_head *head,
                                 struct err *err) REIN_CHECKED;
