/* What a tree means in JavaScript that PCRE2 would take otherwise: settled in
 * the tree where it can be, refused with a reason where not. */
#pragma once

#include "regex/tree.h"

/* Resolves references, marks wanted groups, blank nodes and loops. */
enum rein_code check_tree(struct tree *tree) REIN_CHECKED;

/* refs.c: references that never hold anything become empty, names numbers. */
enum rein_code refs_resolve(struct tree *tree) REIN_CHECKED;
/* refs.c: those that remain must mean the same in PCRE2; after the blanks. */
enum rein_code refs_check(struct tree *tree) REIN_CHECKED;
