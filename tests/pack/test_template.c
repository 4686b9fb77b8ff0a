/* Templates under arguments that want out: of a step, a query, a header, a body. */
#include "support/oom.h"
#include "support/test.h"

#include "pack/select.h"
#include "pack/template.h"
#include "text/text.h"

#define ROOM (8u << 20)

struct filled {
  struct arena arena;
  struct pack pack;
  struct fill_from from;
  struct buf out;
  struct err err;
};

static void begin(struct filled *f, struct str args) {
  struct json *doc;
  memset(f, 0, sizeof *f);
  arena_init(&f->arena, ROOM);
  buf_init(&f->out, 1u << 20);
  assert_int_equal(json_parse(&f->arena, args, JSON_UNIQUE, &doc, &f->err), REIN_OK);
  f->pack.name = STR("p");
  f->pack.secrets[0] = (struct pack_secret){STR("KEY"), STR("k"), STR("s3cret")};
  f->pack.secret_count = 1;
  f->from = (struct fill_from){&f->pack, doc, STR("field")};
}

static void end(struct filled *f) {
  buf_release(&f->out);
  arena_release(&f->arena);
}

/* {"v": VALUE} of a value as JSON. */
static struct str args_of(char room[4096], const char *json) {
  int n = snprintf(room, 4096, "{\"v\":%s}", json);
  return (struct str){room, (size_t)n};
}

static enum rein_code fill(struct filled *f, const char *text, enum fill how) {
  bool absent;
  return template_fill(&f->out, str_of(text), how, &f->from, &absent, &f->err);
}

/* ---- hostile arguments, at each place ------------------------------------------------ */

/* As JSON values. */
static const char *const hostile[] = {
    "\"..\"",
    "\".\"",
    "\"../x\"",
    "\"..\\\\x\"",
    "\"a/b\"",
    "\"/etc\"",
    "\"//evil.example\"",
    "\"\\\\evil\"",
    "\"%2e%2e\"",
    "\"%2f\"",
    "\"..%2f\"",
    "\"a?b=c\"",
    "\"a&b=c\"",
    "\"a#b\"",
    "\"a b\"",
    "\"a+b\"",
    "\"a;b\"",
    "\"a:b\"",
    "\"@evil.example\"",
    "\"user:pw@evil\"",
    "\"http://evil.example\"",
    "\"a\\r\\nX-Evil: 1\"",
    "\"a\\nb\"",
    "\"a\\rb\"",
    "\"a\\u0000b\"",
    "\"a\\tb\"",
    "\"a\\u007fb\"",
    "\"\\\"},{\\\"x\\\":\\\"\"",
    "\"\\\\\"",
    "\"\\\"\"",
    "\"{{v}}\"",
    "\"{{other}}\"",
    "\"${KEY}\"",
    "\"{{v}}\"",
    "\"}\"",
    "\"{\"",
    "\"\"",
    "\" \"",
    "\"한글\"",
    "\"가/나\"",
    "\"\\u202e\"",
    "\"\\uff0e\\uff0e\"",
    "\"\\u2215\"",
    "\"\\u2028\"",
    "\"\\ufeff\"",
    "\"\\u00e9\"",
    "\"-x\"",
    "\"--upload-pack=x\"",
    "\"$(id)\"",
    "\"`id`\"",
    "\"'; drop\"",
    "\"<script>\"",
    "\"\\u001b[31m\"",
    "0",
    "-1",
    "1e400",
    "123456789012345678901234567890",
    "true",
    "[]",
    "[\"..\"]",
    "{}",
    "{\"a\":\"../\"}",
    "[[1]]",
    "\"\\ud83d\\ude00\"",
    "\"[::1]\"",
    "\"127.0.0.1\"",
    "\"%00\"",
    "\"%0d%0aX: 1\"",
    "\"a%\"",
};
#define HOSTILE (sizeof hostile / sizeof *hostile)

static bool is_path_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c && strchr("-._~%", c));
}

