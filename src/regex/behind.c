/* Lookbehinds. JavaScript looks back over any length, PCRE2 over branches of
 * fixed lengths; so a body whose length varies is written once for each way to
 * choose its lengths. Only whether it matches is asked of a lookbehind, so the
 * order of the branches, and in what direction they are tried, do not matter.
 */
#include "regex/emit.h"

/* Branches of one lookbehind: more is slow at every position of the subject. */
#define BEHIND_BRANCHES_MAX 64
#define PICKS_MAX 32 /* places whose length varies, one behind the other */

/* An odometer: a digit for each place where the branch has a choice, found
 * while it is written. */
struct picks {
  uint32_t digit[PICKS_MAX], radix[PICKS_MAX];
  unsigned n;     /* passed in this branch */
  bool leading;   /* nothing was written yet in this branch */
  size_t look_at; /* unit where the lookbehind starts */
};

static void refuse(struct emit *e, size_t at, enum text_id text, struct str what) {
  if (!e->fail) e->fail = tree_refuse(e->tree, at, text, what, BEHIND_BRANCHES_MAX);
}

static uint32_t pick(struct emit *e, uint32_t radix) {
  struct picks *p = e->picks;
  if (p->n == PICKS_MAX || radix > BEHIND_BRANCHES_MAX) {
    refuse(e, p->look_at, T_REGEX_BEHIND_MANY, STR_NONE);
    return 0;
  }
  p->radix[p->n] = radix;
  return p->digit[p->n++];
}

/* The next branch: the last place that can still be turned; false: was the last. */
static bool turn(struct picks *p) {
  unsigned n = p->n;
  while (n > 0 && p->digit[n - 1] + 1 == p->radix[n - 1])
    n--;
  if (n == 0) return false;
  p->digit[n - 1]++;
  for (unsigned i = n; i < PICKS_MAX; i++)
    p->digit[i] = 0;
  return true;
}

#define WIDTH_VARIES (-1)

static int64_t width_of(const struct node *node);

static int64_t width_of_choice(const struct node *choice) {
  int64_t width = width_of(choice->child);
  for (const struct node *way = choice->child->next; way; way = way->next)
    if (width_of(way) != width) return WIDTH_VARIES;
  return width;
}

static int64_t width_of_sequence(const struct node *sequence) {
  int64_t sum = 0;
  for (const struct node *term = sequence->child; term; term = term->next) {
    int64_t width = width_of(term);
    if (width == WIDTH_VARIES) return WIDTH_VARIES;
    sum += width;
  }
  return sum;
}

static int64_t width_of_repeat(const struct node *repeat) {
  int64_t width = width_of(repeat->child);
  if (repeat->max == 0 || width == 0) return 0;
  bool fixed = width != WIDTH_VARIES && repeat->min == repeat->max;
  return fixed ? width * repeat->min : WIDTH_VARIES;
}

static int64_t width_of(const struct node *node) {
  switch (node->kind) {
  case NODE_EMPTY:
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE:
  case NODE_LOOK: return 0;
  case NODE_UNIT:
  case NODE_SET: return 1;
  case NODE_GROUP: return width_of(node->child);
  case NODE_REF: return WIDTH_VARIES;
  case NODE_SEQUENCE: return width_of_sequence(node);
  case NODE_CHOICE: return width_of_choice(node);
  case NODE_REPEAT: return width_of_repeat(node);
  }
  return WIDTH_VARIES;
}

static void emit_times(struct emit *e, struct node *node, uint32_t times) {
  for (uint32_t i = 0; i < times && !e->fail && !e->out->fail; i++)
    emit_node(e, node);
}

static bool picked_repeat(struct emit *e, struct node *repeat, bool leading) {
  uint32_t min = repeat->min, max = repeat->max;
  if (leading) /* what stands before is free: (?<=a+b) asks no more than (?<=ab) */
    max = min;
  if (max == REPEAT_FOREVER) {
    refuse(e, repeat->at, T_REGEX_BEHIND_LENGTH, STR("{0,9}"));
    return true;
  }
  if (width_of(repeat->child) != WIDTH_VARIES) {
    uint32_t times = min + (max > min ? pick(e, max - min + 1) : 0);
    if (times > 0) emit_node(e, repeat->child);
    if (times > 0) emit_count(e, times, times, false);
    return true;
  }
  emit_times(e, repeat->child, min + (max > min ? pick(e, max - min + 1) : 0));
  return true;
}

bool emit_picked(struct emit *e, struct node *node) {
  if (!e->picks || width_of(node) != WIDTH_VARIES) return false;
  bool leading = e->picks->leading;
  e->picks->leading = false;
  if (node->kind == NODE_REPEAT) return picked_repeat(e, node, leading);
  uint32_t ways = 0;
  for (const struct node *way = node->child; way; way = way->next)
    ways++;
  uint32_t chosen = ways > 1 ? pick(e, ways) : 0;
  struct node *way = node->child;
  while (chosen-- > 0)
    way = way->next;
  emit_node(e, way);
  return true;
}

/* A branch's terms; those in front that may be left out are. */
static void emit_branch(struct emit *e, const struct node *way) {
  bool leading = true;
  for (struct node *term = way->child; term && !e->fail; term = term->next) {
    e->picks->leading = leading && term->kind == NODE_REPEAT;
    emit_node(e, term);
    leading = leading && term->kind == NODE_REPEAT && term->min == 0;
  }
  e->picks->leading = false;
}

void emit_behind(struct emit *e, const struct node *look) {
  struct picks picks = {.look_at = look->at}, *outer = e->picks;
  unsigned branches = 0;
  const char *bar = "";
  e->picks = &picks;
  buf_put(e->out, look->negative ? STR("(?<!") : STR("(?<="));
  for (const struct node *way = look->child->child; way; way = way->next) {
    do {
      picks.n = 0;
      buf_put(e->out, str_of(bar));
      bar = "|";
      emit_branch(e, way);
      if (++branches > BEHIND_BRANCHES_MAX) refuse(e, look->at, T_REGEX_BEHIND_MANY, STR_NONE);
    } while (!e->fail && !e->out->fail && turn(&picks));
    memset(picks.digit, 0, sizeof picks.digit);
  }
  buf_c(e->out, ')');
  e->picks = outer;
}
