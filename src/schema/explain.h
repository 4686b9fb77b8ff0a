/* Why a value does not fit: of all that is wrong, what its author can act on first. */
#pragma once

#include "schema/eval.h"

/* Fills err (may be NULL) and returns REIN_INPUT, or REIN_MEMORY. */
enum rein_code explain(struct schema *schema, const struct json *value, struct err *err);

/* ---- between explain.c and words.c ------------------------------------------ */

/* Where in the value: a chain, so that no pointer is built for nothing. */
struct place {
  const struct place *up;
  struct str key;
  size_t index;
  bool in_array;
};

/* What is told first where several things are wrong. */
enum rank { RANK_TYPE, RANK_MISSING, RANK_EXTRA, RANK_VALUES, RANK_OTHER, RANK_NONE };

struct finding {
  enum rank rank;
  enum text_id text;
  struct str values[4]; /* the sentence's {0} to {3} */
};

/* All that is wrong with one value under one subschema. */
struct account {
  unsigned far;   /* how much: the branch with the least came closest */
  unsigned types; /* what would have been taken, where the type is wrong */
  struct finding best;
};

void account_add(struct account *a, unsigned far, const struct finding *finding);

/* words.c: pieces of a sentence, in the check's arena; empty when there is no memory. */
struct str words_place(struct check *c, const struct place *at);
struct str words_value(struct check *c, const struct json *value); /* as written, cut */
struct str words_kind(struct check *c, const struct json *value);  /* "string \"x\"" */
struct str words_text(struct check *c, struct str text);
struct str words_types(struct check *c, unsigned types);
struct str words_list(struct check *c, const struct subs *branches);
struct str words_known(struct check *c, const struct members *m);
struct str words_count(struct check *c, size_t n);
