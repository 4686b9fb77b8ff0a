/* What rein tells the guard (src/child), and what the guard tells back: plain
 * numbers through inherited descriptors, one build on both sides.
 *
 * The guard is a small program of its own that stands between rein and a command:
 * it confines the command, ends all that is left of it when rein's end of the
 * control pipe closes, and reports how it ended. Its setup is this struct, then
 * `filter_count` instructions of 8 bytes, then terminated texts: the folder to
 * work in, the places that may be read and those that may be written, the
 * arguments, the environment.
 */
#pragma once

#include <stdint.h>

#define GUARD_MAGIC 0x72656e31u
#define GUARD_BYTES_MAX (4u << 20) /* above what execve takes of arguments and environment */

enum {
  GUARD_FD_CONTROL = 3, /* read end; its end of file: end everything */
  GUARD_FD_REPORT = 4,  /* write end; one struct guard_report */
  GUARD_FD_SETUP = 5,
  GUARD_FD_IMAGE = 6, /* the guard's own file */
};
#define GUARD_IMAGE_PATH "/proc/self/fd/6"

struct guard_setup {
  uint32_t magic, bytes;
  uint32_t confine;         /* 0: level off, nothing but ending what is left */
  uint32_t kill_shared;     /* Landlock does not keep signals in: the filter has to */
  uint32_t watch_procs;     /* rlimits do not hold for this user: count processes; 0: no */
  int32_t parent;           /* rein's pid, as seen where signals are not kept in */
  uint32_t grace_ms;        /* between SIGTERM and SIGKILL */
  uint64_t fs, net, scoped; /* Landlock: what is handled, newer rights masked */
  uint64_t procs, data_bytes, file_bytes, open_files, cpu_s; /* rlimits; 0: as it is */
  uint32_t filter_count, read_count, write_count, arg_count, env_count;
};

enum guard_end {
  GUARD_EXITED = 1, /* number: exit status */
  GUARD_SIGNALLED,  /* number: signal */
  GUARD_UNSTARTED,  /* number: errno; stage: what failed */
  GUARD_PROCS,      /* too many processes: ended */
};

/* What failed before the command ran. */
enum guard_stage {
  STAGE_SETUP = 1, /* the setup cannot be read */
  STAGE_FORK,
  STAGE_FOLDER,   /* the folder to work in */
  STAGE_LIMITS,   /* rlimits */
  STAGE_LANDLOCK, /* Landlock */
  STAGE_CAPS,     /* capabilities, no new privileges */
  STAGE_FILTER,   /* seccomp */
  STAGE_EXEC,     /* the command itself */
};

struct guard_report {
  uint32_t end; /* enum guard_end */
  int32_t number;
  uint32_t stage; /* enum guard_stage */
  uint32_t left;  /* 1: processes of it were still running, and were ended */
};
