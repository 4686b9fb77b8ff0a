/* Walking: order, links, depth, threads, rules, what cannot be read, what vanishes. */
#include "root.h"

#include "base/mem.h"
#include "host/ignore.h"
#include "host/walk.h"
#include "support/oom.h"

#include <stdatomic.h>

struct walked {
  struct buf log; /* a line per entry: kind, path */
  const char *skip, *stop;
  size_t visits, enough;
  unsigned threads;
  bool ignore;
  atomic_bool stopped;
  void (*meanwhile)(const struct walk_entry *e);
};

static bool stopped(void *ctx) {
  const struct walked *w = ctx;
  return atomic_load(&w->stopped);
}

static void *begin(void *ctx) {
  (void)ctx;
  struct buf *piece = mem_resize(NULL, sizeof *piece);
  if (piece) buf_init(piece, 1u << 20);
  return piece;
}

static size_t visit(void *ctx, unsigned thread, void *piece, const struct walk_entry *e) {
  struct walked *w = ctx;
  struct buf *log = piece;
  assert(thread < WALK_THREADS_MAX);
  if (w->meanwhile) w->meanwhile(e);
  buf_c(log, e->is_dir ? 'd' : e->is_link ? 'l' : e->is_file ? 'f' : '?');
  if (e->unreadable) buf_c(log, '!');
  if (e->too_deep) buf_c(log, '_');
  if (e->rules_lost) buf_c(log, '%');
  buf_c(log, ' ');
  buf_put(log, e->path);
  buf_c(log, '\n');
  if (w->stop && str_is(e->path, w->stop)) atomic_store(&w->stopped, true);
  return 1;
}

static bool end(void *ctx, void *piece, bool wanted) {
  struct walked *w = ctx;
  struct buf *log = piece;
  struct str rest = buf_str(log), line;
  while (wanted && rest.n && str_next(&rest, '\n', &line)) {
    buf_put(&w->log, line);
    buf_c(&w->log, '\n');
    w->visits++;
  }
  if (log->fail) w->log.fail = log->fail;
  buf_release(log);
  mem_free(log);
  return !w->log.fail && (!w->enough || w->visits < w->enough);
}

static enum rein_code walk_as(struct place *p, const char *path, struct walked *w,
                              struct err *err) {
  const char *skip[] = {w->skip, NULL};
  struct walk_plan plan = {.files = &p->files,
                           .path = str_of(path),
                           .threads = w->threads ? w->threads : 2,
                           .ignore = w->ignore,
                           .skip = skip,
                           .enough = w->enough ? w->enough : SIZE_MAX,
                           .ctx = w,
                           .stopped = stopped,
                           .begin = begin,
                           .visit = visit,
                           .end = end};
  return walk(&plan, err);
}

static void go(struct place *p, const char *path, struct walked *w) {
  buf_reset(&w->log);
  w->visits = 0;
  atomic_store(&w->stopped, false);
  size_t fds = open_fds();
  assert_int_equal(walk_as(p, path, w, &p->err), REIN_OK);
  assert_int_equal(open_fds(), fds);
}

static void build(struct place *p) {
  place_folder(p, "outside");
  place_file(p, "outside/secret", "CANARY");
  place_folder(p, "w/proj/b");
  place_folder(p, "w/proj/b/c");
  place_folder(p, "w/proj/empty");
  place_file(p, "w/proj/B.txt", "1");
  place_file(p, "w/proj/a.txt", "12");
  place_file(p, "w/proj/b/c/z", "");
  place_file(p, "w/proj/b/y", "");
  place_file(p, "w/proj/가.txt", "");
  place_file(p, "w/proj/b.x", "");
  place_link(p, "../../outside", "w/proj/out");
  place_link(p, "b", "w/proj/inside");
  place_link(p, ".", "w/proj/self");
  assert_int_equal(mkfifo(place_path(p, "w/proj/pipe"), 0600), 0);
}

#define ALL                                                                                        \
  "f B.txt\nf a.txt\nd b\nd b/c\nf b/c/z\nf b/y\nf b.x\nd empty\nl inside\nl out\n? pipe\nl "      \
  "self\n"                                                                                         \
  "f 가.txt\n"

static void order(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  place_init(&p);
  build(&p);
  buf_init(&w.log, 1u << 20);
  go(&p, "", &w);
  assert_text(buf_str(&w.log), ALL);
  go(&p, ".", &w);
  assert_text(buf_str(&w.log), ALL);
  go(&p, "b", &w);
  assert_text(buf_str(&w.log), "d b/c\nf b/c/z\nf b/y\n");
  go(&p, "./b/c/", &w);
  assert_text(buf_str(&w.log), "f b/c/z\n");
  go(&p, "inside", &w); /* real paths */
  assert_text(buf_str(&w.log), "d b/c\nf b/c/z\nf b/y\n");
  go(&p, "empty", &w);
  assert_text(buf_str(&w.log), "");
  buf_release(&w.log);
  place_release(&p);
}

