/* Reading one folder of a walk: its names, sorted, and the rules that leave some
 * of them out.
 */
#include "host/files_inside.h"
#include "host/walk_inside.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_BYTES_MAX (64u << 20) /* names of one folder: more than a million */

bool branch_path(struct reader *r, const struct branch *b, const char *name) {
  buf_reset(&r->path);
  buf_put(&r->path, b->path);
  if (b->path.n) buf_c(&r->path, '/');
  buf_put(&r->path, str_of(name));
  return !r->path.fail;
}

/* ---- rules ----------------------------------------------------------------------- */

static int read_all(int fd, struct buf *text) {
  for (;;) {
    char *room = buf_room(text, 4096);
    if (!room) return text->fail == REIN_LIMIT ? EFBIG : ENOMEM;
    ssize_t n = read(fd, room, 4096);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : 0;
    buf_grown(text, (size_t)n);
  }
}

/* Reads a whole small file below `dir`. ENOENT: it is not there, or no file. */
static int read_small(int dir, const char *name, struct buf *text) {
  struct stat st;
  /* git follows no link in a .gitignore's place either */
  int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno == ELOOP || errno == ENOTDIR ? ENOENT : errno;
  int bad = fstat(fd, &st) != 0 ? errno : S_ISREG(st.st_mode) ? read_all(fd, text) : ENOENT;
  (void)close(fd);
  return bad;
}

int rules_add(int dir, const char *name, size_t base, struct ignore **rules, struct ignore **own,
              bool *lost) {
  struct buf text;
  buf_init(&text, IGNORE_BYTES_MAX + 4096);
  int bad = read_small(dir, name, &text);
  struct ignore *before = *rules;
  if (!bad && ignore_new(buf_str(&text), base, before, rules) != REIN_OK) bad = ENOMEM;
  if (!bad && *rules != before) *own = *rules;
  buf_release(&text);
  if (bad && bad != ENOMEM && bad != ENOENT) *lost = true;
  return bad == ENOMEM ? bad : 0;
}

/* Rules see a path from the top of the repository that the root lies in. */
static size_t base_of(const struct outer *o, const struct branch *b) {
  size_t above = o->prefix.n ? o->prefix.n + 1 : 0;
  return above + (b->path.n ? b->path.n + 1 : 0);
}

