/* Paths below a root: what is inside, what is not, and how it is said. */
#include "swap.h"

#include "json/json.h"
#include "support/oom.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

static void siblings(struct place *p) {
  place_folder(p, "w/proj/sub");
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {"w/proj-backup", "w/projEVIL", "w/proj.bak"};
    char file[64];
    place_folder(p, names[i]);
    PRINT(file, "%s/.env", names[i]);
    place_file(p, file, "CANARY");
  }
  place_file(p, "w/proj/a.txt", "ok");
  place_file(p, "w/proj/sub/b.txt", "ok");
}

/* "$ROOT" at the start becomes the root. */
static void one_sibling(struct place *p, struct str line) {
  struct str path, want;
  char room[2 * PATH_MAX];
  if (str_blank(line)) return;
  assert_true(str_split(line, '\t', &path, &want));
  if (str_starts(path, STR("$ROOT"))) {
    struct str rest = str_part(path, 5, path.n);
    int n = snprintf(room, sizeof room, "%s%.*s", p->root, (int)rest.n, rest.p);
    path = (struct str){room, (size_t)n};
  }
  enum rein_code code = place_get(p, path, FILES_READ);
  if (str_is(want, "in") ? code != REIN_OK || !str_is(buf_str(&p->text), "ok") : code != REIN_INPUT)
    fail_msg("%.*s: %s", (int)path.n, path.p, buf_z(&p->text));
  assert_false(str_has(buf_str(&p->text), STR("CANARY")));
}

static void handed_siblings(void **state) {
  (void)state;
  struct place p;
  char *text = shared_case("P01-sibling-prefix/paths.tsv");
  if (!text) skip();
  place_init(&p);
  siblings(&p);
  struct str rest = str_of(text), line;
  while (str_next(&rest, '\n', &line))
    one_sibling(&p, line);
  free(text);
  place_release(&p);
}

static void own_siblings(void **state) {
  (void)state;
  static const char *const lines[] = {
      "../../w/proj/a.txt\tin",
      "../../w/proj\tout" /* a folder */,
      "sub/../../proj/a.txt\tin",
      "./.././proj/./a.txt\tin",
      "../proj/../proj/a.txt\tin",
      "../proj/sub/../../proj/a.txt\tin",
      "$ROOT//a.txt\tin",
      "$ROOT/./a.txt\tin",
      "$ROOT/../proj/a.txt\tin",
      "$ROOT/../../w/proj/a.txt\tin",
      "../proj//../proj/sub/b.txt\tin",
      "../projEVIL/../proj/a.txt\tout",
      "../../../../../../../../../../etc/hostname\tout",
      "../x/../proj/a.txt\tout",
      "$ROOT/../proj-backup/.env\tout",
      "$ROOT-backup/.env\tout",
      "$ROOT-backup/../proj/a.txt\tout",
      "../proj/../proj-backup/.env\tout",
      "../pro/a.txt\tout",
      "../../w/projEVIL/.env\tout",
      "sub/b.txt/../../a.txt\tout",
  };
  struct place p;
  place_init(&p);
  siblings(&p);
  place_file(&p, "w/proj/.env", "ok"); /* what a sibling's must not turn into */
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    one_sibling(&p, str_of(lines[i]));
  place_release(&p);
}

/* ---- links ------------------------------------------------------------------------ */

static void links_build(struct place *p) {
  place_folder(p, "outside");
  place_folder(p, "w/proj/real");
  place_folder(p, "w/proj/real/in");
  place_folder(p, "w/proj/deep");
  place_file(p, "outside/victim.txt", "CANARY");
  place_file(p, "w/proj/real/f.txt", "in");
  place_file(p, "w/proj/real/up.txt", "up");
  place_link(p, "../../outside", "w/proj/out");
  place_link(p, "../../outside/victim.txt", "w/proj/link.txt");
  place_link(p, "../../outside/new.txt", "w/proj/dangling.txt");
  place_link(p, "nowhere", "w/proj/lost.txt");
  place_link(p, "real", "w/proj/inlink");
  place_link(p, "real/in", "w/proj/deeper");
  place_link(p, "loop2", "w/proj/loop1");
  place_link(p, "loop1", "w/proj/loop2");
  place_link(p, "/etc/hostname", "w/proj/abs.txt");
  place_link(p, "../../../outside", "w/proj/deep/d");
  place_link(p, "/proc/self/root/etc/hostname", "w/proj/magic");
  place_link(p, "proj", "w/rootlink");
}

