/* The journal in a database: what was appended waits in memory for its commit
 * (batch.c); what is safe is read back from disk, so that a run costs no memory
 * for its past.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "store/inside.h"
#include "text/text.h"

#include <unistd.h>

#define LINE_MAX_BYTES ((size_t)1 << 30) /* SQLite's own ceiling of a text */

static struct kept *kept_of(struct journal *journal) {
  return (struct kept *)journal;
}

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
}

static bool grow(struct kept *k) {
  if (k->fresh_n < k->fresh_room) return true;
  size_t room = k->fresh_room ? k->fresh_room * 2 : 8;
  struct str *fresh = mem_resize(k->fresh, room * sizeof *fresh);
  if (!fresh) return false;
  k->fresh = fresh;
  k->fresh_room = room;
  return true;
}

static enum rein_code kept_append(struct journal *journal, struct str record, struct err *err) {
  struct kept *k = kept_of(journal);
  if (k->fence == FENCE_NONE) return ERR(err, REIN_BUG, T_STORE_READ_ONLY, str_of(k->name));
  char *copy = grow(k) ? mem_resize(NULL, record.n + 1) : NULL;
  if (!copy) return no_memory(err);
  if (record.n > 0) memcpy(copy, record.p, record.n);
  copy[record.n] = '\0';
  k->fresh[k->fresh_n++] = (struct str){copy, record.n};
  return REIN_OK;
}

static enum rein_code kept_commit(struct journal *journal, bool *later, struct err *err) {
  return batch_commit(kept_of(journal), later, err);
}

/* ---- back --------------------------------------------------------------------- */

static enum rein_code damaged(const struct kept *k, size_t i, struct err *err) {
  struct num_text which, before;
  return ERR(err, REIN_SYSTEM, T_STORE_RECORD, str_of(k->name), str_num(&which, (int64_t)i + 1),
             str_num(&before, (int64_t)i));
}

/* The row's line into the buffer, and whether it is as it was written. */
static bool take_line(struct kept *k, sqlite3_stmt *stmt) {
  const void *p = sqlite3_column_blob(stmt, 0);
  struct str line = {p, (size_t)sqlite3_column_bytes(stmt, 0)};
  buf_reset(&k->line);
  buf_put(&k->line, line);
  return line.n > 0 && hash_str(line) == (uint64_t)sqlite3_column_int64(stmt, 1);
}

static enum rein_code read_line(struct kept *k, size_t i, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_statement(k->store, STATEMENT_READ, &stmt, err);
  if (code) return code;
  sqlite3_bind_int64(stmt, 1, k->row);
  sqlite3_bind_int64(stmt, 2, (int64_t)i);
  int rc = sqlite3_step(stmt);
  if (rc == SQLITE_DONE || (rc == SQLITE_ROW && !take_line(k, stmt) && !k->line.fail))
    code = damaged(k, i, err);
  else if (rc != SQLITE_ROW)
    code = store_fail(k->store, rc, err);
  else if (k->line.fail)
    code = no_memory(err);
  sqlite3_reset(stmt);
  return code;
}

static enum rein_code kept_record(struct journal *journal, size_t i, struct str *line,
                                  struct err *err) {
  struct kept *k = kept_of(journal);
  *line = STR_NONE;
  if (i >= k->count) {
    if (i - k->count < k->fresh_n) *line = k->fresh[i - k->count];
    return REIN_OK;
  }
  enum rein_code code = read_line(k, i, err);
  if (!code) *line = buf_str(&k->line);
  return code;
}

static void kept_close(struct journal *journal) {
  struct kept *k = kept_of(journal);
  struct kept **link = &k->store->open;
  while (*link != k)
    link = &(*link)->next;
  *link = k->next;
  batch_forget(k);
  if (k->fence != FENCE_NONE) lease_drop(k->store, str_of(k->name));
  buf_release(&k->line);
  mem_free(k->name);
  mem_free(k);
}

static const struct journal_kind kept_kind = {
    .append = kept_append,
    .commit = kept_commit,
    .record = kept_record,
    .close = kept_close,
};

/* ---- opening one ---------------------------------------------------------------- */

