/* Reasoning that a server leaves in the answer between <think> and </think>, at
 * its very start: told apart from the answer, in pieces of any size.
 *
 *   while (think_next(&t, &piece, &part, &thinking)) ...
 *   think_end(&t, &part, &thinking);
 */
#pragma once

#include "base/str.h"

enum think_at {
  THINK_START, /* nothing but blanks and the beginning of the tag so far */
  THINK_INSIDE,
  THINK_AFTER, /* blanks between the reasoning and the answer are dropped */
  THINK_ANSWER,
};

#define THINK_HELD_MAX 64 /* blanks before the tag; who sends more sends no tag */

struct think {
  enum think_at at;
  char held[THINK_HELD_MAX]; /* what may be part of a tag */
  size_t held_n;
};

/* Takes the next part off *piece; borrowed until the next call. False: nothing
 * is left that can be told yet. */
bool think_next(struct think *t, struct str *piece, struct str *part, bool *thinking);
/* What was held back, at the end; false: nothing. */
bool think_end(struct think *t, struct str *part, bool *thinking);
