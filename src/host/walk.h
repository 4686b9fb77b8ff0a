/* Walking below a folder of the root on several threads, with an outcome that
 * does not depend on them.
 *
 * Work is cut into pieces (a folder to read, or some of a folder's entries) that
 * stand in one list in the order of the paths; each thread takes the first one
 * that nobody has, and what a piece gave is handed on in the list's order. Links
 * are not followed; each folder is opened from its parent's descriptor, by one
 * name, so there is no way out and there are no circles.
 *
 *   struct walk_plan plan = {.files = files, .path = STR("src"), .ignore = true, …};
 *   code = walk(&plan, &err);
 */
#pragma once

#include "host/files.h"

#define WALK_DEPTH_MAX 64  /* folders within each other: one descriptor each */
#define WALK_THREADS_MAX 8 /* more than the disk and the kernel's locks feed */

struct walk_entry {
  struct str path; /* relative to the root; bytes as on disk */
  struct str name; /* its last part, terminated */
  int dir_fd;      /* open name below it with openat(..., O_NOFOLLOW) */
  bool is_dir, is_link, is_file;
  bool unreadable; /* a folder that could not be read, or */
  bool too_deep;   /* one WALK_DEPTH_MAX below the start: nothing in it comes */
  bool rules_lost; /* a folder whose .gitignore could not be read whole */
};

struct walk_plan {
  const struct files *files;
  struct str path;         /* the folder, "" the root */
  unsigned threads;        /* with the caller's; 0: one a processor */
  bool ignore;             /* leave out what .gitignore and .git/info/exclude name */
  const char *const *skip; /* folders left out by their names; ends with NULL */
  size_t enough;           /* what lies behind pieces of this weight is not begun */
  void *ctx;
  /* On any thread, before each step: true ends the walk soon. */
  bool (*stopped)(void *ctx);
  /* On any thread: what a piece gives; NULL: no memory, the walk fails. */
  void *(*begin)(void *ctx);
  /* On thread number `thread`: one entry of the piece, a folder before what is in
   * it. Returns the weight that it adds. */
  size_t (*visit)(void *ctx, unsigned thread, void *piece, const struct walk_entry *entry);
  /* One at a time, in the order of the paths, but that a piece without weight may
   * come early: takes the piece. False ends the walk. Where not `wanted` the walk
   * has ended: frees it. */
  bool (*end)(void *ctx, void *piece, bool wanted);
};

/* Errors: those of files_open for the path; REIN_MEMORY; REIN_SYSTEM with a
 * sentence where the folder itself cannot be read. */
enum rein_code walk(const struct walk_plan *plan, struct err *err) REIN_CHECKED;
/* Threads that a plan with `threads` uses at most. */
unsigned walk_threads(unsigned threads);
