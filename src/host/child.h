/* One command: started in a sandbox, its output taken, its whole tree of processes
 * gone when this returns. Blocks: for pool threads. Never forks this process
 * (posix_spawn), changes nothing process-wide, and needs no SIGCHLD.
 *
 *   struct child_spec spec = {.sandbox = s, .argv = argv, .root = "/srv/project",
 *                             .limit_ms = 120000, .out = &out, .cancelled = f, .ctx = x};
 *   struct child_end end;
 *   child_run(&spec, &end, &err);
 *
 * stdin is /dev/null, or what `input` holds; there is no terminal. The call ends when
 * the command has ended; what it left running is ended with it (0.2 seconds for last
 * words, then SIGTERM, then SIGKILL). When this process dies, so do they.
 */
#pragma once

#include "base/err.h"
#include "host/child_out.h"
#include "host/sandbox.h"

struct child_spec {
  struct sandbox *sandbox;
  const char *const *argv;  /* NULL at the end; the program by a path, or looked for in PATH */
  const char *const *env;   /* NAME=value, besides the sandbox's and before it; NULL none */
  struct str input;         /* its stdin; empty: /dev/null */
  const char *root;         /* absolute, real: the folder to work in, and that may be written */
  bool read_only;           /* the root too, and no network: level full and helper hold it */
  int64_t limit_ms;         /* then SIGTERM, and SIGKILL half a second later; REIN_OFF */
  struct child_out *out;    /* stdout, and stderr too where `errors` is NULL; in order */
  struct child_out *errors; /* may be NULL */
  bool (*cancelled)(void *ctx);
  void *ctx;
};

enum child_how {
  CHILD_EXITED,    /* number: status */
  CHILD_SIGNALLED, /* number: signal */
  CHILD_LATE,      /* limit_ms passed */
  CHILD_FLOODED,   /* it printed more than CHILD_FLOOD_BYTES */
  CHILD_PROCS,     /* it started too many processes; number: the limit */
  CHILD_CANCELLED,
};

struct child_end {
  enum child_how how;
  int number;
  bool left; /* processes of it were still running when it ended, and were ended */
  int64_t ms;
};

/* REIN_OK: it ran. REIN_INPUT: the program or the folder is not there, or may not
 * be run. REIN_SYSTEM: the sandbox cannot be had, in words; nothing ran. */
enum rein_code child_run(const struct child_spec *spec, struct child_end *end, struct err *err)
    REIN_CHECKED;
