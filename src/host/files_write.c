/* Writing one file below one folder of the root, whole or not at all. Every
 * step is made from the descriptor of the folder before it, so a folder that is
 * swapped for a link meanwhile is met by the kernel's refusal.
 */
#include "host/files_inside.h"

#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_NAMES_MAX 1000 /* left over, or of other threads in this folder */
#define FOLDERS_MAX 32      /* below `below`; deeper is a mistake */

struct target {
  const char *below;
  struct str path; /* as given, for sentences */
  struct str way;  /* the same, or where the link leads that it names */
  int dir;         /* of the folder that will hold it */
  char name[NAME_MAX + 1];
};

static enum rein_code refuse(const struct target *t, enum text_id text, struct err *err) {
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, t->path);
  enum rein_code code = ERR(err, REIN_INPUT, text, buf_str(&shown), str_of(t->below));
  buf_release(&shown);
  return code;
}

/* Says where it may write, with the path's last name as the example. */
static enum rein_code elsewhere(const struct target *t, struct err *err) {
  struct str rest = t->path, name, last = STR("report.md");
  while (path_next(&rest, &name))
    if (!str_is(name, "..")) last = name;
  struct buf shown, example;
  buf_init(&shown, PATH_SHOWN_MAX);
  buf_init(&example, 2 * PATH_SHOWN_MAX);
  path_show(&shown, t->path);
  buf_put(&example, str_of(t->below));
  buf_c(&example, '/');
  path_show(&example, str_is(last, t->below) ? STR("report.md") : last);
  enum rein_code code = ERR(err, REIN_INPUT, T_HOST_WRITE_WHERE, buf_str(&shown), str_of(t->below),
                            buf_str(&example));
  buf_release(&example);
  buf_release(&shown);
  return code;
}

static enum rein_code system_fail(const struct target *t, enum text_id text, int error,
                                  struct err *err) {
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, t->path);
  const char *words = strerrordesc_np(error);
  enum rein_code code =
      ERR(err, REIN_SYSTEM, text, buf_str(&shown), words ? str_of(words) : STR("?"));
  buf_release(&shown);
  return code;
}

static enum rein_code failed(const struct target *t, int error, struct err *err) {
  if (error == ELOOP || error == EXDEV) return refuse(t, T_HOST_WRITE_LINK, err);
  if (error == ENOTDIR || error == ENAMETOOLONG) return path_fail(t->path, error, err);
  return system_fail(t, T_HOST_WRITE_FAILED, error, err);
}

/* Git's own files and rein's: what is written there may run later, or rule. */
static bool is_kept(struct str name) {
  return str_eq_nocase(name, STR(".git")) || str_eq_nocase(name, STR(".rein"));
}

static enum rein_code too_deep(const struct target *t, struct err *err) {
  struct num_text most;
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, t->path);
  enum rein_code code = ERR(err, REIN_INPUT, T_HOST_WRITE_DEEP, buf_str(&shown),
                            str_num(&most, FOLDERS_MAX), str_of(t->below));
  buf_release(&shown);
  return code;
}

/* One name below `below`. */
static enum rein_code name_check(const struct target *t, struct str name, struct err *err) {
  if (str_is(name, "..")) return elsewhere(t, err);
  if (is_kept(name)) return refuse(t, T_HOST_WRITE_GIT, err);
  return name.n > NAME_MAX ? path_fail(t->path, ENAMETOOLONG, err) : REIN_OK;
}

static bool names_folder(struct str path) {
  return str_ends(path, STR("/")) || str_ends(path, STR("/."));
}

/* What the text alone decides, before anything is touched. */
static enum rein_code text_check(const struct target *t, struct err *err) {
  struct str path = t->way, rest = path, name;
  if (path.n == 0) return ERR(err, REIN_INPUT, T_HOST_PATH_EMPTY);
  if (memchr(path.p, '\0', path.n)) return refuse(t, T_HOST_PATH_NUL, err);
  if (path.n >= PATH_MAX) return path_fail(path, ENAMETOOLONG, err);
  bool within = path.p[0] != '/' && path_next(&rest, &name) && str_is(name, t->below);
  if (!within) return elsewhere(t, err);
  size_t names = 0;
  for (; path_next(&rest, &name); names++) {
    enum rein_code code = name_check(t, name, err);
    if (code != REIN_OK) return code;
  }
  if (names == 0 || names_folder(path)) return refuse(t, T_HOST_WRITE_FOLDER, err);
  return names > FOLDERS_MAX ? too_deep(t, err) : REIN_OK;
}

