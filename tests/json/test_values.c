/* Numbers exactly, one spelling for equal texts, and mending of source text. */
#include "support/test.h"

#include "json/json.h"

#include <math.h>

static struct arena arena;
static struct buf out;

static int setup(void **state) {
  (void)state;
  arena_init(&arena, 64u << 20);
  buf_init(&out, 1 << 20);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  arena_release(&arena);
  buf_release(&out);
  return 0;
}

static const struct json *read(const char *z) {
  struct json *doc = NULL;
  assert_int_equal(json_parse(&arena, str_of(z), JSON_STRICT, &doc, NULL), REIN_OK);
  return doc;
}

static void integers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } good[] = {
      {"0", 0},
      {"-0", 0},
      {"0.000e99", 0},
      {"0e9999999999999999999999", 0},
      {"1", 1},
      {"1.0", 1},
      {"1e2", 100},
      {"1E+2", 100},
      {"-12.50e1", -125},
      {"100e-2", 1},
      {"0.001e3", 1},
      {"1200e-0000000000000000000000000002", 12},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
      {"9223372036854775807.0", INT64_MAX},
      {"-9.223372036854775808e18", INT64_MIN},
      {"1e18", 1000000000000000000},
      {"92233720368547758070e-1", INT64_MAX},
      {"2512292042121000001", 2512292042121000001},
  };
  static const char *const bad[] = {"0.5",
                                    "1e-1",
                                    "1e19",
                                    "1e400",
                                    "1e99999999999999999999",
                                    "1e-99999999999999999999",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "9223372036854775807.1",
                                    "true",
                                    "\"1\"",
                                    "10000000000000000000000000000000000000000"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    int64_t v = 77;
    assert_true(json_int(read(good[i].text), &v));
    assert_true(v == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int64_t v = 77;
    if (json_int(read(bad[i]), &v)) print_error("%s\n", bad[i]);
    assert_true(v == 77);
  }
  int64_t v;
  assert_false(json_int(NULL, &v));
}

static void doubles(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } good[] = {
      {"0", 0},
      {"0.1", 0.1},
      {"-12.5e-1", -1.25},
      {"123456789.125", 123456789.125},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"5e-324", 5e-324},
      {"1e-999", 0},
      {"0.0000001e7", 1},
      {"1e-99999999999999999999999", 0},
      {"9007199254740993", 9007199254740992},
      {"9007199254740993.0000000000000000000000000000000001", 9007199254740994},
  };
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    double v = 77;
    assert_true(json_double(read(good[i].text), &v));
    assert_memory_equal(&v, &good[i].value, sizeof v);
  }
  double v = 77;
  assert_true(json_double(read("-0"), &v) && v == 0 && signbit(v));
  v = 77;
  assert_false(json_double(read("1e400"), &v) || json_double(read("-1e99999999999999999999"), &v) ||
               json_double(read("true"), &v) || json_double(NULL, &v));
  assert_true(v == 77);
}

/* A halfway point and what lies a thousand digits behind it. */
static void long_numbers_round_once(void **state) {
  (void)state;
  buf_reset(&out);
  buf_lit(&out, "9007199254740993.");
  for (int i = 0; i < 1500; i++)
    buf_c(&out, '0');
  double v = 0;
  assert_true(json_double(read(buf_z(&out)), &v) && v == 9007199254740992.0);
  buf_c(&out, '1');
  assert_true(json_double(read(buf_z(&out)), &v) && v == 9007199254740994.0);
  buf_reset(&out);
  for (int i = 0; i < 2000; i++)
    buf_c(&out, '9');
  buf_lit(&out, "e-1999");
  assert_true(json_double(read(buf_z(&out)), &v) && v == 10.0);
}

static struct str canon(const char *text, bool trim) {
  buf_reset(&out);
  json_canon(&out, read(text), trim);
  assert_int_equal(out.fail, REIN_OK);
  return buf_str(&out);
}

