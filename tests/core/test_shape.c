/* What the model is told: errors in one line of 200 code points, results cut in
 * the middle, never a broken character, never nothing.
 */
#include "base/utf8.h"
#include "core/shape.h"
#include "support/shared.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void check_error(struct str raw) {
  struct buf out, repaired;
  buf_init(&out, 1 << 20);
  buf_init(&repaired, 1 << 20);
  shape_error(&out, raw);
  struct str told = buf_str(&out);
  assert_int_equal(out.fail, REIN_OK);
  assert_true(utf8_valid(told));
  assert_true(utf8_count(told) <= ERROR_POINTS_MAX);
  assert_int_equal(str_find_char(told, '\n'), told.n);
  utf8_repair(&repaired, raw);
  struct str whole = told;
  bool cut = str_ends(told, STR(" \xE2\x80\xA6"));
  if (cut) whole.n -= 4;
  assert_true(str_has(buf_str(&repaired), whole));
  buf_release(&out);
  buf_release(&repaired);
}

static void borders(void **state) {
  (void)state;
  static const char *const units[] = {"a", "가", "e\xCC\x81", "👨‍👩‍👧",
                                      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
    for (int shift = 0; shift < 4; shift++) {
      struct buf raw;
      buf_init(&raw, 1 << 16);
      for (int i = 0; i < shift; i++)
        buf_c(&raw, 'x');
      for (int i = 0; i < 230; i++) {
        buf_put(&raw, str_of(units[u]));
        if (i > 20) check_error(buf_str(&raw));
      }
      buf_release(&raw);
    }
  }
}

static void exactly_two_hundred_is_whole(void **state) {
  (void)state;
  struct buf raw, out;
  buf_init(&raw, 4096);
  buf_init(&out, 4096);
  for (int i = 0; i < 200; i++)
    buf_put(&raw, STR("가"));
  shape_error(&out, buf_str(&raw));
  assert_true(str_eq(buf_str(&out), buf_str(&raw)));
  buf_put(&raw, STR("나"));
  buf_reset(&out);
  shape_error(&out, buf_str(&raw));
  assert_int_equal(utf8_count(buf_str(&out)), 200);
  assert_true(str_ends(buf_str(&out), STR("가 \xE2\x80\xA6")));
  buf_release(&raw);
  buf_release(&out);
}

static void first_line_that_says_something(void **state) {
  (void)state;
  struct buf out;
  buf_init(&out, 4096);
  shape_error(&out, STR("\r\n  \n\t the reason \r\n  at stack()\n"));
  assert_string_equal(buf_z(&out), "the reason");
  buf_release(&out);
}

static void handed_errors(void **state) {
  (void)state;
  char path[8192];
  const char *dir = shared_path("cases/T01-error-200-characters-korean/errs");
  DIR *d = opendir(dir);
  assert_non_null(d);
  size_t seen = 0;
  for (struct dirent *e; (e = readdir(d));) {
    static char text[1 << 20];
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    check_error((struct str){text, fread(text, 1, sizeof text, f)});
    fclose(f);
    seen++;
  }
  closedir(d);
  assert_true(seen >= 8);
}

static void long_results_keep_head_and_tail(void **state) {
  (void)state;
  struct buf raw, out;
  buf_init(&raw, 1 << 20);
  buf_init(&out, 1 << 20);
  buf_lit(&raw, "HEAD");
  for (int i = 0; i < 100000; i++)
    buf_put(&raw, STR("가"));
  buf_lit(&raw, "exit status 2");
  shape_result(&out, buf_str(&raw), REIN_ENGLISH);
  assert_true(str_starts(buf_str(&out), STR("HEAD가")));
  assert_true(str_ends(buf_str(&out), STR("exit status 2")));
  assert_true(str_has(buf_str(&out), STR("of 100017 characters are left out")));
  assert_true(utf8_valid(buf_str(&out)));
  assert_true(utf8_count(buf_str(&out)) < RESULT_POINTS_MAX + 200);
  buf_release(&raw);
  buf_release(&out);
}

static void never_nothing_never_broken(void **state) {
  (void)state;
  struct buf out;
  buf_init(&out, 4096);
  shape_result(&out, STR(" \n"), REIN_KOREAN);
  assert_string_equal(buf_z(&out), "(출력 없음)");
  buf_reset(&out);
  shape_result(&out,
               STR("a\xff\xed\xa0\xbd"
                   "b\0c"),
               REIN_ENGLISH);
  assert_true(utf8_valid(buf_str(&out)));
  assert_int_equal(buf_str(&out).n, 1 + 3 + 3 + 3);
  buf_release(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(borders),
      cmocka_unit_test(exactly_two_hundred_is_whole),
      cmocka_unit_test(first_line_that_says_something),
      cmocka_unit_test(handed_errors),
      cmocka_unit_test(long_results_keep_head_and_tail),
      cmocka_unit_test(never_nothing_never_broken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
