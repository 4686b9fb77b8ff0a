/* What the tests of files share: a temporary folder with a project in it and
 * things beside it, all gone afterwards.
 */
#pragma once

#include "support/test.h"

#include "host/files.h"
#include "text/text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* snprintf into an array; what does not fit is a mistake of the test. */
#define PRINT(room, ...)                                                                           \
  do {                                                                                             \
    if (snprintf((room), sizeof(room), __VA_ARGS__) >= (int)sizeof(room)) abort();                 \
  } while (0)

struct place {
  char top[256];
  char root[PATH_MAX];
  struct files files;
  struct err err;
  struct buf text; /* the last error, or what was read */
};

/* "TOP/path"; good until the next call. */
static inline const char *place_path(struct place *p, const char *path) {
  static char room[2 * PATH_MAX];
  PRINT(room, "%s/%s", p->top, path);
  return room;
}

static inline void place_folder(struct place *p, const char *path) {
  assert_int_equal(mkdir(place_path(p, path), 0755), 0);
}

static inline void place_file(struct place *p, const char *path, const char *text) {
  FILE *f = fopen(place_path(p, path), "w");
  if (!f) fail_msg("%s: %s", path, strerrordesc_np(errno));
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

static inline void place_link(struct place *p, const char *target, const char *path) {
  assert_int_equal(symlink(target, place_path(p, path)), 0);
}

static inline void place_open(struct place *p, const char *root) {
  PRINT(p->root, "%s", root);
  enum rein_code code = files_open_root(p->root, &p->files, &p->err);
  if (code != REIN_OK) err_put(&p->text, REIN_ENGLISH, &p->err);
  if (code != REIN_OK) fail_msg("%s", buf_z(&p->text));
}

/* TOP/w/proj is the project. */
static inline void place_init(struct place *p) {
  const char *tmp = getenv("TMPDIR");
  memset(p, 0, sizeof *p);
  PRINT(p->top, "%s/rein-files-XXXXXX", tmp ? tmp : P_tmpdir);
  assert_non_null(mkdtemp(p->top));
  buf_init(&p->text, 16u << 20);
  place_folder(p, "w");
  place_folder(p, "w/proj");
  place_open(p, place_path(p, "w/proj"));
}

static inline int place_remove(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

static inline void place_release(struct place *p) {
  files_close_root(&p->files);
  buf_release(&p->text);
  assert_int_equal(nftw(p->top, place_remove, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Its text is then in p->text; for a folder nothing. */
static inline enum rein_code place_get(struct place *p, struct str path, enum files_need need) {
  int fd = -1;
  char room[4096];
  buf_reset(&p->text);
  p->err = (struct err){0};
  enum rein_code code = files_open(&p->files, path, need, &fd, NULL, &p->err);
  if (code != REIN_OK) {
    assert_int_equal(fd, -1);
    err_put(&p->text, REIN_ENGLISH, &p->err);
    assert_true(p->text.n > 0);
    return code;
  }
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  ssize_t n;
  while (need == FILES_READ && (n = read(fd, room, sizeof room)) > 0)
    buf_put(&p->text, (struct str){room, (size_t)n});
  close(fd);
  return REIN_OK;
}

static inline void place_reads(struct place *p, const char *path, const char *text) {
  enum rein_code code = place_get(p, str_of(path), FILES_READ);
  if (code != REIN_OK || !str_is(buf_str(&p->text), text))
    fail_msg("%s: %d, %s", path, code, buf_z(&p->text));
}

static inline void place_refuses(struct place *p, struct str path, const char *part) {
  enum rein_code code = place_get(p, path, FILES_READ);
  if (code != REIN_INPUT || !str_has(buf_str(&p->text), str_of(part)))
    fail_msg("%.*s: %d, %s", (int)path.n, path.p, code, buf_z(&p->text));
}

/* Entries of a folder, "." and ".." left out. */
static inline size_t place_count(struct place *p, const char *path) {
  DIR *dir = opendir(place_path(p, path));
  assert_non_null(dir);
  size_t n = 0;
  while (readdir(dir))
    n++;
  closedir(dir);
  return n - 2;
}

static inline size_t open_fds(void) {
  size_t n = 0;
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n;
}

/* Root may read and write everything: be an ordinary user for a while. */
static inline bool user_be(void) {
  bool was_root = geteuid() == 0;
  if (was_root) assert_int_equal(seteuid(65534), 0);
  return was_root;
}

static inline void user_end(bool was_root) {
  if (was_root) assert_int_equal(seteuid(0), 0);
}

/* A file of the handed cases, terminated; NULL: they are not here. */
static inline char *shared_case(const char *path) {
  static char name[PATH_MAX];
  const char *shared = getenv("REIN_SHARED"), *root = getenv("REIN_ROOT");
  PRINT(name, "%s%s/cases/%s",
        shared ? shared
        : root ? root
               : ".",
        shared ? "" : "/../shared", path);
  FILE *f = fopen(name, "r");
  if (!f) return NULL;
  char *text = calloc(1, 1u << 20);
  assert_non_null(text);
  assert_true(fread(text, 1, (1u << 20) - 1, f) > 0);
  fclose(f);
  return text;
}
