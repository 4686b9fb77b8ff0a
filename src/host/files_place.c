/* Where a path of the model leads when it is to be written, edited or deleted:
 * an open folder and a name in it. The kernel resolves every step beneath the
 * root; nothing is changed here but missing folders. The change is files_put.c's.
 */
#include "host/files_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(((struct files_place *)NULL)->name) == NAME_MAX + 1, "a whole name fits");

#define BLOCK 65536    /* of reads behind the size that was told */
#define TRIES_MAX 16   /* of a file that is replaced while it is looked for */
#define FOLDERS_MAX 64 /* names of a path that is made; deeper is a mistake */

/* ---- Paths as text ------------------------------------------------------------------ */

bool path_kept(struct str name) {
  return str_eq_nocase(name, STR(".git")) || str_eq_nocase(name, STR(".rein"));
}

bool path_kept_in(struct str path) {
  struct str name;
  while (path_next(&path, &name))
    if (path_kept(name)) return true;
  return false;
}

bool path_names_folder(struct str path) {
  return str_ends(path, STR("/")) || str_ends(path, STR("/."));
}

size_t path_append(char *way, size_t n, struct str name) {
  if (n > 0) way[n++] = '/';
  memcpy(way + n, name.p, name.n);
  way[n + name.n] = '\0';
  return n + name.n;
}

/* The folder's path and the last name; "." for the root. */
static struct str split(struct str path, char parent[PATH_MAX]) {
  struct str before, name = path;
  if (!str_split_last(path, '/', &before, &name)) before = STR(".");
  memcpy(parent, before.p, before.n);
  parent[before.n] = '\0';
  return name;
}

static bool is_no_name(struct str name) {
  return name.n == 0 || str_is(name, ".") || str_is(name, "..");
}

/* ---- Folders ------------------------------------------------------------------------ */

int folder_enter(int top, const char *way, int dir, const char *name, uint64_t more) {
  int flags = O_RDONLY | O_DIRECTORY;
  int fd = beneath_open(top, way, flags, more);
  if (fd != -ENOENT) return fd;
  if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST) return -errno;
  int bad = folder_sync(dir);
  if (bad) return bad;
  fd = beneath_open(top, way, flags, more);
  return fd == -ENOENT ? -ELOOP : fd; /* it is there and leads nowhere: a link */
}

/* The folder of the last name, missing ones made; *name is the last name. */
static int descend(const struct files *files, struct str rest, struct str *name) {
  char way[PATH_MAX], one[NAME_MAX + 1];
  struct str next;
  size_t n = 0;
  int dir = beneath_open(files->fd, ".", O_RDONLY | O_DIRECTORY, 0);
  if (dir < 0 || !path_next(&rest, name)) return dir;
  while (dir >= 0 && path_next(&rest, &next)) {
    if (name->n > NAME_MAX) {
      (void)close(dir);
      return -ENAMETOOLONG;
    }
    n = path_append(way, n, *name);
    (void)path_append(one, 0, *name);
    int fd = folder_enter(files->fd, way, dir, one, 0);
    (void)close(dir);
    dir = fd;
    *name = next;
  }
  return dir;
}

/* ---- Errors --------------------------------------------------------------------------- */

static enum rein_code place_fail(const struct files_place *place, int error, struct err *err) {
  return path_fail(place->asked, error, err);
}

static enum rein_code set_name(struct files_place *place, struct str name, struct err *err) {
  if (name.n > NAME_MAX) return place_fail(place, ENAMETOOLONG, err);
  (void)path_append(place->name, 0, name);
  return REIN_OK;
}

static enum rein_code kind_check(const struct files_place *place, mode_t mode, struct err *err) {
  if (S_ISDIR(mode)) return path_kind_fail(T_HOST_PUT_FOLDER, place->asked, err);
  if (S_ISREG(mode) || (S_ISLNK(mode) && place->is_link)) return REIN_OK;
  return path_kind_fail(T_HOST_WRITE_KIND, place->asked, err);
}

/* ---- What is there ---------------------------------------------------------------------- */

/* Opens the folder of what `fd` is, by its path without links, and makes sure
 * that it is the same file. */
