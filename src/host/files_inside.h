/* The inside of files: files_path.c turns a model's path into one the kernel
 * may resolve and an errno into a sentence; files.c opens; files_place.c finds
 * where to write, files_write.c the same below one folder, files_put.c replaces
 * and deletes. Walking is walk.h's.
 */
#pragma once

#include "host/files.h"
#include "text/text.h"

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
/* Not there: names the one that was probably meant, where it is that simple. */
enum rein_code path_absent(const struct files *files, const char *inside, struct str path,
                           struct err *err);
/* A sentence of one value, the path. */
enum rein_code path_kind_fail(enum text_id text, struct str path, struct err *err);
/* files_guard.c: what the guard says. The first of a walk's entry. */
bool files_may_see(const struct files *files, int dir, const char *name, struct str path);
enum rein_code files_may_open(const struct files *files, int fd, struct str asked, struct err *err);
/* Whether it lies in rein's own places. */
bool files_owns(const struct files *files, struct str path);
/* `path`: where it leads, from the root; `asked` for the sentence. */
enum rein_code files_may_change(const struct files *files, int dir, const char *name,
                                struct str path, struct str asked, struct err *err);

/* Fills err with the sentence of a (positive) errno about this path. */
enum rein_code path_fail(struct str path, int error, struct err *err);

/* Git's own files and rein's: what is written there may run later, or rule. */
bool path_kept(struct str name);
bool path_kept_in(struct str path); /* any of its names */
bool path_names_folder(struct str path);
/* Appends "/name" (without "/" where n is 0) and the end; the new length. */
size_t path_append(char *way, size_t n, struct str name);
/* The folder `way` beneath `top`, whose last name is missing from `dir`, maybe: it
 * is made then. A descriptor, or a negated errno. */
int folder_enter(int top, const char *way, int dir, const char *name, uint64_t more);

/* -- files_put.c: one name in an open folder -- */
struct put {
  int dir;          /* its own open file: the lock of the folder is held on it */
  const char *name; /* no link is followed */
  struct str shown; /* the path for sentences */
};
int folder_sync(int dir); /* 0, or a negated errno */
enum rein_code put_write(const struct put *put, struct str content, const struct files_want *want,
                         struct files_done *done, struct err *err);
enum rein_code put_delete(const struct put *put, const struct files_want *want, struct err *err);
/* -- files_attr.c: 0, or a negated errno -- */
/* Takes away the access list that a new file got from its folder's default: before a
 * mode is set, since that would wake the rights in it. */
int attrs_clear(int fd);
/* Extended attributes and the access list; `from` may be O_PATH. *lost: some could not
 * be kept. */
int attrs_carry(int from, int to, bool *lost);
/* A sentence of two values: the path, and the words of a (positive) errno. */
enum rein_code put_fail(struct str path, enum text_id text, int error, struct err *err);
