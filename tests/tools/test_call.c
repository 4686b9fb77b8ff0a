/* A call as its function sees it: arguments by name, one answer, nothing lost
 * and nothing cut without a word. */
#include "house.h"

#include "support/oom.h"
#include "tools/tools.h"

static int nothing(struct rein_call *call) {
  (void)call;
  return 0;
}

static int marker;
static const struct rein_tool row = {.name = "own", .run = nothing, .ctx = &marker};

static struct rein_call *made(const char *args) {
  struct rein_call *call = NULL;
  struct err err = {0};
  assert_int_equal(call_new(&row, NULL, str_of(args), &call, &err), REIN_OK);
  return call;
}

static void arguments(void **state) {
  (void)state;
  char source[] = "{\"t\":\"가\\u0041\", \"n\":2512292042121000001, \"f\":1e3, \"b\":true, "
                  "\"z\":null, \"o\":{\"x\": [1]}, \"half\":1.5, \"\":\"empty\"}";
  struct rein_call *call = made(source);
  memset(source, 'x', strlen(source)); /* they are the call's own */
  size_t n = 0;
  assert_ptr_equal(rein_call_ctx(call), &marker);
  const char *args = rein_call_args(call, &n);
  assert_int_equal(strlen(args), n);
  assert_string_equal(rein_call_text(call, "t", NULL), "가A");
  assert_string_equal(rein_call_text(call, "n", NULL), "2512292042121000001");
  assert_string_equal(rein_call_text(call, "f", NULL), "1e3");
  assert_string_equal(rein_call_text(call, "b", NULL), "true");
  assert_string_equal(rein_call_text(call, "o", NULL), "{\"x\": [1]}");
  assert_string_equal(rein_call_text(call, "z", "absent"), "absent");
  assert_string_equal(rein_call_text(call, "none", NULL), "");
  assert_string_equal(rein_call_text(call, "", NULL), "empty");
  assert_true(rein_call_int(call, "n", 0) == INT64_C(2512292042121000001));
  assert_true(rein_call_int(call, "f", 0) == 1000);
  assert_true(rein_call_int(call, "half", -7) == -7);
  assert_true(rein_call_int(call, "t", -7) == -7);
  assert_true(rein_call_int(call, "z", -7) == -7);
  assert_true(rein_call_bool(call, "b", false));
  assert_true(rein_call_bool(call, "n", true));
  assert_false(rein_call_bool(call, "none", false));
  assert_false(rein_call_cancelled(call));
  atomic_store(&call->cancelled, true);
  assert_true(rein_call_cancelled(call));
  call_free(call);
  call_free(NULL);
}

/* A text with a NUL must not become another, shorter one. */
static void odd_text(void **state) {
  (void)state;
  struct rein_call *call =
      made("{\"p\":\"a.txt\\u0000.md\",\"s\":\"x\\ud800y\",\"k\":\"\\ud83d\\ude42\"}");
  assert_string_equal(rein_call_text(call, "p", NULL), "a.txt\xef\xbf\xbd.md");
  assert_int_equal(call_text(call, "p").n, 9);
  assert_string_equal(rein_call_text(call, "s", NULL), "x\xef\xbf\xbdy");
  assert_string_equal(rein_call_text(call, "k", NULL), "\xf0\x9f\x99\x82");
  call_free(call);
  call = made(" \n");
  assert_string_equal(rein_call_args(call, NULL), "{}");
  call_free(call);
}

static void refuses(void **state) {
  (void)state;
  static const char *const bad[] = {"[]",  "7", "{", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}",
                                    "null"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct rein_call *call = NULL;
    struct err err = {0};
    assert_int_equal(call_new(&row, NULL, str_of(bad[i]), &call, &err), REIN_INPUT);
    assert_null(call);
    assert_int_equal(err.code, REIN_INPUT);
  }
}

