/* References to groups: \1 and \k<name>.
 *
 * In JavaScript a group holds nothing while it is open, and forgets what it
 * held whenever a loop around it starts another iteration; PCRE2 remembers. So
 * a reference that in JavaScript never holds anything is emptied here, one that
 * always sees its group's latest text is kept, and the rest is refused.
 */
#include "regex/check.h"

static bool is_inside(const struct node *node, const struct node *outer) {
  while (node && node != outer)
    node = node->parent;
  return node != NULL;
}

static const struct node *meeting(const struct node *a, const struct node *b) {
  while (!is_inside(b, a))
    a = a->parent;
  return a;
}

static const struct node *look_around(const struct node *node) {
  node = node->parent;
  while (node && node->kind != NODE_LOOK)
    node = node->parent;
  return node;
}

static bool inside_behind(const struct node *node) {
  const struct node *look = look_around(node);
  while (look && !look->behind)
    look = look_around(look);
  return look != NULL;
}

/* Below `meet` stands something that keeps the group from ever being set. */
static bool is_cut_off(const struct node *group, const struct node *meet) {
  for (const struct node *n = group->parent; n != meet; n = n->parent)
    if ((n->kind == NODE_LOOK && n->negative) || (n->kind == NODE_REPEAT && n->max == 0))
      return true;
  return false;
}

static bool holds_nothing(const struct node *ref, const struct node *group) {
  if (is_inside(ref, group)) return true;
  const struct node *meet = meeting(group, ref);
  if (meet->kind == NODE_CHOICE)
    return true; /* another way is taken, or a loop came round in between */
  const struct node *look = meet->kind == NODE_LOOK ? meet : look_around(meet);
  bool backwards = look && look->behind;
  bool ref_first = (ref->at < group->at) != backwards;
  return ref_first || is_cut_off(group, meet);
}

static bool find_name(const struct tree *t, struct node *ref) {
  for (uint32_t i = 1; i <= t->groups_n && ref->group == 0; i++) {
    struct name name = t->groups[i]->name;
    if (name.n == ref->name.n && memcmp(name.p, ref->name.p, name.n * sizeof *name.p) == 0)
      ref->group = i;
  }
  return ref->group != 0;
}

static struct str ref_source(const struct tree *t, const struct node *ref) {
  size_t end = ref->at + 2u;
  while (ref->name.n > 0 && end < t->n && t->units[end - 1] != '>')
    end++;
  return tree_source(t, ref->at, end);
}

static enum rein_code resolve(struct tree *t, struct node *node) {
  if (node->kind == NODE_REF) {
    if (node->name.n > 0 && !find_name(t, node))
      return tree_refuse(t, node->at, T_REGEX_NAME_UNKNOWN, ref_source(t, node), 0);
    if (holds_nothing(node, t->groups[node->group])) node->kind = NODE_EMPTY;
  }
  enum rein_code code = REIN_OK;
  for (struct node *child = node->child; child && !code; child = child->next)
    code = resolve(t, child);
  return code;
}

/* The way from a group up to `top`: what may leave it out, what repeats it. */
struct way {
  bool optional;         /* something on the way may pass the group by */
  bool optional_in_loop; /* ... inside of a loop on the way */
  bool loop;
  bool blank_loop; /* an iteration may be dropped, with what it held */
};

static struct way way_up(const struct node *group, const struct node *top) {
  struct way w = {0};
  for (const struct node *n = group->parent; n != top; n = n->parent) {
    bool repeat = n->kind == NODE_REPEAT;
    if (repeat && n->max > 1) {
      w.loop = true;
      w.optional_in_loop = w.optional;
    }
    if (repeat && n->min < n->max && n->child->blank != BLANK_NEVER) w.blank_loop = true;
    if ((repeat && n->min == 0) || (n->kind == NODE_CHOICE && node_forks(n))) w.optional = true;
  }
  return w;
}

static enum rein_code check_ref(const struct tree *t, const struct node *ref) {
  struct node *group = t->groups[ref->group];
  if (inside_behind(ref) || inside_behind(group))
    return tree_refuse(t, ref->at, T_REGEX_BEHIND_REF, ref_source(t, ref), 0);
  const struct node *meet = meeting(group, ref);
  struct way below = way_up(group, meet), above = way_up(meet, NULL);
  bool stale = below.optional_in_loop || (below.optional && above.loop);
  if (stale || below.blank_loop)
    return tree_refuse(t, ref->at, T_REGEX_LOOP_REF, ref_source(t, ref), 0);
  group->wanted = true;
  return REIN_OK;
}

static enum rein_code check_below(const struct tree *t, const struct node *node) {
  enum rein_code code = node->kind == NODE_REF ? check_ref(t, node) : REIN_OK;
  for (const struct node *child = node->child; child && !code; child = child->next)
    code = check_below(t, child);
  return code;
}

enum rein_code refs_resolve(struct tree *tree) {
  return resolve(tree, tree->root);
}

enum rein_code refs_check(struct tree *tree) {
  return check_below(tree, tree->root);
}
