/* The inside of a sandbox, for child*.c and sandbox*.c. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "host/sandbox.h"

#include <linux/filter.h>
#include <pthread.h>

#define SANDBOX_BYTES_MAX (4u << 20) /* of copied options */
#define LANDLOCK_ABI_MIN 2           /* moving a file to another folder (REFER) needs it */
#define LANDLOCK_ABI_SIGNALS 6       /* from here on Landlock keeps signals in */

struct sandbox {
  pthread_mutex_t lock; /* guards holders, and what is made at the first command */
  size_t holders;
  struct arena arena;
  enum sandbox_level level;
  bool network, made;
  int64_t data_bytes;  /* 0: no limit */
  unsigned abi;        /* Landlock's here, masked; 0: none */
  const char *bwrap;   /* NULL: not found */
  const char **env;    /* each list NULL at its end */
  const char **hidden; /* existing or not */
  const char **protected;
  int image; /* the guard's file in memory; -1 until made */
  struct sock_filter *filter;
  size_t filter_count;
};

/* Makes image and filter, once. */
enum rein_code sandbox_make(struct sandbox *sandbox, struct err *err) REIN_CHECKED;
/* sandbox_filter.c: the filter of system calls of this level, on the heap. */
enum rein_code filter_build(const struct sandbox *sandbox, struct sock_filter **code, size_t *count,
                            struct err *err) REIN_CHECKED;
