/* The reader: what it keeps, what it refuses and where, in which mode. */
#include "support/test.h"

#include "json/json.h"
#include "text/text.h"

static struct arena arena;
static struct err err;

static int setup(void **state) {
  (void)state;
  arena_init(&arena, 64u << 20);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  arena_release(&arena);
  return 0;
}

/* The tree of a good text; the arena keeps it for the whole program. */
static const struct json *read_mode(struct str text, unsigned mode) {
  struct json *doc = NULL;
  if (json_parse(&arena, text, mode, &doc, &err)) {
    struct buf why = {.max = 2000};
    err_put(&why, REIN_ENGLISH, &err);
    print_error("%.*s\n%s\n", (int)text.n, text.p, buf_z(&why));
    buf_release(&why);
    fail();
  }
  return doc;
}
#define read(literal) read_mode(STR(literal), JSON_STRICT)

static void keeps_what_was_written(void **state) {
  (void)state;
  const struct json *doc =
      read(" { \"b\" : -0.10e+2 ,\"a\\u0041\":[ 1,\"x\\ty\" ,{}], \"b\":null } ");
  assert_int_equal(doc->count, 3);
  assert_text(doc->source, "{ \"b\" : -0.10e+2 ,\"a\\u0041\":[ 1,\"x\\ty\" ,{}], \"b\":null }");
  const struct json *b = doc->first, *a = b->next, *again = a->next;
  assert_null(again->next);
  assert_text(b->key, "b");
  assert_text(b->key_source, "\"b\"");
  assert_text(b->source, "-0.10e+2");
  assert_text(b->text, "-0.10e+2");
  assert_text(a->key, "aA");
  assert_text(a->key_source, "\"a\\u0041\"");
  assert_text(a->source, "[ 1,\"x\\ty\" ,{}]");
  assert_text(json_at(a, 1)->source, "\"x\\ty\"");
  assert_text(json_at(a, 1)->text, "x\ty");
  assert_text(json_at(a, 2)->source, "{}");
  assert_ptr_equal(doc->twin, again);
  assert_ptr_equal(json_get(doc, "b"), b);
  assert_ptr_equal(json_find_twin(doc), again);
  assert_false(doc->surrogate);
}

static void borrows_plain_strings(void **state) {
  (void)state;
  struct str text = STR("[\"plain 한글\"]");
  const struct json *s = json_at(read_mode(text, JSON_STRICT), 0);
  assert_ptr_equal(s->text.p, text.p + 2);
}

