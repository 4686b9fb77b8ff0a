/* Writing one file below one folder of the root. Every step is made from the
 * descriptor of the folder before it, so a folder that is swapped for a link
 * meanwhile is met by the kernel's refusal. How the file itself is replaced is
 * files_put.c's; writing anywhere below the root is files_place.c's.
 */
#include "host/files_inside.h"

#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 32 /* below `below`; deeper is a mistake */

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

static enum rein_code failed(const struct target *t, int error, struct err *err) {
  if (error == ELOOP || error == EXDEV) return refuse(t, T_HOST_WRITE_LINK, err);
  if (error == ENOTDIR || error == ENAMETOOLONG) return path_fail(t->path, error, err);
  return put_fail(t->path, T_HOST_WRITE_FAILED, error, err);
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
  if (path_kept(name)) return refuse(t, T_HOST_WRITE_GIT, err);
  return name.n > NAME_MAX ? path_fail(t->path, ENAMETOOLONG, err) : REIN_OK;
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
  if (names == 0 || path_names_folder(path)) return refuse(t, T_HOST_WRITE_FOLDER, err);
  return names > FOLDERS_MAX ? too_deep(t, err) : REIN_OK;
}

/* ---- Folders ------------------------------------------------------------------------ */

/* Goes down to the folder of the last name; t->dir and t->name are then set. A
 * link on the way is followed as long as it stays beneath `below`: each step is
 * resolved from there. `below` itself is no link. */
static enum rein_code descend(const struct files *files, struct target *t, struct err *err) {
  struct str rest = t->way, name, next;
  char way[PATH_MAX];
  size_t n = 0;
  (void)path_next(&rest, &name);
  (void)path_append(way, 0, name);
  int top = folder_enter(files->fd, way, files->fd, way, RESOLVE_NO_SYMLINKS);
  if (top == -ELOOP) return refuse(t, T_HOST_WRITE_BELOW_LINK, err);
  if (top < 0) return failed(t, -top, err);
  int dir = top;
  (void)path_next(&rest, &name);
  while (path_next(&rest, &next)) {
    n = path_append(way, n, name);
    (void)path_append(t->name, 0, name);
    int fd = folder_enter(top, way, dir, t->name, 0);
    if (dir != top) (void)close(dir);
    dir = fd;
    if (fd < 0) break;
    name = next;
  }
  if (dir != top) (void)close(top);
  if (dir < 0) return failed(t, -dir, err);
  (void)path_append(t->name, 0, name);
  t->dir = dir;
  return REIN_OK;
}

/* A link may have led into a folder that the path does not name. */
static enum rein_code landed_check(const struct files *files, const struct target *t,
                                   struct err *err) {
  struct buf where;
  buf_init(&where, PATH_MAX + sizeof t->name);
  enum rein_code code = files_path_of(files, t->dir, &where);
  if (code == REIN_MEMORY) code = ERR(err, code, T_HOST_NO_MEMORY);
  if (code != REIN_OK && code != REIN_MEMORY) code = failed(t, ENOENT, err); /* moved away */
  if (code == REIN_OK && path_kept_in(buf_str(&where))) code = refuse(t, T_HOST_WRITE_GIT, err);
  if (code == REIN_OK) {
    buf_c(&where, '/');
    buf_put(&where, str_of(t->name));
    code = where.fail ? ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY)
                      : files_may_change(files, t->dir, t->name, buf_str(&where), t->path, err);
  }
  buf_release(&where);
  return code;
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
  struct put put = {.dir = t.dir, .name = t.name, .shown = path};
  struct files_done done;
  if (code == REIN_OK) code = put_write(&put, content, &(struct files_want){0}, &done, err);
  if (t.dir >= 0) (void)close(t.dir);
  buf_release(&where);
  return code;
}