static void one_spelling(void **state) {
  (void)state;
  assert_text(canon("1.0", false), "1");
  assert_text(canon("10e-1", false), "1");
  assert_text(canon("-0.0e5", false), "0");
  assert_text(canon("100", false), "1e2");
  assert_text(canon("1E+2", false), "1e2");
  assert_text(canon("-0.00150", false), "-15e-4");
  assert_text(canon("12300.0045600", false), "1230000456e-5");
  assert_text(canon("10.0", false), "1e1");
  assert_text(canon("9007199254740993", false), "9007199254740993");
  assert_text(canon("1e99999999999999999999", false), "1e99999999999999999999");
  assert_text(canon(" [ true , false,null ] ", false), "[true,false,null]");
  assert_text(canon("{\"b\":1,\"a\":2,\"B\":3,\"\":4}", false), "{\"\":4,\"B\":3,\"a\":2,\"b\":1}");
  assert_text(canon("{\"b\":1,\"a\":2,\"b\":0,\"a\":1}", false),
              "{\"a\":2,\"a\":1,\"b\":1,\"b\":0}");
  assert_text(canon("\"\\u0041\\/\\u000a\\u001f\\u00e9\"", false), "\"A/\\n\\u001f\xC3\xA9\"");
  assert_text(canon("[\"  a b\\n\",{\" k \":\" \"}]", true), "[\"a b\",{\" k \":\"\"}]");
  assert_text(canon("[\"  a b\\n\"]", false), "[\"  a b\\n\"]");
  buf_reset(&out);
  json_canon(&out, NULL, false);
  assert_int_equal(out.n, 0);
}

static void mends(void **state) {
  (void)state;
  static const struct {
    struct str from, to;
  } rows[] = {
      {STR(""), STR("")},
      {STR("{\"a\": 1.0 }"), STR("{\"a\": 1.0 }")},
      {STR("\\ud83d\\ude00"), STR("\\ud83d\\ude00")},
      {STR("\"\\uD83D\""), STR("\"\\ufffd\"")},
      {STR("\"\\ude00\""), STR("\"\\ufffd\"")},
      {STR("\\udbff\\udfff\\ud800\\udc00"), STR("\\udbff\\udfff\\ud800\\udc00")},
      {STR("\\udbff\\ue000\\udfff"), STR("\\ufffd\\ue000\\ufffd")},
      {STR("\\ud83d\\ud83d\\ude00"), STR("\\ufffd\\ud83d\\ude00")},
      {STR("\\ude00\\ud83d"), STR("\\ufffd\\ufffd")},
      {STR("\\\\ud83d"), STR("\\\\ud83d")}, /* an escaped backslash, and letters */
      {STR("\\\\\\ud83d"), STR("\\\\\\ufffd")},
      {STR("\\ud83d\\\\ude00"), STR("\\ufffd\\\\ude00")},
      {STR("\\ud83d \\ude00"), STR("\\ufffd \\ufffd")},
      {STR("\\u0041\\uFFFF\\ud7ff\\ue000"), STR("\\u0041\\uFFFF\\ud7ff\\ue000")},
      {STR("\\ud83"), STR("\\ud83")}, /* cut */
      {STR("\\ud83d\\ude0"), STR("\\ufffd\\ude0")},
      {STR("\\ud83d\\"), STR("\\ufffd\\")},
      {STR("\\"), STR("\\")},
      {STR("a\xFFz\\n"), STR("a\xEF\xBF\xBDz\\n")},
      {STR("\\\xFFud83d"), STR("\\\xEF\xBF\xBDud83d")},
      {STR("\\한\\ud83d"), STR("\\한\\ufffd")},
      {STR("\xED\xA0\xBD\xED\xB8\x80"), STR("😀")},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    buf_reset(&out);
    char *room;
    json_mend(&out, exact_copy(rows[i].from, &room));
    assert_str(buf_str(&out), rows[i].to);
    mem_free(room);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers),
      cmocka_unit_test(doubles),
      cmocka_unit_test(long_numbers_round_once),
      cmocka_unit_test(one_spelling),
      cmocka_unit_test(mends),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