static void decodes_strings(void **state) {
  (void)state;
  assert_text(json_text(read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")), "\"\\/\b\f\n\r\t");
  assert_text(json_text(read("\"\\u0000\\u007f\\u0080\\u07FF\\uabCD\"")),
              "\0\x7f\xC2\x80\xDF\xBF\xEA\xAF\x8D");
  assert_text(json_text(read("\"\\ud83d\\ude00\\uD83D\\uDE00\"")), "😀😀");
  assert_text(json_text(read("\"\\udbff\\udfff\\ud800\\udc00\"")),
              "\xF4\x8F\xBF\xBF\xF0\x90\x80\x80");
  assert_text(json_text(read("\"123456789012345\\n1234567\\\"\"")), "123456789012345\n1234567\"");
}

static void flags_surrogates(void **state) {
  (void)state;
  const struct json *doc = read("{\"a\":[\"\\ud83d\"],\"b\":\"\\ude00x\",\"c\":[1]}");
  assert_true(doc->surrogate);
  assert_true(json_get(doc, "a")->surrogate && json_at(json_get(doc, "a"), 0)->surrogate);
  assert_text(json_text(json_at(json_get(doc, "a"), 0)), "\xED\xA0\xBD");
  assert_text(json_text(json_get(doc, "b")), "\xED\xB8\x80x");
  assert_false(json_get(doc, "c")->surrogate);
  assert_true(read("[{\"\\uDC00\":1}]")->surrogate);
  assert_text(json_text(read("\"\\ud83d\\ud83d\\ude00\"")), "\xED\xA0\xBD😀");
  assert_text(json_text(read("\"\\ud83d\\u0041\"")), "\xED\xA0\xBD"
                                                     "A");
  assert_text(json_text(read("\"\\ud83d\\n\"")), "\xED\xA0\xBD\n");
  assert_false(read("\"\\ud83d\\ude00\"")->surrogate);
}

static const struct {
  struct str text;
  unsigned mode;
  enum rein_code code;
  enum text_id id;
  uint32_t line, column;
} refused[] = {
    {STR(""), 0, REIN_INPUT, T_JSON_EMPTY, 1, 1},
    {STR(" \n "), 0, REIN_INPUT, T_JSON_EMPTY, 2, 2},
    {STR("{\n  \"a\": 1\n  \"b\": 2}"), 0, REIN_INPUT, T_JSON_NEXT_MEMBER, 3, 3},
    {STR("{\"한글\": x}"), 0, REIN_INPUT, T_JSON_WORD, 1, 8},
    {STR("[1 2]"), 0, REIN_INPUT, T_JSON_NEXT, 1, 4},
    {STR("[1,\n]"), 0, REIN_INPUT, T_JSON_COMMA, 1, 3},
    {STR("{\"a\":1,}"), 0, REIN_INPUT, T_JSON_COMMA, 1, 7},
    {STR("[1,,2]"), 0, REIN_INPUT, T_JSON_VALUE, 1, 4},
    {STR("{\"a\":}"), 0, REIN_INPUT, T_JSON_VALUE, 1, 6},
    {STR("{\"a\" 1}"), 0, REIN_INPUT, T_JSON_COLON, 1, 6},
    {STR("{1:1}"), 0, REIN_INPUT, T_JSON_KEY_BARE, 1, 2},
    {STR("{a:1}"), 0, REIN_INPUT, T_JSON_KEY_BARE, 1, 2},
    {STR("{[]:1}"), 0, REIN_INPUT, T_JSON_KEY, 1, 2},
    {STR("{'a':1}"), 0, REIN_INPUT, T_JSON_QUOTES, 1, 2},
    {STR("['a']"), 0, REIN_INPUT, T_JSON_QUOTES, 1, 2},
    {STR("[“a”]"), 0, REIN_INPUT, T_JSON_VALUE, 1, 2},
    {STR("[1"), 0, REIN_INPUT, T_JSON_CUT_ARRAY, 1, 3},
    {STR("[1,"), 0, REIN_INPUT, T_JSON_CUT_ARRAY, 1, 4},
    {STR("["), 0, REIN_INPUT, T_JSON_CUT_ARRAY, 1, 2},
    {STR("[{\"a\":1"), 0, REIN_INPUT, T_JSON_CUT_OBJECT, 1, 8},
    {STR("{\"a\""), 0, REIN_INPUT, T_JSON_CUT_OBJECT, 1, 5},
    {STR("{\"a\":"), 0, REIN_INPUT, T_JSON_CUT_OBJECT, 1, 6},
    {STR("[\n\"abc"), 0, REIN_INPUT, T_JSON_STRING_OPEN, 2, 1},
    {STR("\"\\"), 0, REIN_INPUT, T_JSON_STRING_OPEN, 1, 1},
    {STR("\"\\\""), 0, REIN_INPUT, T_JSON_STRING_OPEN, 1, 1},
    {STR("[\"a\nb\"]"), 0, REIN_INPUT, T_JSON_NEWLINE, 1, 2},
    {STR("[\"a\tb\"]"), 0, REIN_INPUT, T_JSON_CONTROL, 1, 4},
    {STR("\"a\0b\""), 0, REIN_INPUT, T_JSON_CONTROL, 1, 3},
    {STR("\"\\x41\""), 0, REIN_INPUT, T_JSON_ESCAPE, 1, 3},
    {STR("\"\\\0\""), 0, REIN_INPUT, T_JSON_ESCAPE, 1, 3},
    {STR("\"\\한\""), 0, REIN_INPUT, T_JSON_ESCAPE, 1, 3},
    {STR("\"\\u12\""), 0, REIN_INPUT, T_JSON_HEX, 1, 2},
    {STR("\"\\u12g4\""), 0, REIN_INPUT, T_JSON_HEX, 1, 2},
    {STR("\"\\ud83d\\u\""), 0, REIN_INPUT, T_JSON_HEX, 1, 8},
    {STR("01"), 0, REIN_INPUT, T_JSON_ZERO, 1, 1},
    {STR("-01"), 0, REIN_INPUT, T_JSON_ZERO, 1, 2},
    {STR("-"), 0, REIN_INPUT, T_JSON_NUMBER, 1, 2},
    {STR("1."), 0, REIN_INPUT, T_JSON_NUMBER, 1, 3},
    {STR("1e+"), 0, REIN_INPUT, T_JSON_NUMBER, 1, 4},
    {STR("+1"), 0, REIN_INPUT, T_JSON_VALUE, 1, 1},
    {STR("NaN"), 0, REIN_INPUT, T_JSON_WORD, 1, 1},
    {STR("tru"), 0, REIN_INPUT, T_JSON_WORD, 1, 1},
    {STR("truex"), 0, REIN_INPUT, T_JSON_EXTRA, 1, 5},
    {STR("1 2"), 0, REIN_INPUT, T_JSON_EXTRA, 1, 3},
    {STR("{}]"), 0, REIN_INPUT, T_JSON_EXTRA, 1, 3},
    {STR("[}"), 0, REIN_INPUT, T_JSON_VALUE, 1, 2},
    {STR("[1}"), 0, REIN_INPUT, T_JSON_NEXT, 1, 3},
    {STR("1 // one"), 0, REIN_INPUT, T_JSON_COMMENT, 1, 3},
    {STR("[/* none */]"), 0, REIN_INPUT, T_JSON_COMMENT, 1, 2},
    {STR("[1 / 2]"), 0, REIN_INPUT, T_JSON_NEXT, 1, 4},
    {STR("[1 / 2]"), JSON_COMMENTS, REIN_INPUT, T_JSON_NEXT, 1, 4},
    {STR("[1, /* 2]"), JSON_COMMENTS, REIN_INPUT, T_JSON_COMMENT_OPEN, 1, 5},
    {STR("[1, /*/ 2]"), JSON_COMMENTS, REIN_INPUT, T_JSON_COMMENT_OPEN, 1, 5},
    {STR("[1, // 2\n]"), JSON_COMMENTS, REIN_INPUT, T_JSON_COMMA, 1, 3},
    {STR("// all"), JSON_COMMENTS, REIN_INPUT, T_JSON_EMPTY, 1, 7},
    {STR("\xEF\xBB\xBF{}"), 0, REIN_INPUT, T_JSON_BOM, 1, 1},
    {STR("{}\xEF\xBB\xBF"), JSON_COMMENTS, REIN_INPUT, T_JSON_EXTRA, 1, 3},
    {STR("[\"\xFF\"]"), 0, REIN_INPUT, T_JSON_UTF8, 1, 3},
    {STR("[\"\xED\xA0\x80\"]"), 0, REIN_INPUT, T_JSON_UTF8, 1, 3},
    {STR("{\"a\":1,\n\"b\":2,\n \"\\u0061\":3}"), JSON_UNIQUE, REIN_INPUT, T_JSON_TWIN, 3, 2},
    {STR("[{\"\":1,\"\":2}]"), JSON_UNIQUE, REIN_INPUT, T_JSON_TWIN, 1, 8},
};

static void refuses_and_says_where(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct json *doc = NULL;
    char *room;
    struct str text = exact_copy(refused[i].text, &room);
    err = (struct err){0};
    enum rein_code code = json_parse(&arena, text, refused[i].mode, &doc, &err);
    if (code != refused[i].code || err.text != refused[i].id || err.line != refused[i].line ||
        err.column != refused[i].column)
      print_error("row %zu: %.*s\n", i, (int)text.n, text.p);
    assert_int_equal(code, refused[i].code);
    assert_int_equal(err.code, refused[i].code);
    assert_int_equal(err.text, refused[i].id);
    assert_int_equal(err.line, refused[i].line);
    assert_int_equal(err.column, refused[i].column);
    assert_true(err.at <= text.n);
    assert_null(doc);
    assert_int_equal(json_parse(&arena, text, refused[i].mode, &doc, NULL), code);
    mem_free(room);
  }
}