/* ---- Folders ------------------------------------------------------------------------ */

static int sync_folder(int dir) {
  /* Some file systems have nothing to sync there and say so. */
  return fsync(dir) == 0 || errno == EINVAL || errno == EROFS ? 0 : -errno;
}

/* The folder `way` beneath `top`, whose last name is missing from `dir`, maybe: it
 * is made then. A descriptor, or a negated errno. */
static int enter(int top, const char *way, int dir, const char *name, uint64_t more) {
  int flags = O_RDONLY | O_DIRECTORY;
  int fd = beneath_open(top, way, flags, more);
  if (fd != -ENOENT) return fd;
  if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST) return -errno;
  int bad = sync_folder(dir);
  if (bad) return bad;
  fd = beneath_open(top, way, flags, more);
  return fd == -ENOENT ? -ELOOP : fd; /* it is there and leads nowhere: a link */
}

static size_t append(char *way, size_t n, struct str name) {
  if (n > 0) way[n++] = '/';
  memcpy(way + n, name.p, name.n);
  way[n + name.n] = '\0';
  return n + name.n;
}

/* Goes down to the folder of the last name; t->dir and t->name are then set. A
 * link on the way is followed as long as it stays beneath `below`: each step is
 * resolved from there. `below` itself is no link. */
static enum rein_code descend(const struct files *files, struct target *t, struct err *err) {
  struct str rest = t->way, name, next;
  char way[PATH_MAX];
  size_t n = 0;
  (void)path_next(&rest, &name);
  (void)append(way, 0, name);
  int top = enter(files->fd, way, files->fd, way, RESOLVE_NO_SYMLINKS);
  if (top == -ELOOP) return refuse(t, T_HOST_WRITE_BELOW_LINK, err);
  if (top < 0) return failed(t, -top, err);
  int dir = top;
  (void)path_next(&rest, &name);
  while (path_next(&rest, &next)) {
    n = append(way, n, name);
    (void)append(t->name, 0, name);
    int fd = enter(top, way, dir, t->name, 0);
    if (dir != top) (void)close(dir);
    dir = fd;
    if (fd < 0) break;
    name = next;
  }
  if (dir != top) (void)close(top);
  if (dir < 0) return failed(t, -dir, err);
  (void)append(t->name, 0, name);
  t->dir = dir;
  return REIN_OK;
}

/* A link may have led into a folder that the path does not name. */
static enum rein_code landed_check(const struct files *files, const struct target *t,
                                   struct err *err) {
  struct buf where;
  struct str rest, name;
  buf_init(&where, PATH_MAX);
  enum rein_code code = files_path_of(files, t->dir, &where);
  rest = buf_str(&where);
  if (code == REIN_MEMORY) code = ERR(err, code, T_HOST_NO_MEMORY);
  if (code != REIN_OK && code != REIN_MEMORY) code = failed(t, ENOENT, err); /* moved away */
  while (code == REIN_OK && path_next(&rest, &name))
    if (is_kept(name)) code = refuse(t, T_HOST_WRITE_GIT, err);
  buf_release(&where);
  return code;
}

/* ---- The file ------------------------------------------------------------------------- */

