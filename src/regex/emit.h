/* Writes a checked tree as a PCRE2 pattern: only forms that mean the same
 * there, so nothing of PCRE2's own (verbs, \K, possessive, …) can get in.
 *
 * The pattern is ASCII, for the 16-bit library without UTF, with DOTALL and
 * MATCH_UNSET_BACKREF. Callouts (?Cn) stand wherever matching can fork, n
 * telling how much pattern lies before: match.c counts its steps by them.
 */
#pragma once

#include "base/buf.h"
#include "regex/tree.h"

/* Bytes of the PCRE2 pattern: each unit takes eight, lookbehinds are unrolled. */
#define EMIT_BYTES_MAX ((size_t)128 << 10)

enum rein_code emit_tree(struct tree *tree, struct buf *out) REIN_CHECKED;

/* ---- between emit.c and behind.c ----------------------------------------- */

struct emit {
  struct tree *tree;
  struct buf *out;
  unsigned since;      /* weight of what was written since the last callout */
  uint32_t groups;     /* PCRE2's, so far */
  struct picks *picks; /* inside of a lookbehind: which lengths this branch has */
  enum rein_code fail;
};

void emit_choice(struct emit *e, const struct node *choice);
void emit_node(struct emit *e, struct node *node);
void emit_count(struct emit *e, uint32_t min, uint32_t max, bool lazy);
/* behind.c: "(?<=…)" with one branch for each length. */
void emit_behind(struct emit *e, const struct node *look);
/* behind.c: a choice or repeat below a lookbehind, where its length varies;
 * false: it does not, write it as always. */
bool emit_picked(struct emit *e, struct node *node);
