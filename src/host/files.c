/* Opening the root and what lies beneath it, and the path of what is open. The
 * rules of paths are files_path.c's.
 */
#include "host/files_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAR_NAMES_MAX 10000 /* of a folder looked through for a name that was meant */

/* ---- The root -------------------------------------------------------------------- */

/* The real path of an open folder, as the kernel knows it. */
static int real_path(int fd, char room[PATH_MAX]) {
  char link[40];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, room, PATH_MAX - 1);
  if (n < 0) return errno;
  if (n >= PATH_MAX - 1) return ENAMETOOLONG;
  room[n] = '\0';
  return 0;
}

static char *copy(struct str text) {
  char *made = mem_resize(NULL, text.n + 1);
  if (!made) return NULL;
  if (text.n) memcpy(made, text.p, text.n);
  made[text.n] = '\0';
  return made;
}

static enum rein_code root_paths(struct files *files, const char *path, struct err *err) {
  char real[PATH_MAX], cwd[PATH_MAX];
  int error = real_path(files->fd, real);
  if (error) return path_fail(str_of(path), error, err);
  struct buf given;
  buf_init(&given, 2 * PATH_MAX);
  if (path[0] != '/' && getcwd(cwd, sizeof cwd)) {
    buf_put(&given, str_of(cwd));
    buf_c(&given, '/');
  }
  buf_put(&given, str_of(path));
  bool whole = buf_z(&given)[0] == '/';
  files->root = copy(str_of(real));
  files->given = whole ? copy(buf_str(&given)) : NULL;
  bool kept = files->root && (files->given || !whole) && !given.fail;
  buf_release(&given);
  return kept ? REIN_OK : ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
}

enum rein_code files_open_root(const char *path, struct files *files, struct err *err) {
  struct files f = {.fd = -1};
  if (!path[0]) return ERR(err, REIN_INPUT, T_HOST_PATH_EMPTY);
  f.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (f.fd < 0) {
    struct buf shown;
    buf_init(&shown, PATH_SHOWN_MAX);
    int error = errno;
    path_show(&shown, str_of(path));
    enum rein_code code =
        ERR(err, REIN_INPUT, T_HOST_ROOT, buf_str(&shown), str_of(strerrordesc_np(error)));
    buf_release(&shown);
    return code;
  }
  /* Asked now, so that a kernel or a filter without it is told of at the start. */
  int probe = beneath_open(f.fd, ".", O_PATH | O_DIRECTORY, 0);
  if (probe >= 0) (void)close(probe);
  bool missing = probe == -ENOSYS || probe == -EPERM || probe == -EINVAL;
  enum rein_code code =
      missing ? ERR(err, REIN_SYSTEM, T_HOST_NO_OPENAT2) : root_paths(&f, path, err);
  if (code == REIN_OK)
    *files = f;
  else
    files_close_root(&f);
  return code;
}

void files_close_root(struct files *files) {
  if (files->fd >= 0) (void)close(files->fd);
  mem_free((void *)(uintptr_t)files->root);
  mem_free((void *)(uintptr_t)files->given);
  *files = (struct files){.fd = -1};
}

/* ---- Opening ---------------------------------------------------------------------- */

enum rein_code path_kind_fail(enum text_id text, struct str path, struct err *err) {
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, path);
  enum rein_code code = ERR(err, REIN_INPUT, text, buf_str(&shown));
  buf_release(&shown);
  return code;
}

/* Looks for a name that differs in the case of letters only. True: the name
 * itself is there, so it is a link to nothing. Takes fd. */
static bool near_in(int fd, struct str name, struct buf *near) {
  DIR *dir = fdopendir(fd);
  if (!dir) {
    (void)close(fd);
    return false;
  }
  bool same = false;
  const struct dirent *entry;
  for (int n = 0; !same && n < NEAR_NAMES_MAX && (entry = readdir(dir)); n++) {
    struct str found = str_of(entry->d_name);
    same = str_eq(found, name);
    if (near->n == 0 && str_eq_nocase(found, name)) path_show(near, found);
  }
  (void)closedir(dir);
  return same;
}

