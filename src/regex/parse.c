/* Reads a pattern into a tree: choices, sequences, groups, repeats. What a
 * backslash or a bracket begins is read by escape.c, names by name.c.
 */
#include "regex/parse.h"

#include "base/mem.h"
#include "regex/wide.h"

/* Of one set: the pattern is shorter, and each of its ranges takes some twenty bytes. */
#define MORE_BYTES_MAX (20 * REGEX_PATTERN_MAX)

uint32_t parse_point(struct parse *p) {
  int32_t c = parse_peek(p, 0), next = parse_peek(p, 1);
  bool pair = p->tree->unicode && c >= 0xd800 && c < 0xdc00 && next >= 0xdc00 && next < 0xe000;
  p->i += pair ? 2 : 1;
  return pair ? 0x10000 + (((uint32_t)c & 0x3ff) << 10) + ((uint32_t)next & 0x3ff) : (uint32_t)c;
}

bool parse_fail(struct parse *p, size_t at, enum text_id text, struct str what) {
  if (!p->fail) p->fail = tree_refuse(p->tree, at, text, what, 0);
  return false;
}

struct node *parse_node(struct parse *p, struct node *parent, enum node_kind kind, size_t at) {
  struct node *node = arena_new(&p->tree->arena, struct node);
  if (!node) {
    p->fail = REIN_MEMORY;
    return NULL;
  }
  node->kind = kind;
  node->at = (uint16_t)at;
  node->parent = parent;
  if (parent && parent->last)
    parent->last->next = node;
  else if (parent)
    parent->child = node;
  if (parent) parent->last = node;
  return node;
}

struct node *parse_unit(struct parse *p, struct node *parent, size_t at, uint16_t unit) {
  struct node *node = parse_node(p, parent, NODE_UNIT, at);
  p->tree->names_cr |= unit == '\r';
  if (node) node->unit = p->fold ? p->fold[unit] : unit;
  return node;
}

void parse_set_start(struct parse *p) {
  bits_clear(p->bits);
  buf_reset(&p->more);
}

/* Without properties what is outside can be said as what is inside. */
static bool settle(struct parse *p, bool invert) {
  if (!p->tree->unicode) return false;
  if (invert && p->more.n == 0) {
    bits_invert(p->bits);
    wide_write(&p->more, WIDE_FIRST, WIDE_LAST);
    invert = false;
  }
  wide_drop_halves(p->bits);
  return invert;
}

static struct node *wide_set(struct parse *p, struct node *parent, size_t at, bool outside) {
  struct node *node = parse_node(p, parent, NODE_SET, at);
  if (!node) return NULL;
  node->outside = outside;
  node->set = bits_set(p->bits, &p->tree->arena);
  if (node->set && !p->more.fail && arena_str(&p->tree->arena, buf_str(&p->more), &node->more))
    return node;
  if (!p->fail) p->fail = p->more.fail ? p->more.fail : REIN_MEMORY;
  return NULL;
}

struct node *parse_set(struct parse *p, struct node *parent, size_t at, bool invert) {
  bool outside = settle(p, invert);
  if (p->more.n > 0 || p->more.fail) return wide_set(p, parent, at, outside);
  if (p->tree->unicode) invert = false;
  if (p->fold) bits_fold(p->bits, p->fold);
  if (invert) bits_invert(p->bits);
  const struct set *set = bits_set(p->bits, &p->tree->arena);
  if (!set) {
    p->fail = REIN_MEMORY;
    return NULL;
  }
  bool one = set->n == 1 && set->range[0].from == set->range[0].to;
  struct node *node = parse_node(p, parent, one ? NODE_UNIT : NODE_SET, at);
  if (node && one)
    node->unit = set->range[0].from;
  else if (node)
    node->set = set;
  return node;
}

static struct node *read_dot(struct parse *p, struct node *sequence) {
  parse_set_start(p);
  bits_escape(p->bits, '.');
  if (p->tree->unicode) wide_add(p, WIDE_FIRST, WIDE_LAST);
  return parse_set(p, sequence, p->i++, false);
}

/* Digits as a number, held at UINT32_MAX - 1. */
static bool read_number(struct parse *p, uint32_t *out) {
  size_t from = p->i;
  uint32_t v = 0;
  for (int32_t c = parse_peek(p, 0); c >= '0' && c <= '9'; c = parse_peek(p, 0)) {
    uint32_t digit = (uint32_t)(c - '0');
    v = v > (UINT32_MAX - 10) / 10 ? UINT32_MAX - 1 : v * 10 + digit;
    p->i++;
  }
  *out = v;
  return p->i > from;
}

/* {n} {n,} {n,m}; anything else is no quantifier, and nothing is taken. */
static bool read_braces(struct parse *p, uint32_t *min, uint32_t *max) {
  size_t from = p->i;
  bool good = parse_take(p, '{') && read_number(p, min);
  *max = *min;
  if (good && parse_take(p, ',') && !read_number(p, max)) *max = REPEAT_FOREVER;
  good = good && parse_take(p, '}');
  p->i = good ? p->i : from;
  return good;
}

