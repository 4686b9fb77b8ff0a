/* Group commit: the records of all runs that asked for a commit go into one
 * transaction, on a pool thread. While it is under way further runs queue, and
 * share the next one. A batch owns the lines it writes, so that a journal may be
 * closed meanwhile.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "host/loop.h"
#include "store/inside.h"
#include "text/text.h"

#include <unistd.h>

/* One run's part. */
struct part {
  struct part *next;
  struct kept *kept; /* NULL: closed meanwhile; for the loop's thread alone */
  char *name;
  int64_t started_ms, row, fence;
  size_t first; /* the number of the first line */
  struct str *lines;
  size_t count;
  enum rein_code code; /* of this run alone: it was taken over */
  struct err err;
};

struct batch {
  struct store *store; /* NULL: it is closed; for the loop's thread alone */
  struct part *parts;
  enum rein_code code;
  struct err err;
  bool ended; /* the transaction is over: guarded by the store's lock until then */
};

static void free_lines(struct str *lines, size_t n) {
  for (size_t i = 0; i < n; i++)
    mem_free((char *)lines[i].p);
  mem_free(lines);
}

static void batch_free(struct batch *batch) {
  while (batch->parts) {
    struct part *part = batch->parts;
    batch->parts = part->next;
    free_lines(part->lines, part->count);
    mem_free(part->name);
    mem_free(part);
  }
  mem_free(batch);
}

/* ---- on the pool thread -------------------------------------------------------- */

static enum rein_code step(struct store *store, sqlite3_stmt *stmt, struct err *err) {
  int rc = sqlite3_step(stmt);
  return rc == SQLITE_DONE || rc == SQLITE_ROW ? REIN_OK : store_fail(store, rc, err);
}

