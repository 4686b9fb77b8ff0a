/* Finds text that every match holds, so that lines without it need no matching:
 * runs of units that follow each other in each match. What stands in a look or
 * in one of several ways is not looked at.
 */
#include "regex/literal.h"

#include "base/utf8.h"

struct run {
  uint16_t unit[LITERAL_BYTES_MAX];
  size_t n;
  struct buf *best;
};

static bool is_high(uint16_t u) {
  return (u & 0xfc00) == 0xd800;
}

static bool is_low(uint16_t u) {
  return (u & 0xfc00) == 0xdc00;
}

/* How many units from i on make one character; 0: half a pair, which no
 * subject's UTF-8 shows. */
static size_t whole(const struct run *r, size_t i) {
  if (is_high(r->unit[i])) return i + 1 < r->n && is_low(r->unit[i + 1]) ? 2 : 0;
  return is_low(r->unit[i]) ? 0 : 1;
}

static size_t utf8_size(const struct run *r, size_t i, size_t units) {
  if (units == 2) return 4;
  return r->unit[i] < 0x80 ? 1 : r->unit[i] < 0x800 ? 2 : 3;
}

static void keep(struct run *r, size_t from, size_t to) {
  buf_reset(r->best);
  for (size_t i = from; i < to; i++) {
    uint32_t cp = r->unit[i];
    if (is_high(r->unit[i])) {
      cp = 0x10000 + ((cp & 0x3ff) << 10) + (r->unit[i + 1] & 0x3ffu);
      i++;
    }
    utf8_put(r->best, cp);
  }
}

/* The run is over: its longest stretch of whole characters may be the best. */
static void finish(struct run *r) {
  size_t from = 0, bytes = 0;
  for (size_t i = 0; i < r->n;) {
    size_t units = whole(r, i);
    size_t size = units > 0 ? utf8_size(r, i, units) : 0;
    if (units == 0 || bytes + size > LITERAL_BYTES_MAX) {
      from = units == 0 ? i + 1 : i;
      bytes = 0;
    }
    bytes += size;
    i += units > 0 ? units : 1;
    if (bytes > r->best->n) keep(r, from, i);
  }
  r->n = 0;
}

static void add_unit(struct run *r, uint16_t unit) {
  if (r->n == LITERAL_BYTES_MAX) finish(r);
  r->unit[r->n++] = unit;
}

static void walk_choice(struct run *r, const struct node *choice);

static void walk_term(struct run *r, const struct node *term) {
  switch (term->kind) {
  case NODE_UNIT: add_unit(r, term->unit); return;
  case NODE_EMPTY:
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE:
  case NODE_LOOK: return; /* take nothing: what is around them is together */
  case NODE_GROUP: walk_choice(r, term->child); return;
  case NODE_REPEAT:
    if (term->min > 0) walk_term(r, term->child);
    finish(r);
    return;
  case NODE_SET:
  case NODE_REF:
  case NODE_SEQUENCE:
  case NODE_CHOICE: finish(r); return;
  }
}

static void walk_choice(struct run *r, const struct node *choice) {
  if (node_forks(choice)) {
    finish(r);
    return;
  }
  for (const struct node *term = choice->child->child; term; term = term->next)
    walk_term(r, term);
}

void literal_find(const struct tree *tree, struct buf *out) {
  struct run run = {.best = out};
  walk_choice(&run, tree->root);
  finish(&run);
}
