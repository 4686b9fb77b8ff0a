/* The schema that is sent: each dialect's shape, what is moved and why, strict or
 * loose, the same bytes for the same tools, every allocation failing.
 *
 *   test_derive FILE   FILE holds a request a line: {"dialect", "tools": [{"name",
 *                      "schema"}]}; one line each: what is sent and what was found.
 *                      tests/schema/test_dialects.py reads it. Without FILE it
 *                      tests itself.
 */
#include "support/oom.h"
#include "support/test.h"

#include "json/write.h"
#include "schema/derive.h"

#include <stdio.h>
#include <stdlib.h>

#define TOOLS 200

static struct str dialect_word(const struct finding *f) {
  return str_of(f->dialect->name);
}

static void put_findings(struct json_out *w, const struct tool_schema *tools,
                         const struct findings *found) {
  json_key(w, "findings");
  json_open(w, '[');
  for (const struct finding *f = found->first; f; f = f->next) {
    json_open(w, '{');
    json_key(w, "tool");
    json_put_text(w, tools[f->tool].name);
    json_key(w, "pointer");
    json_put_text(w, f->pointer);
    json_key(w, "keyword");
    json_put_text(w, f->keyword);
    json_key(w, "dialect");
    json_put_text(w, dialect_word(f));
    json_key(w, "effect");
    json_put_text(w, str_of(effect_word(f->effect)));
    json_close(w, '}');
  }
  json_close(w, ']');
}

static void put_sent(struct json_out *w, const struct tool_schema *tools,
                     const struct tool_sent *sent, size_t n) {
  json_key(w, "sent");
  json_open(w, '[');
  for (size_t i = 0; i < n; i++) {
    json_open(w, '{');
    json_key(w, "name");
    json_put_text(w, tools[i].name);
    json_key(w, "strict");
    json_put_bool(w, sent[i].strict);
    json_key(w, "refused");
    json_put_bool(w, sent[i].refused);
    json_key(w, "schema");
    if (sent[i].schema.n)
      json_put_raw(w, sent[i].schema);
    else
      json_put_null(w);
    json_close(w, '}');
  }
  json_close(w, ']');
}

/* Derives the tools of one line; out: its answer. REIN_MEMORY as it comes. */
static enum rein_code answer(struct str line, struct buf *out) {
  struct arena arena;
  struct json *doc = NULL;
  struct tool_schema tools[TOOLS];
  struct tool_sent sent[TOOLS];
  struct findings found = {0};
  size_t n = 0;
  arena_init(&arena, 256u << 20);
  enum rein_code code = json_parse(&arena, line, JSON_STRICT, &doc, NULL);
  if (code == REIN_OK) {
    const struct json *list = json_get(doc, "tools");
    for (const struct json *t = list->first; t && n < TOOLS; t = t->next) {
      const struct json *schema = json_get(t, "schema");
      tools[n++] = (struct tool_schema){json_text(json_get(t, "name")), schema->source, schema};
    }
    const struct dialect *d = dialect_by_name(json_text(json_get(doc, "dialect")));
    assert_non_null(d);
    struct derive_spec spec = {
        .dialect = d, .model_lang = REIN_ENGLISH, .tools = tools, .count = n};
    code = derive_tools(&arena, &spec, sent, &found);
  }
  if (code == REIN_OK) {
    struct json_out w = json_out(out);
    json_open(&w, '{');
    put_sent(&w, tools, sent, n);
    put_findings(&w, tools, &found);
    json_close(&w, '}');
    code = out->fail;
  }
  arena_release(&arena);
  return code;
}

static int dump(const char *path) {
  struct buf all, out;
  FILE *f = fopen(path, "rb");
  if (!f) return 1;
  buf_init(&all, 1u << 30);
  buf_init(&out, 1u << 30);
  for (size_t n = 1; n > 0;) {
    char *room = buf_room(&all, 65536);
    n = fread(room, 1, 65536, f);
    buf_grown(&all, n);
  }
  (void)fclose(f);
  struct str rest = buf_str(&all), line;
  int exit = 0;
  while (str_next(&rest, '\n', &line)) {
    buf_reset(&out);
    if (line.n && answer(line, &out) != REIN_OK) exit = 1;
    if (line.n) printf("%s\n", buf_z(&out));
  }
  buf_release(&all);
  buf_release(&out);
  return exit;
}

