/* list_files: one folder, globs below it, and their bounds. */
#include "house.h"

#include "support/oom.h"

static void open_house(struct house *h) {
  house_build(h, "w/proj");
  house_open(h);
}

static void one_folder(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  assert_string_equal(house_json(&h, "list_files", "{}"), "the folder . is empty");
  house_file(&h, "b.txt", STR("x"));
  house_file(&h, "a/deep/x.c", STR("x"));
  house_file(&h, ".hidden", STR("x"));
  house_file(&h, "a/y\n z.c", STR("x"));
  house_file(&h, ".git/config", STR("x"));
  assert_string_equal(house_json(&h, "list_files", "{}"), ".git/\n.hidden\na/\nb.txt");
  assert_false(h.is_error);
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":null,\"glob\":null}"),
                      ".git/\n.hidden\na/\nb.txt");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\".\"}"), ".git/\n.hidden\na/\nb.txt");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"a/\"}"), "a/deep/\na/y\\u{a} z.c");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"a/../a/deep\"}"), "a/deep/x.c");
  assert_string_equal(house_say(&h, "list_files", "dir", h.root, NULL),
                      ".git/\n.hidden\na/\nb.txt");
  house_json(&h, "list_files", "{\"dir\":\"b.txt\"}");
  assert_true(h.is_error);
  house_json(&h, "list_files", "{\"dir\":\"absent\"}");
  assert_true(h.is_error);
  house_json(&h, "list_files", "{\"dir\":\"..\"}");
  assert_true(h.is_error);
  house_json(&h, "list_files", "{\"dir\":\"a\\u0000b\"}");
  assert_true(h.is_error);
  house_drop(&h);
}

static void globs(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.c", STR("x"));
  house_file(&h, "src/b.c", STR("x"));
  house_file(&h, "src/deep/c.c", STR("x"));
  house_file(&h, "src/deep/c.h", STR("x"));
  house_file(&h, "node_modules/d.c", STR("x"));
  house_file(&h, ".git/e.c", STR("x"));
  house_file(&h, "src/dist/f.c", STR("x"));
  assert_string_equal(house_json(&h, "list_files", "{\"glob\":\"*.c\"}"),
                      "a.c\nsrc/b.c\nsrc/deep/c.c");
  assert_string_equal(house_json(&h, "list_files", "{\"glob\":\"src/*\"}"), "src/b.c\nsrc/deep/");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"src\",\"glob\":\"/*.c\"}"),
                      "src/b.c");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"src/\",\"glob\":\"**/*.{c,h}\"}"),
                      "src/b.c\nsrc/deep/c.c\nsrc/deep/c.h");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"node_modules\",\"glob\":\"*\"}"),
                      "node_modules/d.c");
  house_json(&h, "list_files", "{\"glob\":\"*.py\"}");
  assert_false(h.is_error);
  assert_has(buf_z(&h.answer), "nothing below . matches the glob *.py (");
  house_json(&h, "list_files", "{\"glob\":\"{a\"}");
  assert_true(h.is_error);
  house_json(&h, "list_files", "{\"glob\":\"../*\"}");
  assert_true(h.is_error);
  house_drop(&h);
}

static void many(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  for (int i = 0; i < 1100; i++) {
    char name[64];
    snprintf(name, sizeof name, "m/%04d", i);
    house_file(&h, name, STR(""));
  }
  house_json(&h, "list_files", "{\"dir\":\"m\"}");
  assert_has(buf_z(&h.answer), "m/0999\n[1000 of 1100 entries shown: narrow it with dir or glob]");
  house_json(&h, "list_files", "{\"glob\":\"m/*\"}");
  assert_has(buf_z(&h.answer), "m/0999\n[1000 of 1100 entries shown");
  house_json(&h, "list_files", "{\"glob\":\"m/?1*\"}");
  assert_has_not(buf_z(&h.answer), "[");
  for (int i = 0; i < 300; i++) {
    char name[200];
    snprintf(name, sizeof name, "long/%0150d", i);
    house_file(&h, name, STR(""));
  }
  house_json(&h, "list_files", "{\"dir\":\"long\"}");
  assert_true(h.answer.n < 26000);
  assert_has(buf_z(&h.answer), "of 300 entries shown");
  house_drop(&h);
}

static void odd_names(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "\xff\xfe.txt", STR("x"));
  house_file(&h, "\x1b[2J", STR("x"));
  assert_string_equal(house_json(&h, "list_files", "{}"),
                      "\\u{1b}[2J\n\xef\xbf\xbd\xef\xbf\xbd.txt");
  house_json(&h, "list_files", "{\"glob\":\"*.txt\"}");
  assert_string_equal(buf_z(&h.answer), "\xef\xbf\xbd\xef\xbf\xbd.txt");
  house_drop(&h);
}

static void links(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "w/proj");
  if (!house_case(&h, "P02-symlinks-read-and-write")) {
    house_drop(&h);
    skip();
  }
  house_open(&h);
  assert_has(house_json(&h, "list_files", "{}"), "link.txt");
  house_json(&h, "list_files", "{\"dir\":\"out\"}");
  assert_true(h.is_error);
  assert_has_not(buf_z(&h.answer), "victim.txt");
  assert_has_not(house_json(&h, "list_files", "{\"glob\":\"**\"}"), "victim.txt");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"inlink\"}"), "real/f.txt");
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"inlink\",\"glob\":\"/f*\"}"),
                      "real/f.txt");
  house_drop(&h);
}

static bool scenario(void *ctx) {
  struct house *h = ctx;
  house_json(h, "list_files", "{\"glob\":\"*.c\"}");
  bool ok = !h->code && !h->is_error && !h->answer.fail;
  if (ok) assert_string_equal(buf_z(&h->answer), "a/a.c");
  house_json(h, "list_files", "{\"dir\":\"a\"}");
  bool one = !h->code && !h->is_error && !h->answer.fail;
  if (one) assert_string_equal(buf_z(&h->answer), "a/a.c");
  return ok && one;
}

static void no_memory(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  h.house.walk_threads = 1; /* allocations in the same order each time */
  house_file(&h, "a/a.c", STR("x"));
  buf_room(&h.answer, ANSWER_MAX);
  assert_true(oom_each(scenario, &h) > 0);
  house_drop(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_folder), cmocka_unit_test(globs), cmocka_unit_test(many),
      cmocka_unit_test(odd_names),  cmocka_unit_test(links), cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