static bool read_quantifier(struct parse *p, uint32_t *min, uint32_t *max) {
  *min = 0;
  *max = REPEAT_FOREVER;
  if (parse_take(p, '*')) return true;
  if (parse_take(p, '+')) {
    *min = 1;
    return true;
  }
  if (parse_take(p, '?')) {
    *max = 1;
    return true;
  }
  return read_braces(p, min, max);
}

/* Puts the sequence's last term below a repeat, in its place. */
static bool wrap(struct parse *p, struct node *sequence, struct node *term, struct node *repeat) {
  struct node *moved = arena_new(&p->tree->arena, struct node);
  if (!moved) {
    p->fail = REIN_MEMORY;
    return false;
  }
  *moved = *term;
  moved->parent = term;
  for (struct node *child = moved->child; child; child = child->next)
    child->parent = moved;
  if (moved->kind == NODE_GROUP && moved->group) p->tree->groups[moved->group] = moved;
  *term = *repeat;
  term->parent = sequence;
  term->child = term->last = moved;
  return true;
}

static bool read_repeat(struct parse *p, struct node *sequence, struct node *term) {
  size_t at = p->i;
  struct node repeat = {.kind = NODE_REPEAT, .at = term->at};
  if (!read_quantifier(p, &repeat.min, &repeat.max)) return true;
  struct str source = tree_source(p->tree, at, p->i);
  if (repeat.max < repeat.min) return parse_fail(p, at, T_REGEX_REPEAT_ORDER, source);
  uint32_t highest = repeat.max == REPEAT_FOREVER ? repeat.min : repeat.max;
  if (highest > REGEX_REPEAT_MAX) {
    p->fail = tree_refuse(p->tree, at, T_REGEX_REPEAT_MAX, source, REGEX_REPEAT_MAX);
    return false;
  }
  repeat.lazy = parse_take(p, '?');
  return wrap(p, sequence, term, &repeat);
}

static bool read_choice(struct parse *p, struct node *choice);

/* Groups of other dialects, by what stands behind "(?". */
static enum text_id foreign_kind(int32_t c, int32_t next) {
  switch (c) {
  case 'P': return next == '<' || next == '=' ? T_REGEX_GROUP_PYTHON : T_REGEX_GROUP_KIND;
  case '#': return T_REGEX_GROUP_COMMENT;
  case '>': return T_REGEX_GROUP_ATOMIC;
  case 'i':
  case 'm':
  case 's':
  case '-': return T_REGEX_GROUP_FLAGS;
  default: return T_REGEX_GROUP_KIND;
  }
}

/* Behind "(?": what kind of group it is; false when JavaScript has none such. */
static bool read_kind(struct parse *p, struct node *group, size_t at) {
  int32_t c = parse_peek(p, 0), next = parse_peek(p, 1);
  if (c == ':') {
    p->i++;
    return true;
  }
  group->behind = c == '<';
  int32_t sign = group->behind ? next : c;
  if (sign != '=' && sign != '!')
    return parse_fail(p, at, foreign_kind(c, next), tree_source(p->tree, at, p->i + 1));
  p->i += group->behind ? 2 : 1;
  group->kind = NODE_LOOK;
  group->negative = sign == '!';
  return true;
}

static bool name_is_new(struct parse *p, const struct node *group) {
  for (uint32_t i = 1; i < group->group; i++) {
    struct name other = p->tree->groups[i]->name;
    if (other.n == group->name.n && other.n > 0 &&
        memcmp(other.p, group->name.p, other.n * sizeof *other.p) == 0)
      return parse_fail(p, group->at, T_REGEX_NAME_TWICE, tree_source(p->tree, group->at, p->i));
  }
  return true;
}

static bool read_opening(struct parse *p, struct node *group) {
  size_t at = p->i++;
  bool named = parse_peek(p, 0) == '?' && parse_peek(p, 1) == '<' && parse_peek(p, 2) != '=' &&
               parse_peek(p, 2) != '!';
  if (parse_peek(p, 0) == '?' && !named) {
    p->i++;
    return read_kind(p, group, at);
  }
  group->group = ++p->tree->groups_n;
  p->tree->groups[group->group] = group;
  if (!named) return true;
  p->i += 2;
  return parse_name(p, &group->name) && name_is_new(p, group);
}

static struct node *read_group(struct parse *p, struct node *sequence) {
  size_t at = p->i;
  if (++p->depth > REGEX_DEPTH_MAX) {
    p->fail = tree_refuse(p->tree, at, T_REGEX_DEPTH, STR("("), REGEX_DEPTH_MAX);
    return NULL;
  }
  struct node *group = parse_node(p, sequence, NODE_GROUP, at);
  if (!group || !read_opening(p, group)) return NULL;
  struct node *choice = parse_node(p, group, NODE_CHOICE, p->i);
  if (!choice || !read_choice(p, choice)) return NULL;
  if (!parse_take(p, ')')) {
    parse_fail(p, at, T_REGEX_GROUP_OPEN, STR("("));
    return NULL;
  }
  p->depth--;
  return group;
}