/* ---- what one tool becomes ------------------------------------------------- */

/* The schema that is sent for `schema`, with or without strict behind it. */
static void sent_is(const char *dialect, const char *schema, const char *want, int line) {
  struct buf ask, out, got;
  struct arena arena;
  struct json *doc;
  buf_init(&ask, 1u << 20);
  buf_init(&out, 1u << 20);
  buf_init(&got, 1u << 20);
  buf_fmt(&ask, "{\"dialect\":\"%s\",\"tools\":[{\"name\":\"t\",\"schema\":%s}]}", dialect, schema);
  assert_int_equal(answer(buf_str(&ask), &out), REIN_OK);
  arena_init(&arena, 1u << 24);
  assert_int_equal(json_parse(&arena, buf_str(&out), JSON_UNIQUE, &doc, NULL), REIN_OK);
  const struct json *sent = json_at(json_get(doc, "sent"), 0);
  buf_put(&got, json_get(sent, "schema")->source);
  if (json_true(json_get(sent, "strict"))) buf_lit(&got, " strict");
  if (json_true(json_get(sent, "refused"))) buf_lit(&got, " refused");
  check_text(buf_str(&got), str_of(want), __FILE__, line);
  arena_release(&arena);
  buf_release(&ask);
  buf_release(&out);
  buf_release(&got);
}
#define SENT(dialect, schema, want) sent_is(dialect, schema, want, __LINE__)
#define OBJECT(p) "{\"type\":\"object\",\"properties\":{" p "}}"
#define NEEDS(p, r) "{\"type\":\"object\",\"properties\":{" p "},\"required\":[" r "]"

static void the_common_core_goes_as_written(void **state) {
  (void)state;
  static const char core[] = "{\"type\": \"object\",  \"properties\":{\"a\":{\"type\":\"string\","
                             "\"description\":\"x\"}}, \"required\":[\"a\"]}";
  SENT("openai", core, core);
  SENT("anthropic", core, core);
  SENT("llama.cpp", core, core);
  SENT("gemini", core, core);
}

static void bounds_of_a_list_become_words(void **state) {
  (void)state;
#define LIST                                                                                       \
  "\"a\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":5}"
  SENT("openai-strict-2024", NEEDS(LIST, "\"a\"") "}",
       NEEDS("\"a\":{\"description\":\"at least 1 items; at most 5 items\",\"type\":\"array\","
             "\"items\":{\"type\":\"string\"}}",
             "\"a\"") ",\"additionalProperties\":false} strict");
  SENT("openai-strict", NEEDS(LIST, "\"a\"") "}",
       NEEDS("\"a\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":5,\"items\":{\"type\":"
             "\"string\"}}",
             "\"a\"") ",\"additionalProperties\":false} strict");
  SENT("anthropic-strict", NEEDS(LIST, "\"a\"") "}",
       NEEDS(
           "\"a\":{\"description\":\"at most 5 items\",\"type\":\"array\",\"minItems\":1,\"items\":"
           "{\"type\":\"string\"}}",
           "\"a\"") ",\"additionalProperties\":false} strict");
}

static void optional_members_become_nullable(void **state) {
  (void)state;
  SENT("openai-strict",
       OBJECT("\"a\":{\"enum\":[\"x\"]},\"b\":{\"const\":1},\"c\":{\"type\":[\"string\","
              "\"null\"]}"),
       NEEDS("\"a\":{\"type\":[\"string\",\"null\"],\"enum\":[\"x\",null]},"
             "\"b\":{\"type\":[\"integer\",\"null\"],\"enum\":[1,null]},"
             "\"c\":{\"type\":[\"string\",\"null\"]}",
             "\"a\",\"b\",\"c\"") ",\"additionalProperties\":false} strict");
  SENT("gemini", OBJECT("\"c\":{\"type\":[\"string\",\"null\"]}"),
       OBJECT("\"c\":{\"type\":\"string\",\"nullable\":true}"));
}

