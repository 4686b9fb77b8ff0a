/* Reads what a backslash begins, and classes. Both follow annex B of
 * ECMAScript: an escape that means nothing is the character itself.
 */
#include "regex/parse.h"
#include "regex/wide.h"

static int hex_value(int32_t c) {
  if (c >= '0' && c <= '9') return c - '0';
  int32_t lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static bool is_letter(int32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The character's x or u is next: \xHH, \uHHHH, or the letter itself. */
static uint16_t read_hex(struct parse *p, size_t digits) {
  uint32_t v = 0;
  for (size_t k = 1; k <= digits; k++) {
    int digit = hex_value(parse_peek(p, k));
    if (digit < 0) return p->tree->units[p->i++];
    v = v * 16 + (uint32_t)digit;
  }
  p->i += digits + 1;
  return (uint16_t)v;
}

/* Up to three octal digits, below 256. */
static uint16_t read_octal(struct parse *p) {
  uint32_t v = 0;
  for (int k = 0; k < 3; k++) {
    int32_t c = parse_peek(p, 0);
    if (c < '0' || c > '7' || v >= 32) break;
    v = v * 8 + (uint32_t)(c - '0');
    p->i++;
  }
  return (uint16_t)v;
}

/* \cJ; else the backslash is a character and the c is read again. */
static uint16_t read_control(struct parse *p, bool in_class) {
  int32_t c = parse_peek(p, 1);
  bool other = in_class && ((c >= '0' && c <= '9') || c == '_');
  if (!is_letter(c) && !other) return '\\';
  p->i += 2;
  return (uint16_t)(c & 0x1f);
}

static uint16_t take_as(struct parse *p, uint16_t unit) {
  p->i++;
  return unit;
}

/* Behind the backslash: one unit, in a class or outside of it. */
static uint16_t read_unit(struct parse *p, bool in_class) {
  uint16_t c = p->tree->units[p->i];
  switch (c) {
  case 'f': return take_as(p, '\f');
  case 'n': return take_as(p, '\n');
  case 'r': return take_as(p, '\r');
  case 't': return take_as(p, '\t');
  case 'v': return take_as(p, '\v');
  case 'c': return read_control(p, in_class);
  case 'x': return read_hex(p, 2);
  case 'u': return read_hex(p, 4);
  default: return c >= '0' && c <= '7' ? read_octal(p) : take_as(p, c);
  }
}

/* \D, \S, \W hold all that lies beyond the units. */
static void add_class_escape(struct parse *p, int32_t c) {
  bits_escape(p->bits, (char)c);
  if (p->tree->unicode && c < 'a') wide_add(p, WIDE_FIRST, WIDE_LAST);
}

static bool is_class_escape(int32_t c) {
  return c == 'd' || c == 'D' || c == 's' || c == 'S' || c == 'w' || c == 'W';
}

/* \k with a name somewhere in the pattern: must be \k<name>. */
static struct node *read_named_ref(struct parse *p, struct node *sequence, size_t at) {
  struct node *ref = parse_node(p, sequence, NODE_REF, at);
  p->i++;
  if (!ref) return NULL;
  if (!parse_take(p, '<')) {
    parse_fail(p, at, T_REGEX_K_BARE, STR("\\k"));
    return NULL;
  }
  return parse_name(p, &ref->name) ? ref : NULL;
}

/* \1 to \N of N groups refer; nothing is taken otherwise. */
static bool read_ref_number(struct parse *p, uint32_t *number) {
  size_t from = p->i;
  uint32_t v = 0;
  if (parse_peek(p, 0) < '1' || parse_peek(p, 0) > '9') return false;
  for (int32_t c = parse_peek(p, 0); c >= '0' && c <= '9' && v <= p->captures;
       c = parse_peek(p, 0)) {
    v = v * 10 + (uint32_t)(c - '0');
    p->i++;
  }
  *number = v;
  if (v <= p->captures) return true;
  p->i = from;
  return false;
}

/* What only the u flag knows; *node is set, or NULL after a refusal. */
static bool parse_wide(struct parse *p, struct node *sequence, size_t at, struct node **node) {
  uint32_t cp;
  int32_t c = parse_peek(p, 0);
  *node = NULL;
  if (wide_read_point(p, &cp)) {
    *node = wide_point(p, sequence, at, cp);
    return true;
  }
  if (!wide_allows(p, at)) return true;
  if (c != 'p' && c != 'P') return false;
  parse_set_start(p);
  if (wide_property(p, at)) *node = parse_set(p, sequence, at, false);
  return true;
}

static struct node *parse_class_escape(struct parse *p, struct node *sequence, size_t at) {
  parse_set_start(p);
  add_class_escape(p, parse_peek(p, 0));
  p->i++;
  return parse_set(p, sequence, at, false);
}

static struct node *parse_edge(struct parse *p, struct node *sequence, size_t at) {
  bool edge = parse_take(p, 'b');
  p->i += edge ? 0 : 1;
  return parse_node(p, sequence, edge ? NODE_EDGE : NODE_NO_EDGE, at);
}

struct node *parse_escape(struct parse *p, struct node *sequence) {
  size_t at = p->i++;
  int32_t c = parse_peek(p, 0);
  uint32_t number;
  struct node *wide;
  if (c == PARSE_END) {
    parse_fail(p, at, T_REGEX_BACKSLASH_LAST, STR("\\"));
    return NULL;
  }
  if (p->tree->unicode && parse_wide(p, sequence, at, &wide)) return wide;
  if (c == 'b' || c == 'B') return parse_edge(p, sequence, at);
  if (read_ref_number(p, &number)) {
    struct node *ref = parse_node(p, sequence, NODE_REF, at);
    if (ref) ref->group = number;
    return ref;
  }
  if (c == 'k' && p->tree->names) return read_named_ref(p, sequence, at);
  if (is_class_escape(c)) return parse_class_escape(p, sequence, at);
  return parse_unit(p, sequence, at, read_unit(p, false));
}

struct atom {
  size_t at;
  bool many;     /* a class escape: already in the set */
  uint32_t unit; /* or code point */
};

/* As parse_wide, in a class. */
static bool read_wide_atom(struct parse *p, struct atom *atom, bool *fine) {
  int32_t c = parse_peek(p, 0);
  *fine = true;
  if (wide_read_point(p, &atom->unit)) return true;
  atom->many = c == 'p' || c == 'P';
  *fine = (c == '-' || wide_allows(p, atom->at)) && (!atom->many || wide_property(p, atom->at));
  return atom->many || !*fine;
}

static bool read_atom(struct parse *p, struct atom *atom) {
  *atom = (struct atom){.at = p->i};
  int32_t c = parse_peek(p, 0), next = parse_peek(p, 1);
  bool fine;
  if (c != '\\') {
    atom->unit = parse_point(p);
    return true;
  }
  if (next == PARSE_END) return parse_fail(p, p->i, T_REGEX_BACKSLASH_LAST, STR("\\"));
  if (next == 'k' && p->tree->names) return parse_fail(p, p->i, T_REGEX_K_BARE, STR("\\k"));
  p->i++;
  if (p->tree->unicode && read_wide_atom(p, atom, &fine)) return fine;
  atom->many = is_class_escape(next);
  if (atom->many) add_class_escape(p, next);
  if (atom->many || next == 'b') p->i++;
  if (next == 'b')
    atom->unit = '\b';
  else if (!atom->many)
    atom->unit = read_unit(p, true);
  return true;
}

static void add_atom(struct parse *p, const struct atom *atom) {
  p->tree->names_cr |= !atom->many && atom->unit == '\r';
  if (!atom->many) wide_add(p, atom->unit, atom->unit);
}

/* One atom, or a range of two. */
static bool read_member(struct parse *p) {
  struct atom from, to;
  if (!read_atom(p, &from)) return false;
  if (parse_peek(p, 0) != '-' || parse_peek(p, 1) == ']' || parse_peek(p, 1) == PARSE_END) {
    add_atom(p, &from);
    return true;
  }
  p->i++;
  if (!read_atom(p, &to)) return false;
  if (from.many || to.many) { /* annex B: [\d-x] holds the digits, - and x */
    add_atom(p, &from);
    add_atom(p, &to);
    bits_add(p->bits, '-', '-');
    return true;
  }
  if (from.unit > to.unit)
    return parse_fail(p, from.at, T_REGEX_RANGE_ORDER, tree_source(p->tree, from.at, p->i));
  wide_add(p, from.unit, to.unit);
  return true;
}

struct node *parse_class(struct parse *p, struct node *sequence) {
  size_t at = p->i++;
  bool invert = parse_take(p, '^');
  parse_set_start(p);
  while (parse_peek(p, 0) != ']') {
    if (parse_peek(p, 0) == PARSE_END) {
      parse_fail(p, at, T_REGEX_CLASS_OPEN, STR("["));
      return NULL;
    }
    if (!read_member(p)) return NULL;
  }
  p->i++;
  return parse_set(p, sequence, at, invert);
}