static enum rein_code found_place(const struct files *files, int fd, struct files_place *place,
                                  struct err *err) {
  struct stat st, again;
  char parent[PATH_MAX];
  if (fstat(fd, &st) != 0) return place_fail(place, errno, err);
  enum rein_code code = kind_check(place, st.st_mode, err);
  if (code != REIN_OK) return code;
  code = files_path_of(files, fd, &place->path);
  if (code == REIN_MEMORY) return ERR(err, code, T_HOST_NO_MEMORY);
  if (code != REIN_OK) return place_fail(place, EAGAIN, err); /* moved meanwhile */
  code = set_name(place, split(buf_str(&place->path), parent), err);
  if (code != REIN_OK) return code;
  place->dir = beneath_open(files->fd, parent, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
  if (place->dir < 0) return place_fail(place, place->dir == -EACCES ? EACCES : EAGAIN, err);
  bool same = fstatat(place->dir, place->name, &again, AT_SYMLINK_NOFOLLOW) == 0 &&
              again.st_dev == st.st_dev && again.st_ino == st.st_ino;
  place->there = true;
  return same ? REIN_OK : place_fail(place, EAGAIN, err);
}

/* The path of the folder and the name, for a file that may not be there. */
static enum rein_code put_path(const struct files *files, struct files_place *place,
                               struct err *err) {
  enum rein_code code = files_path_of(files, place->dir, &place->path);
  if (code == REIN_MEMORY) return ERR(err, code, T_HOST_NO_MEMORY);
  if (code != REIN_OK) return place_fail(place, EAGAIN, err);
  if (str_is(buf_str(&place->path), "."))
    buf_reset(&place->path);
  else
    buf_c(&place->path, '/');
  buf_put(&place->path, str_of(place->name));
  return place->path.fail ? ERR(err, place->path.fail, T_HOST_NO_MEMORY) : REIN_OK;
}

/* Whether a file may be made there: no link to nothing in its place, no folder. */
static enum rein_code new_check(const struct files *files, char inside[PATH_MAX], struct str name,
                                const struct files_place *place, struct err *err) {
  struct str rest = str_of(inside), one;
  size_t names = 0;
  int fd = files_beneath(files, inside, O_PATH | O_NOFOLLOW);
  if (fd >= 0) (void)close(fd);
  if (fd >= 0) return path_kind_fail(T_HOST_PATH_DANGLING, place->asked, err);
  if (fd != -ENOENT) return place_fail(place, -fd, err);
  while (path_next(&rest, &one))
    names += !str_is(one, "..");
  if (names > FOLDERS_MAX) return path_kind_fail(T_HOST_PUT_DEEP, place->asked, err);
  return is_no_name(name) ? path_kind_fail(T_HOST_PUT_FOLDER, place->asked, err) : REIN_OK;
}

/* The folder may be there in another spelling: `inside` then leads into it. */
static bool meant_folder(const struct files *files, char inside[PATH_MAX], char parent[PATH_MAX],
                         struct str name) {
  char room[PATH_MAX];
  int fd = files_beneath(files, parent, O_PATH | O_DIRECTORY);
  if (fd >= 0) (void)close(fd);
  if (fd != -ENOENT || !files_meant(files, parent)) return false;
  if (strlen(parent) + name.n + 2 > PATH_MAX) return false;
  size_t n = path_append(room, path_append(room, 0, str_of(parent)), name);
  memcpy(inside, room, n + 1);
  return true;
}

/* Nothing is there: a place for a new file. */
static enum rein_code new_place(const struct files *files, char inside[PATH_MAX],
                                struct files_place *place, struct err *err) {
  char parent[PATH_MAX];
  struct str name = split(str_of(inside), parent), last;
  enum rein_code code = new_check(files, inside, name, place, err);
  if (code != REIN_OK) return code;
  place->other = meant_folder(files, inside, parent, name);
  place->dir = descend(files, str_of(inside), &last);
  if (place->dir < 0) return place_fail(place, -place->dir, err);
  code = set_name(place, last, err);
  return code == REIN_OK ? put_path(files, place, err) : code;
}

static enum rein_code look(const struct files *files, char inside[PATH_MAX], enum files_aim aim,
                           struct files_place *place, struct err *err) {
  int fd = files_beneath(files, inside, O_PATH);
  if (fd == -ENOENT && files_meant(files, inside)) {
    fd = files_beneath(files, inside, O_PATH);
    place->other = true;
  }
  if (fd == -ENOENT)
    return aim == FILES_WRITE ? new_place(files, inside, place, err)
                              : path_absent(files, inside, place->asked, err);
  if (fd < 0) return place_fail(place, -fd, err);
  enum rein_code code = found_place(files, fd, place, err);
  (void)close(fd);
  return code;
}

/* The last name itself, were it a link. */
static enum rein_code look_at_name(const struct files *files, char inside[PATH_MAX],
                                   struct files_place *place, struct err *err) {
  char parent[PATH_MAX];
  struct stat st;
  int fd = files_beneath(files, inside, O_PATH | O_NOFOLLOW);
  if (fd == -ENOENT && files_meant(files, inside)) {
    fd = files_beneath(files, inside, O_PATH | O_NOFOLLOW);
    place->other = true;
  }
  if (fd == -ENOENT) return path_absent(files, inside, place->asked, err);
  if (fd < 0) return place_fail(place, -fd, err);
  (void)close(fd);
  struct str name = split(str_of(inside), parent);
  if (is_no_name(name)) return path_kind_fail(T_HOST_PUT_FOLDER, place->asked, err);
  enum rein_code code = set_name(place, name, err);
  if (code != REIN_OK) return code;
  place->dir = files_beneath(files, parent, O_RDONLY | O_DIRECTORY);
  if (place->dir < 0) return place_fail(place, -place->dir, err);
  if (fstatat(place->dir, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
    return place_fail(place, errno, err);
  place->is_link = S_ISLNK(st.st_mode);
  place->there = true;
  code = kind_check(place, st.st_mode, err);
  return code == REIN_OK ? put_path(files, place, err) : code;
}

static enum rein_code open_once(const struct files *files, struct str path, enum files_aim aim,
                                struct files_place *place, struct err *err) {
  char inside[PATH_MAX];
  enum rein_code code = files_path_inside(files, path, inside, err);
  if (code != REIN_OK) return code;
  if (path_names_folder(path)) return path_kind_fail(T_HOST_PUT_FOLDER, path, err);
  /* Before folders are made, and again where links have led. */
  if (path_kept_in(str_of(inside))) return path_kind_fail(T_HOST_PUT_GIT, path, err);
  if (files_owns(files, str_of(inside))) return path_kind_fail(T_HOST_PATH_OWN, path, err);
  code = aim == FILES_DELETE ? look_at_name(files, inside, place, err)
                             : look(files, inside, aim, place, err);
  if (code == REIN_OK && path_kept_in(buf_str(&place->path)))
    code = path_kind_fail(T_HOST_PUT_GIT, path, err);
  if (code != REIN_OK) return code;
  return files_may_change(files, place->dir, place->name, buf_str(&place->path), path, err);
}

enum rein_code files_place_open(const struct files *files, struct str path, enum files_aim aim,
                                struct files_place *place, struct err *err) {
  struct err why = {0};
  enum rein_code code = REIN_OK;
  for (int i = 0; i < TRIES_MAX; i++) {
    *place = (struct files_place){.dir = -1, .asked = path};
    buf_init(&place->path, PATH_MAX);
    code = open_once(files, path, aim, place, &why);
    if (code == REIN_OK) return code;
    if (why.text != T_HOST_PATH_MOVING) break;
    if (i + 1 < TRIES_MAX) files_place_close(place);
  }
  *err = why;
  return code;
}

void files_place_close(struct files_place *place) {
  if (place->dir >= 0) (void)close(place->dir);
  buf_release(&place->path);
  place->dir = -1;
}

/* ---- Its bytes ------------------------------------------------------------------------------ */

/* 0, or an errno. At most one byte more than asked for, which tells of more. */
static int read_all(int fd, size_t bytes_max, struct buf *content) {
  struct stat st;
  if (fstat(fd, &st) != 0) return errno;
  if (!S_ISREG(st.st_mode)) return EAGAIN; /* it was one a moment ago */
  size_t step = st.st_size > 0 ? (size_t)st.st_size + 1 : BLOCK;
  while (content->n <= bytes_max) {
    size_t left = bytes_max + 1 - content->n;
    char *room = buf_room(content, step < left ? step : left);
    ssize_t n = room ? read(fd, room, step < left ? step : left) : 0;
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) break;
    if (n > 0) buf_grown(content, (size_t)n);
    step = BLOCK;
  }
  return 0;
}

static enum rein_code too_big(const struct files_place *place, size_t bytes_max, struct err *err) {
  struct num_text most;
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, place->asked);
  enum rein_code code =
      ERR(err, REIN_LIMIT, T_HOST_PUT_BIG, buf_str(&shown), str_num(&most, (int64_t)bytes_max));
  buf_release(&shown);
  return code;
}

enum rein_code files_place_read(const struct files_place *place, size_t bytes_max,
                                struct buf *content, struct err *err) {
  int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int fd = openat(place->dir, place->name, flags);
  int error = fd < 0 ? errno : read_all(fd, bytes_max, content);
  if (fd >= 0) (void)close(fd);
  if (error) return place_fail(place, error, err);
  if (content->n > bytes_max || content->fail == REIN_LIMIT) return too_big(place, bytes_max, err);
  return content->fail ? ERR(err, content->fail, T_HOST_NO_MEMORY) : REIN_OK;
}

enum rein_code files_place_write(const struct files_place *place, struct str content,
                                 const struct files_want *want, struct files_done *done,
                                 struct err *err) {
  struct put put = {.dir = place->dir, .name = place->name, .shown = place->asked};
  return put_write(&put, content, want, done, err);
}

enum rein_code files_place_delete(const struct files_place *place, const struct files_want *want,
                                  struct err *err) {
  struct put put = {.dir = place->dir, .name = place->name, .shown = place->asked};
  return put_delete(&put, want, err);
}
