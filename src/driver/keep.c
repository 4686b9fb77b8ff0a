/* The journal's side of a run: what is written, and when it is safe. What is
 * written is what the machine is fed, byte for byte; so a key is masked before
 * either, and a replay agrees.
 */
#include "core/record.h"
#include "driver/run.h"
#include "text/text.h"

/* A key may come into a run's words by a tool's result, or by the person. */
enum { KEYS = 2 }; /* and the spec's masks */

static struct secret key_of(const struct run *run, size_t i) {
  if (i == 0) return run->key;
  if (i >= KEYS) return run->spec.masks[i - KEYS];
  /* Masking only reads; the struct's pointer is for owners that wipe. */
  struct str token = str_trim(run->spec.github_token);
  return (struct secret){(char *)(uintptr_t)token.p, token.n};
}

/* True when the masked line differs: it is then in run->line. */
static bool mask_line(struct run *run) {
  bool found = false;
  for (size_t i = 0; i < KEYS + run->spec.mask_count; i++) {
    struct secret key = key_of(run, i);
    struct buf masked;
    if (key.n < SECRET_MASK_MIN) continue;
    buf_init(&masked, RECORD_BYTES_MAX);
    secret_mask(&masked, &key, buf_str(&run->line));
    if (masked.fail) run->line.fail = masked.fail;
    if (masked.fail || str_eq(buf_str(&masked), buf_str(&run->line))) {
      buf_release(&masked);
      continue;
    }
    buf_release(&run->line);
    run->line = masked;
    found = true;
  }
  return found;
}

/* The first record holds numbers, not defaults: another version may have others. */
enum rein_code keep_start(struct run *run, struct err *err) {
  struct journal *journal = run->spec.journal;
  struct agent_config config = *agent_config(run->agent);
  struct record_head head = {.run = run->spec.id,
                             .rein = STR(REIN_VERSION),
                             .provider = run->spec.provider,
                             .wall_ms = run->spec.wall_ms};
  record_put_start(&run->line, &config, &head);
  bool held_key = mask_line(run);
  if (run->line.fail) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  if (held_key) return ERR(err, REIN_INPUT, T_DRIVER_KEY_IN_START);
  run->dirty = true;
  return journal->kind->append(journal, buf_str(&run->line), err);
}

static bool broke(struct run *run, enum rein_code code, const struct err *why) {
  bool held = code == REIN_HELD;
  run_break(run, held ? REIN_OUTCOME_HELD : REIN_OUTCOME_STORE_FAILED, why);
  return false;
}

bool keep_event(struct run *run, struct arena *arena, struct event *event) {
  struct err err = {0};
  struct journal *journal = run->spec.journal;
  buf_reset(&run->line);
  record_put(&run->line, event);
  bool masked = mask_line(run);
  if (!run->line.fail && masked && record_read(arena, buf_str(&run->line), event, &err) != REIN_OK)
    run_break(run, REIN_OUTCOME_INTERNAL, &err);
  if (run->line.fail) run_break_memory(run);
  if (run->broken) return false;
  run->dirty = true;
  enum rein_code code = journal->kind->append(journal, buf_str(&run->line), &err);
  return code == REIN_OK || broke(run, code, &err);
}

static void safe(void *ctx, const struct err *why) {
  struct run *run = ctx;
  run->writing = false;
  run->dirty = false;
  if (why) broke(run, why->code, why);
  run_wake(run, 0);
}

bool keep_safe(struct run *run) {
  struct err err = {0};
  struct journal *journal = run->spec.journal;
  bool later = false;
  if (!run->dirty) return true;
  journal->safe = safe;
  journal->safe_ctx = run;
  run->writing = true; /* also while commit runs: it may answer at once, and badly */
  enum rein_code code = journal->kind->commit(journal, &later, &err);
  if (code == REIN_OK && later) return false;
  run->writing = run->dirty = false;
  return code == REIN_OK || broke(run, code, &err);
}
