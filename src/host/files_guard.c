/* The second look at a path: where it really leads, before a byte is read. Who
 * says what may be opened is the caller's; this part asks. */
#include "host/files_inside.h"

#include "text/text.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Another name of a file that is denied by its name. */
static bool is_denied_file(const struct files *files, const struct stat *st) {
  const char *const *denied = files->guard->denied;
  struct stat other;
  if (!S_ISREG(st->st_mode) || st->st_nlink < 2) return false;
  for (; denied && *denied; denied++)
    if (fstatat(files->fd, *denied, &other, 0) == 0 && other.st_dev == st->st_dev &&
        other.st_ino == st->st_ino)
      return true;
  return false;
}

/* Whether the path from the root lies in one of these places. A root that itself lies
 * in one does, whole. */
static bool lies_in(const struct files *files, struct str path, const char *const *places) {
  struct str name;
  for (; places && *places; places++) {
    struct str place = str_of(*places), wanted, root = str_of(files->root), rest = path;
    bool in = true;
    while (in && path_next(&place, &wanted))
      in = (path_next(&root, &name) || path_next(&rest, &name)) && str_eq(name, wanted);
    if (in) return true;
  }
  return false;
}

bool files_owns(const struct files *files, struct str path) {
  return lies_in(files, path, files->own.hidden) || lies_in(files, path, files->own.kept);
}

bool files_may_see(const struct files *files, int dir, const char *name, struct str path) {
  struct stat st;
  const struct files_guard *guard = files->guard;
  if (lies_in(files, path, files->own.hidden)) return false;
  if (!guard) return true;
  if (!guard->may(guard->ctx, path)) return false;
  if (!guard->denied || !guard->denied[0]) return true;
  return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_denied_file(files, &st);
}

enum rein_code files_may_change(const struct files *files, int dir, const char *name,
                                struct str path, struct str asked, struct err *err) {
  if (files_owns(files, path)) return path_kind_fail(T_HOST_PATH_OWN, asked, err);
  if (files_may_see(files, dir, name, path)) return REIN_OK;
  return path_kind_fail(T_HOST_PATH_POLICY, asked, err);
}

static enum rein_code look(const struct files *files, int fd, struct str path, struct str asked,
                           struct err *err) {
  struct stat st;
  const struct files_guard *guard = files->guard;
  if (lies_in(files, path, files->own.hidden)) return path_kind_fail(T_HOST_PATH_OWN, asked, err);
  if (!guard) return REIN_OK;
  bool may = guard->may(guard->ctx, path) && fstat(fd, &st) == 0 && !is_denied_file(files, &st);
  return may ? REIN_OK : path_kind_fail(T_HOST_PATH_POLICY, asked, err);
}

enum rein_code files_may_open(const struct files *files, int fd, struct str asked,
                              struct err *err) {
  struct buf path;
  if (!files->guard && !files->own.hidden) return REIN_OK;
  buf_init(&path, PATH_MAX);
  enum rein_code code = files_path_of(files, fd, &path);
  if (code == REIN_OK)
    code = look(files, fd, buf_str(&path), asked, err);
  else if (code == REIN_MEMORY)
    code = ERR(err, code, T_HOST_NO_MEMORY);
  else
    code = path_kind_fail(T_HOST_PATH_POLICY, asked, err);
  buf_release(&path);
  return code;
}
