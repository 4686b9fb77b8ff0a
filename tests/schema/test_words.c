/* What a failing check says: the place, the branch that came closest, the words
 * that are left out, and one line that a terminal can bear.
 */
#include "schema/schema.h"

#include "base/utf8.h"
#include "support/test.h"

struct row {
  const char *schema, *value, *line;
};

static void say(const struct row *row, enum rein_lang lang, struct buf *line) {
  struct arena arena;
  struct json *schema_doc, *value;
  struct schema *schema;
  struct err err;
  struct schema_options options = {.lang = lang};
  arena_init(&arena, 64u << 20);
  assert_int_equal(json_parse(&arena, str_of(row->schema), JSON_STRICT, &schema_doc, &err), 0);
  assert_int_equal(json_parse(&arena, str_of(row->value), JSON_STRICT, &value, &err), 0);
  assert_int_equal(schema_new(schema_doc, &options, &schema, &err), 0);
  assert_int_equal(schema_check(schema, value, NULL), REIN_INPUT); /* nobody asks why */
  assert_int_equal(schema_check(schema, value, &err), REIN_INPUT);
  buf_reset(line);
  schema_line(line, lang, &err);
  schema_free(schema);
  arena_release(&arena);
}

static void all(const struct row *rows, size_t n) {
  struct buf line;
  buf_init(&line, 1u << 16);
  for (size_t i = 0; i < n; i++) {
    say(&rows[i], REIN_ENGLISH, &line);
    assert_string_equal(buf_z(&line), rows[i].line);
    say(&rows[i], REIN_KOREAN, &line);
    assert_true(utf8_valid(buf_str(&line)));
    assert_true(utf8_count(buf_str(&line)) <= SCHEMA_LINE_POINTS);
  }
  buf_release(&line);
}

#define KIND(k) "\"kind\":{\"const\":\"" k "\"}"

static void branches(void **state) {
  (void)state;
  static const struct row rows[] = {
      /* the right alternative, however much is wrong in it */
      {"{\"anyOf\":[{\"required\":[\"kind\"],\"properties\":{" KIND(
           "a") ",\"x\":{\"type\":\"null\"},"
                "\"y\":{\"type\":\"null\"},\"z\":{\"type\":\"null\"}}},{\"required\":[\"kind\"],"
                "\"properties\":{" KIND("b") "}}]}",
       "{\"kind\":\"a\",\"x\":1,\"y\":2,\"z\":3}", "/x: expected null, got number 1"},
      /* an allOf inside of a branch */
      {"{\"anyOf\":[{\"allOf\":[{\"properties\":{" KIND(
           "a") "}},{\"required\":[\"n\"]}]},"
                "{\"allOf\":[{\"properties\":{" KIND("b") "}},{\"required\":[\"m\"]}]}]}",
       "{\"kind\":\"b\"}", "the arguments: the member \"m\" is required and missing"},
      {"{\"oneOf\":[{\"type\":\"null\"},{\"allOf\":[{\"required\":[\"a\"]},{\"properties\":{\"a\":"
       "{\"minimum\":3}}}]}]}",
       "{\"a\":1}", "/a: expected a number of at least 3, got 1"},
      /* none has the value that tells them apart */
      {"{\"anyOf\":[{\"properties\":{" KIND("a") "}},{\"properties\":{" KIND(
           "b") "}},{\"$ref\":"
                "\"#/$defs/c\"}],\"$defs\":{\"c\":{\"properties\":{" KIND("c") "}}}}",
       "{\"kind\":\"q\"}", "/kind: expected one of \"a\", \"b\", \"c\", got \"q\""},
      {"{\"anyOf\":[{\"const\":1},{\"enum\":[2,3]}]}", "4",
       "the arguments: expected one of 1, 2, 3, got 4"},
      {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":[\"null\",\"array\"]}]}", "1",
       "the arguments: expected string | array | null, got number 1"},
      /* a branch that takes nothing has nothing to say */
      {"{\"anyOf\":[false,{\"type\":\"string\"}]}", "1",
       "the arguments: expected string, got number 1"},
      {"{\"anyOf\":[false,false]}", "1", "the arguments: nothing may stand here, got number 1"},
  };
  all(rows, sizeof rows / sizeof *rows);
}

/* So much is wrong inside that it weighs more than another type; but it is not one. */
static void much_inside(void **state) {
  (void)state;
  struct buf schema, value, line;
  buf_init(&schema, 1u << 20);
  buf_init(&value, 1u << 20);
  buf_init(&line, 1u << 16);
  buf_lit(&schema, "{\"anyOf\":[{\"properties\":{");
  buf_c(&value, '{');
  for (int i = 0; i < 30; i++) {
    buf_fmt(&schema, "%s\"p%d\":{\"type\":\"null\"}", i ? "," : "", i);
    buf_fmt(&value, "%s\"p%d\":1", i ? "," : "", i);
  }
  buf_lit(&schema, "}}]}");
  buf_c(&value, '}');
  struct row row = {buf_z(&schema), buf_z(&value), NULL};
  say(&row, REIN_ENGLISH, &line);
  assert_string_equal(buf_z(&line), "/p0: expected null, got number 1");
  buf_release(&schema);
  buf_release(&value);
  buf_release(&line);
}

