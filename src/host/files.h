/* Files below one root, confined by the kernel (openat2, RESOLVE_BENEATH).
 *
 * A path is as the model wrote it: relative to the root, or absolute and then
 * inside it by whole components (of the root's real path, or of the one it was
 * opened with). Links are followed as long as they stay beneath; nothing
 * outside is ever opened, not even to look. A link with an absolute target
 * counts as leading out, wherever it points: so the kernel says. A path that
 * leaves by ".." and comes back by the root's own name is inside. A name to be
 * read that is not there is taken for the one entry beside it that equals it as
 * Unicode text (한글 composed or taken apart), or that list_files shows so.
 * Thread-safe.
 *
 *   files_open_root(".", &files, &err);
 *   files_open(&files, STR("src/main.c"), FILES_READ, &fd, &err);
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct files {
  int fd;            /* of the root */
  const char *root;  /* its real path, terminated */
  const char *given; /* the path it was opened with, made absolute; NULL: unknown */
};

/* Opens the root, which may itself be a link. REIN_INPUT with a sentence;
 * REIN_SYSTEM where the kernel has no openat2 (there is no weaker way). */
enum rein_code files_open_root(const char *path, struct files *files, struct err *err) REIN_CHECKED;
void files_close_root(struct files *files);

enum files_need { FILES_READ, FILES_DIR };

/* A descriptor of something to read. Errors, each a sentence that quotes the
 * path with controls visible: REIN_INPUT (empty, a NUL byte, outside the root,
 * not there, a directory where a file is wanted and the reverse, no right, too
 * long, a loop of links, not a regular file), REIN_SYSTEM (the rest). Never
 * waits for the other end of a pipe, and does not open one. `taken` (may be
 * NULL) gets the path that was opened where it is spelled otherwise than asked. */
enum rein_code files_open(const struct files *files, struct str path, enum files_need need, int *fd,
                          struct buf *taken, struct err *err) REIN_CHECKED;
/* Writes the whole content to `path`, relative to the root and below its folder
 * `below` ("reports" takes "reports/x.md"; it is made when missing, as are
 * folders in between): a temporary file beside it, fsync, rename; old file or
 * new file, nothing between. An old file's permissions stay. Refuses everything
 * that is not below it, by components and by the kernel: "..", absolute paths,
 * a link in `below`'s place, links that lead out of `below` or to nothing (those
 * that stay are ways, and one in the file's place stays), .git and .rein in any
 * case, by name or by link. */
enum rein_code files_write_below(const struct files *files, const char *below, struct str path,
                                 struct str content, struct err *err) REIN_CHECKED;
/* The path of an open descriptor relative to the root, for judging and showing;
 * "." for the root itself. REIN_INPUT: it is not inside, or was deleted. */
enum rein_code files_path_of(const struct files *files, int fd, struct buf *path) REIN_CHECKED;

#define FILES_DEPTH_MAX 64 /* folders within each other: one descriptor each */

/* Walks below `path` ("" the root): a folder's entries in bytewise order, each
 * folder visited before what is in it. `skip` (may be NULL) is asked first:
 * true leaves an entry out, with all below it; links are not followed. `visit`
 * returns false to stop. Paths are relative to the root, names as on disk (any
 * bytes). A folder that is not walked is visited and says so. */
struct files_entry {
  struct str path, name;
  int dir_fd; /* open name below it with openat(..., O_NOFOLLOW) */
  bool is_dir, is_link, is_file;
  bool unreadable; /* a folder that could not be opened, or */
  bool too_deep;   /* one FILES_DEPTH_MAX below the start: nothing in it comes */
  int64_t size;    /* of a file; not yet known to `skip` */
};
typedef bool (*files_visit_fn)(void *ctx, const struct files_entry *entry);
typedef bool (*files_skip_fn)(void *ctx, const struct files_entry *entry);
enum rein_code files_walk(const struct files *files, struct str path, files_skip_fn skip,
                          files_visit_fn visit, void *ctx, struct err *err) REIN_CHECKED;
