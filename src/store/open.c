/* Opens a database of runs: its place, its settings, its schema, and SQLite's
 * codes in words. What is written into it is batch.c's and sqlite.c's.
 */
#include "base/mem.h"
#include "store/inside.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x7265696e /* "rein": a file of another program is not touched */

/* One step per version of the schema; a database of version n gets those from n
 * on, in one transaction. A step is never changed once released. `sum` is the
 * hash of the line: SQLite has no checksums of its own. */
static const char *const steps[] = {
    "CREATE TABLE run("
    " id INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL UNIQUE,"
    " started INTEGER NOT NULL,"
    " fence INTEGER NOT NULL,"
    " holder INTEGER NOT NULL);"
    "CREATE TABLE record("
    " run INTEGER NOT NULL REFERENCES run(id),"
    " seq INTEGER NOT NULL,"
    " sum INTEGER NOT NULL,"
    " line TEXT NOT NULL,"
    " UNIQUE(run, seq));",
};
enum { VERSION = sizeof steps / sizeof *steps };

/* ---- in words ---------------------------------------------------------------- */

/* The system's own words where it refused, else SQLite's. */
static struct str why_of(const struct store *store, int rc) {
  int kind = rc & 0xff, number = store->db ? sqlite3_system_errno(store->db) : 0;
  if (number != 0 && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR))
    return str_of(strerror(number));
  return str_of(sqlite3_errstr(rc));
}

enum rein_code store_fail(const struct store *store, int rc, struct err *err) {
  struct str path = str_of(store->path), why = why_of(store, rc);
  struct num_text room;
  switch (rc & 0xff) {
  case SQLITE_NOMEM: return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
  case SQLITE_FULL: return ERR(err, REIN_SYSTEM, T_STORE_FULL, path);
  case SQLITE_NOTADB: return ERR(err, REIN_SYSTEM, T_STORE_NOT_OURS, path);
  case SQLITE_CORRUPT: return ERR(err, REIN_SYSTEM, T_STORE_DAMAGED, path, why);
  case SQLITE_BUSY:
    return ERR(err, REIN_SYSTEM, T_STORE_BUSY, path, str_num(&room, STORE_BUSY_MS / 1000));
  case SQLITE_CANTOPEN: return ERR(err, REIN_SYSTEM, T_STORE_CANNOT_OPEN, path, why);
  default: return ERR(err, REIN_SYSTEM, T_STORE_IO, path, why); /* SQLite adds codes */
  }
}

enum rein_code store_prepare(const struct store *store, const char *sql, sqlite3_stmt **stmt,
                             struct err *err) {
  int rc = sqlite3_prepare_v2(store->db, sql, -1, stmt, NULL);
  return rc == SQLITE_OK ? REIN_OK : store_fail(store, rc, err);
}

enum rein_code store_statement(struct store *store, enum statement which, sqlite3_stmt **stmt,
                               struct err *err) {
  static const char *const sql[] = {
#define STATEMENT_X(id, text) [STATEMENT_##id] = text,
      STATEMENTS(STATEMENT_X)
#undef STATEMENT_X
  };
  enum rein_code code = REIN_OK;
  if (!store->statements[which])
    code = store_prepare(store, sql[which], &store->statements[which], err);
  *stmt = store->statements[which];
  return code;
}

/* ---- the place --------------------------------------------------------------- */

/* The folders above the file, private where they are new. */
static enum rein_code make_folders(const char *path, struct err *err) {
  char part[PATH_MAX];
  size_t n = strlen(path);
  if (n >= sizeof part)
    return ERR(err, REIN_INPUT, T_STORE_CANNOT_OPEN, str_of(path), str_of(strerror(ENAMETOOLONG)));
  memcpy(part, path, n + 1);
  for (size_t i = 1; i < n; i++) {
    if (part[i] != '/') continue;
    part[i] = '\0';
    if (mkdir(part, 0700) != 0 && errno != EEXIST)
      return ERR(err, REIN_SYSTEM, T_STORE_FOLDER, str_of(part), str_of(strerror(errno)));
    part[i] = '/';
  }
  return REIN_OK;
}

/* SQLite would make the file by the umask; its -wal and -shm take the file's mode. */
static enum rein_code make_file(struct store *store, const char *path, struct err *err) {
  struct stat st;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
  if (fd < 0)
    return ERR(err, REIN_SYSTEM, T_STORE_CANNOT_OPEN, str_of(path), str_of(strerror(errno)));
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 077) != 0)
    (void)fchmod(fd, 0600); /* another's file: then it is his to decide */
  close(fd);
  char *whole = realpath(path, NULL);
  if (!whole)
    return ERR(err, REIN_SYSTEM, T_STORE_CANNOT_OPEN, str_of(path), str_of(strerror(errno)));
  size_t n = strlen(whole) + 1;
  store->path = mem_resize(NULL, n);
  if (store->path) memcpy(store->path, whole, n);
  free(whole);
  return store->path ? REIN_OK : ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
}

