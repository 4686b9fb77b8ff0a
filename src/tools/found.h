/* What one piece of a search found: its hits as they will be shown, and what there
 * is to tell of its files. Putting pieces together is search_files.c's.
 */
#pragma once

#include "tools/folder.h"
#include "tools/scan.h"

#define FOUND_HITS_MAX 20
#define FOUND_PATH_MAX (64u << 10) /* repaired and made visible, one of 4 096 bytes */

struct found_note {
  struct found_note *next;
  enum found_sort {
    FOUND_COSTLY,
    FOUND_PIECES,
    FOUND_BINARY_REST,
    FOUND_LATE,
    FOUND_UNREADABLE,
    FOUND_DECODED, /* a hit's file, which is CP949 as far as one can guess */
    FOUND_UNKNOWN  /* a file in an encoding that is not known */
  } sort;
  int64_t line;
  int error;
  size_t path_n;
  char path[];
};

struct found {
  struct buf text; /* a line for each hit */
  int64_t hits, files;
  struct found_note *first, *last;
  struct closed closed;
  enum rein_code fail;
};

struct found *found_new(void); /* NULL: no memory */
void found_free(struct found *f);
/* Failures are kept in f->fail. */
void found_hit(struct found *f, struct str path, const struct scan *scan);
void found_note(struct found *f, enum found_sort sort, struct str path, int64_t line, int error);
static inline struct str found_note_path(const struct found_note *n) {
  return (struct str){n->path, n->path_n};
}