/* Not there: names the one that was probably meant, where it is that simple. */
enum rein_code path_absent(const struct files *files, const char *inside, struct str path,
                           struct err *err) {
  char parent[PATH_MAX];
  struct str before, name = str_of(inside);
  if (!str_split_last(name, '/', &before, &name)) before = STR(".");
  if (before.n == 0 || name.n == 0) return path_fail(path, ENOENT, err);
  memcpy(parent, before.p, before.n);
  parent[before.n] = '\0';
  int fd = files_beneath(files, parent, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return path_fail(path, ENOENT, err);
  struct buf shown, near;
  buf_init(&shown, PATH_SHOWN_MAX);
  buf_init(&near, PATH_SHOWN_MAX);
  path_show(&shown, path);
  enum rein_code code;
  if (near_in(fd, name, &near))
    code = path_kind_fail(T_HOST_PATH_DANGLING, path, err);
  else if (near.n)
    code = ERR(err, REIN_INPUT, T_HOST_PATH_NEAR, buf_str(&shown), buf_str(&near));
  else
    code = path_fail(path, ENOENT, err);
  buf_release(&near);
  buf_release(&shown);
  return code;
}

static enum rein_code kind_check(int fd, enum files_need need, struct str path, struct err *err) {
  struct stat st;
  if (fstat(fd, &st) != 0) return path_fail(path, errno, err);
  mode_t kind = st.st_mode & S_IFMT;
  if (kind == S_IFDIR) return need == FILES_DIR ? REIN_OK : path_fail(path, EISDIR, err);
  if (kind == S_IFREG)
    return need == FILES_READ ? REIN_OK : path_kind_fail(T_HOST_PATH_FILE, path, err);
  if (kind == S_IFIFO) return path_kind_fail(T_HOST_PATH_PIPE, path, err);
  if (kind == S_IFSOCK) return path_kind_fail(T_HOST_PATH_SOCKET, path, err);
  return path_kind_fail(T_HOST_PATH_DEVICE, path, err);
}

/* Checks what it is before it is opened for reading: opening a device or a pipe
 * already does something. */
static enum rein_code look(const struct files *files, char inside[PATH_MAX], enum files_need need,
                           struct buf *taken, struct str path, struct err *err) {
  int fd = files_beneath(files, inside, O_PATH);
  if (fd == -ENOENT && files_meant(files, inside)) {
    fd = files_beneath(files, inside, O_PATH);
    if (taken) buf_put(taken, str_of(inside));
  }
  if (fd == -ENOENT) return path_absent(files, inside, path, err);
  if (fd < 0) return path_fail(path, -fd, err);
  enum rein_code code = kind_check(fd, need, path, err);
  (void)close(fd);
  return code;
}

enum rein_code files_open(const struct files *files, struct str path, enum files_need need, int *fd,
                          struct buf *taken, struct err *err) {
  char inside[PATH_MAX];
  enum rein_code code = files_path_inside(files, path, inside, err);
  if (code == REIN_OK) code = look(files, inside, need, taken, path, err);
  if (code != REIN_OK) return code;
  int opened = files_beneath(files, inside, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (opened < 0) return path_fail(path, -opened, err);
  code = kind_check(opened, need, path, err); /* it may have been replaced */
  if (code == REIN_OK) code = files_may_open(files, opened, path, err);
  if (code == REIN_OK)
    *fd = opened;
  else
    (void)close(opened);
  return code;
}

enum rein_code files_path_of(const struct files *files, int fd, struct buf *path) {
  char root[PATH_MAX], whole[PATH_MAX];
  struct stat st;
  if (fstat(fd, &st) != 0 || real_path(files->fd, root) || real_path(fd, whole)) return REIN_SYSTEM;
  if (st.st_nlink == 0) return REIN_INPUT; /* the kernel's text ends with " (deleted)" */
  size_t n = strlen(root);
  if (n == 1) n = 0; /* "/" */
  if (strncmp(whole, root, n) != 0) return REIN_INPUT;
  if (whole[n] != '\0' && whole[n] != '/') return REIN_INPUT;
  const char *inside = whole[n] ? whole + n + 1 : "";
  buf_put(path, inside[0] ? str_of(inside) : STR("."));
  return path->fail;
}