static void links(void **state) {
  (void)state;
  static const char *const out[] = {"link.txt",
                                    "abs.txt",
                                    "out/victim.txt",
                                    "dangling.txt",
                                    "out",
                                    "deep/d/victim.txt",
                                    "magic",
                                    "inlink/../out/victim.txt",
                                    "deep/d/../outside/victim.txt"};
  struct place p;
  place_init(&p);
  links_build(&p);
  for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
    place_refuses(&p, str_of(out[i]),
                  "is outside the project root, or a link on its way leads out");
    assert_int_equal(place_get(&p, str_of(out[i]), FILES_DIR), REIN_INPUT);
  }
  place_refuses(&p, STR("loop1"), "links that go in a circle");
  place_refuses(&p, STR("lost.txt"), "is a link to something that is not there");
  place_reads(&p, "inlink/f.txt", "in");
  /* ".." after a link is the parent of where the link leads. */
  place_reads(&p, "deeper/../up.txt", "up");
  place_refuses(&p, STR("deeper/../real/f.txt"), "is not there");
  /* The same where the path also leaves and comes back. */
  place_reads(&p, "deeper/../../../proj/real/f.txt", "in");
  place_refuses(&p, STR("deeper/../../proj/real/f.txt"), "is not there");
  place_release(&p);
}

static void linked_root(void **state) {
  (void)state;
  struct place p;
  char path[2 * PATH_MAX];
  place_init(&p);
  links_build(&p);
  files_close_root(&p.files);
  place_open(&p, place_path(&p, "w/rootlink"));
  place_reads(&p, "real/f.txt", "in");
  /* Absolute, by the name it was given and by the real one. */
  PRINT(path, "%s/real/f.txt", p.root);
  place_reads(&p, path, "in");
  PRINT(path, "%s/real/f.txt", p.files.root);
  place_reads(&p, path, "in");
  place_refuses(&p, STR("out/victim.txt"), "outside");
  PRINT(path, "%s/real/f.txt", place_path(&p, "w/rootlin"));
  place_refuses(&p, str_of(path), "outside");
  place_release(&p);
}

static void other_roots(void **state) {
  (void)state;
  struct place p;
  char here[PATH_MAX], slash[PATH_MAX], path[2 * PATH_MAX];
  place_init(&p);
  place_file(&p, "w/proj/a.txt", "ok");
  PRINT(here, "%s/a.txt", p.root);
  PRINT(slash, "%s/", p.root);
  files_close_root(&p.files);
  place_open(&p, slash);
  place_reads(&p, "a.txt", "ok");
  place_reads(&p, "../proj/a.txt", "ok");
  PRINT(path, "%sa.txt", p.root);
  place_reads(&p, path, "ok");
  files_close_root(&p.files);
  place_open(&p, "/");
  place_reads(&p, here, "ok");
  place_reads(&p, here + 1, "ok");
  PRINT(path, "../..%s", here);
  place_reads(&p, path, "ok"); /* above "/" is "/" */
  assert_int_equal(place_get(&p, STR("/"), FILES_DIR), REIN_OK);
  files_close_root(&p.files);
  char cwd[PATH_MAX];
  assert_non_null(getcwd(cwd, sizeof cwd));
  assert_int_equal(chdir(place_path(&p, "w")), 0);
  place_open(&p, "proj");
  assert_int_equal(chdir(cwd), 0);
  place_reads(&p, "a.txt", "ok");
  place_reads(&p, here, "ok");
  place_release(&p);
}

static void bad_roots(void **state) {
  (void)state;
  static const char *const names[] = {"", "w/none", "w/proj/a.txt", "w/proj/p"};
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/a.txt", "ok");
  assert_int_equal(mkfifo(place_path(&p, "w/proj/p"), 0600), 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct files none = {.fd = -1};
    struct err err = {0};
    const char *path = names[i][0] ? place_path(&p, names[i]) : "";
    assert_int_equal(files_open_root(path, &none, &err), REIN_INPUT);
    buf_reset(&p.text);
    err_put(&p.text, REIN_ENGLISH, &err);
    assert_true(str_has(buf_str(&p.text), names[i][0] ? str_of(path) : STR("the path is empty")));
  }
  place_release(&p);
}

/* ---- spellings and kinds ------------------------------------------------------------------ */

