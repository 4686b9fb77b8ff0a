/* Paths as rules see them: one spelling for all that lead to the same place as
 * far as the text tells. Links are the file host's business, which has the
 * opened file's path judged again.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"

#define PATH_TEXT_MAX 8192 /* twice PATH_MAX: a root and a path in it */

/* `text` relative to `root` (absolute, or empty: unknown): without ".", "//" and
 * "..", composed, "" never ("." is the root). What lies outside is absolute, or
 * begins with ".." where the root is not known. ANY_TEXT in it is kept. False:
 * no memory; a text that is too long comes as ANY_TEXT alone. */
bool path_clean(struct arena *arena, struct str root, struct str text, struct str *clean);
/* A rule's pattern in the same spelling; its stars are names. */
bool path_pattern(struct arena *arena, struct str pattern, struct str *clean);
/* The pattern against a clean path. `wide`: also against the folders that it
 * lies in, and what is not known counts as a match. */
bool path_fits(struct str pattern, struct str root, struct str path, bool wide);
/* What becomes code when written: .git, .envrc, and rein's own files. Returns
 * the name that makes it so; empty: none. Case is ignored, as some disks do. */
struct str path_guarded(struct str path);
/* Whether the pattern spells such a name itself. */
bool path_names_guarded(struct str pattern);
