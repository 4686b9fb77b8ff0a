/* Sets of UTF-16 units, and what JavaScript's class escapes hold. Reading
 * classes is class.c's business, writing them for PCRE2 emit.c's.
 */
#include "regex/set.h"

#include <assert.h>

static const struct range digits[] = {{'0', '9'}};
static const struct range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
/* ECMAScript: WhiteSpace and LineTerminator. */
static const struct range spaces[] = {
    {0x09, 0x0d},     {0x20, 0x20},     {0xa0, 0xa0},     {0x1680, 0x1680}, {0x2000, 0x200a},
    {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
static const struct range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

void bits_clear(struct bits *b) {
  memset(b, 0, sizeof *b);
}

void bits_add(struct bits *b, uint32_t from, uint32_t to) {
  assert(to < UNITS_ALL);
  for (uint32_t u = from; u <= to;) {
    bool whole = u % 64 == 0 && to - u >= 63;
    b->word[u / 64] |= whole ? UINT64_MAX : UINT64_C(1) << u % 64;
    u += whole ? 64 : 1;
  }
}

static void add_ranges(struct bits *b, const struct range *r, size_t n, bool outside) {
  uint32_t free_from = 0;
  for (size_t i = 0; i < n; i++) {
    if (!outside)
      bits_add(b, r[i].from, r[i].to);
    else if (r[i].from > free_from)
      bits_add(b, free_from, r[i].from - 1u);
    free_from = r[i].to + 1u;
  }
  if (outside && free_from < UNITS_ALL) bits_add(b, free_from, UNITS_ALL - 1);
}

#define ADD(b, ranges, outside) add_ranges((b), ranges, sizeof ranges / sizeof *ranges, (outside))

void bits_escape(struct bits *b, char letter) {
  bool outside = letter == 'D' || letter == 'S' || letter == 'W' || letter == '.';
  switch (letter) {
  case 'd':
  case 'D': ADD(b, digits, outside); return;
  case 's':
  case 'S': ADD(b, spaces, outside); return;
  case 'w':
  case 'W': ADD(b, words, outside); return;
  case '.': ADD(b, line_ends, outside); return;
  }
  assert(!"no class escape");
}

void bits_fold(struct bits *b, const uint16_t *fold) {
  for (uint32_t u = 0; u < UNITS_ALL; u++) {
    bool moves = (b->word[u / 64] >> u % 64 & 1) && fold[u] != u;
    if (moves) bits_add(b, fold[u], fold[u]);
  }
  /* No subject holds what folds to something else: it was folded too. */
  for (uint32_t u = 0; u < UNITS_ALL; u++)
    if (fold[u] != u) b->word[u / 64] &= ~(UINT64_C(1) << u % 64);
}

void bits_invert(struct bits *b) {
  for (size_t i = 0; i < UNITS_ALL / 64; i++)
    b->word[i] = ~b->word[i];
}

/* The next unit from `u` on that is in the set (or is not); UNITS_ALL: none. */
static uint32_t next_unit(const struct bits *b, uint32_t u, bool in) {
  while (u < UNITS_ALL) {
    uint64_t word = (in ? b->word[u / 64] : ~b->word[u / 64]) >> u % 64;
    if (word) return u + (uint32_t)__builtin_ctzll(word);
    u = (u / 64 + 1) * 64;
  }
  return UNITS_ALL;
}

static size_t fill(const struct bits *b, struct range *to) {
  size_t n = 0;
  for (uint32_t u = next_unit(b, 0, true); u < UNITS_ALL; n++) {
    uint32_t end = next_unit(b, u, false);
    if (to) to[n] = (struct range){(uint16_t)u, (uint16_t)(end - 1)};
    u = next_unit(b, end, true);
  }
  return n;
}

const struct set *bits_set(const struct bits *b, struct arena *a) {
  size_t n = fill(b, NULL);
  struct set *set = arena_new(a, struct set);
  struct range *range = n > 0 ? arena_array(a, struct range, n) : NULL;
  if (!set || (n > 0 && !range)) return NULL;
  fill(b, range);
  *set = (struct set){range, n};
  return set;
}