static void what_cannot_be_strict_goes_loose(void **state) {
  (void)state;
  static const char map[] = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":"
                            "{\"type\":\"string\"}}";
  SENT("openai-strict", map, map);
  SENT("anthropic-strict", map, map);
  SENT("openai-strict", OBJECT("\"a\":{}"), OBJECT("\"a\":{}"));
  SENT("openai-strict", "{}",
       "{\"type\":\"object\",\"properties\":{},\"required\":[],\"additionalProperties\":false} "
       "strict");
}

static void what_is_no_object_is_refused(void **state) {
  (void)state;
  SENT("openai", "{\"type\":\"array\"}", "null refused");
  SENT("anthropic", "[]", "null refused");
  SENT("gemini", "true", "null refused");
}

/* What two parts of an allOf say of what is below is said of both. */
static void all_of_is_merged_below(void **state) {
  (void)state;
  SENT("openai-strict",
       NEEDS("\"a\":{\"type\":\"array\",\"allOf\":[{\"items\":{\"type\":\"string\"}},{\"items\":"
             "{\"maxLength\":3}}]}",
             "\"a\"") "}",
       NEEDS("\"a\":{\"type\":\"array\",\"items\":{\"description\":\"at most 3 characters\","
             "\"type\":\"string\"}}",
             "\"a\"") ",\"additionalProperties\":false} strict");
  SENT("llama.cpp",
       NEEDS("\"a\":{\"type\":\"object\",\"allOf\":[{\"additionalProperties\":{\"type\":"
             "\"integer\"}},{\"additionalProperties\":{\"minimum\":3}}]}",
             "\"a\"") "}",
       NEEDS("\"a\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\","
             "\"minimum\":3}}",
             "\"a\"") "}");
}

static void references_are_written_out(void **state) {
  (void)state;
#define DEFS ",\"$defs\":{\"p\":{\"type\":\"string\",\"maxLength\":3}}}"
  SENT("gemini", NEEDS("\"a\":{\"$ref\":\"#/$defs/p\",\"description\":\"d\"}", "\"a\"") DEFS,
       NEEDS("\"a\":{\"description\":\"d\",\"type\":\"string\",\"maxLength\":3}", "\"a\"") "}");
  SENT("openai-strict", NEEDS("\"a\":{\"$ref\":\"#\"}", "\"a\"") "}",
       NEEDS("\"a\":{\"$ref\":\"#\"}", "\"a\"") ",\"additionalProperties\":false} strict");
  SENT("anthropic-strict", NEEDS("\"a\":{\"$ref\":\"#\"}", "\"a\"") "}",
       NEEDS("\"a\":{\"$ref\":\"#\"}", "\"a\"") "}");
}

static void branches_of_the_root_are_kept_as_properties(void **state) {
  (void)state;
  SENT("anthropic",
       "{\"type\":\"object\",\"oneOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":"
       "[\"a\"]},{\"properties\":{\"b\":{\"type\":\"string\"}},\"required\":[\"b\"]}]}",
       "{\"description\":\"matches exactly one of "
       "[{\\\"properties\\\":{\\\"a\\\":{\\\"type\\\":\\\"string\\\"}},\\\"required\\\":[\\\"a\\\"]"
       "},"
       "{\\\"properties\\\":{\\\"b\\\":{\\\"type\\\":\\\"string\\\"}},\\\"required\\\":[\\\"b\\\"]}"
       "]\","
       "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}"
       "}}");
}

static void first_keys_are_told_apart(void **state) {
  (void)state;
  SENT(
      "openai-strict",
      NEEDS("\"a\":{\"anyOf\":[" NEEDS("\"k\":{\"const\":\"x\"}", "\"k\"") "}," NEEDS(
                "\"k\":{\"const\":\"y\"},\"z\":{\"type\":\"string\"}", "\"k\",\"z\"") "}]}",
            "\"a\"") "}",
      NEEDS(
          "\"a\":{\"anyOf\":[" NEEDS(
              "\"k\":{\"type\":\"string\",\"const\":\"x\"}",
              "\"k\"") ",\"additionalProperties\":false}," NEEDS("\"z\":{\"type\":\"string\"},"
                                                                 "\"k\":{\"type\":\"string\","
                                                                 "\"const\":\"y\"}",
                                                                 "\"k\",\"z\"") ",\"additionalPrope"
                                                                                "rties\":false}]}",
          "\"a\"") ",\"additionalProperties\":false} strict");
}