/* Without a lease: to be read alone, until a fence is set. */
static enum rein_code kept_new(struct store *store, struct str run, struct kept **kept,
                               struct err *err) {
  struct kept *k = mem_zero(sizeof *k);
  char *name = k ? mem_resize(NULL, run.n + 1) : NULL;
  if (!name) {
    mem_free(k);
    return no_memory(err);
  }
  memcpy(name, run.p, run.n);
  name[run.n] = '\0';
  k->journal.kind = &kept_kind;
  k->store = store;
  k->name = name;
  buf_init(&k->line, LINE_MAX_BYTES);
  k->next = store->open;
  store->open = k;
  *kept = k;
  return REIN_OK;
}

enum rein_code store_begin(struct store *store, struct str run, int64_t started_ms,
                           struct journal **journal, struct err *err) {
  struct kept *k;
  struct num_text self;
  enum rein_code code = lease_take(store, run, str_num(&self, getpid()), err);
  if (code) return code;
  code = kept_new(store, run, &k, err);
  if (code) {
    lease_drop(store, run);
    return code;
  }
  k->fence = FENCE_FIRST;
  k->started_ms = started_ms;
  *journal = &k->journal;
  return REIN_OK;
}

/* What the database knows of the run. */
static enum rein_code find(struct kept *k, int64_t *holder, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code =
      store_prepare(k->store,
                    "SELECT id, started, holder,"
                    " (SELECT coalesce(max(seq), -1) + 1 FROM record WHERE run = id)"
                    " FROM run WHERE name = ?1",
                    &stmt, err);
  if (code) return code;
  sqlite3_bind_text(stmt, 1, k->name, -1, SQLITE_STATIC);
  int rc = sqlite3_step(stmt);
  if (rc == SQLITE_ROW) {
    k->row = sqlite3_column_int64(stmt, 0);
    k->started_ms = sqlite3_column_int64(stmt, 1);
    *holder = sqlite3_column_int64(stmt, 2);
    k->count = (size_t)sqlite3_column_int64(stmt, 3);
  } else if (rc == SQLITE_DONE) {
    code = ERR(err, REIN_INPUT, T_STORE_NO_RUN, str_of(k->name), str_of(k->store->path));
  } else {
    code = store_fail(k->store, rc, err);
  }
  sqlite3_finalize(stmt);
  return code;
}

static enum rein_code raise_fence(struct kept *k, struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_prepare(
      k->store, "UPDATE run SET fence = fence + 1, holder = ?2 WHERE id = ?1 RETURNING fence",
      &stmt, err);
  if (code) return code;
  sqlite3_bind_int64(stmt, 1, k->row);
  sqlite3_bind_int64(stmt, 2, getpid());
  int rc = sqlite3_step(stmt);
  int64_t fence = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : FENCE_NONE;
  while (rc == SQLITE_ROW)
    rc = sqlite3_step(stmt);
  int ended = sqlite3_finalize(stmt);
  if (rc != SQLITE_DONE) return store_fail(k->store, rc, err);
  if (ended != SQLITE_OK) return store_fail(k->store, ended, err);
  k->fence = fence;
  return REIN_OK;
}

enum rein_code store_look(struct store *store, struct str run, struct journal **journal,
                          struct err *err) {
  struct kept *k;
  int64_t holder;
  enum rein_code code = kept_new(store, run, &k, err);
  if (code) return code;
  code = find(k, &holder, err);
  if (code)
    kept_close(&k->journal);
  else
    *journal = &k->journal;
  return code;
}

/* The lock comes first: what is read after it, nobody changes any more. */
enum rein_code store_take(struct store *store, struct str run, struct journal **journal,
                          struct err *err) {
  struct kept *k;
  struct num_text room;
  int64_t holder = 0;
  enum rein_code code = kept_new(store, run, &k, err);
  if (code) return code;
  code = find(k, &holder, err);
  if (!code) code = lease_take(store, run, str_num(&room, holder), err);
  if (!code) {
    code = find(k, &holder, err);
    if (!code) code = raise_fence(k, err);
    if (code) lease_drop(store, run);
  }
  if (code)
    kept_close(&k->journal);
  else
    *journal = &k->journal;
  return code;
}
