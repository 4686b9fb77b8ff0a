/* Loops over what can match nothing, and the size of what PCRE2 will make of
 * the pattern. References are refs.c's business.
 *
 * JavaScript takes no optional iteration that matched nothing and tries the
 * iteration's other ways instead; PCRE2 takes it and goes on behind the loop.
 * Whether there is a match comes to the same, which one is found need not: so
 * what a loop repeats may match nothing only as the last thing it tries.
 */
#include "regex/check.h"

/* Code units of the compiled pattern, roughly: PCRE2's own limit is 65,536, and
 * compiling this much takes a few milliseconds. */
#define SIZE_MAX_UNITS 30000

static enum node_blank blank_sequence(const struct node *sequence) {
  enum node_blank blank = BLANK_ONLY;
  for (const struct node *term = sequence->child; term; term = term->next) {
    if (term->blank == BLANK_NEVER) return BLANK_NEVER;
    if (term->blank == BLANK_EARLY || blank == BLANK_ONLY) blank = term->blank;
  }
  return blank;
}

static enum node_blank blank_choice(const struct node *choice) {
  enum node_blank blank = choice->child->blank;
  for (const struct node *way = choice->child->next; way; way = way->next) {
    if (blank == BLANK_NEVER)
      blank = way->blank == BLANK_ONLY ? BLANK_LAST : way->blank;
    else if (way->blank != BLANK_ONLY)
      return BLANK_EARLY;
  }
  return blank;
}

static enum node_blank blank_repeat(const struct node *repeat) {
  enum node_blank inner = repeat->child->blank;
  if (repeat->max == 0 || inner == BLANK_ONLY) return BLANK_ONLY;
  if (repeat->min == 0) return repeat->lazy ? BLANK_EARLY : BLANK_LAST;
  if (inner == BLANK_LAST) return repeat->lazy ? BLANK_EARLY : BLANK_LAST;
  return inner;
}

static enum node_blank blank_of(const struct node *node) {
  switch (node->kind) {
  case NODE_UNIT:
  case NODE_SET: return BLANK_NEVER;
  case NODE_EMPTY:
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE:
  case NODE_LOOK: return BLANK_ONLY;
  case NODE_REF: return BLANK_LAST;
  case NODE_GROUP: return node->child->blank;
  case NODE_SEQUENCE: return blank_sequence(node);
  case NODE_CHOICE: return blank_choice(node);
  case NODE_REPEAT: return blank_repeat(node);
  }
  return BLANK_NEVER;
}

static void mark_blank(struct node *node) {
  for (struct node *child = node->child; child; child = child->next)
    mark_blank(child);
  node->blank = blank_of(node);
}

/* A way of a loop that can be written so that it never matches nothing: it
 * always does (and is left out), never does, or is one loop of its own (a*, which
 * becomes a+). */
static bool way_can_skip(const struct node *sequence) {
  if (sequence->blank == BLANK_NEVER || sequence->blank == BLANK_ONLY) return true;
  const struct node *term = sequence->child;
  return !term->next && term->kind == NODE_REPEAT && term->min == 0 &&
         term->child->blank == BLANK_NEVER;
}

static bool can_skip_blank(const struct node *repeat) {
  if (repeat->min > 0 || repeat->lazy || repeat->child->kind != NODE_GROUP) return false;
  const struct node *way = repeat->child->child->child;
  while (way && way_can_skip(way))
    way = way->next;
  return !way;
}

static enum rein_code check_loop(const struct tree *t, struct node *repeat) {
  if (repeat->child->blank != BLANK_EARLY || repeat->min == repeat->max) return REIN_OK;
  repeat->skip_blank = can_skip_blank(repeat);
  /* Lazy: behind the loop was tried first; only counted copies change the order. */
  bool same = repeat->lazy && (repeat->max == REPEAT_FOREVER || repeat->max - repeat->min == 1);
  if (repeat->skip_blank || same) return REIN_OK;
  return tree_refuse(t, repeat->at, T_REGEX_LOOP_BLANK, STR("(?:…)"), 0);
}

static enum rein_code check_loops(const struct tree *t, struct node *node) {
  enum rein_code code = node->kind == NODE_REPEAT ? check_loop(t, node) : REIN_OK;
  for (struct node *child = node->child; child && !code; child = child->next)
    code = check_loops(t, child);
  return code;
}

/* PCRE2 writes a counted group out once for each time, emit.c a run in parts. */
static uint64_t size_of(const struct node *node) {
  uint64_t size = node->kind == NODE_SET ? 20 + 2 * node->set->n + node->more.n / 8 : 3;
  for (const struct node *child = node->child; child; child = child->next)
    size += size_of(child);
  bool single = node->kind == NODE_REPEAT &&
                (node->child->kind == NODE_UNIT || node->child->kind == NODE_SET);
  if (node->kind != NODE_REPEAT) return size;
  uint64_t copies = node->max == REPEAT_FOREVER ? node->min : node->max;
  if (single) copies = node->min / CALLOUT_WEIGHT + 1;
  size *= copies > 0 ? copies : 1;
  return size > SIZE_MAX_UNITS ? SIZE_MAX_UNITS + 1 : size;
}

enum rein_code check_tree(struct tree *tree) {
  if (size_of(tree->root) > SIZE_MAX_UNITS)
    return tree_refuse(tree, 0, T_REGEX_TOO_BIG, STR_NONE, 0);
  enum rein_code code = refs_resolve(tree);
  if (code) return code;
  mark_blank(tree->root);
  code = check_loops(tree, tree->root);
  return code ? code : refs_check(tree);
}