static void one_spelling(struct place *p, struct str path, struct str want) {
  enum rein_code code = place_get(p, path, FILES_READ);
  bool ok = str_starts(want, STR("ok")) ? code == REIN_OK : code == REIN_INPUT;
  if (!ok) fail_msg("%.*s: %d %s", (int)path.n, path.p, code, buf_z(&p->text));
  struct str text = buf_str(&p->text);
  for (size_t i = 0; i < text.n; i++)
    assert_true((unsigned char)text.p[i] >= 0x20);
  assert_false(str_has(text, STR("\u202e")));
  size_t points = 0;
  for (size_t i = 0; i < text.n; i++)
    points += (text.p[i] & 0xc0) != 0x80;
  if (code != REIN_OK && points > 250) fail_msg("%zu code points: %s", points, buf_z(&p->text));
  if (str_is(want, "refused")) assert_true(str_has(text, STR("outside the project root")));
}

static void handed_spellings(void **state) {
  (void)state;
  struct place p;
  struct arena arena;
  struct json *doc = NULL;
  char *text = shared_case("P03-path-battery/paths.json");
  if (!text) skip();
  place_init(&p);
  place_folder(&p, "w/proj/sub");
  place_file(&p, "w/proj/sub/f", "ok");
  arena_init(&arena, 16u << 20);
  assert_int_equal(json_parse(&arena, str_of(text), JSON_STRICT, &doc, &p.err), REIN_OK);
  size_t n = 0;
  for (const struct json *c = doc->first; c; c = c->next, n++)
    one_spelling(&p, json_get(c, "p")->text, json_get(c, "want")->text);
  assert_true(n > 15);
  assert_int_equal(place_count(&p, "w"), 1);
  assert_int_equal(place_count(&p, "w/proj"), 1);
  arena_release(&arena);
  free(text);
  place_release(&p);
}

static void literal_names(void **state) {
  (void)state;
  static const char *const names[] = {
      "~",   "$HOME",          "%2e%2e",        "..\\secret", "새\n줄.txt", "-rf",      "파일.txt ",
      "CON", "\x1b]0;x\a.txt", "\u202etxt.exe", "...",        "a b",        "\xff\xfe", "*"};
  struct place p;
  char file[64];
  place_init(&p);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    PRINT(file, "w/proj/%s", names[i]);
    place_file(&p, file, names[i]);
    place_reads(&p, names[i], names[i]);
  }
  place_folder(&p, "w/proj/file:");
  place_folder(&p, "w/proj/file:/etc");
  place_file(&p, "w/proj/file:/etc/passwd", "mine");
  place_reads(&p, "file:///etc/passwd", "mine");
  place_release(&p);
}

static void sentences(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/docs");
  place_file(&p, "w/proj/README.md", "x");
  place_file(&p, "w/proj/docs/Guide.md", "x");
  place_refuses(&p, STR(""), "the path is empty: give one relative to the project root");
  place_refuses(&p, STR("a\0b"), "\"a\\u{0}b\" holds a NUL byte");
  place_refuses(&p, STR("."), "\".\" is a folder");
  place_refuses(&p, STR("docs/"), "\"docs/\" is a folder");
  place_refuses(&p, STR("none.md"),
                "\"none.md\" is not there: paths are relative to the project root");
  place_refuses(&p, STR("readme.MD"), "that folder holds \"README.md\"");
  place_refuses(&p, STR("docs/guide.md"), "that folder holds \"Guide.md\"");
  place_refuses(&p, STR("none/x.md"), "is not there");
  place_refuses(&p, STR("README.md/x"), "goes through a file");
  place_refuses(&p, STR("README.md/"), "goes through a file");
  place_refuses(&p, STR("../x"), "\"../x\" is outside the project root");
  place_refuses(&p, STR("/etc/passwd"), "\"/etc/passwd\" is outside the project root");
  place_refuses(&p, STR("~/.ssh/\x1b[31mid"), "\"~/.ssh/\\u{1b}[31mid\" is not there");
  assert_int_equal(place_get(&p, STR("README.md"), FILES_DIR), REIN_INPUT);
  assert_true(str_has(buf_str(&p.text), STR("\"README.md\" is a file: name a folder")));
  assert_int_equal(place_get(&p, STR("docs"), FILES_DIR), REIN_OK);
  place_release(&p);
}

/* None of them is opened: a pipe's writer would notice, a device might act. */
static void other_kinds(void **state) {
  (void)state;
  struct place p;
  struct sockaddr_un at = {.sun_family = AF_UNIX};
  char cwd[PATH_MAX];
  place_init(&p);
  assert_int_equal(mkfifo(place_path(&p, "w/proj/pipe"), 0600), 0);
  assert_non_null(getcwd(cwd, sizeof cwd));
  assert_int_equal(chdir(place_path(&p, "w/proj")), 0); /* a socket's name is short */
  memcpy(at.sun_path, "sock", 5);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
  assert_int_equal(chdir(cwd), 0);
  place_refuses(&p, STR("pipe"), "\"pipe\" is a pipe: only regular files");
  place_refuses(&p, STR("sock"), "\"sock\" is a socket");
  files_close_root(&p.files);
  place_open(&p, "/dev");
  place_refuses(&p, STR("null"), "\"null\" is a device");
  close(fd);
  place_release(&p);
}

