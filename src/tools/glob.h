/* Patterns for paths: what list_files and search_files call a glob.
 *
 *   *   any characters but /       ?      one character but /
 *   **  any characters, / too      {a,b}  either
 *   [a-c] [!a-c]  one of, none of  \x     x itself
 *
 * "**" with a slash behind it also stands for no folder at all. A glob without
 * a slash is matched against the name, at any depth; one with a slash against
 * the whole path.
 *
 * Both are composed first (NFC), so a name taken apart as macOS writes it matches
 * a glob as people type it, and the reverse.
 *
 * Matching costs at most length of the path times length of the glob: all
 * places in the glob that are still possible move on together.
 */
#pragma once

#include "base/err.h"

#define GLOB_MAX 512     /* bytes; longer is an accident */
#define GLOB_DEPTH_MAX 8 /* braces in braces */

struct glob;

/* REIN_INPUT with a sentence: too long, too deep, something not closed, "..". */
enum rein_code glob_new(struct str pattern, struct glob **glob, struct err *err) REIN_CHECKED;
void glob_free(struct glob *glob); /* NULL is fine */
/* `path` is relative to the folder that the glob is meant for. An invalid byte
 * in it counts as a character. Uses scratch inside: one thread at a time. */
bool glob_match(struct glob *glob, struct str path);
