/* A coarse automaton over UTF-8 bytes: it finds the lines in which a pattern may
 * match. It knows no assertions and no references, takes classes beyond ASCII by
 * their first bytes, and counts only so far; so it may say yes for nothing, but
 * never passes over a line that matches.
 */
#pragma once

#include "regex/tree.h"

#define FILTER_PLACES_MAX 64 /* bytes of the pattern: one bit each */

struct filter {
  bool starts[256];        /* bytes that a match can begin with */
  unsigned char kind[256]; /* bytes that no place tells apart have one kind */
  unsigned kinds;
  uint64_t of_kind[256]; /* places that take a byte of this kind */
  uint64_t follow[FILTER_PLACES_MAX];
  uint64_t first, last;
};

/* False: it would say yes to every line. `forms`: also to lines with characters
 * that were taken apart. `fold` as parse_tree had it. */
bool filter_make(const struct tree *tree, const uint16_t *fold, bool forms, struct filter *out);

/* What one thread has found out of a filter's states so far. */
struct filter_run;
struct filter_run *filter_run_new(const struct filter *filter); /* NULL: no memory */
void filter_run_free(struct filter_run *run);
/* The first place from `from` on where a match may end; text.n: none. Lines are
 * looked at one by one. */
size_t filter_next(const struct filter *filter, struct filter_run *run, struct str text,
                   size_t from);
