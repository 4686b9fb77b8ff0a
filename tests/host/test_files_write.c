/* Writing below reports/ and nowhere else, whole or not at all. */
#include "swap.h"

#include "support/oom.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

static enum rein_code put(struct place *p, struct str path, struct str text) {
  p->err = (struct err){0};
  buf_reset(&p->text);
  enum rein_code code = files_write_below(&p->files, "reports", path, text, &p->err);
  if (code != REIN_OK) err_put(&p->text, REIN_ENGLISH, &p->err);
  return code;
}

static void puts_file(struct place *p, const char *path, const char *text) {
  if (put(p, str_of(path), str_of(text)) != REIN_OK) fail_msg("%s: %s", path, buf_z(&p->text));
  place_reads(p, path, text);
}

static void refuses(struct place *p, struct str path, const char *part) {
  enum rein_code code = put(p, path, STR("EVIL"));
  if (code != REIN_INPUT || !str_has(buf_str(&p->text), str_of(part)))
    fail_msg("%.*s: %d, %s", (int)path.n, path.p, code, buf_z(&p->text));
}

static void writes(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  puts_file(&p, "reports/x.md", "one");
  puts_file(&p, "reports/x.md", "two, longer");
  puts_file(&p, "./reports//./a/b/c/보고서 🙂.md", "deep");
  puts_file(&p, "reports/empty", "");
  puts_file(&p, "reports/.gitignore", "fine");
  puts_file(&p, "reports/...", "fine");
  assert_int_equal(place_count(&p, "w/proj/reports"), 5);
  assert_int_equal(place_count(&p, "w/proj"), 1);
  place_release(&p);
}

static void long_text(void **state) {
  (void)state;
  struct place p;
  size_t n = (3u << 20) + 1;
  char *text = malloc(n + 1);
  memset(text, 'z', n);
  text[n] = '\0';
  place_init(&p);
  puts_file(&p, "reports/long", text);
  free(text);
  place_release(&p);
}

