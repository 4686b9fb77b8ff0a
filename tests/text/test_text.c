/* The table of sentences, and errors that keep their values. */
#include "support/test.h"

#include "base/utf8.h"
#include "text/text.h"

static struct buf out;

static int setup(void **state) {
  (void)state;
  buf_init(&out, 1 << 16);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  buf_release(&out);
  return 0;
}

static const char *const names[T_COUNT] = {
#define TEXT(id, english, korean) [T_##id] = #id,
#include "text/json.def"
#include "text/regex.def"
#include "text/schema.def"
#include "text/policy.def"
#include "text/pack.def"
#include "text/core.def"
#include "text/wire.def"
#include "text/host.def"
#include "text/tools.def"
#include "text/store.def"
#include "text/driver.def"
#include "text/cli.def"
#undef TEXT
};

/* One bit for each of {0} to {9} that a sentence names. */
static unsigned places(const char *z) {
  unsigned set = 0;
  for (; *z; z++)
    if (z[0] == '{' && z[1] >= '0' && z[1] <= '9' && z[2] == '}') set |= 1u << (z[1] - '0');
  return set;
}

static void every_sentence_is_there_twice(void **state) {
  (void)state;
  assert_true(T_COUNT > 1);
  int bad = 0;
  for (int id = 1; id < T_COUNT; id++) {
    const char *english = text_raw((enum text_id)id, REIN_ENGLISH);
    const char *korean = text_raw((enum text_id)id, REIN_KOREAN);
    bool empty = !*english || !*korean;
    bool apart = places(english) != places(korean);
    bool bytes = !utf8_valid(str_of(english)) || !utf8_valid(str_of(korean));
    if (!empty && !apart && !bytes) continue;
    print_error("%s: %s\n", names[id],
                empty   ? "a language is empty"
                : apart ? "the languages name different values"
                        : "not UTF-8");
    bad++;
  }
  assert_int_equal(bad, 0);
}

static void no_sentence_no_text(void **state) {
  (void)state;
  assert_string_equal(text_raw(T_NONE, REIN_ENGLISH), "");
  assert_string_equal(text_raw(T_COUNT, REIN_KOREAN), "");
  struct err err = {0};
  buf_reset(&out);
  err_put(&out, REIN_ENGLISH, &err);
  assert_int_equal(out.n, 0);
}

static void values_take_their_places(void **state) {
  (void)state;
  buf_reset(&out);
  TEXT_PUT(&out, REIN_ENGLISH, T_JSON_TWIN, STR("3"), STR("7"), STR("{0}"), STR("1"));
  assert_text(buf_str(&out),
              "line 3, column 7: the key {0} stands twice, first at line 1: keep one.");
  buf_reset(&out);
  TEXT_PUT(&out, REIN_LANG_DEFAULT, T_JSON_ZERO, STR("3"));
  assert_text(buf_str(&out),
              "line 3, column {1}: a number does not start with 0: remove the zero.");
  buf_reset(&out);
  TEXT_PUT(&out, REIN_KOREAN, T_JSON_ZERO, STR("3"), STR("7"));
  assert_text(buf_str(&out), "3행 7열: 숫자는 0으로 시작할 수 없습니다. 앞의 0을 지워 주십시오.");
}

static void errors_keep_their_values(void **state) {
  (void)state;
  struct err err = {.at = 9, .line = 9};
  assert_int_equal(ERR(&err, REIN_INPUT, T_JSON_WORD, STR("1"), STR("2"), STR("NaN")), REIN_INPUT);
  assert_int_equal(ERR(NULL, REIN_PEER, T_JSON_WORD, STR("1")), REIN_PEER);
  assert_int_equal(err.code, REIN_INPUT);
  assert_int_equal(err.at, 0);
  assert_int_equal(err.line, 0);
  buf_reset(&out);
  err_put(&out, REIN_ENGLISH, &err);
  assert_text(buf_str(&out),
              "line 1, column 2: NaN is not a JSON value: write true, false, null, a "
              "number, or a text in double quotes.");
}

/* Each value in turn is longer than all the room there is. */
static void long_values_share_the_room(void **state) {
  (void)state;
  struct buf big = {.max = 10000};
  for (int i = 0; i < 1000; i++)
    buf_lit(&big, "한");
  struct str args[10];
  for (size_t n = 1; n <= 10; n++)
    for (size_t large = 0; large < 1u << n; large += n < 5 ? 1 : 37) {
      for (size_t i = 0; i < n; i++)
        args[i] = large >> i & 1 ? buf_str(&big) : STR("short");
      /* The sentence names four values; the rest only takes room. */
      size_t shown = n < 4 ? ((size_t)1 << n) - 1 : 15;
      struct err err = {0};
      assert_int_equal(err_fill(&err, REIN_BUG, T_JSON_TWIN, args, n), REIN_BUG);
      buf_reset(&out);
      err_put(&out, REIN_ENGLISH, &err);
      assert_true(utf8_valid(buf_str(&out)));
      assert_int_equal(str_has(buf_str(&out), STR("…")), (large & shown) != 0);
      assert_int_equal(str_has(buf_str(&out), STR("short")), (large & shown) != shown);
    }
  /* One long value gets nearly everything. */
  struct err err = {0};
  ERR(&err, REIN_BUG, T_JSON_WORD, STR("1"), STR("2"), buf_str(&big));
  buf_reset(&out);
  err_put(&out, REIN_ENGLISH, &err);
  assert_true(out.n > 600);
  buf_release(&big);
}

static void an_error_may_wrap_itself(void **state) {
  (void)state;
  struct err err = {0};
  ERR(&err, REIN_INPUT, T_JSON_WORD, STR("1"), STR("2"), STR("inner"));
  struct str part = {err.args, sizeof err.args};
  size_t at = str_find(part, STR("inner"));
  ERR(&err, REIN_INPUT, T_JSON_WORD, STR("longer than before"), STR("2"), str_part(part, at, 5));
  buf_reset(&out);
  err_put(&out, REIN_ENGLISH, &err);
  assert_true(str_has(buf_str(&out), STR(": inner is not")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_sentence_is_there_twice), cmocka_unit_test(no_sentence_no_text),
      cmocka_unit_test(values_take_their_places),      cmocka_unit_test(errors_keep_their_values),
      cmocka_unit_test(long_values_share_the_room),    cmocka_unit_test(an_error_may_wrap_itself),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