/* One step stays one step, whatever it is. */
static void test_steps(void **state) {
  char room[4096];
  size_t taken = 0;
  (void)state;
  for (size_t i = 0; i < HOSTILE; i++) {
    struct filled f;
    struct pack_request r = {.path = STR("/a/{{v}}/z")};
    begin(&f, args_of(room, hostile[i]));
    enum rein_code code = template_path(&f.out, &r, STR_NONE, &f.from, &f.err);
    if (code == REIN_OK) {
      struct str path = buf_str(&f.out);
      taken++;
      assert_true(str_starts(path, STR("/a/")) && str_ends(path, STR("/z")));
      struct str step = str_part(path, 3, path.n - 5);
      assert_true(step.n > 0 && !str_is(step, ".") && !str_is(step, ".."));
      for (size_t k = 0; k < step.n; k++)
        assert_true(is_path_char(step.p[k]));
    } else {
      assert_int_equal(code, REIN_INPUT);
    }
    end(&f);
  }
  assert_in_range(taken, 30, HOSTILE - 15);
}

/* What may be no step at all, and why. */
static void test_refused_steps(void **state) {
  static const struct {
    const char *value;
    enum text_id why;
  } rows[] = {{"\"a/b\"", T_PACK_STEP_SLASH}, {"\"a\\\\b\"", T_PACK_STEP_SLASH},
              {"\"..\"", T_PACK_STEP_DOTS},   {"\".\"", T_PACK_STEP_DOTS},
              {"\"\"", T_PACK_STEP_EMPTY},    {"null", T_PACK_STEP_EMPTY},
              {"\"a\\nb\"", T_PACK_CONTROL},  {"[1]", T_PACK_COMPOSED},
              {"{\"a\":1}", T_PACK_COMPOSED}};
  char room[4096];
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct filled f;
    struct pack_request r = {.path = STR("/a/{{v}}/z")};
    begin(&f, args_of(room, rows[i].value));
    assert_int_equal(template_path(&f.out, &r, STR_NONE, &f.from, &f.err), REIN_INPUT);
    assert_int_equal(f.err.text, rows[i].why);
    end(&f);
  }
}

/* One pair stays one pair, and its value comes back whole. */
static void test_queries(void **state) {
  char room[4096];
  struct json *query;
  (void)state;
  for (size_t i = 0; i < HOSTILE; i++) {
    struct filled f;
    begin(&f, args_of(room, hostile[i]));
    struct str text = STR("{\"q\":\"{{v}}\",\"n\":\"x{{v}}\"}");
    assert_int_equal(json_parse(&f.arena, text, JSON_STRICT, &query, NULL), REIN_OK);
    struct pack_request r = {.path = STR("/a"), .query = query};
    enum rein_code code = template_path(&f.out, &r, STR_NONE, &f.from, &f.err);
    if (code == REIN_OK) {
      size_t marks = 0;
      for (size_t k = 0; k < f.out.n; k++) {
        marks += f.out.p[k] == '=';
        assert_true(is_path_char(f.out.p[k]) || strchr("/?&=", f.out.p[k]));
      }
      assert_true(marks <= 2); /* an empty list makes no pair */
    } else {
      assert_int_equal(code, REIN_INPUT);
    }
    end(&f);
  }
}

static void test_headers(void **state) {
  char room[4096];
  (void)state;
  for (size_t i = 0; i < HOSTILE; i++) {
    struct filled f;
    begin(&f, args_of(room, hostile[i]));
    enum rein_code code = fill(&f, "a {{v}}", FILL_HEADER);
    assert_true(code == REIN_OK || code == REIN_INPUT);
    for (size_t k = 0; code == REIN_OK && k < f.out.n; k++)
      assert_in_range((unsigned char)f.out.p[k], 0x20, 0x7e);
    assert_false(str_has(buf_str(&f.out), STR("s3cret")));
    end(&f);
  }
}