static void no_right(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/a.txt", "ok");
  assert_int_equal(chmod(place_path(&p, "w/proj/a.txt"), 0), 0);
  bool was_root = user_be();
  place_refuses(&p, STR("a.txt"), "\"a.txt\" may not be opened");
  user_end(was_root);
  place_release(&p);
}

static void paths_of(void **state) {
  (void)state;
  static const char *const cases[][2] = {{".", "."},
                                         {"inlink/f.txt", "real/f.txt"},
                                         {"./real//in/../f.txt", "real/f.txt"},
                                         {"../proj/real", "real"}};
  struct place p;
  place_init(&p);
  links_build(&p);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int fd = -1;
    enum files_need need = str_ends(str_of(cases[i][0]), STR("txt")) ? FILES_READ : FILES_DIR;
    assert_int_equal(files_open(&p.files, str_of(cases[i][0]), need, &fd, NULL, &p.err), REIN_OK);
    buf_reset(&p.text);
    assert_int_equal(files_path_of(&p.files, fd, &p.text), REIN_OK);
    assert_string_equal(buf_z(&p.text), cases[i][1]);
    close(fd);
  }
  int fd = open(place_path(&p, "outside/victim.txt"), O_RDONLY);
  assert_int_equal(files_path_of(&p.files, fd, &p.text), REIN_INPUT);
  close(fd);
  fd = open(place_path(&p, "w/proj/real/f.txt"), O_RDONLY);
  assert_int_equal(unlink(place_path(&p, "w/proj/real/f.txt")), 0);
  assert_int_equal(files_path_of(&p.files, fd, &p.text), REIN_INPUT);
  close(fd);
  place_release(&p);
}

/* ---- a folder that is swapped for a link meanwhile --------------------------------------- */

#define RACES 4000

static void swapped_folder(void **state) {
  (void)state;
  struct place p;
  static struct swap s;
  int inside = 0, refused = 0;
  place_init(&p);
  place_folder(&p, "outside");
  place_file(&p, "outside/f.txt", "CANARY");
  place_folder(&p, "w/proj/box");
  place_file(&p, "w/proj/box/f.txt", "ok");
  place_link(&p, "../../outside", "w/proj/box-link");
  swap_start(&p, &s, "w/proj/box");
  for (int i = 0; i < RACES || ((inside == 0 || atomic_load(&s.swaps) < 10) && i < 100 * RACES);
       i++) {
    if (place_get(&p, STR("box/f.txt"), FILES_READ) == REIN_OK) {
      assert_text(buf_str(&p.text), "ok");
      inside++;
    } else {
      refused++;
    }
  }
  swap_stop(&s);
  assert_true(inside > 0);
  print_message("%d read, %d refused, %d swaps\n", inside, refused, atomic_load(&s.swaps));
  place_release(&p);
}

static bool scenario(void *ctx) {
  struct place *p = ctx;
  struct files files;
  struct err err = {0};
  int fd = -1;
  struct buf path;
  if (files_open_root(p->root, &files, &err) != REIN_OK) return false;
  buf_init(&path, 4096);
  bool ok = files_open(&files, STR("../proj/a.txt"), FILES_READ, &fd, NULL, &err) == REIN_OK &&
            files_path_of(&files, fd, &path) == REIN_OK;
  if (fd >= 0) close(fd);
  /* An error without its sentence is still the error. */
  assert_int_equal(files_open(&files, STR("none"), FILES_READ, &fd, NULL, &err), REIN_INPUT);
  buf_release(&path);
  files_close_root(&files);
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/a.txt", "ok");
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 3);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handed_siblings),
      cmocka_unit_test(own_siblings),
      cmocka_unit_test(links),
      cmocka_unit_test(linked_root),
      cmocka_unit_test(other_roots),
      cmocka_unit_test(bad_roots),
      cmocka_unit_test(handed_spellings),
      cmocka_unit_test(literal_names),
      cmocka_unit_test(sentences),
      cmocka_unit_test(other_kinds),
      cmocka_unit_test(no_right),
      cmocka_unit_test(paths_of),
      cmocka_unit_test(swapped_folder),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