static void keys_that_are_refused_become_words(void **state) {
  (void)state;
  SENT("anthropic", NEEDS("\"가\":{\"type\":\"string\"}", "\"가\"") "}",
       "{\"description\":\"must also have the member \\\"가\\\": {\\\"type\\\":\\\"string\\\"}\","
       "\"type\":\"object\",\"properties\":{}}");
}

/* ---- requests ---------------------------------------------------------------- */

static void a_request_has_room_for_so_many(void **state) {
  (void)state;
  struct buf ask, out;
  buf_init(&ask, 1u << 20);
  buf_init(&out, 1u << 22);
  buf_lit(&ask, "{\"dialect\":\"anthropic-strict\",\"tools\":[");
  for (int i = 0; i < 22; i++)
    buf_fmt(&ask, "%s{\"name\":\"t%d\",\"schema\":%s}", i ? "," : "", i,
            OBJECT("\"a\":{\"type\":\"string\"}"));
  buf_lit(&ask, "]}");
  assert_int_equal(answer(buf_str(&ask), &out), REIN_OK);
  struct str rest = buf_str(&out);
  size_t strict = 0;
  for (size_t at; (at = str_find(rest, STR("\"strict\":true"))) < rest.n; strict++)
    rest = str_part(rest, at + 1, rest.n);
  assert_int_equal(strict, 20);
  buf_release(&ask);
  buf_release(&out);
}

static void names_are_told_apart(void **state) {
  (void)state;
  static const struct {
    const char *server, *name, *want;
  } cases[] = {{"", "read_file", "read_file"}, {"files", "read", "files__read"}};
  for (size_t i = 0; i < 2; i++) {
    struct buf b;
    buf_init(&b, 256);
    tool_name_put(&b, str_of(cases[i].server), str_of(cases[i].name));
    assert_str(buf_str(&b), str_of(cases[i].want));
    buf_release(&b);
  }
  static const char *const odd[] = {
      "user.get", "user_get",
      "user/get", "읽기",
      "",         "9 lives",
      "-x",       "a name that is longer than sixty-four bytes, and that goes on and on"};
  struct buf made[8];
  for (size_t i = 0; i < 8; i++) {
    buf_init(&made[i], 256);
    tool_name_put(&made[i], STR("srv"), str_of(odd[i]));
    for (size_t k = 0; k < DIALECT_COUNT; k++)
      assert_true(dialect_takes_name(&dialects[k], buf_str(&made[i])));
    for (size_t k = 0; k < i; k++)
      assert_false(str_eq(buf_str(&made[i]), buf_str(&made[k])));
  }
  for (size_t i = 0; i < 8; i++)
    buf_release(&made[i]);
}

/* ---- attacks ------------------------------------------------------------------ */

static void bombs_end(void **state) {
  (void)state;
  struct buf s, ask, out;
  buf_init(&s, 1u << 20);
  buf_lit(&s, "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/d0\"}},\"$defs\":{");
  for (int i = 0; i < 40; i++)
    buf_fmt(&s,
            "%s\"d%d\":{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/d%d\"},"
            "\"y\":{\"$ref\":\"#/$defs/d%d\"}}}",
            i ? "," : "", i, i + 1, i + 1);
  buf_lit(&s, ",\"d40\":{\"type\":\"string\"}}}");
  for (size_t i = 0; i < DIALECT_COUNT; i++) {
    buf_init(&ask, 1u << 21);
    buf_init(&out, 1u << 24);
    buf_fmt(&ask, "{\"dialect\":\"%s\",\"tools\":[{\"name\":\"t\",\"schema\":%s}]}",
            dialects[i].name, buf_z(&s));
    assert_int_equal(answer(buf_str(&ask), &out), REIN_OK);
    buf_release(&ask);
    buf_release(&out);
  }
  buf_release(&s);
}