/* *mode is the old file's, or 0 when there is none. */
static enum rein_code old_check(const struct target *t, mode_t *mode, struct err *err) {
  struct stat st;
  *mode = 0;
  if (fstatat(t->dir, t->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? REIN_OK : failed(t, errno, err);
  if (S_ISLNK(st.st_mode)) return refuse(t, T_HOST_WRITE_LINK, err);
  if (S_ISDIR(st.st_mode)) return refuse(t, T_HOST_WRITE_FOLDER, err);
  if (!S_ISREG(st.st_mode)) return refuse(t, T_HOST_WRITE_KIND, err);
  /* A rename would replace a file that may not be written. */
  if (faccessat(t->dir, t->name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0)
    return refuse(t, T_HOST_WRITE_RIGHTS, err);
  *mode = st.st_mode & 0777;
  return REIN_OK;
}

static int temp_open(int dir, char name[40], mode_t mode) {
  for (int i = 0; i < TEMP_NAMES_MAX; i++) {
    (void)snprintf(name, 40, ".rein-%ld-%d.new", (long)getpid(), i);
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    mode ? S_IRUSR | S_IWUSR : 0666);
    if (fd >= 0 || errno != EEXIST) return fd >= 0 ? fd : -errno;
  }
  return -EEXIST;
}

static int fill(int fd, struct str content, mode_t mode) {
  while (content.n > 0) {
    ssize_t n = write(fd, content.p, content.n);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    content = str_part(content, (size_t)n, content.n);
  }
  if (mode && fchmod(fd, mode) != 0) return -errno;
  return fsync(fd) == 0 ? 0 : -errno;
}

static enum rein_code replace(const struct target *t, struct str content, struct err *err) {
  mode_t mode;
  char temp[40];
  enum rein_code code = old_check(t, &mode, err);
  if (code != REIN_OK) return code;
  int fd = temp_open(t->dir, temp, mode);
  if (fd < 0) return failed(t, -fd, err);
  int bad = fill(fd, content, mode);
  if (close(fd) != 0 && !bad) bad = -errno;
  if (!bad && renameat(t->dir, temp, t->dir, t->name) != 0) bad = -errno;
  if (bad) {
    (void)unlinkat(t->dir, temp, 0);
    return bad == -EISDIR ? refuse(t, T_HOST_WRITE_FOLDER, err) : failed(t, -bad, err);
  }
  bad = sync_folder(t->dir);
  return bad ? system_fail(t, T_HOST_WRITE_SYNC, -bad, err) : REIN_OK;
}

/* ---- A link in the file's place -------------------------------------------------------- */

static bool is_link(const struct target *t) {
  struct stat st;
  return fstatat(t->dir, t->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Goes to where the link leads, by a path without it; that it is below is checked
 * again on this path. `where` holds it. */
static enum rein_code follow(const struct files *files, struct target *t, struct buf *where,
                             struct err *err) {
  char way[PATH_MAX];
  memcpy(way, t->path.p, t->path.n);
  way[t->path.n] = '\0';
  int fd = beneath_open(files->fd, way, O_PATH, 0);
  if (fd < 0) return refuse(t, T_HOST_WRITE_LINK, err);
  enum rein_code code = files_path_of(files, fd, where);
  (void)close(fd);
  if (code == REIN_MEMORY) return ERR(err, code, T_HOST_NO_MEMORY);
  struct str rest = buf_str(where), name;
  if (code != REIN_OK || !path_next(&rest, &name) || !str_is(name, t->below) || rest.n == 0)
    return refuse(t, T_HOST_WRITE_LINK, err);
  t->way = buf_str(where);
  code = text_check(t, err);
  if (code != REIN_OK) return code;
  (void)close(t->dir);
  t->dir = -1;
  return descend(files, t, err);
}

enum rein_code files_write_below(const struct files *files, const char *below, struct str path,
                                 struct str content, struct err *err) {
  struct target t = {.below = below, .path = path, .way = path, .dir = -1};
  struct buf where;
  buf_init(&where, PATH_MAX);
  enum rein_code code = text_check(&t, err);
  if (code == REIN_OK) code = descend(files, &t, err);
  if (code == REIN_OK && is_link(&t)) code = follow(files, &t, &where, err);
  if (code == REIN_OK) code = landed_check(files, &t, err);
  if (code == REIN_OK) code = replace(&t, content, err);
  if (t.dir >= 0) (void)close(t.dir);
  buf_release(&where);
  return code;
}