/* A folder with .git in it is a repository of its own: rules above it end. */
static int read_rules(const struct outer *o, struct branch *b, bool has_git, bool has_list) {
  int bad = 0;
  size_t base = base_of(o, b);
  b->rules = has_git ? NULL : b->above ? b->above->rules : o->rules;
  if (!b->above) b->rules_lost = o->lost;
  if (has_git) {
    int git = openat(b->fd, ".git/info", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (git >= 0) bad = rules_add(git, "exclude", base, &b->rules, &b->own[1], &b->rules_lost);
    if (git >= 0) (void)close(git);
  }
  if (bad || !has_list) return bad;
  return rules_add(b->fd, ".gitignore", base, &b->rules, &b->own[0], &b->rules_lost);
}

/* ---- names ----------------------------------------------------------------------- */

static int add_item(struct branch *b, const char *name, unsigned char type) {
  if (b->n == b->cap) {
    size_t cap = b->cap ? b->cap * 2 : 32;
    struct item *items = mem_resize(b->items, cap * sizeof *items);
    if (!items) return ENOMEM;
    b->items = items;
    b->cap = cap;
  }
  struct str kept;
  if (!arena_str(&b->memory, str_of(name), &kept)) return ENOMEM;
  b->items[b->n++] = (struct item){kept.p, type};
  return 0;
}

/* Where the file system does not say what an entry is. */
static unsigned char type_of(int dir, const struct dirent64 *e) {
  struct stat st;
  if (e->d_type != DT_UNKNOWN) return e->d_type;
  if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return (unsigned char)IFTODT(st.st_mode);
}

static bool is_dot(const char *name) {
  return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static int read_names(struct branch *b, char *room) {
  for (;;) {
    ssize_t n = getdents64(b->fd, room, WALK_ROOM);
    if (n <= 0) return n < 0 ? errno : 0;
    const struct dirent64 *e;
    for (ssize_t at = 0; at < n; at += e->d_reclen) {
      e = (const struct dirent64 *)(const void *)(room + at);
      if (is_dot(e->d_name)) continue;
      int bad = add_item(b, e->d_name, type_of(b->fd, e));
      if (bad) return bad;
    }
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static bool has(const struct branch *b, const char *name) {
  struct item key = {name, 0};
  return b->n && bsearch(&key, b->items, b->n, sizeof key, by_name);
}

static bool is_skipped(const struct walk_plan *plan, const struct item *item) {
  if (item->type != DT_DIR || !plan->skip) return false;
  for (size_t i = 0; plan->skip[i]; i++)
    if (strcmp(plan->skip[i], item->name) == 0) return true;
  return false;
}

/* From the top of the repository, in r->path; false: no memory. */
static bool outer_path(struct reader *r, const struct branch *b, const char *name) {
  struct str prefix = r->outer->prefix;
  buf_reset(&r->path);
  buf_put(&r->path, prefix);
  if (prefix.n) buf_c(&r->path, '/');
  buf_put(&r->path, b->path);
  if (b->path.n) buf_c(&r->path, '/');
  buf_put(&r->path, str_of(name));
  return !r->path.fail;
}

/* Of the entry whose path is in r->path. */
static bool is_left_out(const struct reader *r, const struct branch *b, const struct item *item,
                        bool judged) {
  struct str path = buf_str(&r->path);
  size_t above = r->outer->prefix.n ? r->outer->prefix.n + 1 : 0;
  if (b->rules && ignore_names(b->rules, path, item->type == DT_DIR)) return true;
  const struct files *files = r->plan->files;
  return judged && !files_may_see(files, b->fd, item->name, str_part(path, above, path.n));
}

static int leave_out(struct reader *r, struct branch *b) {
  size_t kept = 0;
  bool judged = r->plan->files->guard || r->plan->files->own.hidden;
  for (size_t i = 0; i < b->n; i++) {
    struct item item = b->items[i];
    if (item.type == DT_UNKNOWN || is_skipped(r->plan, &item)) continue; /* or it is gone */
    if ((b->rules || judged) && !outer_path(r, b, item.name)) return ENOMEM;
    if (!is_left_out(r, b, &item, judged)) b->items[kept++] = item;
  }
  b->n = kept;
  return 0;
}

/* ---- one folder ------------------------------------------------------------------- */

static struct branch *branch_new(struct branch *above, struct str path, int fd) {
  struct branch *b = mem_zero(sizeof *b);
  if (!b) {
    (void)close(fd);
    return NULL;
  }
  b->fd = fd;
  b->above = above;
  b->depth = above ? above->depth + 1 : 1;
  arena_init(&b->memory, FOLDER_BYTES_MAX);
  if (path.n == 0 || arena_str(&b->memory, path, &b->path)) return b;
  branch_free(b);
  return NULL;
}

int branch_read(struct reader *r, struct branch *above, struct str path, int fd,
                struct branch **made) {
  struct branch *b = *made = branch_new(above, path, fd);
  if (!b) return ENOMEM;
  int bad = read_names(b, r->room);
  if (!bad && b->n) qsort(b->items, b->n, sizeof *b->items, by_name);
  if (!bad && r->plan->ignore) bad = read_rules(r->outer, b, has(b, ".git"), has(b, ".gitignore"));
  if (!bad) bad = leave_out(r, b);
  if (!bad) return 0;
  branch_free(b);
  *made = NULL;
  return bad;
}

int branch_pass(struct reader *r, struct branch *above, struct str path, int fd,
                struct branch **made) {
  struct branch *b = *made = branch_new(above, path, fd);
  if (!b) return ENOMEM;
  struct stat st;
  bool has_git = fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
  int bad = r->plan->ignore ? read_rules(r->outer, b, has_git, true) : 0;
  branch_close(b);
  if (!bad) return 0;
  branch_free(b);
  *made = NULL;
  return bad;
}

void branch_close(struct branch *b) {
  if (b->fd >= 0) (void)close(b->fd);
  b->fd = -1;
}

void branch_free(struct branch *b) {
  if (!b) return;
  branch_close(b);
  ignore_free(b->own[0]);
  ignore_free(b->own[1]);
  arena_release(&b->memory);
  mem_free(b->items);
  mem_free(b);
}