static void skip_and_stop(void **state) {
  (void)state;
  struct place p;
  struct walked w = {.skip = "b"};
  place_init(&p);
  build(&p);
  buf_init(&w.log, 1u << 20);
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f B.txt\nf a.txt\nf b.x\nd empty\nl inside\nl out\n? pipe\nl self\n"
                               "f 가.txt\n");
  w.skip = NULL;
  w.threads = 1;
  w.stop = "b/c/z";
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f B.txt\nf a.txt\nd b\nd b/c\nf b/c/z\n");
  w.stop = "b";
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f B.txt\nf a.txt\nd b\n");
  buf_release(&w.log);
  place_release(&p);
}

static void refused(void **state) {
  (void)state;
  static const char *const paths[] = {"a.txt", "out", "none", "..", "/", "/etc", "pipe"};
  struct place p;
  struct walked w = {0};
  place_init(&p);
  build(&p);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    assert_int_equal(walk_as(&p, paths[i], &w, &p.err), REIN_INPUT);
  assert_int_equal(w.visits, 0);
  place_release(&p);
}

static void deep(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  char path[PATH_MAX] = "w/proj";
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  for (int i = 0; i < WALK_DEPTH_MAX + 3; i++) {
    (void)snprintf(path + strlen(path), 3, "/%c", 'a' + i % 26);
    place_folder(&p, path);
  }
  go(&p, "", &w);
  assert_int_equal(w.visits, WALK_DEPTH_MAX);
  struct str before, last;
  assert_true(str_split_last(str_trim(buf_str(&w.log)), '\n', &before, &last));
  assert_true(str_starts(last, STR("d_ a/b/c")));
  assert_false(str_has(before, STR("_")));
  buf_release(&w.log);
  place_release(&p);
}

/* Removes a folder after its name was read. */
static void remove_c(const struct walk_entry *e) {
  if (str_is(e->name, "a")) (void)unlinkat(e->dir_fd, "c", AT_REMOVEDIR);
}

static void vanishing(void **state) {
  (void)state;
  struct place p;
  struct walked w = {.threads = 1, .meanwhile = remove_c};
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  place_file(&p, "w/proj/a", "");
  place_folder(&p, "w/proj/c");
  place_file(&p, "w/proj/d", "");
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f a\nd! c\nf d\n");
  buf_release(&w.log);
  place_release(&p);
}

/* Swaps a folder for a link that leads out, after its name was read. */
static void swap_b(const struct walk_entry *e) {
  if (!str_is(e->name, "a")) return;
  assert_int_equal(renameat(e->dir_fd, "b", e->dir_fd, "z"), 0);
  assert_int_equal(symlinkat("../../outside", e->dir_fd, "b"), 0);
}

static void swapped_folder(void **state) {
  (void)state;
  struct place p;
  struct walked w = {.threads = 1, .meanwhile = swap_b};
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  place_folder(&p, "outside");
  place_file(&p, "outside/secret", "CANARY");
  place_file(&p, "w/proj/a", "");
  place_folder(&p, "w/proj/b");
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f a\nd! b\n");
  buf_release(&w.log);
  place_release(&p);
}

static void unreadable(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  place_init(&p);
  build(&p);
  buf_init(&w.log, 1u << 20);
  assert_int_equal(chmod(place_path(&p, "w/proj/b"), 0), 0);
  bool was_root = user_be();
  go(&p, "", &w);
  user_end(was_root);
  assert_true(str_has(buf_str(&w.log), STR("d! b\n")));
  assert_int_equal(chmod(place_path(&p, "w/proj/b"), 0755), 0);
  buf_release(&w.log);
  place_release(&p);
}

static void many(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  char name[64];
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  for (int i = 0; i < 700; i++) {
    PRINT(name, "w/proj/%d", i * 7919 % 700);
    place_file(&p, name, "");
  }
  go(&p, "", &w);
  assert_int_equal(w.visits, 700);
  struct str rest = buf_str(&w.log), line, last = STR_NONE;
  while (str_next(&rest, '\n', &line)) {
    assert_true(str_cmp(last, line) < 0);
    last = line;
  }
  buf_release(&w.log);
  place_release(&p);
}

/* The same with one thread and with many, and a beginning of it where less is
 * enough. */
