/* A model's path: what it may look like, how it becomes one below the root, and
 * how its errors are said. What is opened is decided by the kernel alone; the
 * text is only rewritten where that cannot change its meaning.
 */
#include "host/files_inside.h"

#include "base/utf8.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES_MAX 64     /* EAGAIN: folders were renamed while ".." was resolved */
#define PLACES_MAX 64    /* places of a path tried for where it leaves the root */
#define ROUNDS_MAX 8     /* how often one path may leave and come back */
#define SHOWN_POINTS 100 /* of a path in a sentence; the model gets 200 in all */

int beneath_open(int dir, const char *path, int flags, uint64_t more) {
  struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                         .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | more};
  for (int tries = 0;; tries++) {
    long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
    if (fd >= 0) return (int)fd;
    if ((errno != EAGAIN && errno != EINTR) || tries == TRIES_MAX) return -errno;
  }
}

bool path_next(struct str *rest, struct str *name) {
  while (str_next(rest, '/', name))
    if (name->n > 0 && !str_is(*name, ".")) return true;
  return false;
}

/* ---- Leaving the root and coming back by its name ------------------------------ */

/* Whether this part of the path, from the root, leads to the root itself. */
static bool is_root(const struct files *files, struct str part) {
  char room[PATH_MAX];
  struct stat here, root;
  struct str rest = part, name;
  if (!path_next(&rest, &name)) return true;
  memcpy(room, part.p, part.n);
  room[part.n] = '\0';
  int fd = beneath_open(files->fd, room, O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return false;
  bool same = fstat(fd, &here) == 0 && fstat(files->fd, &root) == 0 && here.st_dev == root.st_dev &&
              here.st_ino == root.st_ino;
  (void)close(fd);
  return same;
}

static size_t depth_of(struct str path) {
  struct str name;
  size_t n = 0;
  while (path_next(&path, &name))
    n++;
  return n;
}

/* From the root, `way` begins with "..": climbs as it says and goes down again
 * by the root's own names. Nothing on that way is a link, since it is the
 * root's real path. True: what is left lies in the root. */
static bool comes_back(const struct files *files, struct str way, struct str *left) {
  struct str own = str_of(files->root), name, wanted;
  size_t depth = depth_of(own), climbed = 0;
  struct str after = way;
  while (path_next(&after, &name) && str_is(name, "..")) {
    way = after;
    if (climbed < depth) climbed++; /* above "/" is "/" */
  }
  for (size_t i = 0; i < depth - climbed; i++)
    (void)path_next(&own, &wanted);
  while (path_next(&own, &wanted))
    if (!path_next(&way, &name) || !str_eq(name, wanted)) return false;
  *left = way;
  return true;
}

/* Rewrites a path that the kernel refused because it leaves. The first ".." that
 * stands at the root is where it does. */
static bool rewrite(const struct files *files, char path[PATH_MAX]) {
  struct str whole = str_of(path), rest = whole, left, name;
  int places = 0;
  for (struct str at = rest; path_next(&rest, &name); at = rest) {
    if (!str_is(name, "..")) continue;
    if (++places > PLACES_MAX) return false;
    struct str part = str_part(whole, 0, (size_t)(at.p - whole.p));
    if (!is_root(files, part)) continue;
    if (!comes_back(files, at, &left)) return false;
    while (left.n && *left.p == '/')
      left = str_part(left, 1, left.n); /* never absolute */
    if (left.n == 0) left = STR(".");
    memmove(path, left.p, left.n);
    path[left.n] = '\0';
    return true;
  }
  return false;
}

int files_beneath(const struct files *files, char path[PATH_MAX], int flags) {
  int fd = beneath_open(files->fd, path, flags, 0);
  for (int round = 0; fd == -EXDEV && round < ROUNDS_MAX; round++) {
    if (!rewrite(files, path)) return fd;
    fd = beneath_open(files->fd, path, flags, 0);
  }
  return fd;
}

/* ---- From text to a path ---------------------------------------------------------- */

/* True when `path` begins with all names of `base`; *left is what follows. */
static bool below(struct str path, struct str base, struct str *left) {
  struct str name, wanted;
  while (path_next(&base, &wanted))
    if (!path_next(&path, &name) || !str_eq(name, wanted)) return false;
  *left = path;
  return true;
}

enum rein_code files_path_inside(const struct files *files, struct str path, char inside[PATH_MAX],
                                 struct err *err) {
  if (path.n == 0) return ERR(err, REIN_INPUT, T_HOST_PATH_EMPTY);
  if (memchr(path.p, '\0', path.n)) {
    struct buf shown;
    buf_init(&shown, PATH_SHOWN_MAX);
    path_show(&shown, path);
    enum rein_code code = ERR(err, REIN_INPUT, T_HOST_PATH_NUL, buf_str(&shown));
    buf_release(&shown);
    return code;
  }
  struct str left = path;
  if (path.p[0] == '/') {
    bool within = below(path, str_of(files->root), &left) ||
                  (files->given && below(path, str_of(files->given), &left));
    if (!within) return path_fail(path, EXDEV, err);
    while (left.n && *left.p == '/')
      left = str_part(left, 1, left.n);
    if (left.n == 0) left = STR(".");
  }
  if (left.n >= PATH_MAX) return path_fail(path, ENAMETOOLONG, err);
  memcpy(inside, left.p, left.n);
  inside[left.n] = '\0';
  return REIN_OK;
}

/* ---- Sentences ------------------------------------------------------------------- */

void path_show(struct buf *out, struct str path) {
  struct buf whole, text;
  buf_init(&whole, 4 * PATH_MAX);
  buf_init(&text, PATH_SHOWN_MAX);
  utf8_repair(&whole, str_part(path, 0, PATH_MAX));
  struct str s = buf_str(&whole);
  if (utf8_count(s) <= SHOWN_POINTS && path.n <= PATH_MAX) {
    buf_put(&text, s);
  } else {
    buf_put(&text, utf8_head(s, SHOWN_POINTS / 2));
    buf_lit(&text, "…");
    if (path.n <= PATH_MAX) buf_put(&text, utf8_tail(s, SHOWN_POINTS / 2 - 1));
  }
  utf8_show(out, buf_str(&text), false);
  buf_release(&text);
  buf_release(&whole);
}

static enum text_id text_of(int error) {
  switch (error) {
  case EXDEV: return T_HOST_PATH_OUTSIDE;
  case ENOENT: return T_HOST_PATH_ABSENT;
  case ENOTDIR: return T_HOST_PATH_NO_FOLDER;
  case EISDIR: return T_HOST_PATH_FOLDER;
  case EACCES:
  case EPERM: return T_HOST_PATH_RIGHTS;
  case ENAMETOOLONG: return T_HOST_PATH_LONG;
  case ELOOP: return T_HOST_PATH_LOOP;
  }
  return T_NONE;
}

enum rein_code path_fail(struct str path, int error, struct err *err) {
  enum text_id text = text_of(error);
  enum rein_code code;
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, path);
  const char *words = strerrordesc_np(error);
  if (error == ENOMEM)
    code = ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  else if (error == ENOSYS)
    code = ERR(err, REIN_SYSTEM, T_HOST_NO_OPENAT2);
  else if (error == EAGAIN)
    code = ERR(err, REIN_SYSTEM, T_HOST_PATH_MOVING, buf_str(&shown));
  else if (text == T_NONE)
    code = ERR(err, REIN_SYSTEM, T_HOST_PATH_FAILED, buf_str(&shown),
               words ? str_of(words) : STR("?"));
  else
    code = ERR(err, REIN_INPUT, text, buf_str(&shown));
  buf_release(&shown);
  return code;
}