static void takes_comments_where_allowed(void **state) {
  (void)state;
  const struct json *doc = read_mode(STR("\xEF\xBB\xBF// head\n{ /* one\n two */ \"a\" /**/ : // "
                                         "b\r\n [ 1 /***/, 2 ] /* x */ }//"),
                                     JSON_COMMENTS);
  assert_int_equal(json_at(json_get(doc, "a"), 1)->text.p[0], '2');
  assert_text(json_get(doc, "a")->source, "[ 1 /***/, 2 ]");
  assert_text(json_text(read_mode(STR("\"/* no */ // comment\""), JSON_COMMENTS)),
              "/* no */ // comment");
}

static void depth(void **state) {
  (void)state;
  struct buf text = {.max = 300000};
  for (int i = 0; i < JSON_DEPTH_MAX; i++)
    buf_lit(&text, "[");
  for (int i = 0; i < JSON_DEPTH_MAX; i++)
    buf_lit(&text, "]");
  const struct json *doc = read_mode(buf_str(&text), JSON_STRICT);
  assert_null(json_find_twin(doc));
  buf_reset(&text);
  for (int i = 0; i <= JSON_DEPTH_MAX; i++)
    buf_lit(&text, "{\"a\":");
  struct json *none = NULL;
  assert_int_equal(json_parse(&arena, buf_str(&text), 0, &none, &err), REIN_LIMIT);
  assert_int_equal(err.text, T_JSON_DEEP);
  assert_int_equal(err.at, 5 * JSON_DEPTH_MAX);
  assert_null(none);
  buf_release(&text);
}

