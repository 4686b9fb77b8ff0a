/* Files below one root, confined by the kernel (openat2, RESOLVE_BENEATH).
 *
 * A path is as the model wrote it: relative to the root, or absolute and then
 * inside it by whole components. Links are followed as long as they stay
 * beneath; nothing outside is ever opened, not even to look. Thread-safe.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct files {
  int fd;           /* of the root */
  const char *root; /* its real path, terminated */
};

/* Opens the root, which may itself be a link. REIN_INPUT with a sentence. */
enum rein_code files_open_root(const char *path, struct files *files, struct err *err) REIN_CHECKED;
void files_close_root(struct files *files);

enum files_need { FILES_READ, FILES_DIR };

/* A descriptor of something to read. Errors, each a sentence that quotes the
 * path with controls visible: REIN_INPUT (empty, a NUL byte, outside the root,
 * not there, a directory where a file is wanted and the reverse, no right, too
 * long, a loop of links, not a regular file). */
enum rein_code files_open(const struct files *files, struct str path, enum files_need need, int *fd,
                          struct err *err) REIN_CHECKED;
/* Writes the whole content to `path` below the folder `below` ("reports"; it
 * is made when missing, as are folders in between): a temporary file beside it,
 * fsync, rename; old file or new file, nothing between. Refuses everything
 * that is not below it, by components and by the kernel, links out included. */
enum rein_code files_write_below(const struct files *files, const char *below, struct str path,
                                 struct str content, struct err *err) REIN_CHECKED;
/* The path of an open descriptor relative to the root, for judging and showing. */
enum rein_code files_path_of(const struct files *files, int fd, struct buf *path) REIN_CHECKED;
/* Walks below `path` ("" the root) in sorted order, breadth of one folder at a
 * time, skipping what `skip` says; links are not followed. `visit` returns
 * false to stop. The file's path is relative to the root. */
struct files_entry {
  struct str path, name;
  int dir_fd; /* open name below it with openat(..., O_NOFOLLOW) */
  bool is_dir, is_link, is_file;
  int64_t size;
};
typedef bool (*files_visit_fn)(void *ctx, const struct files_entry *entry);
typedef bool (*files_skip_fn)(void *ctx, const struct files_entry *entry);
enum rein_code files_walk(const struct files *files, struct str path, files_skip_fn skip,
                          files_visit_fn visit, void *ctx, struct err *err) REIN_CHECKED;
