/* The parts of starting a command: child.c (start and wait), child_setup.c (what the
 * guard is told), sandbox_bwrap.c (the namespaces), sandbox_kept.c (names in the root
 * that stay as they are). */
#pragma once

#include "child/setup.h"
#include "host/child.h"
#include "host/sandbox_inside.h"

#define KEPT_MAX 16
#define WORDS_MAX 1024 /* of bubblewrap's command line */

/* A name in the root that a command must not write, or make. */
struct kept {
  const char *path; /* absolute */
  int fd;           /* of a stand-in made for it, locked; -1: it was there */
  bool folder;
};

struct words { /* a command line in the making; sticky failure */
  const char *v[WORDS_MAX + 1];
  size_t n;
  bool full;
};

struct child {
  const struct child_spec *spec;
  struct sandbox *sandbox;
  struct arena arena; /* of this command */
  struct kept kept[KEPT_MAX];
  size_t kept_count;
  const char *tmp;    /* level helper: a folder of its own; NULL none */
  const char *inside; /* TMPDIR for the command; NULL: as it is */
};

void words_add(struct words *w, const char *word);

/* child_setup.c: a file in memory with what the guard is told; -1 after err. */
int child_setup(struct child *c, struct err *err);
/* A file in memory that holds the bytes, to be read from its beginning; -1 after err. */
int child_file(struct str bytes, struct err *err);
/* sandbox_bwrap.c: bubblewrap's command line up to the guard. */
enum rein_code bwrap_words(struct child *c, struct words *w, struct err *err) REIN_CHECKED;
/* sandbox_kept.c: finds them, makes stand-ins for those that are not there. */
enum rein_code kept_open(struct child *c, struct err *err) REIN_CHECKED;
/* Removes the stand-ins that nobody else holds. */
void kept_close(struct child *c);
/* A path below a folder, in the arena; NULL: no memory. */
const char *path_below(struct arena *arena, const char *folder, const char *name);
