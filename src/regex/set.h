/* Sets of UTF-16 units: built in a bit map, kept as sorted ranges.
 *
 *   bits_clear(b); bits_add(b, 'a', 'z'); bits_escape(b, 'd');
 *   bits_fold(b, fold); bits_invert(b);
 *   const struct set *set = bits_set(b, arena);   // NULL: no memory
 */
#pragma once

#include "base/arena.h"

#define UNITS_ALL 0x10000u

struct range {
  uint16_t from, to;
};

struct set {
  struct range *range; /* apart from each other, rising */
  size_t n;
};

struct bits {
  uint64_t word[UNITS_ALL / 64];
};

void bits_clear(struct bits *b);
void bits_add(struct bits *b, uint32_t from, uint32_t to);
/* \d \D \s \S \w \W by their letter, or '.' */
void bits_escape(struct bits *b, char letter);
/* Each unit is replaced by its folded form (fold.h). */
void bits_fold(struct bits *b, const uint16_t *fold);
void bits_invert(struct bits *b);
const struct set *bits_set(const struct bits *b, struct arena *a);