/* A body stays the JSON that the pack wrote, with one value in it. */
static void test_bodies(void **state) {
  char room[4096];
  struct json *body, *made;
  static const struct body_extra none;
  (void)state;
  for (size_t i = 0; i < HOSTILE; i++) {
    struct filled f;
    begin(&f, args_of(room, hostile[i]));
    struct str text = STR("{\"a\":[\"{{v}}\"],\"b\":\"<{{v}}>\",\"c\":{\"d\":1}}");
    assert_int_equal(json_parse(&f.arena, text, JSON_STRICT, &body, NULL), REIN_OK);
    assert_int_equal(template_body(&f.out, body, &none, &f.from, &f.err), REIN_OK);
    assert_int_equal(json_parse(&f.arena, buf_str(&f.out), JSON_UNIQUE, &made, &f.err), REIN_OK);
    assert_int_equal(made->count, 3);
    const struct json *value = json_member(f.from.args, STR("v"));
    assert_str(json_at(json_get(made, "a"), 0)->source, value->source);
    assert_true(str_starts(json_text(json_get(made, "b")), STR("<")));
    assert_true(str_ends(json_text(json_get(made, "b")), STR(">")));
    assert_false(str_has(buf_str(&f.out), STR("s3cret")));
    end(&f);
  }
}

/* ---- what templates are for ------------------------------------------------------------- */

static void test_secret(void **state) {
  struct filled f;
  (void)state;
  begin(&f, STR("{}"));
  assert_int_equal(fill(&f, "Bearer ${KEY}", FILL_HEADER), REIN_OK);
  assert_text(buf_str(&f.out), "Bearer s3cret");
  f.pack.secrets[0].value = STR("two\r\nlines");
  assert_int_equal(fill(&f, "${KEY}", FILL_HEADER), REIN_INPUT);
  f.pack.secrets[0].value = STR_NONE;
  assert_int_equal(fill(&f, "${KEY}", FILL_HEADER), REIN_INPUT);
  assert_int_equal(f.err.text, T_PACK_NO_SECRET);
  end(&f);
}

static void test_absent(void **state) {
  struct filled f;
  struct json *body, *query;
  (void)state;
  begin(&f, STR("{\"a\":null,\"b\":[1,\"x\"]}"));
  struct str text =
      STR("{\"a\":\"{{a}}\",\"b\":\"{{b}}\",\"c\":[\"{{c}}\",2],\"d\":\"and {{c}}\",\"e\":{}}");
  assert_int_equal(json_parse(&f.arena, text, JSON_STRICT, &body, NULL), REIN_OK);
  struct body_extra page = {STR("e"), STR("\"p2\"")};
  assert_int_equal(template_body(&f.out, body, &page, &f.from, &f.err), REIN_OK);
  assert_text(buf_str(&f.out), "{\"b\":[1,\"x\"],\"c\":[2],\"e\":\"p2\"}");
  buf_reset(&f.out);
  text = STR("{\"a\":\"{{a}}\",\"f[]\":\"{{b}}\",\"n\":\"100\"}");
  assert_int_equal(json_parse(&f.arena, text, JSON_STRICT, &query, NULL), REIN_OK);
  struct pack_request r = {.path = STR("/x"), .query = query};
  assert_int_equal(template_path(&f.out, &r, STR_NONE, &f.from, &f.err), REIN_OK);
  assert_text(buf_str(&f.out), "/x?f%5B%5D=1&f%5B%5D=x&n=100");
  end(&f);
}

static void test_braces(void **state) {
  struct filled f;
  (void)state;
  begin(&f, STR("{\"v\":1}"));
  assert_int_equal(fill(&f, "{v} $5 {{ v }}$}", FILL_TEXT), REIN_OK);
  assert_text(buf_str(&f.out), "{v} $5 1$}");
  assert_int_equal(fill(&f, "{{v}", FILL_TEXT), REIN_INPUT);
  end(&f);
}

/* ---- picking ---------------------------------------------------------------------------- */