static void modes(void **state) {
  (void)state;
  struct place p;
  struct stat st;
  place_init(&p);
  mode_t mask = umask(027);
  puts_file(&p, "reports/new", "x");
  umask(mask);
  assert_int_equal(stat(place_path(&p, "w/proj/reports/new"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
  assert_int_equal(chmod(place_path(&p, "w/proj/reports/new"), 0604), 0);
  puts_file(&p, "reports/new", "y");
  assert_int_equal(stat(place_path(&p, "w/proj/reports/new"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0604);
  place_release(&p);
}

/* The other name of a file keeps its text: nothing is written in place. */
static void hard_link(void **state) {
  (void)state;
  struct place p;
  char other[2 * PATH_MAX];
  place_init(&p);
  place_folder(&p, "w/proj/reports");
  place_file(&p, "w/other", "old");
  PRINT(other, "%s", place_path(&p, "w/other"));
  assert_int_equal(link(other, place_path(&p, "w/proj/reports/x")), 0);
  puts_file(&p, "reports/x", "new");
  FILE *f = fopen(other, "r");
  char text[8] = "";
  assert_non_null(fgets(text, sizeof text, f));
  fclose(f);
  assert_string_equal(text, "old");
  place_release(&p);
}

static void elsewhere(void **state) {
  (void)state;
  struct place p;
  char absolute[2 * PATH_MAX];
  place_init(&p);
  place_folder(&p, "w/proj/reports-evil");
  place_folder(&p, "w/proj/reports");
  PRINT(absolute, "%s/reports/x.md", p.root);
  refuses(&p, STR("reports/../secret.txt"),
          "\"reports/../secret.txt\" cannot be written: files are written below reports/ only; "
          "write it as reports/secret.txt");
  refuses(&p, STR("x.md"), "write it as reports/x.md");
  refuses(&p, STR("docs/x.md"), "write it as reports/x.md");
  refuses(&p, STR("reports-evil/x.md"), "write it as reports/x.md");
  refuses(&p, STR("Reports/x.md"), "write it as reports/x.md");
  refuses(&p, STR("../proj/reports/x.md"), "below reports/ only");
  refuses(&p, STR("reports/sub/../x.md"), "below reports/ only");
  refuses(&p, STR("/etc/cron.d/x"), "write it as reports/x");
  refuses(&p, str_of(absolute), "write it as reports/x.md");
  refuses(&p, STR(".."), "write it as reports/report.md");
  refuses(&p, STR("/"), "write it as reports/report.md");
  refuses(&p, STR("."), "below reports/ only");
  refuses(&p, STR(""), "the path is empty");
  refuses(&p, STR("reports"), "\"reports\" names a folder: add the name of a file");
  refuses(&p, STR("reports/"), "names a folder");
  refuses(&p, STR("reports/."), "names a folder");
  refuses(&p, STR("reports/x/"), "names a folder");
  refuses(&p, STR("reports/x/."), "names a folder");
  refuses(&p, STR("reports/a\0b"), "holds a NUL byte");
  refuses(&p, STR("reports/.git/config"), "may be named .git");
  refuses(&p, STR("reports/.Rein/config.json"), "or .rein");
  refuses(&p, STR("reports/sub/.GIT/hooks/post-commit"), "may be named .git");
  refuses(&p, STR("reports/x\x1b[1m/../y"), "\"reports/x\\u{1b}[1m/../y\"");
  assert_int_equal(place_count(&p, "w/proj"), 2);
  assert_int_equal(place_count(&p, "w/proj/reports"), 0);
  assert_int_equal(place_count(&p, "w/proj/reports-evil"), 0);
  assert_int_equal(place_count(&p, "w"), 1);
  place_release(&p);
}

static void too_long(void **state) {
  (void)state;
  struct place p;
  struct buf path;
  place_init(&p);
  buf_init(&path, 16384);
  buf_lit(&path, "reports/");
  for (int i = 0; i < 256; i++)
    buf_c(&path, 'n');
  refuses(&p, buf_str(&path), "is too long");
  buf_cut(&path, path.n - 1);
  assert_int_equal(put(&p, buf_str(&path), STR("x")), REIN_OK);
  buf_reset(&path);
  buf_lit(&path, "reports/");
  for (int i = 0; i < 40; i++)
    buf_lit(&path, "a/");
  buf_lit(&path, "f");
  refuses(&p, buf_str(&path), "lies too deep: at most 32 names");
  for (int i = 0; i < 5000; i++)
    buf_lit(&path, "/a");
  refuses(&p, buf_str(&path), "is too long");
  assert_int_equal(place_count(&p, "w/proj/reports"), 1);
  buf_release(&path);
  place_release(&p);
}

/* In the file's place, too: the file it leads to is replaced, the link stays. */
static void link_to_a_file_inside(void **state) {
  struct stat st;
  struct place p;
  (void)state;
  place_init(&p);
  puts_file(&p, "reports/real/f.md", "one");
  assert_int_equal(chmod(place_path(&p, "w/proj/reports/real/f.md"), 0640), 0);
  place_link(&p, "real/f.md", "w/proj/reports/flink");
  place_link(&p, "flink", "w/proj/reports/chain");
  puts_file(&p, "reports/flink", "two");
  puts_file(&p, "reports/chain", "three");
  place_reads(&p, "reports/real/f.md", "three");
  assert_int_equal(lstat(place_path(&p, "w/proj/reports/flink"), &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(stat(place_path(&p, "w/proj/reports/real/f.md"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0640);
  place_folder(&p, "w/proj/reports/vendor");
  place_folder(&p, "w/proj/reports/vendor/.git");
  place_file(&p, "w/proj/reports/vendor/.git/config", "x");
  place_link(&p, "vendor/.git/config", "w/proj/reports/innocent");
  refuses(&p, STR("reports/innocent"), "may be named .git");
  place_file(&p, "w/proj/code.c", "x");
  place_link(&p, "../code.c", "w/proj/reports/code");
  place_link(&p, "real/none.md", "w/proj/reports/lost");
  place_link(&p, "real", "w/proj/reports/folder");
  refuses(&p, STR("reports/code"), "leaves reports/");
  refuses(&p, STR("reports/lost"), "leads to nothing");
  refuses(&p, STR("reports/folder"), "names a folder");
  assert_int_equal(place_count(&p, "w/proj/reports/real"), 1);
  place_release(&p);
}

/* A link that stays below is a way like any other. */
static void links_inside(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  puts_file(&p, "reports/real/deep/x.md", "one");
  place_link(&p, "real", "w/proj/reports/inlink");
  place_link(&p, "../../inlink", "w/proj/reports/real/deep/back");
  puts_file(&p, "reports/inlink/y.md", "two");
  puts_file(&p, "reports/inlink/new/z.md", "three");
  puts_file(&p, "reports/real/deep/back/w.md", "four");
  assert_int_equal(place_count(&p, "w/proj/reports/real"), 4);
  place_release(&p);
}

static void links(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "outside");
  place_file(&p, "outside/victim.txt", "safe");
  place_folder(&p, "w/proj/src");
  place_folder(&p, "w/proj/reports");
  place_folder(&p, "w/proj/reports/real");
  place_link(&p, "../../../outside/victim.txt", "w/proj/reports/link.md");
  place_link(&p, "../../../outside/new.txt", "w/proj/reports/dangling.md");
  place_link(&p, "../../../outside", "w/proj/reports/out");
  place_link(&p, "../src", "w/proj/reports/src");
  place_link(&p, "loop", "w/proj/reports/loop");
  refuses(&p, STR("reports/link.md"), "it is a link, or leads through one");
  refuses(&p, STR("reports/dangling.md"), "is a link");
  refuses(&p, STR("reports/out/x.md"), "is a link");
  refuses(&p, STR("reports/out/new/dir/x.md"), "is a link");
  refuses(&p, STR("reports/src/x.md"), "is a link");
  refuses(&p, STR("reports/loop/x.md"), "is a link");
  refuses(&p, STR("reports/loop"), "is a link");
  refuses(&p, STR("reports/real"), "names a folder");
  refuses(&p, STR("reports/out"), "is a link");
  place_link(&p, "nowhere", "w/proj/reports/hollow");
  refuses(&p, STR("reports/hollow/x.md"), "is a link");
  place_folder(&p, "w/proj/reports/real/.git");
  place_link(&p, "real/.git", "w/proj/reports/hooks");
  refuses(&p, STR("reports/hooks/x.md"), ".git");
  assert_int_equal(unlink(place_path(&p, "w/proj/reports/hooks")), 0);
  assert_int_equal(unlink(place_path(&p, "w/proj/reports/hollow")), 0);
  assert_int_equal(place_count(&p, "outside"), 1);
  assert_int_equal(place_count(&p, "w/proj/src"), 0);
  assert_int_equal(place_count(&p, "w/proj/reports"), 6);
  place_release(&p);

  place_init(&p);
  place_folder(&p, "outside");
  place_link(&p, "../../outside", "w/proj/reports");
  refuses(&p, STR("reports/x.md"), "reports itself is a link");
  assert_int_equal(place_count(&p, "outside"), 0);
  place_release(&p);
}

static void other_kinds(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/reports");
  place_file(&p, "w/proj/reports/file", "x");
  assert_int_equal(mkfifo(place_path(&p, "w/proj/reports/pipe"), 0600), 0);
  refuses(&p, STR("reports/pipe"), "is neither a file nor a folder");
  refuses(&p, STR("reports/file/x.md"), "goes through a file");
  place_release(&p);

  place_init(&p);
  place_file(&p, "w/proj/reports", "a file");
  refuses(&p, STR("reports/x.md"), "goes through a file");
  place_reads(&p, "reports", "a file");
  place_release(&p);
}

/* The disk refuses in the middle: the old text stays, no rest is left. */
static void full_disk(void **state) {
  (void)state;
  struct place p;
  struct rlimit old, small;
  char text[10000];
  memset(text, 'q', sizeof text);
  place_init(&p);
  puts_file(&p, "reports/x", "old");
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
  small = old;
  small.rlim_cur = 4096;
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  assert_int_equal(sigaction(SIGXFSZ, &ignore, &before), 0);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  enum rein_code code = put(&p, STR("reports/x"), (struct str){text, sizeof text});
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
  assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
  assert_int_equal(code, REIN_SYSTEM);
  assert_true(str_has(buf_str(&p.text), STR("what was there is unchanged: File too large")));
  place_reads(&p, "reports/x", "old");
  assert_int_equal(place_count(&p, "w/proj/reports"), 1);
  place_release(&p);
}

/* ---- races ------------------------------------------------------------------------ */

static void swapped_folder(void **state) {
  (void)state;
  struct place p;
  static struct swap s;
  place_init(&p);
  place_folder(&p, "outside");
  place_folder(&p, "w/proj/reports");
  place_folder(&p, "w/proj/reports/box");
  place_link(&p, "../../../outside", "w/proj/reports/box-link");
  swap_start(&p, &s, "w/proj/reports/box");
  int good = 0;
  for (int i = 0; i < 150 || ((good == 0 || atomic_load(&s.swaps) < 10) && i < 20000); i++)
    good += put(&p, STR("reports/box/x.md"), STR("text")) == REIN_OK;
  swap_stop(&s);
  print_message("%d written, %d swaps\n", good, atomic_load(&s.swaps));
  assert_true(good > 0);
  assert_int_equal(place_count(&p, "outside"), 0);
  place_release(&p);
}

struct writer {
  struct place *place;
  char text[2000];
  atomic_bool *stop;
};

static void *writer_main(void *ctx) {
  struct writer *w = ctx;
  for (int i = 0; i < 40; i++) {
    struct err err = {0};
    assert(files_write_below(&w->place->files, "reports", STR("reports/x"),
                             (struct str){w->text, sizeof w->text}, &err) == REIN_OK);
  }
  atomic_store(w->stop, true);
  return NULL;
}

/* A reader sees one writer's whole text, never a mix or a part. */
static void two_writers(void **state) {
  (void)state;
  struct place p;
  static struct writer w[2];
  pthread_t threads[2];
  atomic_bool stop = false;
  place_init(&p);
  for (int i = 0; i < 2; i++) {
    w[i] = (struct writer){.place = &p, .stop = &stop};
    memset(w[i].text, 'a' + i, sizeof w[i].text);
  }
  assert_int_equal(put(&p, STR("reports/x"), (struct str){w[0].text, sizeof w[0].text}), REIN_OK);
  for (int i = 0; i < 2; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, writer_main, &w[i]), 0);
  while (!atomic_load(&stop)) {
    assert_int_equal(place_get(&p, STR("reports/x"), FILES_READ), REIN_OK);
    assert_int_equal(p.text.n, sizeof w[0].text);
    assert_memory_equal(p.text.p, w[p.text.p[0] - 'a'].text, p.text.n);
  }
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(place_count(&p, "w/proj/reports"), 1);
  place_release(&p);
}

static void protected(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/reports");
  place_file(&p, "w/proj/reports/x", "old");
  assert_int_equal(chmod(place_path(&p, "w/proj/reports/x"), 0444), 0);
  assert_int_equal(chmod(place_path(&p, "w/proj/reports"), 0777), 0);
  bool was_root = user_be();
  refuses(&p, STR("reports/x"), "\"reports/x\" is write-protected: choose another name");
  assert_int_equal(put(&p, STR("reports/new"), STR("fine")), REIN_OK);
  user_end(was_root);
  assert_int_equal(chmod(place_path(&p, "w/proj/reports"), 0555), 0);
  was_root = user_be();
  assert_int_equal(put(&p, STR("reports/newer"), STR("not")), REIN_SYSTEM);
  assert_true(str_has(buf_str(&p.text), STR("could not be written, and what was there")));
  user_end(was_root);
  assert_int_equal(chmod(place_path(&p, "w/proj/reports"), 0755), 0);
  place_release(&p);
}

static bool scenario(void *ctx) {
  struct place *p = ctx;
  struct err err = {0};
  assert_int_equal(files_write_below(&p->files, "reports", STR("x.md"), STR("t"), &err),
                   REIN_INPUT);
  return files_write_below(&p->files, "reports", STR("reports/a/x.md"), STR("t"), &err) == REIN_OK;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 2);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes),
      cmocka_unit_test(long_text),
      cmocka_unit_test(modes),
      cmocka_unit_test(hard_link),
      cmocka_unit_test(elsewhere),
      cmocka_unit_test(too_long),
      cmocka_unit_test(link_to_a_file_inside),
      cmocka_unit_test(links_inside),
      cmocka_unit_test(links),
      cmocka_unit_test(other_kinds),
      cmocka_unit_test(full_disk),
      cmocka_unit_test(swapped_folder),
      cmocka_unit_test(two_writers),
      cmocka_unit_test(protected),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
