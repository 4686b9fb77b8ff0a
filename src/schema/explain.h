/* Why a value does not fit: of all that is wrong, what its author can act on first. */
#pragma once

#include "schema/eval.h"

/* Fills err and returns REIN_INPUT, or REIN_MEMORY. */
enum rein_code explain(struct schema *schema, const struct json *value, struct err *err);

/* ---- between explain.c and words.c ------------------------------------------ */

/* A piece of a sentence, not yet put into words: most findings are never said. */
enum word_kind {
  WORD_NONE,
  WORD_TEXT,   /* as it is, controls made visible */
  WORD_SOURCE, /* a value as written */
  WORD_KIND,   /* the kind of a value, and a short one itself: string "x" */
  WORD_COUNT,
  WORD_TYPES, /* of enum type_bits: "string | null" */
  WORD_KNOWN, /* the names that an object takes */
  WORD_LIST   /* the values that the branches of a choice take */
};

/* The branches of a choice, and the member whose values are meant. */
struct choice {
  const struct subs *subs;
  const struct str *key; /* NULL: of the value itself */
};

struct word {
  enum word_kind kind;
  union {
    struct str text;
    const struct json *value;
    size_t count;
    unsigned types;
    const struct members *members;
    struct choice choice;
  };
};

/* What is told first where several things are wrong. */
enum rank { RANK_TYPE, RANK_MISSING, RANK_EXTRA, RANK_VALUES, RANK_OTHER, RANK_NONE };

struct finding {
  enum rank rank;
  enum text_id text;
  const struct json *at; /* {0}: its place, a JSON pointer */
  struct word words[3];  /* {1} to {3} */
};

/* Fills err (may be NULL) with REIN_INPUT and the finding's sentence, whose place
 * is a pointer into `root`; returns REIN_INPUT, or REIN_MEMORY. */
enum rein_code finding_say(const struct finding *f, const struct json *root, enum rein_lang lang,
                           struct err *err);
/* The values that the i-th branch of a choice takes there; NULL: not by values alone. */
const struct values *branch_values(const struct choice *choice, size_t i);
