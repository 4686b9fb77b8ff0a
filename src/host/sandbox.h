/* The sandbox that commands run in: what holds for all commands of a run.
 *
 *   full    bubblewrap's namespaces (user, mount, pid, network, ipc, uts), and in
 *           them a guard with Landlock, a system call filter, rlimits, no
 *           capabilities and no new privileges
 *   helper  the guard alone, with a stricter filter: for where namespaces are closed
 *   off     no bounds; the guard still ends what a command leaves behind
 *
 * There is no step down: what the level asked for needs and this machine does not
 * give is an error of each command, in words. docs/SANDBOX.md says what each level
 * forbids. Commands themselves are child.h's.
 *
 *   sandbox_new(&options, &sandbox, &err);
 *   sandbox_check(sandbox, &err);       // cheap: what can be seen without starting anything
 *   sandbox_free(sandbox);
 *
 * Counted, thread-safe: a command that is given up on holds it until it ended.
 */
#pragma once

#include "base/err.h"

enum sandbox_level { SANDBOX_FULL = 0, SANDBOX_HELPER, SANDBOX_OFF };

struct sandbox;

struct sandbox_options { /* everything is copied */
  enum sandbox_level level;
  bool network;                 /* commands may talk to other machines */
  int64_t data_mb;              /* writable memory of one process; 0: 8192; REIN_OFF */
  const char *const *env;       /* NAME=value, NULL at the end: all that commands get, beside
                                 * what is fixed; NULL none */
  const char *home;             /* secrets below it are hidden; NULL: unknown */
  const char *const *hidden;    /* further absolute paths, NULL at the end; NULL none */
  const char *const *protected; /* what is never written: rein's own; as above. One that ends
                                 * in / is a folder */
  unsigned landlock_max;        /* for tests: no newer Landlock than this; 0: the kernel's */
};

enum rein_code sandbox_new(const struct sandbox_options *options, struct sandbox **sandbox,
                           struct err *err) REIN_CHECKED;
struct sandbox *sandbox_hold(struct sandbox *sandbox); /* one more sandbox_free is due */
void sandbox_free(struct sandbox *sandbox);            /* NULL is fine */
enum sandbox_level sandbox_level(const struct sandbox *sandbox);
bool sandbox_network(const struct sandbox *sandbox);
const char *sandbox_word(enum sandbox_level level); /* full, helper, off */
bool sandbox_read_word(struct str word, enum sandbox_level *level);
/* REIN_SYSTEM, in words: the level cannot be had here. Starts nothing, so a
 * namespace that is refused later shows with the first command. */
enum rein_code sandbox_check(const struct sandbox *sandbox, struct err *err) REIN_CHECKED;
/* Whether a variable of this name may be passed on: no key, nothing that makes a
 * program run another. */
bool sandbox_env_ok(struct str name);