static enum rein_code put_run(struct store *store, struct part *part, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_prepare(
      store, "INSERT INTO run(name, started, fence, holder) VALUES(?1, ?2, ?3, ?4)", &stmt, err);
  if (code) return code;
  sqlite3_bind_text(stmt, 1, part->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(stmt, 2, part->started_ms);
  sqlite3_bind_int64(stmt, 3, part->fence);
  sqlite3_bind_int64(stmt, 4, getpid());
  int rc = sqlite3_step(stmt);
  if (rc == SQLITE_DONE)
    part->row = sqlite3_last_insert_rowid(store->db);
  else if ((rc & 0xff) == SQLITE_CONSTRAINT)
    part->code = ERR(&part->err, REIN_INPUT, T_STORE_TWIN_RUN, str_of(part->name));
  else
    code = store_fail(store, rc, err);
  sqlite3_finalize(stmt);
  return code;
}

/* Whoever took the run meanwhile has raised its fence. */
static enum rein_code check_fence(struct store *store, struct part *part, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_statement(store, STATEMENT_FENCE, &stmt, err);
  if (code) return code;
  sqlite3_bind_int64(stmt, 1, part->row);
  code = step(store, stmt, err);
  if (!code && sqlite3_column_int64(stmt, 0) != part->fence)
    part->code = ERR(&part->err, REIN_HELD, T_STORE_LOST, str_of(part->name));
  sqlite3_reset(stmt);
  return code;
}

static enum rein_code put_lines(struct store *store, const struct part *part, sqlite3_stmt *stmt,
                                struct err *err) {
  enum rein_code code = REIN_OK;
  for (size_t i = 0; i < part->count && !code; i++) {
    struct str line = part->lines[i];
    sqlite3_bind_int64(stmt, 1, part->row);
    sqlite3_bind_int64(stmt, 2, (int64_t)(part->first + i));
    sqlite3_bind_int64(stmt, 3, (int64_t)hash_str(line));
    sqlite3_bind_text64(stmt, 4, line.p, line.n, SQLITE_STATIC, SQLITE_UTF8);
    code = step(store, stmt, err);
    sqlite3_reset(stmt);
  }
  return code;
}

static enum rein_code put_parts(struct store *store, struct part *parts, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_statement(store, STATEMENT_PUT, &stmt, err);
  for (struct part *part = parts; part && !code; part = part->next) {
    code = part->row ? check_fence(store, part, err) : put_run(store, part, err);
    if (!code && !part->code) code = put_lines(store, part, stmt, err);
  }
  return code;
}

static enum rein_code run_it(struct store *store, enum statement which, struct err *err) {
  sqlite3_stmt *stmt;
  enum rein_code code = store_statement(store, which, &stmt, err);
  if (code) return code;
  code = step(store, stmt, err);
  sqlite3_reset(stmt);
  return code;
}

static enum rein_code write_all(struct store *store, struct part *parts, struct err *err) {
  enum rein_code code = run_it(store, STATEMENT_BEGIN, err);
  if (code) return code;
  code = put_parts(store, parts, err);
  if (!code) code = run_it(store, STATEMENT_COMMIT, err);
  /* Some failures have rolled back already; then this one says so, and is moot. */
  if (code) (void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
  return code;
}

static void work(void *ctx) {
  struct batch *batch = ctx;
  struct store *store = batch->store;
  batch->code = write_all(store, batch->parts, &batch->err);
  pthread_mutex_lock(&store->lock);
  batch->ended = true;
  pthread_cond_broadcast(&store->ended);
  pthread_mutex_unlock(&store->lock);
}

/* ---- on the loop's thread ------------------------------------------------------ */

/* What the run's journal is told. */
static const struct err *settle_part(struct kept *kept, struct batch *batch, struct part *part) {
  if (batch->code) return &batch->err;
  if (part->code) return &part->err;
  kept->row = part->row;
  kept->count += part->count;
  return NULL;
}

static struct part *part_of(struct kept *kept) {
  struct part *part = mem_zero(sizeof *part);
  size_t n = strlen(kept->name) + 1;
  char *name = part ? mem_resize(NULL, n) : NULL;
  if (!name) {
    mem_free(part);
    return NULL;
  }
  memcpy(name, kept->name, n);
  *part = (struct part){.kept = kept,
                        .name = name,
                        .started_ms = kept->started_ms,
                        .row = kept->row,
                        .fence = kept->fence,
                        .first = kept->count,
                        .lines = kept->fresh,
                        .count = kept->fresh_n};
  kept->fresh = NULL;
  kept->fresh_n = kept->fresh_room = 0;
  return part;
}

static void start(struct store *store);

static void done(void *ctx) {
  struct batch *batch = ctx;
  struct store *store = batch->store;
  if (store) {
    store->batch = NULL;
    for (struct part *part = batch->parts; part; part = part->next) {
      struct kept *kept = part->kept;
      const struct err *why = kept ? settle_part(kept, batch, part) : NULL;
      if (kept && kept->journal.safe) kept->journal.safe(kept->journal.safe_ctx, why);
    }
    start(store);
  }
  batch_free(batch);
}

static void drop(void *ctx) {
  batch_free(ctx);
}

/* The runs whose part could not be made hear so; the others go on. */
static void refuse(struct kept *kept) {
  struct err err = {0};
  (void)ERR(&err, REIN_MEMORY, T_STORE_NO_MEMORY);
  if (kept->journal.safe) kept->journal.safe(kept->journal.safe_ctx, &err);
}

static void gather(struct store *store, struct batch *batch) {
  while (store->first) {
    struct kept *kept = store->first;
    store->first = kept->waiting;
    kept->waiting = NULL;
    struct part *part = part_of(kept);
    if (!part) {
      refuse(kept);
      continue;
    }
    part->next = batch->parts;
    batch->parts = part;
  }
  store->last = NULL;
}

static void start(struct store *store) {
  if (!store->first) return;
  struct batch *batch = mem_zero(sizeof *batch);
  if (batch) {
    batch->store = store;
    gather(store, batch);
    store->batch = batch;
    if (loop_work(store->loop, work, done, drop, batch) == REIN_OK) return;
    store->batch = NULL;
    batch->code = ERR(&batch->err, REIN_MEMORY, T_STORE_NO_MEMORY);
    done(batch);
    return;
  }
  while (store->first) {
    struct kept *kept = store->first;
    store->first = kept->waiting;
    kept->waiting = NULL;
    refuse(kept);
  }
  store->last = NULL;
}

/* Without a loop: at once, alone. */
static enum rein_code commit_now(struct kept *kept, struct err *err) {
  struct batch batch = {.store = kept->store};
  struct part *part = part_of(kept);
  if (!part) return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
  batch.code = write_all(kept->store, part, &batch.err);
  const struct err *why = settle_part(kept, &batch, part);
  if (why && err) *err = *why;
  enum rein_code code = batch.code ? batch.code : part->code;
  free_lines(part->lines, part->count);
  mem_free(part->name);
  mem_free(part);
  return code;
}

enum rein_code batch_commit(struct kept *kept, bool *later, struct err *err) {
  struct store *store = kept->store;
  *later = false;
  if (kept->fresh_n == 0) return REIN_OK;
  if (!store->loop) return commit_now(kept, err);
  *later = true;
  kept->waiting = NULL;
  if (store->last)
    store->last->waiting = kept;
  else
    store->first = kept;
  store->last = kept;
  if (!store->batch) start(store);
  return REIN_OK;
}

static void leave_queue(struct kept *kept) {
  struct store *store = kept->store;
  struct kept **link = &store->first, *before = NULL;
  while (*link && *link != kept) {
    before = *link;
    link = &before->waiting;
  }
  if (!*link) return;
  *link = kept->waiting;
  if (store->last == kept) store->last = before;
}

void batch_forget(struct kept *kept) {
  leave_queue(kept);
  for (struct part *part = kept->store->batch ? kept->store->batch->parts : NULL; part;
       part = part->next)
    if (part->kept == kept) part->kept = NULL;
  free_lines(kept->fresh, kept->fresh_n);
  kept->fresh = NULL;
  kept->fresh_n = 0;
}

void batch_settle(struct store *store) {
  struct batch *batch = store->batch;
  if (!batch) return;
  pthread_mutex_lock(&store->lock);
  while (!batch->ended)
    pthread_cond_wait(&store->ended, &store->lock);
  pthread_mutex_unlock(&store->lock);
  batch->store = NULL; /* its `done` or `drop` frees it */
  store->batch = NULL;
}
