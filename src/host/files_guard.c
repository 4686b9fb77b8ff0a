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

bool files_may_see(const struct files *files, int dir, const char *name, struct str path) {
  struct stat st;
  const struct files_guard *guard = files->guard;
  if (!guard) return true;
  if (!guard->may(guard->ctx, path)) return false;
  if (!guard->denied || !guard->denied[0]) return true;
  return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_denied_file(files, &st);
}

enum rein_code files_may_place(const struct files *files, const struct files_place *place,
                               struct err *err) {
  if (files_may_see(files, place->dir, place->name, buf_str(&place->path))) return REIN_OK;
  return path_kind_fail(T_HOST_PATH_POLICY, place->asked, err);
}

enum rein_code files_may_open(const struct files *files, int fd, struct str asked,
                              struct err *err) {
  struct buf path;
  struct stat st;
  if (!files->guard) return REIN_OK;
  buf_init(&path, PATH_MAX);
  enum rein_code code = files_path_of(files, fd, &path);
  bool may = code == REIN_OK && files->guard->may(files->guard->ctx, buf_str(&path)) &&
             fstat(fd, &st) == 0 && !is_denied_file(files, &st);
  buf_release(&path);
  if (may) return REIN_OK;
  if (code == REIN_MEMORY) return ERR(err, code, T_HOST_NO_MEMORY);
  return path_kind_fail(T_HOST_PATH_POLICY, asked, err);
}
