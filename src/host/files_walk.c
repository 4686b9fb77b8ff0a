/* Walking below a folder in sorted order. Every folder is opened from its
 * parent's descriptor, by one name and without following links: there is no way
 * out and there are no circles.
 */
#include "host/files_inside.h"

#include "base/arena.h"
#include "base/mem.h"
#include "text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_BYTES_MAX (64u << 20) /* names of one folder: more than a million */
#define PATH_BYTES_MAX (FILES_DEPTH_MAX * (NAME_MAX + 1) + 2 * PATH_MAX)

struct item {
  const char *name;   /* terminated */
  unsigned char type; /* DT_ */
};

struct folder {
  DIR *dir;
  struct arena names;
  struct item *items;
  size_t n, cap;
};

struct walk {
  files_skip_fn skip;
  files_visit_fn visit;
  void *ctx;
  struct err *err;
  struct buf path; /* of the folder at hand, "" for the root */
  bool stopped;
};

static enum rein_code folder_add(struct folder *f, const struct dirent *entry, struct err *err) {
  if (f->n == f->cap) {
    size_t cap = f->cap ? f->cap * 2 : 64;
    struct item *items = mem_resize(f->items, cap * sizeof *items);
    if (!items) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
    f->items = items;
    f->cap = cap;
  }
  struct str name;
  if (!arena_str(&f->names, str_of(entry->d_name), &name))
    return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  f->items[f->n++] = (struct item){name.p, entry->d_type};
  return REIN_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static void folder_release(struct folder *f) {
  if (f->dir) (void)closedir(f->dir);
  arena_release(&f->names);
  mem_free(f->items);
}

static enum rein_code folder_fail(const struct walk *w, int error) {
  return path_fail(w->path.n ? buf_str(&w->path) : STR("."), error, w->err);
}

/* Reads all names, sorted. Takes fd. */
static enum rein_code folder_read(struct walk *w, int fd, struct folder *f) {
  *f = (struct folder){.dir = fdopendir(fd)};
  arena_init(&f->names, FOLDER_BYTES_MAX);
  if (!f->dir) {
    int error = errno;
    (void)close(fd);
    return folder_fail(w, error);
  }
  enum rein_code code = REIN_OK;
  const struct dirent *entry;
  errno = 0;
  while (code == REIN_OK && (entry = readdir(f->dir))) {
    struct str name = str_of(entry->d_name);
    if (!str_is(name, ".") && !str_is(name, "..")) code = folder_add(f, entry, w->err);
    errno = 0;
  }
  if (code == REIN_OK && errno) code = folder_fail(w, errno);
  if (code == REIN_OK && f->n) qsort(f->items, f->n, sizeof *f->items, by_name);
  return code;
}

static void set_type(struct files_entry *e, unsigned char type) {
  e->is_dir = type == DT_DIR;
  e->is_link = type == DT_LNK;
  e->is_file = type == DT_REG;
}

/* False: it is gone. */
static bool set_size(struct files_entry *e, const char *name) {
  struct stat st;
  if (fstatat(e->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return errno != ENOENT;
  set_type(e, (unsigned char)IFTODT(st.st_mode));
  e->size = st.st_size;
  return true;
}

static int child_open(struct files_entry *e, const char *name, int depth) {
  e->too_deep = depth >= FILES_DEPTH_MAX;
  if (e->too_deep) return -1;
  int fd = openat(e->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  e->unreadable = fd < 0;
  return fd;
}

static enum rein_code walk_folder(struct walk *w, int fd, int depth);

/* Visits one entry, and what is in it. */
static enum rein_code walk_entry(struct walk *w, struct files_entry *e, const struct item *item,
                                 int depth) {
  set_type(e, item->type);
  if (item->type == DT_UNKNOWN && !set_size(e, item->name)) return REIN_OK;
  if (w->skip && w->skip(w->ctx, e)) return REIN_OK;
  if (e->is_file && !set_size(e, item->name)) return REIN_OK;
  int child = e->is_dir ? child_open(e, item->name, depth) : -1;
  w->stopped = !w->visit(w->ctx, e);
  if (child >= 0 && !w->stopped) return walk_folder(w, child, depth + 1);
  if (child >= 0) (void)close(child);
  return REIN_OK;
}

static enum rein_code walk_item(struct walk *w, const struct folder *f, const struct item *item,
                                int depth) {
  size_t before = w->path.n;
  if (before) buf_c(&w->path, '/');
  buf_put(&w->path, str_of(item->name));
  if (w->path.fail) return ERR(w->err, w->path.fail, T_HOST_NO_MEMORY);
  struct files_entry e = {
      .path = buf_str(&w->path), .name = str_of(item->name), .dir_fd = dirfd(f->dir)};
  enum rein_code code = walk_entry(w, &e, item, depth);
  buf_cut(&w->path, before);
  return code;
}

/* Takes fd. Recursion ends at FILES_DEPTH_MAX. */
static enum rein_code walk_folder(struct walk *w, int fd, int depth) {
  struct folder f;
  enum rein_code code = folder_read(w, fd, &f);
  for (size_t i = 0; i < f.n && code == REIN_OK && !w->stopped; i++)
    code = walk_item(w, &f, &f.items[i], depth);
  folder_release(&f);
  return code;
}

enum rein_code files_walk(const struct files *files, struct str path, files_skip_fn skip,
                          files_visit_fn visit, void *ctx, struct err *err) {
  struct walk w = {.skip = skip, .visit = visit, .ctx = ctx, .err = err};
  int fd = -1;
  buf_init(&w.path, PATH_BYTES_MAX);
  enum rein_code code = files_open(files, path.n ? path : STR("."), FILES_DIR, &fd, NULL, err);
  if (code == REIN_OK) {
    code = files_path_of(files, fd, &w.path);
    if (code != REIN_OK) {
      (void)close(fd);
      code = code == REIN_INPUT ? path_fail(path, ENOENT, err)
                                : path_fail(path, code == REIN_MEMORY ? ENOMEM : EIO, err);
    }
  }
  if (code == REIN_OK) {
    if (str_is(buf_str(&w.path), ".")) buf_reset(&w.path);
    code = walk_folder(&w, fd, 1);
  }
  buf_release(&w.path);
  return code;
}
