/* All runs of a store, newest first. What they are about stands in their
 * records, which are read one by one.
 */
#include "store/inside.h"
#include "text/text.h"

enum rein_code store_each(struct store *store, store_run_fn fn, void *ctx, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_prepare(
      store, "SELECT name, started FROM run ORDER BY started DESC, id DESC", &stmt, err);
  if (code) return code;
  int rc = sqlite3_step(stmt);
  while (rc == SQLITE_ROW) {
    struct str name = {(const char *)sqlite3_column_text(stmt, 0),
                       (size_t)sqlite3_column_bytes(stmt, 0)};
    if (!fn(ctx, name, sqlite3_column_int64(stmt, 1))) break;
    rc = sqlite3_step(stmt);
  }
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) code = store_fail(store, rc, err);
  sqlite3_finalize(stmt);
  return code;
}

struct newest {
  struct arena *arena;
  struct str *run;
  bool found, kept;
};

static bool keep(void *ctx, struct str run, int64_t started_ms) {
  struct newest *newest = ctx;
  (void)started_ms;
  newest->found = true;
  newest->kept = arena_str(newest->arena, run, newest->run);
  return false;
}

enum rein_code store_last(struct store *store, struct arena *arena, struct str *run,
                          struct err *err) {
  struct newest newest = {.arena = arena, .run = run};
  enum rein_code code = store_each(store, keep, &newest, err);
  if (code) return code;
  if (!newest.found) return ERR(err, REIN_INPUT, T_STORE_NO_RUNS, str_of(store->path));
  return newest.kept ? REIN_OK : ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
}
