/* A pattern as a tree, the way ECMAScript's grammar reads it (no u flag, with
 * the web's additions of annex B). parse.c builds it, check.c marks it, emit.c
 * writes PCRE2 from it, literal.c looks for text that every match holds.
 *
 * Shape: a choice's children are sequences, always; a sequence's children are
 * terms; a group, and a look, has one child, a choice; a repeat has one child,
 * what it repeats. Everything lives in one arena.
 */
#pragma once

#include "base/arena.h"
#include "regex/regex.h"
#include "regex/set.h"
#include "text/text.h"

/* Groups within groups: a model's pattern has four, and recursion must end. */
#define REGEX_DEPTH_MAX 100
/* Highest {n}: PCRE2's own. What it copies n times is bounded by its size (check.c). */
#define REGEX_REPEAT_MAX 65535
/* After so many single matches the clock is looked at: a run is written in parts. */
#define CALLOUT_WEIGHT 64
#define REPEAT_FOREVER UINT32_MAX
/* The tree of the longest pattern, each byte a group of its own, fits. */
#define TREE_BYTES_MAX ((size_t)8 << 20)

enum node_kind {
  NODE_EMPTY, /* matches here, takes nothing */
  NODE_UNIT,  /* one UTF-16 unit, folded when case is ignored */
  NODE_SET,
  NODE_START,
  NODE_END,
  NODE_EDGE,    /* \b */
  NODE_NO_EDGE, /* \B */
  NODE_GROUP,
  NODE_LOOK,
  NODE_REF,
  NODE_SEQUENCE,
  NODE_CHOICE,
  NODE_REPEAT
};

/* Whether a node can match nothing, and when it tries to: JavaScript takes no
 * iteration of a loop that matched nothing, PCRE2 takes it and leaves the loop;
 * where nothing is what is tried last, both come to the same. */
enum node_blank { BLANK_NEVER, BLANK_LAST, BLANK_ONLY, BLANK_EARLY };

struct name { /* code points */
  const uint32_t *p;
  size_t n;
};

struct node {
  enum node_kind kind;
  enum node_blank blank; /* by check.c */
  bool lazy;             /* REPEAT */
  bool negative, behind; /* LOOK */
  bool wanted;           /* GROUP: something refers to it; by check.c */
  bool skip_blank;       /* REPEAT: what can match nothing must not; by check.c */
  uint16_t unit;         /* UNIT */
  uint16_t at;           /* where it starts, in units of the pattern */
  uint32_t group;        /* GROUP, REF: JavaScript's number; 0: does not capture */
  uint32_t number;       /* GROUP: PCRE2's number; by emit.c */
  uint32_t min, max;     /* REPEAT */
  const struct set *set; /* SET */
  struct str more;       /* SET: further pieces of a PCRE2 class (wide.h) */
  bool outside;          /* SET: everything but that */
  struct name name;      /* REF by name, until it is resolved; GROUP */
  struct node *parent, *child, *last, *next;
};

struct tree {
  struct arena arena;
  struct str pattern;
  uint16_t *units; /* the pattern in UTF-16 */
  uint16_t *bytes; /* of each unit, and of the end: its byte in the pattern */
  size_t n;
  struct node *root;    /* a choice */
  struct node **groups; /* by JavaScript's number; [0] is not used */
  uint32_t groups_n;    /* highest number */
  bool names;           /* some group has a name */
  bool unicode;         /* characters are code points, PCRE2 is in UTF mode */
  bool names_cr;        /* the carriage return is written out, alone or in a class */
  struct err *err;      /* the caller's; may be NULL */
};

/* Takes the pattern (borrowed) apart into units. tree_release in any case. */
enum rein_code tree_init(struct tree *tree, struct str pattern, struct err *err) REIN_CHECKED;
void tree_release(struct tree *tree);
/* The pattern cannot be used: fills tree->err with the position in characters
 * (from 1) as {0}, `what` as {1} and `limit` as {2}. Returns REIN_INPUT. */
enum rein_code tree_refuse(const struct tree *tree, size_t unit_at, enum text_id text,
                           struct str what, int64_t limit);
/* The pattern's own text of units [from, to). */
struct str tree_source(const struct tree *tree, size_t from, size_t to);
/* A choice of one sequence is how a group without | looks. */
static inline bool node_forks(const struct node *choice) {
  return choice->child && choice->child->next;
}
