/* Texts of which every match of a pattern holds at least one. */
#pragma once

#include "regex/tree.h"

#define LITERAL_BYTES_MAX 64 /* longer ones do not find faster */
#define LITERALS_MAX 8       /* each costs a pass over the text */

struct literals {
  struct literal {
    char p[LITERAL_BYTES_MAX];
    size_t n;
  } one[LITERALS_MAX];
  size_t n; /* 0: none known */
  int worth;
};

/* How common a byte is in what people search, 0 to 255. */
unsigned literal_common(unsigned char byte);
/* The most telling set. `folds`: letters stand for both cases. What a repair of
 * ill-formed text could make is left out, since that comes after the look. */
void literals_find(const struct tree *tree, bool folds, struct literals *out);
