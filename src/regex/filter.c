/* Builds the coarse automaton: one place for each byte that a match takes, and
 * which places can follow it. When places run out, what has matched by then
 * counts as a match.
 */
#include "regex/filter.h"

#include "base/utf8.h"

#define COPIES_MAX 16 /* of what a counted repeat holds; the rest loops */

/* A part of the pattern: where it begins and ends, whether it can be nothing,
 * and whether reaching it is enough. */
struct part {
  uint64_t first, last;
  bool nothing, enough;
};

struct build {
  struct filter *f;
  const uint16_t *fold;
  uint64_t bytes[FILTER_PLACES_MAX][4];
  unsigned n;
};

static const struct part empty = {.nothing = true};
static const struct part reached = {.nothing = true, .enough = true};

static void link_places(struct filter *f, uint64_t from, uint64_t to) {
  for (; from; from &= from - 1)
    f->follow[__builtin_ctzll(from)] |= to;
}

static struct part join(struct build *b, struct part x, struct part y) {
  link_places(b->f, x.last, y.first);
  if (y.enough) b->f->last |= x.last;
  return (struct part){.first = x.first | (x.nothing ? y.first : 0),
                       .last = y.last | (y.nothing ? x.last : 0),
                       .nothing = x.nothing && y.nothing,
                       .enough = x.enough || (x.nothing && y.enough)};
}

static struct part either(struct part x, struct part y) {
  return (struct part){.first = x.first | y.first,
                       .last = x.last | y.last,
                       .nothing = x.nothing || y.nothing,
                       .enough = x.enough || y.enough};
}

/* ---- bytes ------------------------------------------------------------------------- */

static void add_bytes(uint64_t bytes[4], unsigned from, unsigned to) {
  for (unsigned c = from; c <= to; c++)
    if (c != '\n') bytes[c / 64] |= UINT64_C(1) << c % 64;
}

static struct part place(struct build *b, const uint64_t bytes[4]) {
  if (b->n == FILTER_PLACES_MAX) return reached;
  memcpy(b->bytes[b->n], bytes, sizeof b->bytes[b->n]);
  uint64_t bit = UINT64_C(1) << b->n++;
  return (struct part){.first = bit, .last = bit};
}

static struct part range(struct build *b, unsigned from, unsigned to) {
  uint64_t bytes[4] = {0};
  add_bytes(bytes, from, to);
  return place(b, bytes);
}

static const struct part never; /* no way through it */

/* What stands for any of it may be one byte of ill-formed text, or half of a
 * character in four: any number of bytes beyond ASCII. */
static struct part high(struct build *b) {
  struct part p = range(b, 0x80, 0xff);
  link_places(b->f, p.last, p.first);
  return p;
}

static unsigned lead_of(uint32_t u) {
  char c[4];
  (void)utf8_write(c, u);
  return (unsigned char)c[0];
}

/* Characters of two or three bytes, by their first one. */
static struct part wide(struct build *b, const struct set *set, uint32_t least, uint32_t most) {
  uint64_t leads[4] = {0};
  bool any = false;
  for (size_t i = 0; i < set->n; i++) {
    uint32_t from = set->range[i].from < least ? least : set->range[i].from;
    uint32_t to = set->range[i].to > most ? most : set->range[i].to;
    if (from > to) continue;
    add_bytes(leads, lead_of(from), lead_of(to));
    any = true;
  }
  if (!any) return never;
  struct part p = join(b, place(b, leads), range(b, 0x80, 0xbf));
  return most > 0x7ff ? join(b, p, range(b, 0x80, 0xbf)) : p;
}

static struct part ascii(struct build *b, const struct set *set) {
  uint64_t bytes[4] = {0};
  for (size_t i = 0; i < set->n && set->range[i].from < 0x80; i++) {
    unsigned from = set->range[i].from, to = set->range[i].to < 0x80 ? set->range[i].to : 0x7f;
    add_bytes(bytes, from, to);
    for (unsigned c = from; b->fold && c <= to; c++)
      if (c >= 'A' && c <= 'Z') add_bytes(bytes, c | 0x20, c | 0x20);
  }
  return bytes[0] | bytes[1] ? place(b, bytes) : never;
}

static bool holds_half_or_replacement(const struct set *set) {
  for (size_t i = 0; i < set->n; i++) {
    struct range r = set->range[i];
    if ((r.from <= 0xdfff && r.to >= 0xd800) || (r.from <= 0xfffd && r.to >= 0xfffd)) return true;
  }
  return false;
}

