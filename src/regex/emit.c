/* Writes PCRE2's pattern from a tree. Lookbehinds, which PCRE2 wants in fixed
 * lengths, are behind.c's business.
 */
#include "regex/emit.h"

/* So much pattern may lie between two callouts: it bounds the time that passes
 * uncounted. A fork that is not followed by a callout at once weighs half of
 * it, since two of them in a row multiply. */
#define FORK_WEIGHT (CALLOUT_WEIGHT / 2)
#define CALLOUT_NUMBER_MAX 255

static void put_callout(struct emit *e) {
  unsigned weight = e->since < CALLOUT_NUMBER_MAX ? e->since : CALLOUT_NUMBER_MAX;
  buf_fmt(e->out, "(?C%u)", weight);
  e->since = 0;
}

static void put_unit(struct emit *e, uint16_t unit) {
  bool plain =
      (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z');
  if (plain)
    buf_c(e->out, (char)unit);
  else
    buf_fmt(e->out, "\\x{%x}", (unsigned)unit);
}

static void put_range(struct emit *e, uint32_t from, uint32_t to) {
  put_unit(e, (uint16_t)from);
  if (to > from + 1) buf_c(e->out, '-');
  if (to > from) put_unit(e, (uint16_t)to);
}

/* Written the way that takes fewer ranges: what is in, or what is not. But a
 * class that says what is not, holds all beyond 0xff and not 0xff itself, is
 * taken by PCRE2's JIT (16 bit, to 10.47) to hold none of that when it stands
 * at the start: PCRE2Project/pcre2 pull 980. */
static void put_set(struct emit *e, const struct set *set) {
  const struct range *r = set->range;
  bool full = set->n == 1 && r[0].from == 0 && r[0].to == UNITS_ALL - 1;
  bool up = set->n > 0 && r[set->n - 1].to == UNITS_ALL - 1;
  bool outside = set->n == 0 || (up && r[set->n - 1].from != 0x100);
  if (full) {
    buf_c(e->out, '.');
    return;
  }
  buf_put(e->out, outside ? STR("[^") : STR("["));
  uint32_t free_from = 0;
  for (size_t i = 0; i < set->n; i++) {
    if (!outside)
      put_range(e, r[i].from, r[i].to);
    else if (r[i].from > free_from)
      put_range(e, free_from, r[i].from - 1u);
    free_from = r[i].to + 1u;
  }
  if (set->n == 0) put_range(e, 0, UNITS_ALL - 1);
  buf_c(e->out, ']');
}

/* With the u flag: units, further ranges and properties in one class, never what it
 * does not hold, for that would hold all further characters. What is outside is asked for
 * by looking first, for the reason above. */
static void put_wide(struct emit *e, const struct node *node) {
  if (node->set->n == 0 && node->more.n == 0) { /* nothing is in it */
    buf_lit(e->out, "(?:(?!))");
    return;
  }
  if (node->outside) buf_lit(e->out, "(?:(?!");
  buf_c(e->out, '[');
  for (size_t i = 0; i < node->set->n; i++)
    put_range(e, node->set->range[i].from, node->set->range[i].to);
  buf_put(e->out, node->more);
  buf_c(e->out, ']');
  if (node->outside) buf_lit(e->out, ").)");
}

void emit_count(struct emit *e, uint32_t min, uint32_t max, bool lazy) {
  if (min == 1 && max == 1) return;
  if (max == REPEAT_FOREVER && min <= 1)
    buf_c(e->out, min == 0 ? '*' : '+');
  else if (min == 0 && max == 1)
    buf_c(e->out, '?');
  else if (max == REPEAT_FOREVER)
    buf_fmt(e->out, "{%u,}", min);
  else if (min == max)
    buf_fmt(e->out, "{%u}", min);
  else
    buf_fmt(e->out, "{%u,%u}", min, max);
  if (lazy && min != max) buf_c(e->out, '?');
}

/* a{100,200} as a{64}, a callout, a{36,136}: PCRE2 takes a run in one go. */
static void emit_run(struct emit *e, const struct node *repeat) {
  uint32_t min = repeat->min, max = repeat->max;
  for (; min > CALLOUT_WEIGHT; min -= CALLOUT_WEIGHT) {
    emit_node(e, repeat->child);
    emit_count(e, CALLOUT_WEIGHT, CALLOUT_WEIGHT, false);
    e->since += CALLOUT_WEIGHT;
    put_callout(e);
    max -= max == REPEAT_FOREVER ? 0 : CALLOUT_WEIGHT;
  }
  emit_node(e, repeat->child);
  emit_count(e, min, max, repeat->lazy);
  e->since += min;
  if (max - min > 1)
    put_callout(e);
  else if (max > min)
    e->since += FORK_WEIGHT;
}

/* The ways of a loop that must not match nothing (check.c: can_skip_blank). */
static void emit_skipping(struct emit *e, struct node *group) {
  group->number = group->wanted ? ++e->groups : 0;
  buf_put(e->out, group->wanted ? STR("(") : STR("(?:"));
  const char *bar = "";
  for (struct node *way = group->child->child; way; way = way->next) {
    if (way->blank == BLANK_ONLY) continue;
    buf_put(e->out, str_of(bar));
    bar = "|";
    struct node *only = way->blank == BLANK_NEVER ? NULL : way->child;
    uint32_t min = only ? only->min : 0;
    if (only) only->min = 1;
    emit_node(e, way);
    if (only) only->min = min;
  }
  buf_c(e->out, ')');
}

static void emit_loop(struct emit *e, struct node *repeat) {
  buf_lit(e->out, "(?:");
  if (repeat->skip_blank)
    emit_skipping(e, repeat->child);
  else
    emit_node(e, repeat->child);
  if (repeat->max > 1)
    put_callout(e);
  else
    e->since += FORK_WEIGHT;
  buf_c(e->out, ')');
  emit_count(e, repeat->min, repeat->max, repeat->lazy);
}

static void emit_repeat(struct emit *e, struct node *repeat) {
  enum node_kind kind = repeat->child->kind;
  if (repeat->max == 0) return;
  if (repeat->child->blank == BLANK_ONLY) { /* JavaScript takes none that it need not */
    if (repeat->min > 0) emit_node(e, repeat->child);
    return;
  }
  if (emit_picked(e, repeat)) return;
  if (kind == NODE_UNIT || kind == NODE_SET)
    emit_run(e, repeat);
  else
    emit_loop(e, repeat);
}

void emit_choice(struct emit *e, const struct node *choice) {
  for (struct node *way = choice->child; way; way = way->next) {
    emit_node(e, way);
    if (way->next) buf_c(e->out, '|');
  }
}

static void emit_group(struct emit *e, struct node *group) {
  group->number = group->wanted ? ++e->groups : 0;
  buf_put(e->out, group->wanted ? STR("(") : STR("(?:"));
  if (!emit_picked(e, group->child)) emit_choice(e, group->child);
  buf_c(e->out, ')');
  e->since += node_forks(group->child) ? FORK_WEIGHT : 0;
}

static void emit_look(struct emit *e, const struct node *look) {
  if (look->behind) {
    emit_behind(e, look);
    return;
  }
  struct picks *outer = e->picks; /* ahead, lengths may vary again */
  e->picks = NULL;
  buf_put(e->out, look->negative ? STR("(?!") : STR("(?="));
  emit_choice(e, look->child);
  buf_c(e->out, ')');
  e->picks = outer;
}

static void emit_sequence(struct emit *e, const struct node *sequence) {
  for (struct node *term = sequence->child; term && !e->fail; term = term->next) {
    if (++e->since >= CALLOUT_WEIGHT) put_callout(e);
    emit_node(e, term);
  }
}

/* dispatch */
void emit_node(struct emit *e, struct node *node) {
  switch (node->kind) {
  case NODE_EMPTY: buf_lit(e->out, "(?:)"); return;
  case NODE_UNIT: put_unit(e, node->unit); return;
  case NODE_SET:
    if (e->tree->unicode)
      put_wide(e, node);
    else
      put_set(e, node->set);
    return;
  case NODE_START: buf_lit(e->out, "\\A"); return;
  case NODE_END: buf_lit(e->out, "\\z"); return;
  case NODE_EDGE: buf_lit(e->out, "\\b"); return;
  case NODE_NO_EDGE: buf_lit(e->out, "\\B"); return;
  case NODE_GROUP: emit_group(e, node); return;
  case NODE_LOOK: emit_look(e, node); return;
  case NODE_REF: buf_fmt(e->out, "\\g{%u}", e->tree->groups[node->group]->number); return;
  case NODE_SEQUENCE: emit_sequence(e, node); return;
  case NODE_CHOICE: emit_choice(e, node); return;
  case NODE_REPEAT: emit_repeat(e, node); return;
  }
}

enum rein_code emit_tree(struct tree *tree, struct buf *out) {
  struct emit e = {.tree = tree, .out = out};
  emit_choice(&e, tree->root);
  if (e.fail) return e.fail;
  if (out->fail == REIN_LIMIT) return tree_refuse(tree, 0, T_REGEX_TOO_BIG, STR_NONE, 0);
  return out->fail;
}