static void whole_numbers(void **state) {
  (void)state;
  struct rein_call *call =
      made("{\"a\":1e400,\"b\":0,\"c\":1.0,\"d\":\"5\",\"e\":99999999999999999999}");
  struct err err = {0};
  int64_t v = 0;
  assert_false(call_whole(call, "a", 1, 1, &v, &err));
  assert_int_equal(err.text, T_TOOLS_WHOLE);
  assert_false(call_whole(call, "b", 1, 1, &v, &err));
  assert_false(call_whole(call, "d", 1, 1, &v, &err));
  assert_false(call_whole(call, "e", 1, 1, &v, &err));
  assert_true(call_whole(call, "c", 1, 7, &v, &err) && v == 1);
  assert_true(call_whole(call, "none", 1, 7, &v, &err) && v == 7);
  call_free(call);
}

static void one_answer(void **state) {
  (void)state;
  struct rein_call *call = made("");
  assert_int_equal(rein_call_result(call, NULL, 3), REIN_INPUT);
  assert_false(call->answered);
  assert_int_equal(rein_call_result(call, "a\0b", 3), REIN_OK);
  assert_true(call->answered && !call->is_error);
  assert_int_equal(call->result.n, 3);
  assert_int_equal(rein_call_error(call, "second", SIZE_MAX), REIN_INPUT);
  assert_int_equal(call->result.n, 3);
  call_free(call);
  call = made("");
  assert_int_equal(rein_call_error(call, "no\nmore", SIZE_MAX), REIN_OK);
  assert_true(call->is_error);
  assert_string_equal(buf_z(&call->result), "no\nmore");
  call_free(call);
  call = made("");
  assert_int_equal(rein_call_result(call, NULL, SIZE_MAX), REIN_OK);
  assert_true(call->answered && call->result.n == 0);
  call_free(call);
}

/* Cut with a notice, and not inside a character. */
static void a_flood(void **state) {
  (void)state;
  size_t n = CALL_RESULT_MAX + 10;
  char *text = malloc(n);
  assert_non_null(text);
  memset(text, 'a', n);
  memcpy(text + CALL_RESULT_MAX - 1, "\xea\xb0\x80", 3);
  struct rein_call *call = made("");
  assert_int_equal(rein_call_result(call, text, n), REIN_OK);
  struct str end = str_part(buf_str(&call->result), CALL_RESULT_MAX - 1, 200);
  assert_has(end.p, "\n[the first 67108863 of 67108874 bytes are shown");
  assert_int_equal(*end.p, '\n');
  call_free(call);
  free(text);
}

static void languages(void **state) {
  (void)state;
  const struct call_house house = {.model_lang = REIN_KOREAN};
  struct rein_call *call = NULL;
  struct err err = {0};
  assert_int_equal(call_new(&row, &house, STR("{}"), &call, &err), REIN_OK);
  (void)ERR(&err, REIN_INPUT, T_TOOLS_NO_ROOT, STR("own"));
  assert_int_equal(call_fail(call, &err), REIN_OK);
  assert_true(call->is_error);
  assert_has(buf_z(&call->result), "프로젝트 루트");
  call_free(call);
}

static void shows(void **state) {
  (void)state;
  struct buf b;
  char wide[4096];
  buf_init(&b, 8192);
  call_show(&b, STR("a\nb\x1b[2J"));
  assert_has_not(buf_z(&b), "\x1b");
  assert_has_not(buf_z(&b), "\n");
  buf_reset(&b);
  memset(wide, 'x', sizeof wide);
  wide[4000] = (char)0xff;
  call_show(&b, (struct str){wide, sizeof wide});
  assert_true(utf8_valid(buf_str(&b)) && utf8_count(buf_str(&b)) < 90);
  assert_has(buf_z(&b), "…");
  buf_release(&b);
}

