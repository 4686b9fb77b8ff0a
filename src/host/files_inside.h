/* The inside of files: files_path.c turns a model's path into one the kernel
 * may resolve and an errno into a sentence; files.c opens, files_write.c
 * writes, files_walk.c lists.
 */
#pragma once

#include "host/files.h"

#include <limits.h>
#include <stdint.h>

/* openat2 beneath `dir`; `more` adds RESOLVE_ flags. A descriptor (close on
 * exec), or a negated errno. */
int beneath_open(int dir, const char *path, int flags, uint64_t more);
/* The same from the root, for a path that files_path_inside gave; one that
 * leaves and comes back is rewritten in place to its way inside. */
int files_beneath(const struct files *files, char path[PATH_MAX], int flags);

/* Checks the text and makes it relative: "" is an error, the root is ".". */
enum rein_code files_path_inside(const struct files *files, struct str path, char inside[PATH_MAX],
                                 struct err *err);
/* Takes the next name off a path, without "/" and "."; false: no more. */
bool path_next(struct str *rest, struct str *name);

/* Where a path leads to nothing: rewrites it to the names that are meant, equal
 * to those given but for their spelling (files_meant.c). False: there are none. */
bool files_meant(const struct files *files, char path[PATH_MAX]);

#define PATH_SHOWN_MAX 2048 /* bytes; at most 100 code points, each up to \u{10ffff} */
/* The path for a sentence: controls visible, a long one cut in the middle. */
void path_show(struct buf *out, struct str path);
/* Fills err with the sentence of a (positive) errno about this path. */
enum rein_code path_fail(struct str path, int error, struct err *err);
