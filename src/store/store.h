/* A store of runs: one SQLite database that holds the journals of many runs,
 * and says who may write which.
 *
 *   store_open(path, loop, &store, &err);
 *   store_begin(store, name, now_ms, &journal, &err);   // a new run
 *   store_take(store, name, &journal, &err);            // one that is there, to go on
 *   store_look(store, name, &journal, &err);            // one that is there, to read
 *   store_close(store);                                 // after its journals, before the loop
 *
 * Commits go to a pool thread; while one is under way, those of other runs
 * gather and share the next (group commit). One writer per run: a lock that dies
 * with its process, and a number (the fence) that each new writer raises, so
 * that one who lost the lock unknowingly cannot write either. On network file
 * systems neither locks nor SQLite's WAL hold: keep it on a local disk.
 */
#pragma once

#include "base/arena.h"
#include "store/journal.h"

struct store;
struct loop;

#define STORE_BUSY_MS 20000 /* other processes hold the database for one commit at a time */

/* Makes what is missing: folders 0700, the file 0600. `loop` NULL: commits are
 * made at once, on the calling thread. REIN_SYSTEM, REIN_INPUT, in words. */
enum rein_code store_open(const char *path, struct loop *loop, struct store **store,
                          struct err *err) REIN_CHECKED;
/* Waits for a commit under way; NULL is fine. */
void store_close(struct store *store);
struct str store_path(const struct store *store);

/* Takes the lock; the run appears with its first commit. */
enum rein_code store_begin(struct store *store, struct str run, int64_t started_ms,
                           struct journal **journal, struct err *err) REIN_CHECKED;
/* REIN_HELD: another process has it, and the sentence names that. REIN_INPUT:
 * there is none of that name. */
enum rein_code store_take(struct store *store, struct str run, struct journal **journal,
                          struct err *err) REIN_CHECKED;
enum rein_code store_look(struct store *store, struct str run, struct journal **journal,
                          struct err *err) REIN_CHECKED;

/* All runs, newest first; `fn` returns false to stop. The name is borrowed. */
typedef bool (*store_run_fn)(void *ctx, struct str run, int64_t started_ms);
enum rein_code store_each(struct store *store, store_run_fn fn, void *ctx, struct err *err)
    REIN_CHECKED;
/* The newest run's name, in the arena. REIN_INPUT: there is none. */
enum rein_code store_last(struct store *store, struct arena *arena, struct str *run,
                          struct err *err) REIN_CHECKED;
