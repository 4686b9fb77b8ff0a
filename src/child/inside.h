/* The guard's files among themselves. */
#pragma once

#include "child/setup.h"

#include <stdbool.h>
#include <sys/types.h>

struct guard {
  struct guard_setup setup;
  const char *filter; /* filter_count * 8 bytes */
  const char *folder;
  char **reads, **writes; /* each NULL at its end */
  char **args;
  char **env;
};

/* confine.c: the child on its way to execve. 0, or the stage that failed (errno). */
enum guard_stage confine(const struct guard *g, pid_t guard_pid);
/* tree.c: ends every process that came of the guard. */
void tree_end(const struct guard *g, bool at_once);
/* How many processes came of it, as far as /proc shows; at most `most`. */
unsigned tree_count(unsigned most);