static const char many_keywords[] =
    "{\"dialect\":\"%s\",\"tools\":[{\"name\":\"t\",\"schema\":{\"type\":\"object\",\"properties\":"
    "{"
    "\"a\":{\"type\":[\"string\",\"array\",\"null\"],\"minLength\":3,\"items\":{\"type\":"
    "\"string\"}},"
    "\"b\":{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/n\"}],\"title\":\"B\"},"
    "\"c\":{\"prefixItems\":[{\"const\":1},{\"type\":\"string\"}],\"items\":false},"
    "\"d\":{\"allOf\":[{\"properties\":{\"x\":{\"type\":\"integer\",\"minimum\":1}}},"
    "{\"required\":[\"x\"],\"properties\":{\"x\":{\"maximum\":9}}}]},"
    "\"e\":{\"enum\":[1,\"z\",null],\"examples\":[1]},\"f\":true,\"g\":false},"
    "\"if\":{\"required\":[\"a\"]},\"then\":{\"properties\":{\"h\":{\"type\":\"string\"}}},"
    "\"patternProperties\":{\"^x\":{}},\"minProperties\":1,\"$comment\":\"c\","
    "\"$defs\":{\"n\":{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#/$defs/n\"}},"
    "\"additionalProperties\":false}}}},{\"name\":\"t\",\"schema\":{}}]}";

struct round {
  struct str ask;
  struct buf first;
};

static bool derive_once(void *ctx) {
  struct round *r = ctx;
  struct buf out;
  buf_init(&out, 1u << 20);
  enum rein_code code = answer(r->ask, &out);
  bool fine = code == REIN_OK && !out.fail;
  if (!fine) assert_int_equal(code, REIN_MEMORY);
  if (fine && r->first.n) assert_str(buf_str(&out), buf_str(&r->first));
  if (fine && !r->first.n) buf_put(&r->first, buf_str(&out));
  buf_release(&out);
  return fine;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < DIALECT_COUNT; i++) {
    struct buf ask;
    struct round r = {0};
    buf_init(&ask, 1u << 16);
    buf_init(&r.first, 1u << 20);
    buf_fmt(&ask, many_keywords, dialects[i].name);
    r.ask = buf_str(&ask);
    assert_true(derive_once(&r));
    assert_true(oom_each(derive_once, &r) > 0);
    buf_release(&ask);
    buf_release(&r.first);
  }
}

static void every_rule_names_a_keyword(void **state) {
  (void)state;
  for (size_t i = 0; i < DIALECT_COUNT; i++) {
    const struct dialect *d = &dialects[i];
    assert_ptr_equal(dialect_by_name(str_of(d->name)), d);
    assert_true(strlen(d->source) > 0 && d->name_max > 0);
    assert_false(dialects[d->loose].shape & SHAPE_STRICT);
  }
  assert_int_equal(dialect_treat(&dialects[DIALECT_OPENAI_STRICT], STR("minLength")), TREAT_MOVE);
  assert_int_equal(dialect_treat(&dialects[DIALECT_OPENAI], STR("minLength")), TREAT_KEEP);
  assert_int_equal(dialect_treat(&dialects[DIALECT_GEMINI], STR("x-mine")), TREAT_DROP);
}

int main(int argc, char **argv) {
  if (argc == 2) return dump(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_common_core_goes_as_written),
      cmocka_unit_test(bounds_of_a_list_become_words),
      cmocka_unit_test(optional_members_become_nullable),
      cmocka_unit_test(what_cannot_be_strict_goes_loose),
      cmocka_unit_test(what_is_no_object_is_refused),
      cmocka_unit_test(all_of_is_merged_below),
      cmocka_unit_test(references_are_written_out),
      cmocka_unit_test(branches_of_the_root_are_kept_as_properties),
      cmocka_unit_test(first_keys_are_told_apart),
      cmocka_unit_test(keys_that_are_refused_become_words),
      cmocka_unit_test(a_request_has_room_for_so_many),
      cmocka_unit_test(names_are_told_apart),
      cmocka_unit_test(bombs_end),
      cmocka_unit_test(every_allocation_may_fail),
      cmocka_unit_test(every_rule_names_a_keyword),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
