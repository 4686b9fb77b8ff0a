/* Finds texts that every match holds: runs of units that follow each other in
 * each match, or of a choice one run for each of its ways. What stands in a look
 * is not looked at.
 */
#include "regex/literal.h"

#include "base/utf8.h"

#define UNITS_MAX LITERAL_BYTES_MAX

struct finder {
  bool folds;
  uint16_t unit[UNITS_MAX];
  size_t n;
  struct literals *best;
};

/* Most common first: blanks, then letters and signs of prose and programs. */
static const char common_bytes[] = " etaoinsrlcdu\nmpfhg_b.,yv;()w0-/1\"'=xk:2TS*>EACI<R3{}N"
                                   "LDPjO4MqF5B8z6#9U7H$&[]GV|!W?+\\XKY%@Qj`Z~^J\t";

unsigned literal_common(unsigned char byte) {
  const char *at = byte ? strchr(common_bytes, byte) : NULL;
  if (at) return 255 - 2 * (unsigned)(at - common_bytes);
  if (byte >= 0xe3 && byte <= 0xed) return 200; /* leads of Korean, Chinese and Japanese */
  if (byte >= 0x80 && byte < 0xc0) return 60;
  return byte >= 0xc2 && byte <= 0xd1 ? 90 : 5;
}

/* ---- what a set of texts is worth ------------------------------------------------ */

static int worth_of(const struct literal *l) {
  unsigned rarest = 255;
  for (size_t i = 0; i < l->n; i++) {
    unsigned common = literal_common((unsigned char)l->p[i]);
    rarest = common < rarest ? common : rarest;
  }
  int length = l->n < 8 ? (int)l->n : 8;
  return l->n < 2 ? 0 : 100 + 40 * length - (int)rarest;
}

static void judge(struct literals *set) {
  set->worth = 1000;
  for (size_t i = 0; i < set->n; i++) {
    int worth = worth_of(&set->one[i]);
    set->worth = worth < set->worth ? worth : set->worth;
  }
  set->worth = set->n == 0 || set->worth == 0 ? 0 : set->worth - 10 * (int)(set->n - 1);
}

static void offer(struct finder *f, struct literals *set) {
  judge(set);
  if (set->worth > f->best->worth) *f->best = *set;
}

/* ---- runs ------------------------------------------------------------------------ */

static bool is_half(uint16_t u) {
  return (u & 0xf800) == 0xd800;
}

/* Letters without case, so that folding leaves them alone. */
static bool has_no_case(uint16_t u) {
  return (u >= 0x1100 && u <= 0x11ff) || (u >= 0x2e80 && u < 0xa640) || u >= 0xac00;
}

/* Not in text before its repair as it is after it: U+FFFD, and what comes of
 * surrogates that were joined. The whole block is left out. */
static bool is_usable(const struct finder *f, uint16_t u) {
  if (is_half(u) || u >= 0xf000) return false;
  return !f->folds || u < 0x80 || has_no_case(u);
}

static size_t add_unit(struct literal *l, uint16_t u) {
  char c[4];
  size_t n = utf8_write(c, u);
  if (l->n + n > sizeof l->p) return 0;
  memcpy(l->p + l->n, c, n);
  l->n += n;
  return n;
}

/* The run is over: its stretches of usable units may be the best. */
static void finish(struct finder *f) {
  struct literals set = {.n = 1};
  for (size_t i = 0; i <= f->n; i++) {
    bool usable = i < f->n && is_usable(f, f->unit[i]);
    if (usable && add_unit(&set.one[0], f->unit[i])) continue;
    if (set.one[0].n) offer(f, &set);
    set.one[0].n = 0;
    if (usable) (void)add_unit(&set.one[0], f->unit[i]);
  }
  f->n = 0;
}

static void best_of_sequence(struct finder *f, const struct node *sequence);

/* Each way must hold one: all of them together. */
static void best_of_ways(struct finder *f, const struct node *choice) {
  struct literals all = {0};
  for (const struct node *way = choice->child; way; way = way->next) {
    struct literals best = {0};
    struct finder inner = {.folds = f->folds, .best = &best};
    best_of_sequence(&inner, way);
    if (best.n == 0 || all.n + best.n > LITERALS_MAX) return;
    memcpy(&all.one[all.n], best.one, best.n * sizeof *best.one);
    all.n += best.n;
  }
  offer(f, &all);
}

static void walk_choice(struct finder *f, const struct node *choice);

static void walk_term(struct finder *f, const struct node *term) {
  switch (term->kind) {
  case NODE_UNIT:
    if (f->n == UNITS_MAX) finish(f);
    f->unit[f->n++] = term->unit;
    return;
  case NODE_EMPTY:
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE:
  case NODE_LOOK: return; /* take nothing: what is around them is together */
  case NODE_GROUP: walk_choice(f, term->child); return;
  case NODE_REPEAT:
    if (term->min > 0) walk_term(f, term->child);
    finish(f);
    return;
  case NODE_SET:
  case NODE_REF:
  case NODE_SEQUENCE:
  case NODE_CHOICE: finish(f); return;
  }
}

static void walk_choice(struct finder *f, const struct node *choice) {
  if (node_forks(choice)) {
    finish(f);
    best_of_ways(f, choice);
    return;
  }
  for (const struct node *term = choice->child->child; term; term = term->next)
    walk_term(f, term);
}

static void best_of_sequence(struct finder *f, const struct node *sequence) {
  for (const struct node *term = sequence->child; term; term = term->next)
    walk_term(f, term);
  finish(f);
}

void literals_find(const struct tree *tree, bool folds, struct literals *out) {
  *out = (struct literals){0};
  struct finder f = {.folds = folds, .best = out};
  walk_choice(&f, tree->root);
  finish(&f);
}
