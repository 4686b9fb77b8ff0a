/* Names in the root that become code when written (.git's hooks and config, .envrc)
 * or rule (.rein): bound read-only over themselves. Where one is missing, an empty
 * stand-in is made to bind over, so that it cannot be made either; it is removed
 * when the last command that holds it has ended. A lock on it says who holds it. */
#include "host/child_inside.h"

#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES 50 /* another command may be removing it while this one looks */

const char *path_below(struct arena *arena, const char *folder, const char *name) {
  struct buf b;
  struct str text = STR_NONE;
  buf_init(&b, 16384);
  buf_put(&b, str_of(folder));
  buf_c(&b, '/');
  buf_put(&b, str_of(name));
  bool ok = !b.fail && arena_str(arena, buf_str(&b), &text);
  buf_release(&b);
  return ok ? text.p : NULL;
}

static enum rein_code no_stand_in(const char *path, struct err *err) {
  return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_KEEP, str_of(path), str_of(strerror(errno)));
}

static bool same_place(int fd, const char *path) {
  struct stat mine, now;
  return fstat(fd, &mine) == 0 && lstat(path, &now) == 0 && mine.st_ino == now.st_ino &&
         mine.st_dev == now.st_dev;
}

static bool is_empty(const struct kept *k) {
  struct stat st;
  return fstat(k->fd, &st) == 0 && (k->folder ? st.st_nlink <= 2 : st.st_size == 0);
}

/* Made by us, or by another command of rein: holds it. One that somebody filled is
 * as good as one that was there. */
static bool make_one(const char *path, bool folder) {
  int fd = folder ? -1 : open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  bool made = folder ? mkdir(path, 0755) == 0 : fd >= 0;
  int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return made || error == EEXIST;
}

static int stand_in(const char *path, bool folder) {
  for (int i = 0; i < LOCK_TRIES; i++) {
    if (!make_one(path, folder)) return -1;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (folder ? O_DIRECTORY : 0));
    if (fd < 0 && errno == ENOENT) continue;
    if (fd < 0) return -1;
    if (flock(fd, LOCK_SH) == 0 && same_place(fd, path)) return fd;
    close(fd);
  }
  errno = EBUSY;
  return -1;
}

static enum rein_code keep(struct child *c, const char *path, bool folder, struct err *err) {
  struct stat st;
  if (!path || c->kept_count == KEPT_MAX) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  struct kept *k = &c->kept[c->kept_count];
  *k = (struct kept){path, -1, folder};
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
    return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_LINK, str_of(path));
  if (lstat(path, &st) && (k->fd = stand_in(path, folder)) < 0) return no_stand_in(path, err);
  c->kept_count++;
  return REIN_OK;
}

/* rein's own place below the root that is not there yet: neither it nor the first
 * missing folder on the way may be made. */
static enum rein_code keep_missing(struct child *c, struct str path, struct err *err) {
  struct str root = str_of(c->spec->root), part;
  bool folder = str_ends(path, STR("/"));
  if (!str_starts(path, root) || path.n <= root.n + 1 || path.p[root.n] != '/') return REIN_OK;
  for (size_t i = root.n + 1; i <= path.n; i++) {
    if (i < path.n && path.p[i] != '/') continue;
    if (i == path.n && folder) break;
    if (!arena_str(&c->arena, str_part(path, 0, i), &part))
      return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
    if (access(part.p, F_OK)) return keep(c, part.p, folder || i < path.n, err);
  }
  return REIN_OK;
}

/* Of a repository's folder: hooks and config, or all of it where these are not as
 * git makes them. */
static enum rein_code keep_git(struct child *c, const char *git, struct err *err) {
  const char *hooks = path_below(&c->arena, git, "hooks");
  const char *config = path_below(&c->arena, git, "config");
  struct stat h = {0}, f = {0};
  if (!hooks || !config) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  bool plain =
      (lstat(hooks, &h) || S_ISDIR(h.st_mode)) && (lstat(config, &f) || S_ISREG(f.st_mode));
  if (!plain) return keep(c, git, true, err);
  enum rein_code code = keep(c, hooks, true, err);
  return code ? code : keep(c, config, false, err);
}

enum rein_code kept_open(struct child *c, struct err *err) {
  const char *root = c->spec->root;
  const char *git = path_below(&c->arena, root, ".git");
  struct stat st;
  if (!git) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  bool repository = lstat(git, &st) == 0 && S_ISDIR(st.st_mode) &&
                    access(path_below(&c->arena, git, "HEAD"), F_OK) == 0;
  enum rein_code code = repository ? keep_git(c, git, err) : keep(c, git, true, err);
  if (!code) code = keep(c, path_below(&c->arena, root, ".envrc"), false, err);
  if (!code) code = keep(c, path_below(&c->arena, root, ".rein"), true, err);
  for (size_t i = 0; !code && c->sandbox->protected[i]; i++)
    code = keep_missing(c, str_of(c->sandbox->protected[i]), err);
  return code;
}

/* What is not empty stays: somebody else wrote it. */
static void remove_stand_in(struct kept *k) {
  if (flock(k->fd, LOCK_EX | LOCK_NB) == 0 && same_place(k->fd, k->path) && is_empty(k))
    (void)!(k->folder ? rmdir(k->path) : unlink(k->path));
  close(k->fd);
  k->fd = -1;
}

void kept_close(struct child *c) {
  for (size_t i = c->kept_count; i > 0; i--)
    if (c->kept[i - 1].fd >= 0) remove_stand_in(&c->kept[i - 1]);
  c->kept_count = 0;
}