static void places(void **state) {
  (void)state;
  static const struct row rows[] = {
      {"{\"properties\":{\"a/b~c\":{\"items\":{\"type\":\"null\"}}}}", "{\"a/b~c\":[null, 1]}",
       "/a~1b~0c/1: expected null, got number 1"},
      {"{\"properties\":{\"\\u0000\\u001b\":{\"type\":\"null\"}}}", "{\"\\u0000\\u001b\":1}",
       "/\\u{0}\\u{1b}: expected null, got number 1"},
      {"{\"properties\":{\"\":{\"type\":\"null\"}}}", "{\"\":1}", "/: expected null, got number 1"},
      {"{\"additionalProperties\":{\"type\":\"null\"}}", "{\"\\ud800\":1}",
       "/\xef\xbf\xbd: expected null, got number 1"},
      {"{\"const\":\"x\"}", "\"\xe2\x80\xae\x7f\"",
       "the arguments: expected the value \"x\", got \"\\u{202e}\\u{7f}\""},
      {"{\"propertyNames\":false}", "{\"x\":1}",
       "the arguments: the member \"x\" is not known here: leave it out"},
      {"{\"propertyNames\":{\"pattern\":\"^a\"}}", "{\"a\":1,\"b\":1}",
       "the arguments: \"b\" cannot be the name of a member; expected ^a"},
      {"{\"uniqueItems\":true}", "[1,2,3,4,5,6,7,8,9,10,4.0]",
       "the arguments: expected items that differ, but items 3 and 10 are both 4.0"},
      /* what is left over is blamed only where all else holds */
      {"{\"properties\":{\"a\":{\"minimum\":5},\"b\":{}},\"unevaluatedProperties\":false}",
       "{\"a\":1,\"b\":2}", "/a: expected a number of at least 5, got 1"},
      {"{\"properties\":{\"a\":{\"minimum\":5},\"b\":{}},\"unevaluatedProperties\":false}",
       "{\"a\":6,\"c\":2}", "the arguments: the member \"c\" is not known here: leave it out"},
  };
  all(rows, sizeof rows / sizeof *rows);
}

/* Millions of findings are counted, not worded: memory is no reason to give up. */
static void many_failures(void **state) {
  (void)state;
  struct buf value, line;
  buf_init(&value, 16u << 20);
  buf_init(&line, 1u << 16);
  buf_c(&value, '[');
  for (int i = 0; i < 300000; i++)
    buf_put(&value, i ? STR(",1") : STR("1"));
  buf_c(&value, ']');
  struct row row = {"{\"items\":{\"type\":\"string\"}}", buf_z(&value), NULL};
  say(&row, REIN_ENGLISH, &line);
  assert_string_equal(buf_z(&line), "/0: expected string, got number 1");
  buf_release(&value);
  buf_release(&line);
}

/* A family of three, a syllable taken apart, a flag: the cut falls at every place. */
static void cuts(void **state) {
  (void)state;
  static const char *const graphemes[] = {("\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9"
                                           "\xe2\x80\x8d\xf0\x9f\x91\xa7"),
                                          "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab",
                                          "\xf0\x9f\x87\xb0\xf0\x9f\x87\xb7", "\xea\xb0\x80"};
  struct buf value, line;
  buf_init(&value, 1u << 16);
  buf_init(&line, 1u << 16);
  for (size_t g = 0; g < sizeof graphemes / sizeof *graphemes; g++) {
    for (int shift = 0; shift < 12; shift++) {
      buf_reset(&value);
      buf_c(&value, '"');
      for (int i = 0; i < shift; i++)
        buf_c(&value, 'a');
      for (int i = 0; i < 90; i++)
        buf_put(&value, str_of(graphemes[g]));
      buf_c(&value, '"');
      struct row row = {"{\"enum\":[\"\xea\xb0\x80\",\"\xeb\x82\x98\"]}", buf_z(&value), NULL};
      say(&row, shift % 2 ? REIN_ENGLISH : REIN_KOREAN, &line);
      assert_true(utf8_valid(buf_str(&line)));
      assert_true(utf8_count(buf_str(&line)) <= SCHEMA_LINE_POINTS);
      size_t mark = str_find(buf_str(&line), STR("\xe2\x80\xa6")); /* behind a whole one */
      struct str before = str_part(buf_str(&line), 0, mark);
      assert_true(mark < line.n && str_ends(before, str_of(graphemes[g])));
    }
  }
  buf_release(&value);
  buf_release(&line);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(branches),      cmocka_unit_test(much_inside), cmocka_unit_test(places),
      cmocka_unit_test(many_failures), cmocka_unit_test(cuts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