static struct node *read_assertion(struct parse *p, struct node *sequence, enum node_kind kind) {
  return parse_node(p, sequence, kind, p->i++);
}

static struct node *read_nothing_to_repeat(struct parse *p) {
  uint32_t min, max;
  size_t at = p->i;
  read_quantifier(p, &min, &max);
  parse_fail(p, at, T_REGEX_NOTHING_TO_REPEAT, tree_source(p->tree, at, p->i));
  return NULL;
}

static struct node *read_literal(struct parse *p, struct node *sequence) {
  uint32_t min, max;
  size_t at = p->i;
  if (read_braces(p, &min, &max)) {
    p->i = at;
    return read_nothing_to_repeat(p);
  }
  if (p->tree->unicode) return wide_point(p, sequence, at, parse_point(p));
  return parse_unit(p, sequence, at, p->tree->units[p->i++]);
}

static struct node *read_term(struct parse *p, struct node *sequence) {
  switch (p->tree->units[p->i]) {
  case '^': return read_assertion(p, sequence, NODE_START);
  case '$': return read_assertion(p, sequence, NODE_END);
  case '(': return read_group(p, sequence);
  case '[': return parse_class(p, sequence);
  case '\\': return parse_escape(p, sequence);
  case '.': return read_dot(p, sequence);
  case '*':
  case '+':
  case '?': return read_nothing_to_repeat(p);
  default: return read_literal(p, sequence);
  }
}

/* Annex B lets a lookahead be repeated, but neither a lookbehind nor ^ $ \b. */
static bool repeatable(const struct node *term) {
  switch (term->kind) {
  case NODE_START:
  case NODE_END:
  case NODE_EDGE:
  case NODE_NO_EDGE: return false;
  case NODE_LOOK: return !term->behind;
  case NODE_EMPTY:
  case NODE_UNIT:
  case NODE_SET:
  case NODE_GROUP:
  case NODE_REF:
  case NODE_SEQUENCE:
  case NODE_CHOICE:
  case NODE_REPEAT: break;
  }
  return true;
}

static bool read_sequence(struct parse *p, struct node *sequence) {
  for (int32_t c = parse_peek(p, 0); c != PARSE_END && c != '|' && c != ')'; c = parse_peek(p, 0)) {
    struct node *term = read_term(p, sequence);
    if (!term || (repeatable(term) && !read_repeat(p, sequence, term))) return false;
  }
  return true;
}

static bool read_choice(struct parse *p, struct node *choice) {
  do {
    struct node *sequence = parse_node(p, choice, NODE_SEQUENCE, p->i);
    if (!sequence || !read_sequence(p, sequence)) return false;
  } while (parse_take(p, '|'));
  return true;
}

/* Behind a [ : to the end of the class. */
static size_t skip_class(const struct tree *t, size_t i) {
  while (i < t->n && t->units[i] != ']')
    i += t->units[i] == '\\' ? 2 : 1;
  return i;
}

/* \2 means something else when there is no second group, and \k when there is
 * no name: both must be known before the first escape is read. */
static void count_captures(struct parse *p) {
  struct tree *t = p->tree;
  for (size_t i = 0; i < t->n; i++) {
    uint16_t c = t->units[i];
    if (c == '\\') {
      i++;
    } else if (c == '[') {
      i = skip_class(t, i + 1);
    } else if (c == '(') {
      bool special = i + 1 < t->n && t->units[i + 1] == '?';
      bool named = special && i + 3 < t->n && t->units[i + 2] == '<' && t->units[i + 3] != '=' &&
                   t->units[i + 3] != '!';
      p->captures += !special || named;
      t->names = t->names || named;
    }
  }
}

static enum rein_code read_all(struct parse *p) {
  struct tree *t = p->tree;
  t->groups = arena_array(&t->arena, struct node *, p->captures + 1);
  t->root = parse_node(p, NULL, NODE_CHOICE, 0);
  if (!t->groups || !t->root) return REIN_MEMORY;
  if (read_choice(p, t->root) && p->i < t->n) parse_fail(p, p->i, T_REGEX_GROUP_CLOSE, STR(")"));
  return p->fail;
}

enum rein_code parse_tree(struct tree *tree, const uint16_t *fold) {
  struct parse p = {.tree = tree, .fold = fold};
  buf_init(&p.more, MORE_BYTES_MAX);
  count_captures(&p);
  p.bits = mem_zero(sizeof *p.bits);
  enum rein_code code = p.bits ? read_all(&p) : REIN_MEMORY;
  mem_free(p.bits);
  buf_release(&p.more);
  return code;
}
