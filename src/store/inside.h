/* The inside of a store, for the files of this folder alone.
 *
 * open.c makes and closes it, lease.c says who may write, batch.c writes,
 * sqlite.c is the journal that the driver sees, list.c looks over all runs.
 *
 * One connection, guarded by SQLite itself: the pool thread that commits uses it
 * beside the loop's thread, which reads. Everything else belongs to the loop's
 * thread, but for `batch->ended`.
 */
#pragma once

#include "store/store.h"

#include <pthread.h>
#include <sqlite3.h>

enum { FENCE_NONE = 0, FENCE_FIRST = 1 };

struct batch;

/* One run's journal. */
struct kept {
  struct journal journal; /* first: the driver knows no more of it */
  struct store *store;
  struct kept *next;    /* of the store's open ones */
  struct kept *waiting; /* of those whose commit waits; see store->first */
  char *name;
  int64_t started_ms;
  int64_t row;   /* 0: not in the database yet */
  int64_t fence; /* FENCE_NONE: to be read alone */
  size_t count;  /* records that are safe */
  struct str *fresh;
  size_t fresh_n, fresh_room; /* appended, not yet handed to a batch */
  struct buf line;            /* the record read last */
};

/* What each record costs is prepared once; the rest is rare. Those of a commit are used
 * by whoever commits, READ by the loop's thread. */
#define STATEMENTS(X)                                                                              \
  X(BEGIN, "BEGIN IMMEDIATE")                                                                      \
  X(COMMIT, "COMMIT")                                                                              \
  X(FENCE, "SELECT fence FROM run WHERE id = ?1")                                                  \
  X(PUT, "INSERT INTO record(run, seq, sum, line) VALUES(?1, ?2, ?3, ?4)")                         \
  X(READ, "SELECT line, sum FROM record WHERE run = ?1 AND seq = ?2")

enum statement {
#define STATEMENT_X(id, sql) STATEMENT_##id,
  STATEMENTS(STATEMENT_X)
#undef STATEMENT_X
      STATEMENT_COUNT
};

struct store {
  sqlite3 *db;
  sqlite3_stmt *statements[STATEMENT_COUNT]; /* NULL: not yet */
  struct loop *loop;
  char *path; /* with links resolved: the lock stands beside it */
  int lease_fd;
  struct kept *open;
  struct kept *first, *last; /* commits that wait for the batch under way */
  struct batch *batch;       /* NULL: none is under way */
  pthread_mutex_t lock;
  pthread_cond_t ended;
};

/* open.c: an SQLite code in words. */
enum rein_code store_fail(const struct store *store, int rc, struct err *err);
enum rein_code store_prepare(const struct store *store, const char *sql, sqlite3_stmt **stmt,
                             struct err *err) REIN_CHECKED;
/* A kept one, prepared at its first use; sqlite3_reset when its rows are read. */
enum rein_code store_statement(struct store *store, enum statement which, sqlite3_stmt **stmt,
                               struct err *err) REIN_CHECKED;

/* lease.c */
enum rein_code lease_open(struct store *store, struct err *err) REIN_CHECKED;
void lease_close(struct store *store);
/* One process at a time makes or changes the database: SQLite does not wait for
 * another when it changes over to WAL. */
void lease_opening(struct store *store, bool begins);
/* REIN_HELD: another has it; `holder` is named. */
enum rein_code lease_take(struct store *store, struct str run, struct str holder, struct err *err)
    REIN_CHECKED;
void lease_drop(struct store *store, struct str run);

/* batch.c */
/* What the journal appended so far: handed over, or queued behind the batch
 * under way. */
enum rein_code batch_commit(struct kept *kept, bool *later, struct err *err) REIN_CHECKED;
void batch_forget(struct kept *kept);   /* it is closed */
void batch_settle(struct store *store); /* waits for the one under way */
