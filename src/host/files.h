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

/* Who may be seen: asked with a path from the root, links resolved, before a byte
 * is read, a file is changed, or a walk tells of it. On any thread. */
struct files_guard {
  bool (*may)(void *ctx, struct str path);
  void *ctx;
  const char *const *denied; /* paths from the root, NULL at the end: other names (hard links)
                              * of these files may not be seen either; NULL none */
};

/* rein's own places: absolute, links resolved, each with what lies below it; NULL at
 * the end. Neither a rule nor a link opens them. */
struct files_own {
  const char *const *hidden; /* neither read nor changed; NULL none */
  const char *const *kept;   /* not changed; NULL none */
};

struct files {
  int fd;                          /* of the root */
  const char *root;                /* its real path, terminated */
  const char *given;               /* the path it was opened with, made absolute; NULL: unknown */
  const struct files_guard *guard; /* NULL: all may be seen */
  struct files_own own;
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

/* -- Writing anywhere below the root -------------------------------------------
 *
 *   files_place_open(&files, path, FILES_WRITE, &place, &err);
 *   files_place_read(&place, BYTES_MAX, &old, &err);          // where place.there
 *   want = (struct files_want){FILES_SAME, files_hash(buf_str(&old))};
 *   files_place_write(&place, text, &want, &done, &err);
 *   files_place_close(&place);
 *
 * A link in the file's place is followed as long as it stays below the root: the
 * file it leads to is written, the link stays; FILES_DELETE takes the link itself.
 * Nothing is written through a link that leads out or to nothing, nor below .git
 * or .rein, in any case of letters, by name or by link.
 */
enum files_aim {
  FILES_WRITE, /* may be new: folders on the way are made */
  FILES_EDIT,  /* must be there */
  FILES_DELETE
};

struct files_place {
  int dir;             /* the folder that holds it */
  char name[256];      /* in it, terminated (NAME_MAX) */
  struct buf path;     /* from the root, links resolved */
  struct str asked;    /* as given; borrowed */
  bool there, is_link; /* is_link: FILES_DELETE alone */
  bool other;          /* its name is spelled otherwise than asked (NFC, NFD) */
};
/* Errors as files_open's; REIN_INPUT also for a folder, a device, .git, depth. */
enum rein_code files_place_open(const struct files *files, struct str path, enum files_aim aim,
                                struct files_place *place, struct err *err) REIN_CHECKED;
void files_place_close(struct files_place *place); /* also after an error */
/* Puts all its bytes into the empty buffer, which takes bytes_max + 1. REIN_LIMIT:
 * there are more than bytes_max. */
enum rein_code files_place_read(const struct files_place *place, size_t bytes_max,
                                struct buf *content, struct err *err) REIN_CHECKED;

/* What must stand there at the moment of the change; else REIN_INPUT with
 * T_HOST_WRITE_CHANGED, the conflict, and nothing is changed. */
enum files_state { FILES_ANY, FILES_NONE, FILES_SAME };
struct files_want {
  enum files_state state;
  uint64_t hash; /* FILES_SAME: files_hash of its bytes */
};
uint64_t files_hash(struct str bytes);
struct files_done {
  unsigned links;  /* names that the old file had: the others keep the old bytes */
  bool owner_lost; /* the old owner could not be given to the new file */
  bool attrs_lost; /* nor all of its extended attributes */
};
/* A temporary file in the same folder, fsync, swap, fsync of the folder: the old
 * file or the new one, nothing between. Permissions and the access list stay,
 * owner, group and extended attributes where possible. Changes by rein are made
 * under a lock of the folder, so none is lost between two of them; of other
 * programs, a file put in place by rename is noticed to the last moment
 * (the swapped-out file is looked at, and put back).
 * Only bytes written into the old file by one who had it open while it was
 * swapped are lost: Linux has no way to stop that. What a killed process left
 * behind is removed by the next write in the folder. */
enum rein_code files_place_write(const struct files_place *place, struct str content,
                                 const struct files_want *want, struct files_done *done,
                                 struct err *err) REIN_CHECKED;
enum rein_code files_place_delete(const struct files_place *place, const struct files_want *want,
                                  struct err *err) REIN_CHECKED;

/* The path of an open descriptor relative to the root, for judging and showing;
 * "." for the root itself. REIN_INPUT: it is not inside, or was deleted. */
enum rein_code files_path_of(const struct files *files, int fd, struct buf *path) REIN_CHECKED;
