/* What .gitignore files name, by git's own rules (gitignore(5), and where that is
 * silent what `git check-ignore` does): one list per folder, the deeper one wins,
 * in a list the last line that matches. Bytes, as git has them, not characters.
 * Reading the files is the walk's business (walk_folder.c).
 *
 *   ignore_new(text, 4, above, &rules);   // of src/.gitignore
 *   ignore_names(rules, STR("src/a.o"), false);
 */
#pragma once

#include "base/str.h"

#include <rein.h>

#define IGNORE_BYTES_MAX (1u << 20) /* of one file: more is no list that a person keeps */

struct ignore;

/* The rules of one file, over those of `above` (may be NULL; must outlive it).
 * `base` bytes of a path, with the slash, name the folder that they are for; 0:
 * the root. *rules is `above` where the text holds no rule. REIN_MEMORY. */
enum rein_code ignore_new(struct str text, size_t base, struct ignore *above, struct ignore **rules)
    __attribute__((warn_unused_result));
/* Frees this one list, not those above it; NULL is fine. */
void ignore_free(struct ignore *rules);
void ignore_free_all(struct ignore *rules); /* and those above */
/* Whether a path below the folder is named, and not taken out again. That a
 * folder above it is named is the caller's to know: nothing in it comes back. */
bool ignore_names(const struct ignore *rules, struct str path, bool is_dir);