/* Letters beyond ASCII that are folded may be any beyond ASCII. */
static bool has_case(const struct set *set) {
  for (size_t i = 0; i < set->n; i++) {
    struct range r = set->range[i];
    bool below = r.to < 0x80, korean = r.from >= 0xac00 && r.to <= 0xd7a3;
    if (!below && !korean) return true;
  }
  return false;
}

static struct part part_of_set(struct build *b, const struct set *set) {
  struct part p = ascii(b, set);
  if (holds_half_or_replacement(set) || (b->fold && has_case(set))) return either(p, high(b));
  p = either(p, wide(b, set, 0x80, 0x7ff));
  return either(p, wide(b, set, 0x800, 0xffff));
}

static struct part part_of_unit(struct build *b, uint16_t unit) {
  struct range r = {unit, unit};
  struct set set = {&r, 1};
  bool coarse = unit < 0x80 || holds_half_or_replacement(&set) || (b->fold && has_case(&set));
  if (coarse) return part_of_set(b, &set);
  char c[4];
  size_t n = utf8_write(c, unit);
  struct part p = empty;
  for (size_t i = 0; i < n; i++)
    p = join(b, p, range(b, (unsigned char)c[i], (unsigned char)c[i]));
  return p;
}

/* ---- the tree ------------------------------------------------------------------------ */

static struct part part_of(struct build *b, const struct node *node);

static struct part part_of_choice(struct build *b, const struct node *choice) {
  struct part p = never;
  for (const struct node *way = choice->child; way; way = way->next)
    p = either(p, part_of(b, way));
  return p;
}

static struct part part_of_sequence(struct build *b, const struct node *sequence) {
  struct part p = empty;
  for (const struct node *term = sequence->child; term && !p.enough; term = term->next)
    p = join(b, p, part_of(b, term));
  return p;
}

static struct part part_of_repeat(struct build *b, const struct node *repeat) {
  if (repeat->max == 0) return empty;
  struct part p = empty, last = empty;
  uint32_t copies = repeat->min > 1 ? repeat->min : 1;
  for (uint32_t i = 0; i < copies && i < COPIES_MAX && !p.enough; i++) {
    last = part_of(b, repeat->child);
    p = join(b, p, last);
  }
  if (repeat->max > copies || copies > COPIES_MAX) link_places(b->f, last.last, last.first);
  if (repeat->min == 0) p.nothing = true;
  return p;
}

static struct part part_of(struct build *b, const struct node *node) {
  switch (node->kind) {
  case NODE_EMPTY:
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE:
  case NODE_LOOK: return empty;
  case NODE_UNIT: return part_of_unit(b, node->unit);
  case NODE_SET: return part_of_set(b, node->set);
  case NODE_GROUP: return part_of_choice(b, node->child);
  case NODE_REF: return reached;
  case NODE_SEQUENCE: return part_of_sequence(b, node);
  case NODE_CHOICE: return part_of_choice(b, node);
  case NODE_REPEAT: return part_of_repeat(b, node);
  }
  return reached;
}

/* Bytes that only stand in characters taken apart: vowels and finals of Hangul,
 * accents, the marks of kana. */
static struct part part_of_forms(struct build *b) {
  struct part p = join(b, range(b, 0xe1, 0xe1), range(b, 0x84, 0x87));
  p = either(p, join(b, range(b, 0xcc, 0xcc), range(b, 0x80, 0xbf)));
  p = either(p, join(b, range(b, 0xcd, 0xcd), range(b, 0x80, 0xaf)));
  struct part kana = join(b, range(b, 0xe3, 0xe3), range(b, 0x82, 0x82));
  return either(p, join(b, kana, range(b, 0x99, 0x9a)));
}

static void sort_bytes(struct build *b) {
  struct filter *f = b->f;
  for (unsigned c = 0; c < 256; c++) {
    uint64_t places = 0;
    unsigned k = 0;
    for (unsigned i = 0; i < b->n; i++)
      if (b->bytes[i][c / 64] >> c % 64 & 1) places |= UINT64_C(1) << i;
    while (k < f->kinds && f->of_kind[k] != places)
      k++;
    f->of_kind[k] = places;
    f->kinds = k == f->kinds ? k + 1 : f->kinds;
    f->kind[c] = (unsigned char)k;
    f->starts[c] = (places & f->first) != 0;
  }
}

bool filter_make(const struct tree *tree, const uint16_t *fold, bool forms, struct filter *out) {
  *out = (struct filter){0};
  struct build b = {.f = out, .fold = fold};
  struct part p = forms ? part_of_forms(&b) : never;
  p = either(p, part_of_choice(&b, tree->root));
  if (p.nothing || p.enough) return false;
  out->first = p.first;
  out->last |= p.last;
  sort_bytes(&b);
  return true;
}
