/* Looking over the records of a run: see past.h. */
#include "cli/past.h"

#include "text/text.h"
#include "wire/wires.h"

#define PAST_ARENA_MAX ((size_t)2 << 30) /* of one record: twice what SQLite holds in a line */

enum rein_code past_start(struct journal *journal, struct arena *arena, struct agent_config *config,
                          struct record_head *head, struct err *err) {
  struct str line, kept;
  enum rein_code code = journal->kind->record(journal, 0, &line, err);
  if (code) return code;
  if (line.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_REPLAY_EMPTY);
  if (!arena_str(arena, line, &kept)) return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  return record_read_start(arena, kept, wire_by_name, config, head, err);
}

enum rein_code past_each(struct journal *journal, past_fn fn, void *ctx, struct err *err) {
  struct arena scratch;
  struct event event;
  struct str line;
  enum rein_code code = REIN_OK;
  for (size_t i = 1; !code; i++) {
    code = journal->kind->record(journal, i, &line, err);
    if (code || line.n == 0) break;
    arena_init(&scratch, PAST_ARENA_MAX);
    code = record_read(&scratch, line, &event, err);
    if (!code) code = fn(ctx, i, &event, err);
    arena_release(&scratch);
  }
  return code;
}
