/* Slices: finding, cutting, numbers. */
#include "support/test.h"

static void compares(void **state) {
  (void)state;
  assert_true(str_cmp(STR("a"), STR("b")) < 0);
  assert_true(str_cmp(STR("a"), STR("aa")) < 0);
  assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
  assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
  assert_true(str_eq(STR_NONE, STR("")));
  assert_false(str_eq(STR("a\0b"), STR("a\0c")));
  assert_true(str_is(STR("key"), "key"));
  assert_true(str_is(STR_NONE, NULL));
  assert_true(str_eq_nocase(STR("Content-TYPE"), STR("content-type")));
  assert_false(str_eq_nocase(STR("a"), STR("ab")));
  assert_false(str_eq_nocase(STR("\xc3\x84"), STR("\xc3\xa4")));
}

static void finds(void **state) {
  (void)state;
  struct str s = STR("one, two, three");
  assert_true(str_starts(s, STR("one")) && str_starts(s, STR("")) && !str_starts(s, STR("two")));
  assert_true(str_ends(s, STR("three")) && str_ends(s, STR("")) && !str_ends(STR("e"), s));
  assert_int_equal(str_find_char(s, ','), 3);
  assert_int_equal(str_find_char(s, 'x'), s.n);
  assert_int_equal(str_find(s, STR("two")), 5);
  assert_int_equal(str_find(s, STR("four")), s.n);
  assert_int_equal(str_find(STR_NONE, STR("x")), 0);
  assert_true(str_has(s, STR("three")) && str_has(STR_NONE, STR("")));
  assert_false(str_has(STR_NONE, STR("x")));
}

static void cuts(void **state) {
  (void)state;
  struct str before = STR("kept"), after = STR("kept");
  assert_text(str_part(STR("abc"), 1, 1), "b");
  assert_text(str_part(STR("abc"), 1, SIZE_MAX), "bc");
  assert_text(str_part(STR("abc"), 9, 1), "");
  assert_text(str_part(STR_NONE, 1, 1), "");
  assert_text(str_trim(STR(" \t\r\n a b \n")), "a b");
  assert_text(str_trim(STR("  ")), "");
  assert_true(str_blank(STR(" \n")) && str_blank(STR_NONE) && !str_blank(STR(" x")));
  assert_false(str_split(STR("abc"), '=', &before, &after));
  assert_text(before, "kept");
  assert_true(str_split(STR("a=b=c"), '=', &before, &after));
  assert_text(before, "a");
  assert_text(after, "b=c");
  assert_true(str_split_last(STR("a=b=c"), '=', &before, &after));
  assert_text(before, "a=b");
  assert_text(after, "c");
  assert_true(str_split_last(STR("="), '=', &before, &after));
  assert_text(before, "");
  assert_text(after, "");
  assert_false(str_split_last(STR_NONE, '=', &before, &after));
}

static void takes_pieces(void **state) {
  (void)state;
  struct str rest = STR("a,,b"), piece;
  assert_true(str_next(&rest, ',', &piece));
  assert_text(piece, "a");
  assert_true(str_next(&rest, ',', &piece));
  assert_text(piece, "");
  assert_true(str_next(&rest, ',', &piece));
  assert_text(piece, "b");
  assert_false(str_next(&rest, ',', &piece));
}

static void numbers(void **state) {
  (void)state;
  const int64_t all[] = {0, 7, -7, 10, INT64_MAX, INT64_MIN, INT64_MIN + 1};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    struct num_text room;
    int64_t back = 1;
    assert_true(str_to_num(str_num(&room, all[i]), &back));
    assert_true(back == all[i]);
  }
  struct num_text room;
  assert_text(str_num(&room, INT64_MIN), "-9223372036854775808");
  const char *bad[] = {"",
                       "-",
                       "+1",
                       " 1",
                       "1 ",
                       "1x",
                       "--1",
                       "9223372036854775808",
                       "-9223372036854775809",
                       "99999999999999999999"};
  int64_t v = 5;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_false(str_to_num(str_of(bad[i]), &v));
  assert_true(v == 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compares),     cmocka_unit_test(finds),   cmocka_unit_test(cuts),
      cmocka_unit_test(takes_pieces), cmocka_unit_test(numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