/* ---- the schema -------------------------------------------------------------- */

static enum rein_code run_sql(struct store *store, const char *sql, struct err *err) {
  int rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
  return rc == SQLITE_OK ? REIN_OK : store_fail(store, rc, err);
}

static enum rein_code number_of(struct store *store, const char *sql, int64_t *number,
                                struct err *err) {
  sqlite3_stmt *stmt = NULL;
  enum rein_code code = store_prepare(store, sql, &stmt, err);
  if (code) return code;
  int rc = sqlite3_step(stmt);
  if (rc == SQLITE_ROW)
    *number = sqlite3_column_int64(stmt, 0);
  else
    code = store_fail(store, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, err);
  sqlite3_finalize(stmt);
  return code;
}

/* Within a transaction: another process may be making the same database. */
static enum rein_code migrate_steps(struct store *store, struct err *err) {
  int64_t version, tables, id;
  char sql[96];
  struct num_text has, knows;
  enum rein_code code = number_of(store, "PRAGMA user_version", &version, err);
  if (!code) code = number_of(store, "PRAGMA application_id", &id, err);
  if (!code) code = number_of(store, "SELECT count(*) FROM sqlite_schema", &tables, err);
  if (code) return code;
  if (tables > 0 && id != APPLICATION_ID)
    return ERR(err, REIN_SYSTEM, T_STORE_NOT_OURS, str_of(store->path));
  if (version > VERSION)
    return ERR(err, REIN_SYSTEM, T_STORE_NEWER, str_of(store->path), str_num(&has, version),
               str_num(&knows, VERSION));
  if (version == VERSION) return REIN_OK;
  for (int64_t i = version; i < VERSION && !code; i++)
    code = run_sql(store, steps[i], err);
  sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version = %d; PRAGMA application_id = %d", VERSION,
                   APPLICATION_ID);
  return code ? code : run_sql(store, sql, err);
}

static enum rein_code migrate(struct store *store, struct err *err) {
  int64_t version = 0;
  enum rein_code code = number_of(store, "PRAGMA user_version", &version, err);
  if (code || version == VERSION) return code; /* read alone: no lock is needed */
  code = run_sql(store, "BEGIN IMMEDIATE", err);
  if (code) return code;
  code = migrate_steps(store, err);
  enum rein_code ended = run_sql(store, code ? "ROLLBACK" : "COMMIT", code ? NULL : err);
  return code ? code : ended;
}

static enum rein_code settings(struct store *store, struct err *err) {
  sqlite3_extended_result_codes(store->db, 1);
  int rc = sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
  if (rc != SQLITE_OK) return store_fail(store, rc, err);
  /* The application's id is looked at first: nothing of another's file changes. */
  enum rein_code code = migrate(store, err);
  if (!code) code = run_sql(store, "PRAGMA journal_mode = WAL", err);
  return code ? code : run_sql(store, "PRAGMA synchronous = FULL", err);
}

/* ---- open and close ---------------------------------------------------------- */

enum rein_code store_open(const char *path, struct loop *loop, struct store **store,
                          struct err *err) {
  struct store *s = mem_zero(sizeof *s);
  if (!s) return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
  s->loop = loop;
  s->lease_fd = -1;
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->ended, NULL);
  enum rein_code code = make_folders(path, err);
  if (!code) code = make_file(s, path, err);
  if (!code) code = lease_open(s, err);
  if (!code) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX;
    lease_opening(s, true);
    int rc = sqlite3_open_v2(s->path, &s->db, flags, NULL);
    code = rc == SQLITE_OK ? settings(s, err) : store_fail(s, rc, err);
    lease_opening(s, false);
  }
  if (code) {
    store_close(s);
    return code;
  }
  *store = s;
  return REIN_OK;
}

void store_close(struct store *store) {
  if (!store) return;
  batch_settle(store);
  while (store->open)
    store->open->journal.kind->close(&store->open->journal);
  for (size_t i = 0; i < STATEMENT_COUNT; i++)
    sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->db);
  lease_close(store);
  pthread_cond_destroy(&store->ended);
  pthread_mutex_destroy(&store->lock);
  mem_free(store->path);
  mem_free(store);
}

struct str store_path(const struct store *store) {
  return str_of(store->path);
}