/* Each row can be sent, and strictly: what it takes is named and nothing else. */
static void rows(void **state) {
  (void)state;
  static const char *const names[] = {
      "get_time",     "read_file", "list_files", "search_files", "github_repo_info",
      "http_get",     "http_post", "write_file", "edit_file",    "delete_file",
      "write_report", "exec",      "git_diff"};
  size_t n = 0;
  for (; builtin_tools[n]; n++) {
    const struct rein_tool *tool = builtin_tools[n];
    struct arena arena;
    struct json *doc = NULL;
    struct err err = {0};
    assert_string_equal(tool->name, names[n]);
    assert_ptr_equal(builtin_tool(names[n]), tool);
    assert_true(tool->run && strlen(tool->description) > 100);
    bool asks = (strstr(tool->name, "_file") && (tool->touches & REIN_WRITES)) ||
                strncmp(tool->name, "http_", 5) == 0 || tool == builtin_tool("exec");
    assert_int_equal(tool->verdict, asks ? REIN_ASK : REIN_ALLOW);
    assert_int_not_equal(tool->touches, REIN_TOUCHES_UNDECLARED);
    arena_init(&arena, 1u << 20);
    assert_int_equal(json_parse(&arena, str_of(tool->schema), JSON_UNIQUE, &doc, &err), REIN_OK);
    assert_true(str_is(json_text(json_get(doc, "type")), "object"));
    assert_true(json_is(json_get(doc, "additionalProperties"), JSON_FALSE));
    const struct json *properties = json_get(doc, "properties");
    assert_true(json_is(properties, JSON_OBJECT));
    for (const struct json *p = properties->first; p; p = p->next)
      assert_true(json_text(json_get(p, "description")).n > 20 && json_text(json_get(p, "type")).n);
    const struct json *required = json_get(doc, "required");
    assert_true(json_is(required, JSON_ARRAY));
    for (const struct json *r = required->first; r; r = r->next) {
      char key[64];
      snprintf(key, sizeof key, "%.*s", (int)r->text.n, r->text.p);
      assert_non_null(json_get(properties, key));
    }
    arena_release(&arena);
  }
  assert_int_equal(n, sizeof names / sizeof *names);
  assert_null(builtin_tool("Read_File"));
  assert_null(builtin_tool(""));
}

static void tells_the_time(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "proj");
  setenv("TZ", "Asia/Seoul", 1);
  const char *text = house_json(&h, "get_time", "{}");
  static const char shape[] = "dddd-dd-ddTdd:dd:dd+dd:dd";
  assert_false(h.is_error);
  assert_int_equal(strlen(text), sizeof shape - 1);
  for (size_t i = 0; shape[i]; i++)
    if (shape[i] == 'd')
      assert_in_range(text[i], '0', '9');
    else if (shape[i] == '+')
      assert_true(text[i] == '+' || text[i] == '-');
    else
      assert_int_equal(text[i], shape[i]);
  assert_true(builtin_tool("get_time")->polls);
  house_drop(&h);
}

/* Without a root or a network the tools say so. */
static void bare_house(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "proj");
  assert_has(house_json(&h, "read_file", "{\"path\":\"a\"}"), "no project root");
  assert_has(house_json(&h, "list_files", "{}"), "no project root");
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"a\"}"), "no project root");
  assert_has(house_json(&h, "write_report", "{\"path\":\"a\",\"content\":\"\"}"),
             "no project root");
  assert_has(house_json(&h, "github_repo_info", "{\"owner\":\"a\",\"repo\":\"b\"}"), "no network");
  assert_true(h.is_error);
  house_drop(&h);
}

static bool scenario(void *ctx) {
  (void)ctx;
  struct rein_call *call = NULL;
  struct err err = {0};
  if (call_new(&row, NULL, STR("{\"p\":\"a\\u0000b\",\"q\":[1,{}]}"), &call, &err)) {
    assert_null(call);
    return false;
  }
  bool ok = strlen(rein_call_text(call, "p", "")) == 5;
  ok &= rein_call_result(call, "text", SIZE_MAX) == REIN_OK;
  assert_true(ok == call->answered);
  call_free(call);
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments),      cmocka_unit_test(odd_text),   cmocka_unit_test(refuses),
      cmocka_unit_test(whole_numbers),  cmocka_unit_test(one_answer), cmocka_unit_test(a_flood),
      cmocka_unit_test(languages),      cmocka_unit_test(shows),      cmocka_unit_test(rows),
      cmocka_unit_test(tells_the_time), cmocka_unit_test(bare_house), cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