static void the_ceiling_is_a_limit(void **state) {
  (void)state;
  struct arena small;
  arena_init(&small, 2000);
  struct json *doc = NULL;
  struct str text = STR("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26]");
  assert_int_equal(json_parse(&small, text, 0, &doc, &err), REIN_LIMIT);
  assert_int_equal(err.text, T_JSON_FULL);
  arena_release(&small);
}

/* Objects of many sizes, the twins at many places, few and many members. */
static void finds_the_first_twin(void **state) {
  (void)state;
  struct buf text = {.max = 1 << 20};
  for (int n = 0; n < 60; n++)
    for (int twin = 1; twin <= n; twin++) {
      buf_reset(&text);
      buf_c(&text, '{');
      for (int i = 0; i < n; i++) {
        int name = i == twin ? twin / 2 : i > twin ? i / 3 : i; /* later ones do not matter */
        buf_fmt(&text, "%s\"k%d\":%d", i ? "," : "", name, i);
      }
      buf_c(&text, '}');
      const struct json *doc = read_mode(buf_str(&text), JSON_STRICT);
      if (twin == n) {
        assert_null(doc->twin);
        continue;
      }
      int64_t at = -1;
      assert_true(json_int(doc->twin, &at));
      assert_int_equal(at, twin);
      struct json *none = NULL;
      assert_int_equal(json_parse(&arena, buf_str(&text), JSON_UNIQUE, &none, &err), REIN_INPUT);
      assert_int_equal(err.text, T_JSON_TWIN);
    }
  buf_release(&text);
}

/* 200,000 equal-length keys: comparing all pairs would take minutes. */
static void many_members(void **state) {
  (void)state;
  struct buf text = {.max = 16 << 20};
  buf_c(&text, '{');
  for (int i = 0; i < 200000; i++)
    buf_fmt(&text, "%s\"key%06d\":%d", i ? "," : "", i, i);
  buf_lit(&text, ",\"key000007\":0}");
  const struct json *doc = read_mode(buf_str(&text), JSON_STRICT);
  assert_int_equal(doc->count, 200001);
  assert_non_null(doc->twin);
  assert_text(doc->twin->key, "key000007");
  assert_null(doc->twin->next);
  buf_release(&text);
}

static void looks_into_trees(void **state) {
  (void)state;
  const struct json *doc = read("{\"a/b\":{\"m~n\":[10,[20,{\"\":30}]]},\"\":1,\"01\":2}");
  int64_t v = 0;
  assert_ptr_equal(json_point(doc, STR("")), doc);
  assert_true(json_int(json_point(doc, STR("/a~1b/m~0n/1/1/")), &v));
  assert_int_equal(v, 30);
  assert_true(json_int(json_point(doc, STR("/")), &v));
  assert_int_equal(v, 1);
  assert_true(json_int(json_point(doc, STR("/01")), &v));
  assert_int_equal(v, 2);
  const char *nowhere[] = {"x",
                           "/x",
                           "/a",
                           "/a~1b/m~n",
                           "/a~1b/m~0n/00",
                           "/a~1b/m~0n/-",
                           "/a~1b/m~0n/2",
                           "/a~1b/m~0n/-1",
                           "/a~1b/m~0n/",
                           "/01/0",
                           "/a~1b/m~0n/99999999999999999999"};
  for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++)
    assert_null(json_point(doc, str_of(nowhere[i])));
  assert_null(json_get(NULL, "a"));
  assert_null(json_get(json_get(doc, ""), "a"));
  assert_null(json_at(doc, 0));
  assert_null(json_at(NULL, 0));
  assert_null(json_point(NULL, STR("")));
  assert_text(json_text(NULL), "");
  assert_text(json_text(json_get(doc, "")), "");
  assert_false(json_is(NULL, JSON_NULL) || json_true(NULL) || json_true(doc));
  assert_true(json_true(read("true")));
  assert_null(json_find_twin(NULL));
  const struct json *twins = read("[{\"x\":[{\"b\":1,\"b\":2}],\"a\":3,\"a\":4}]");
  assert_true(json_int(json_find_twin(twins), &v));
  assert_int_equal(v, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_what_was_written),
      cmocka_unit_test(borrows_plain_strings),
      cmocka_unit_test(decodes_strings),
      cmocka_unit_test(flags_surrogates),
      cmocka_unit_test(refuses_and_says_where),
      cmocka_unit_test(takes_comments_where_allowed),
      cmocka_unit_test(depth),
      cmocka_unit_test(the_ceiling_is_a_limit),
      cmocka_unit_test(finds_the_first_twin),
      cmocka_unit_test(many_members),
      cmocka_unit_test(looks_into_trees),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