static void pick(const char *fields, const char *answer, const char *at, struct buf *out) {
  struct arena arena;
  struct json *doc, *list = NULL;
  arena_init(&arena, ROOM);
  buf_init(out, 1u << 20);
  struct json_out w = json_out(out);
  if (fields)
    assert_int_equal(json_parse(&arena, str_of(fields), JSON_STRICT, &list, NULL), REIN_OK);
  assert_int_equal(json_parse(&arena, str_of(answer), JSON_STRICT, &doc, NULL), REIN_OK);
  struct pack_request r = {.at = str_of(at), .fields = list};
  const struct json *place = select_place(&r, doc);
  if (place) select_put(&w, &r, place);
  arena_release(&arena);
}

static const struct {
  const char *fields, *answer, *at, *want;
} picks[] = {
    {NULL, "{ \"a\" : [1.50, \"\\u00e9\"] }", "", "{\"a\":[1.50,\"\\u00e9\"]}"},
    {NULL, "{\"a\":{\"b\":7}}", "/a/b", "7"},
    {NULL, "{\"a\":1}", "/b", ""},
    {"{\"i\":\"/id\"}", "[{\"id\":1,\"x\":2},{\"x\":3}]", "", "[{\"i\":1},{\"i\":null}]"},
    {"{\"l\":\"/l/*/name\"}", "{\"l\":[{\"name\":\"a\"},{},{\"name\":null}]}", "",
     "{\"l\":[\"a\",null]}"},
    {"{\"t\":{\"text\":\"/p/*/title/*/plain\"}}",
     "{\"p\":{\"A\":{\"n\":1},\"B\":{\"title\":[{\"plain\":\"한\"},{\"plain\":\"글\"}]}}}", "",
     "{\"t\":\"한글\"}"},
    {"{\"t\":{\"text\":\"/a/*\",\"join\":\", \"}}", "{\"a\":[1,null,\"x\"]}", "",
     "{\"t\":\"1, x\"}"},
    {"{\"t\":{\"text\":\"/none\"}}", "{}", "", "{\"t\":\"\"}"},
    {"{\"a\":\"/a~1b\"}", "{\"a/b\":{\"*\":0}}", "", "{\"a\":{\"*\":0}}"},
    {"{\"i\":\"/id\"}", "[]", "", "[]"},
};

static void test_picks(void **state) {
  struct buf out;
  (void)state;
  for (size_t i = 0; i < sizeof picks / sizeof *picks; i++) {
    pick(picks[i].fields, picks[i].answer, picks[i].at, &out);
    assert_str(buf_str(&out), str_of(picks[i].want));
    buf_release(&out);
  }
}

static bool fill_all(void *ctx) {
  struct arena arena;
  struct json *args, *body;
  struct buf out;
  struct err err = {0};
  struct pack pack = {.name = STR("p")};
  struct body_extra page = {STR("e"), STR("2")};
  (void)ctx;
  arena_init(&arena, ROOM);
  buf_init(&out, ROOM);
  enum rein_code code = json_parse(&arena, STR("{\"v\":\"가\"}"), JSON_UNIQUE, &args, &err);
  if (!code)
    code = json_parse(&arena, STR("{\"a\":\"{{v}}\",\"b\":\"<{{v}}>\"}"), JSON_STRICT, &body, &err);
  struct fill_from from = {&pack, code ? NULL : args, STR("f")};
  struct pack_request r = {.path = STR("/x/{{v}}"), .query = code ? NULL : body};
  if (!code) code = template_path(&out, &r, STR_NONE, &from, &err);
  if (!code) code = template_body(&out, body, &page, &from, &err);
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  buf_release(&out);
  arena_release(&arena);
  return code == REIN_OK;
}

static void test_memory(void **state) {
  (void)state;
  assert_true(oom_each(fill_all, NULL) > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),   cmocka_unit_test(test_refused_steps),
      cmocka_unit_test(test_queries), cmocka_unit_test(test_headers),
      cmocka_unit_test(test_bodies),  cmocka_unit_test(test_secret),
      cmocka_unit_test(test_absent),  cmocka_unit_test(test_braces),
      cmocka_unit_test(test_picks),   cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