static void threads(void **state) {
  (void)state;
  struct place p;
  struct walked one = {.threads = 1}, many = {.threads = WALK_THREADS_MAX};
  char name[64];
  place_init(&p);
  buf_init(&one.log, 1u << 20);
  buf_init(&many.log, 1u << 20);
  for (int i = 0; i < 40; i++) {
    PRINT(name, "w/proj/d%d", i);
    place_folder(&p, name);
    for (int k = 0; k < i; k++) {
      PRINT(name, "w/proj/d%d/%d", i, i - k);
      if (k % 7 == 3)
        place_folder(&p, name);
      else
        place_file(&p, name, "");
    }
  }
  go(&p, "", &one);
  assert_true(one.visits > 700);
  for (int round = 0; round < 20; round++) {
    many.enough = round % 2 ? 50 : 0;
    go(&p, "", &many);
    struct str all = buf_str(&one.log);
    assert_true(str_starts(all, buf_str(&many.log)));
    assert_true(round % 2 ? many.visits >= 50 : many.visits == one.visits);
  }
  buf_release(&one.log);
  buf_release(&many.log);
  place_release(&p);
}

/* Lists at every height, taken out again, of a repository within. */
static void rules(void **state) {
  (void)state;
  struct place p;
  struct walked w = {.ignore = true, .skip = ".git"};
  place_init(&p);
  build(&p);
  buf_init(&w.log, 1u << 20);
  place_file(&p, "w/proj/.gitignore", "*.txt\n!a.txt\n/empty/\ninside\nout\nself\npipe\n");
  place_file(&p, "w/proj/b/.gitignore", "z\n!가.txt\n");
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f .gitignore\nf a.txt\nd b\nf b/.gitignore\nd b/c\nf b/y\nf b.x\n");
  go(&p, "b/c", &w);
  assert_text(buf_str(&w.log), "");
  place_folder(&p, "w/proj/.git");
  place_folder(&p, "w/proj/.git/info");
  place_file(&p, "w/proj/.git/info/exclude", "b.x\na.txt\n");
  go(&p, "", &w);
  assert_text(buf_str(&w.log), "f .gitignore\nf a.txt\nd b\nf b/.gitignore\nd b/c\nf b/y\n");
  place_folder(&p, "w/proj/b/c/.git");
  go(&p, "b/c", &w);
  assert_text(buf_str(&w.log), "f b/c/z\n");
  struct buf big;
  buf_init(&big, 2u << 20);
  while (big.n < IGNORE_BYTES_MAX + 5000)
    buf_lit(&big, "something\n");
  place_file(&p, "w/proj/.gitignore", buf_z(&big));
  buf_release(&big);
  go(&p, "empty", &w);
  assert_text(buf_str(&w.log), "d% empty\n");
  buf_release(&w.log);
  place_release(&p);
}

static bool scenario(void *ctx) {
  struct place *p = ctx;
  struct err err = {0};
  struct walked w = {.threads = 1, .ignore = true};
  buf_init(&w.log, 1u << 20);
  enum rein_code code = walk_as(p, "", &w, &err);
  bool fine = code == REIN_OK && !w.log.fail;
  if (fine) assert_int_equal(w.visits, 15);
  if (!fine) assert_true(code == REIN_MEMORY || w.log.fail == REIN_MEMORY);
  buf_release(&w.log);
  return fine;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  build(&p);
  place_file(&p, "w/proj/.gitignore", "nothing\n*.o\n");
  place_file(&p, "w/proj/b/.gitignore", "nothing\n");
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 5);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

/* For test_ignore.py: every path below a folder, each with a NUL behind it. */
static int list(const char *top) {
  struct files files;
  struct err err = {0};
  struct walked w = {0};
  if (files_open_root(top, &files, &err)) return 2;
  buf_init(&w.log, 16u << 20);
  struct place p = {.files = files};
  w.ignore = true;
  w.skip = ".git";
  enum rein_code code = walk_as(&p, "", &w, &err);
  struct str rest = buf_str(&w.log), line;
  while (rest.n && str_next(&rest, '\n', &line)) {
    line = str_part(line, str_find_char(line, ' ') + 1, line.n);
    printf("%.*s%c", (int)line.n, line.p, 0);
  }
  buf_release(&w.log);
  files_close_root(&files);
  return code ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--list") == 0) return list(argv[2]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order),      cmocka_unit_test(skip_and_stop),
      cmocka_unit_test(refused),    cmocka_unit_test(deep),
      cmocka_unit_test(vanishing),  cmocka_unit_test(swapped_folder),
      cmocka_unit_test(unreadable), cmocka_unit_test(many),
      cmocka_unit_test(threads),    cmocka_unit_test(rules),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
