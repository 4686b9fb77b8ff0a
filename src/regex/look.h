/* The fast first look over the bytes of a file: what it passes over does not
 * match. Texts that every match holds are looked for by their rarest byte with
 * libc's memchr; where there are none, a filter runs (filter.h).
 */
#pragma once

#include "regex/filter.h"
#include "regex/literal.h"

#define PROBES_MAX 32

struct look {
  bool folds;
  struct literals literals; /* none: the filter, if there is one */
  struct probe {
    unsigned char byte, literal;
    uint16_t at; /* of the byte in the literal */
  } probe[PROBES_MAX];
  size_t probes;
  struct filter *filter;
};

/* What one thread knows of the text at hand. */
struct look_run {
  struct str text;
  size_t next[PROBES_MAX];
  struct filter_run *filter;
};

/* REIN_MEMORY. `fold` as parse_tree had it; `forms`: see REGEX_FORMS. */
enum rein_code look_make(struct look *look, const struct tree *tree, const uint16_t *fold,
                         bool forms) REIN_CHECKED;
void look_release(struct look *look);
void look_run_release(struct look_run *run);
