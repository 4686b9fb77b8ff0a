/* Reads a pattern as `new RegExp(pattern)` would: ECMAScript's grammar with
 * annex B, no u flag. What JavaScript calls an error is one here; everything
 * else is in the tree, also what cannot be matched the same way (check.h). */
#pragma once

#include "regex/tree.h"

/* `fold` (fold.h) ignores case; NULL: does not. tree->unicode: with the u flag's
 * characters and properties, though annex B's forgiveness stays (wide.h). */
enum rein_code parse_tree(struct tree *tree, const uint16_t *fold) REIN_CHECKED;

/* ---- between parse.c, escape.c, name.c and wide.c ----------------------- */

struct parse {
  struct tree *tree;
  size_t i;          /* next unit */
  unsigned depth;    /* of groups */
  uint32_t captures; /* groups in the whole pattern */
  struct bits *bits; /* room for one set */
  struct buf more;   /* what it holds beyond units, as PCRE2 writes it in a class */
  const uint16_t *fold;
  enum rein_code fail; /* once set, all is over */
};

#define PARSE_END (-1)
/* The unit `ahead` of the next one, or PARSE_END. */
static inline int32_t parse_peek(const struct parse *p, size_t ahead) {
  return p->i + ahead < p->tree->n ? p->tree->units[p->i + ahead] : PARSE_END;
}
/* Takes `c` if it is next. */
static inline bool parse_take(struct parse *p, char c) {
  bool next = parse_peek(p, 0) == c;
  p->i += next;
  return next;
}
/* Takes a unit or, with tree->unicode, a whole character. */
uint32_t parse_point(struct parse *p);
/* Refuses; returns false, so that a failure is one line. */
bool parse_fail(struct parse *p, size_t at, enum text_id text, struct str what);
/* A new node below parent; NULL when there is no memory. */
struct node *parse_node(struct parse *p, struct node *parent, enum node_kind kind, size_t at);

/* At a backslash outside of a class: adds a term. */
struct node *parse_escape(struct parse *p, struct node *sequence);
/* At a [: adds a term. */
struct node *parse_class(struct parse *p, struct node *sequence);
/* Empties the room for a set. */
void parse_set_start(struct parse *p);
/* A term that is one of p->bits: folded, and a unit when only one is left. */
struct node *parse_set(struct parse *p, struct node *parent, size_t at, bool invert);
struct node *parse_unit(struct parse *p, struct node *parent, size_t at, uint16_t unit);
/* Behind a <: reads NAME>. */
bool parse_name(struct parse *p, struct name *name);
