/* Walking: order, links, depth, what cannot be read, what vanishes. */
#include "root.h"

#include "support/oom.h"

struct walked {
  struct buf log; /* a line per entry: kind, path, size */
  const char *skip, *stop;
  size_t visits;
};

static bool leave(void *ctx, const struct files_entry *e) {
  const struct walked *w = ctx;
  return w->skip && str_is(e->name, w->skip);
}

static bool visit(void *ctx, const struct files_entry *e) {
  struct walked *w = ctx;
  w->visits++;
  buf_c(&w->log, e->is_dir ? 'd' : e->is_link ? 'l' : e->is_file ? 'f' : '?');
  if (e->unreadable) buf_c(&w->log, '!');
  if (e->too_deep) buf_c(&w->log, '_');
  buf_c(&w->log, ' ');
  buf_put(&w->log, e->path);
  if (e->is_file) {
    char name[NAME_MAX + 1];
    PRINT(name, "%.*s", (int)e->name.n, e->name.p);
    int fd = openat(e->dir_fd, name, O_RDONLY | O_NOFOLLOW);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, e->size);
    close(fd);
  }
  buf_c(&w->log, '\n');
  return !w->stop || !str_is(e->path, w->stop);
}

static void walk(struct place *p, const char *path, struct walked *w) {
  buf_reset(&w->log);
  size_t fds = open_fds();
  assert_int_equal(files_walk(&p->files, str_of(path), leave, visit, w, &p->err), REIN_OK);
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
  walk(&p, "", &w);
  assert_text(buf_str(&w.log), ALL);
  walk(&p, ".", &w);
  assert_text(buf_str(&w.log), ALL);
  walk(&p, "b", &w);
  assert_text(buf_str(&w.log), "d b/c\nf b/c/z\nf b/y\n");
  walk(&p, "./b/c/", &w);
  assert_text(buf_str(&w.log), "f b/c/z\n");
  walk(&p, "inside", &w); /* real paths */
  assert_text(buf_str(&w.log), "d b/c\nf b/c/z\nf b/y\n");
  walk(&p, "empty", &w);
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
  walk(&p, "", &w);
  assert_text(buf_str(&w.log), "f B.txt\nf a.txt\nf b.x\nd empty\nl inside\nl out\n? pipe\nl self\n"
                               "f 가.txt\n");
  w.skip = NULL;
  w.stop = "b/c/z";
  walk(&p, "", &w);
  assert_text(buf_str(&w.log), "f B.txt\nf a.txt\nd b\nd b/c\nf b/c/z\n");
  w.stop = "b";
  walk(&p, "", &w);
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
    assert_int_equal(files_walk(&p.files, str_of(paths[i]), NULL, visit, &w, &p.err), REIN_INPUT);
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
  for (int i = 0; i < FILES_DEPTH_MAX + 3; i++) {
    (void)snprintf(path + strlen(path), 3, "/%c", 'a' + i % 26);
    place_folder(&p, path);
  }
  walk(&p, "", &w);
  assert_int_equal(w.visits, FILES_DEPTH_MAX);
  struct str before, last;
  assert_true(str_split_last(str_trim(buf_str(&w.log)), '\n', &before, &last));
  assert_true(str_starts(last, STR("d_ a/b/c")));
  assert_false(str_has(before, STR("_")));
  buf_release(&w.log);
  place_release(&p);
}

/* Removes what the walk has not reached yet. */
static bool visit_and_remove(void *ctx, const struct files_entry *e) {
  struct walked *w = ctx;
  if (str_is(e->name, "a")) {
    (void)unlinkat(e->dir_fd, "b", 0);
    (void)unlinkat(e->dir_fd, "c", AT_REMOVEDIR);
  }
  return visit(w, e);
}

static void vanishing(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  place_file(&p, "w/proj/a", "");
  place_file(&p, "w/proj/b", "");
  place_folder(&p, "w/proj/c");
  place_file(&p, "w/proj/d", "");
  assert_int_equal(files_walk(&p.files, STR(""), NULL, visit_and_remove, &w, &p.err), REIN_OK);
  assert_text(buf_str(&w.log), "f a\nd! c\nf d\n");
  buf_release(&w.log);
  place_release(&p);
}

/* Swaps a folder for a link that leads out, after its name was read. */
static bool visit_and_swap(void *ctx, const struct files_entry *e) {
  if (str_is(e->name, "a")) {
    assert_int_equal(renameat(e->dir_fd, "b", e->dir_fd, "z"), 0);
    assert_int_equal(symlinkat("../../outside", e->dir_fd, "b"), 0);
  }
  return visit(ctx, e);
}

static void swapped_folder(void **state) {
  (void)state;
  struct place p;
  struct walked w = {0};
  place_init(&p);
  buf_init(&w.log, 1u << 20);
  place_folder(&p, "outside");
  place_file(&p, "outside/secret", "CANARY");
  place_file(&p, "w/proj/a", "");
  place_folder(&p, "w/proj/b");
  assert_int_equal(files_walk(&p.files, STR(""), NULL, visit_and_swap, &w, &p.err), REIN_OK);
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
  walk(&p, "", &w);
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
  walk(&p, "", &w);
  assert_int_equal(w.visits, 700);
  struct str rest = buf_str(&w.log), line, last = STR_NONE;
  while (str_next(&rest, '\n', &line)) {
    assert_true(str_cmp(last, line) < 0);
    last = line;
  }
  buf_release(&w.log);
  place_release(&p);
}

static bool count(void *ctx, const struct files_entry *e) {
  (void)e;
  ++*(size_t *)ctx;
  return true;
}

static bool scenario(void *ctx) {
  struct place *p = ctx;
  struct err err = {0};
  size_t n = 0;
  enum rein_code code = files_walk(&p->files, STR(""), NULL, count, &n, &err);
  assert_true(code == REIN_OK ? n == 13 : code == REIN_MEMORY);
  return code == REIN_OK;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  build(&p);
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 5);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order),      cmocka_unit_test(skip_and_stop),
      cmocka_unit_test(refused),    cmocka_unit_test(deep),
      cmocka_unit_test(vanishing),  cmocka_unit_test(swapped_folder),
      cmocka_unit_test(unreadable), cmocka_unit_test(many),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
