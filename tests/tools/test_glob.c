/* Globs: what they match, what they refuse, and that none of them is costly. */
#include "tools/glob.h"

#include "support/oom.h"
#include "text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

static bool match(const char *pattern, struct str path) {
  struct glob *glob = NULL;
  struct err err = {0};
  assert_int_equal(glob_new(str_of(pattern), &glob, &err), REIN_OK);
  bool yes = glob_match(glob, path);
  assert_true(yes == glob_match(glob, path)); /* scratch is left clean */
  glob_free(glob);
  return yes;
}

static const struct {
  const char *pattern, *path;
  bool yes;
} rows[] = {
    {"*.c", "a.c", true},
    {"*.c", "src/deep/a.c", true},
    {"*.c", "a.h", false},
    {"*.c", "a.cc", false},
    {"/*.c", "a.c", true},
    {"/*.c", "src/a.c", false},
    {"./*.c", "a.c", true},
    {"./*.c", "src/a.c", false},
    {"src/*.c", "src/a.c", true},
    {"src/*.c", "src/x/a.c", false},
    {"src/*.c", "a.c", false},
    {"src/**/*.c", "src/a.c", true},
    {"src/**/*.c", "src/x/y/a.c", true},
    {"src/**/*.c", "srcx/a.c", false},
    {"**/*.c", "a.c", true},
    {"**/*.c", "x/y/a.c", true},
    {"**/a.c", "xa.c", false},
    {"**/a.c", "x/ya.c", false},
    {"src/**", "src/x/y", true},
    {"src/**", "src", false},
    {"**", "x/y", true},
    {"a**b/c", "aXb/c", true},
    {"a**b/c", "a/X/b/c", true},
    {"*", "x/.hidden", true},
    {"?.c", "a.c", true},
    {"?.c", "\xea\xb0\x80.c", true},
    {"?.c", "\xf0\x9f\x99\x82.c", true},
    {"?.c", ".c", false},
    /* composed or taken apart (macOS), in the glob or in the name */
    {"\xea\xb0\x80*", "\xe1\x84\x80\xe1\x85\xa1.c", true},
    {"\xe1\x84\x80\xe1\x85\xa1*", "\xea\xb0\x80.c", true},
    {"?.c", "\xe1\x84\x80\xe1\x85\xa1.c", true},
    {"\xea\xb0\x80/*.c", "\xe1\x84\x80\xe1\x85\xa1/x.c", true},
    {"[\xea\xb0\x80-\xeb\x82\x98]/**", "\xe1\x84\x80\xe1\x85\xa1/x/y", true},
    {"\xea\xb0\x80/", "\xea\xb0\x80", false},
    {"x/?", "x/y", true},
    {"x?y/z", "x/y/z", false},
    {"[a-c].c", "b.c", true},
    {"[a-c].c", "d.c", false},
    {"[!a-c].c", "d.c", true},
    {"[^a-c].c", "b.c", false},
    {"[]].c", "].c", true},
    {"[a-].c", "-.c", true},
    {"[\\]x].c", "].c", true},
    {"[\xea\xb0\x80-\xed\x9e\xa3].c", "\xeb\x82\x98.c", true},
    {"x[/]y/z", "x/y/z", false},
    {"*.{c,h}", "a.h", true},
    {"*.{c,h}", "a.c", true},
    {"*.{c,h}", "a.o", false},
    {"*.{c,h}", "a.", false},
    {"{a,b{1,2}}/x", "b2/x", true},
    {"{a,b{1,2}}/x", "b3/x", false},
    {"{a,b{1,2}}/x", "a/x", true},
    {"{,un}do", "undo", true},
    {"{,un}do", "do", true},
    {"{a}", "a", true},
    {"{}a", "a", true},
    {"{src,lib}/**/*.c", "lib/a.c", true},
    {"{**/,}a.c", "x/a.c", true},
    {"a,b", "a,b", true},
    {"a}", "a}", true},
    {"\\*.c", "*.c", true},
    {"\\*.c", "a.c", false},
    {"\\{a\\}", "{a}", true},
    {"a\\", "a\\", true},
    {"***", "x/y", true},
    {"", "", true},
    {"", "a", false},
};

static void matches(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (match(rows[i].pattern, str_of(rows[i].path)) != rows[i].yes)
      fail_msg("%s on %s", rows[i].pattern, rows[i].path);
  assert_true(match("a?c", STR("a\xff"
                               "c")));
  assert_false(match("abc", STR("a\xff"
                                "c")));
  assert_true(match("\xff", STR("\xff")));
}

static void refused(const char *pattern, size_t n, enum text_id id) {
  struct glob *glob = NULL;
  struct err err = {0};
  assert_int_equal(glob_new((struct str){pattern, n}, &glob, &err), REIN_INPUT);
  assert_null(glob);
  assert_int_equal(err.text, id);
}

static void refuses(void **state) {
  (void)state;
  char wide[GLOB_MAX + 1];
  memset(wide, '{', sizeof wide);
  refused("[a", 2, T_TOOLS_GLOB_OPEN);
  refused("[]", 2, T_TOOLS_GLOB_OPEN);
  refused("[a\\", 3, T_TOOLS_GLOB_OPEN);
  refused("{a,b", 4, T_TOOLS_GLOB_OPEN);
  refused("../*", 4, T_TOOLS_GLOB_UP);
  refused("a/..", 4, T_TOOLS_GLOB_UP);
  refused(wide, sizeof wide, T_TOOLS_GLOB_LONG);
  refused(wide, GLOB_DEPTH_MAX + 1, T_TOOLS_GLOB_DEEP);
}

/* The worst that fits: time grows with the product of the lengths, no faster. */
static void is_bounded(void **state) {
  (void)state;
  char pattern[GLOB_MAX + 1], path[4096];
  static const char *const pieces[] = {"*a",     "**a",     "**/",    "{*,**}",
                                       "{a,aa}", "*{a,*}?", "{**/,*}"};
  memset(path, 'a', sizeof path);
  for (size_t i = 0; i < sizeof path; i += 7)
    path[i] = '/';
  clock_t began = clock();
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    size_t n = strlen(pieces[i]), at = 0;
    for (; at + n < GLOB_MAX - 1; at += n)
      memcpy(pattern + at, pieces[i], n);
    memcpy(pattern + at, "/b", 3);
    assert_false(match(pattern, (struct str){path, sizeof path}));
  }
  assert_true(clock() - began < 10 * CLOCKS_PER_SEC);
}

static bool scenario(void *ctx) {
  (void)ctx;
  struct glob *glob = NULL;
  struct err err = {0};
  if (glob_new(STR("src/**/*.{c,h}"), &glob, &err)) {
    assert_int_equal(err.code, REIN_MEMORY);
    return false;
  }
  bool yes = glob_match(glob, STR("src/a.h"));
  glob_free(glob);
  return yes;
}

static void no_memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches),
      cmocka_unit_test(refuses),
      cmocka_unit_test(is_bounded),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
