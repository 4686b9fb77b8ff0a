/* Arguments against a schema: what passes, what is said, and nulls that mean "absent". */
#include "schema/schema.h"

#include "support/oom.h"
#include "support/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SCHEMA                                                                                     \
  "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"                           \
  "\"limit\":{\"type\":\"integer\"},\"kind\":{\"enum\":[\"a\",\"b\",1.0]},"                        \
  "\"tag\":{\"type\":[\"string\",\"null\"]},\"list\":{\"type\":\"array\",\"items\":{\"type\":"     \
  "\"number\"}},\"o\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\"}}}},"        \
  "\"required\":[\"path\"],\"additionalProperties\":false}"

static const struct schema_options options = {.hold_formats = true};

struct checked {
  struct schema *schema;
  struct arena arena;
  struct buf out;
  struct str clean;
  struct err err;
  enum rein_code code;
};

static void check_against(struct checked *c, struct str schema, struct str args) {
  struct json *s, *a;
  *c = (struct checked){0};
  arena_init(&c->arena, 1 << 22);
  buf_init(&c->out, 1 << 20);
  c->code = json_parse(&c->arena, schema, 0, &s, &c->err);
  if (c->code == REIN_OK) c->code = json_parse(&c->arena, args, 0, &a, &c->err);
  if (c->code == REIN_OK) c->code = schema_new(s, &options, &c->schema, &c->err);
  if (c->code == REIN_OK) c->code = schema_check_args(c->schema, a, &c->out, &c->clean, &c->err);
}

static void release(struct checked *c) {
  schema_free(c->schema);
  arena_release(&c->arena);
  buf_release(&c->out);
}

static void passes(void **state) {
  (void)state;
  static const struct {
    const char *args, *clean;
  } rows[] = {
      {"{\"path\":\"x\"}", "{\"path\":\"x\"}"},
      {"{ \"path\" : \"x\" }", "{ \"path\" : \"x\" }"},
      {"{\"path\":\"x\",\"limit\":null}", "{\"path\":\"x\"}"},
      {"{\"path\":\"x\",\"limit\":2.0}", "{\"path\":\"x\",\"limit\":2.0}"},
      {"{\"path\":\"x\",\"limit\":123456789012345678901234567890}",
       "{\"path\":\"x\",\"limit\":123456789012345678901234567890}"},
      {"{\"path\":\"x\",\"kind\":1}", "{\"path\":\"x\",\"kind\":1}"},
      {"{\"path\":\"x\",\"kind\":null}", "{\"path\":\"x\"}"},
      {"{\"path\":\"x\",\"tag\":null}", "{\"path\":\"x\",\"tag\":null}"},
      {"{\"path\":\"x\",\"o\":{\"x\":null,\"y\":null}}", "{\"path\":\"x\",\"o\":{\"y\":null}}"},
      {"{\"path\":\"x\",\"list\":[1,2.5e3]}", "{\"path\":\"x\",\"list\":[1,2.5e3]}"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct checked c;
    check_against(&c, STR(SCHEMA), str_of(rows[i].args));
    assert_int_equal(c.code, REIN_OK);
    if (!str_is(c.clean, rows[i].clean))
      fail_msg("%s became %.*s", rows[i].args, (int)c.clean.n, c.clean.p);
    release(&c);
  }
}

static void fails(void **state) {
  (void)state;
  static const struct {
    const char *args, *says;
  } rows[] = {
      {"{}", "the arguments: the member \"path\" is required and missing"},
      {"[]", "expected object, got array"},
      {"{\"path\":null}", "/path: expected string, got null"},
      {"{\"path\":\"x\",\"limit\":\"1\"}", "/limit: expected integer, got string"},
      {"{\"path\":\"x\",\"limit\":1.5}", "/limit: expected integer, got number"},
      {"{\"path\":\"x\",\"limit\":1e400}", "/limit: the number 1e400 is too large"},
      {"{\"path\":\"x\",\"kind\":\"c\"}", "/kind: expected one of [\"a\",\"b\",1.0], got \"c\""},
      {"{\"path\":\"x\",\"list\":[1,\"2\"]}", "/list/1: expected number, got string"},
      {"{\"path\":\"x\",\"o\":{\"x\":1}}", "/o/x: expected string, got number"},
      {"{\"path\":\"x\",\"pth\":1}",
       "\"pth\" is not known; it takes path, limit, kind, tag, list, o"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct checked c;
    struct buf said;
    check_against(&c, STR(SCHEMA), str_of(rows[i].args));
    assert_int_equal(c.code, REIN_INPUT);
    buf_init(&said, 4096);
    err_put(&said, REIN_ENGLISH, &c.err);
    if (!str_has(buf_str(&said), str_of(rows[i].says)))
      fail_msg("%s: says %s", rows[i].args, buf_z(&said));
    buf_release(&said);
    release(&c);
  }
}

/* Null for a member that a branch of a choice asks for, and the rest can do without. */
static void nulls_beside_a_choice(void **state) {
  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{}},"
      "\"anyOf\":[{\"required\":[\"a\"]},{\"properties\":{\"b\":{\"const\":1}}}]}";
  struct arena arena;
  struct json *doc, *args;
  struct schema *s;
  struct err err = {0};
  struct buf out;
  struct str clean;
  (void)state;
  arena_init(&arena, 1u << 20);
  buf_init(&out, 4096);
  assert_int_equal(json_parse(&arena, str_of(schema), JSON_UNIQUE, &doc, &err), REIN_OK);
  assert_int_equal(schema_new(doc, NULL, &s, &err), REIN_OK);
  assert_int_equal(json_parse(&arena, STR("{\"a\":null,\"b\":1}"), JSON_STRICT, &args, &err),
                   REIN_OK);
  assert_int_equal(schema_check_args(s, args, &out, &clean, &err), REIN_OK);
  assert_text(clean, "{\"b\":1}");
  schema_free(s);
  buf_release(&out);
  arena_release(&arena);
}

static void handed_nulls(void **state) {
  (void)state;
  struct buf file;
  struct arena arena;
  shared_read(&file, "cases/A03-null-for-optional/cases.json");
  struct json *doc;
  arena_init(&arena, 1 << 22);
  assert_int_equal(json_parse(&arena, buf_str(&file), 0, &doc, NULL), REIN_OK);
  for (const struct json *row = doc->first; row; row = row->next) {
    struct checked c;
    const struct json *out = json_get(row, "out");
    check_against(&c, json_get(row, "schema")->source, json_get(row, "in")->source);
    assert_int_equal(c.code, json_is(out, JSON_STRING) ? REIN_INPUT : REIN_OK);
    if (c.code == REIN_OK) {
      struct json *got;
      struct buf a, b;
      buf_init(&a, 4096);
      buf_init(&b, 4096);
      assert_int_equal(json_parse(&c.arena, c.clean, 0, &got, NULL), REIN_OK);
      json_canon(&a, got, false);
      json_canon(&b, out, false);
      assert_string_equal(buf_z(&a), buf_z(&b));
      buf_release(&a);
      buf_release(&b);
    }
    release(&c);
  }
  buf_release(&file);
  arena_release(&arena);
}

/* Four subschemas for each level of the value. */
static void depth_is_bounded(void **state) {
  (void)state;
  struct checked c;
  struct buf args;
  buf_init(&args, 1 << 16);
  for (int i = 0; i < 400; i++)
    buf_c(&args, '[');
  for (int i = 0; i < 400; i++)
    buf_c(&args, ']');
  check_against(&c,
                STR("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/b\"}},"
                    "\"b\":{\"allOf\":[{\"$ref\":\"#/$defs/a\"}]}}}"),
                buf_str(&args));
  assert_int_equal(c.code, REIN_LIMIT);
  assert_int_equal(c.err.text, T_SCHEMA_DEEP);
  release(&c);
  buf_release(&args);
}

static bool scenario(void *ctx) {
  struct checked c;
  (void)ctx;
  check_against(&c, STR(SCHEMA),
                STR("{\"path\":\"x\",\"limit\":null,\"o\":{\"x\":null},\"kind\":\"b\"}"));
  bool fine = c.code == REIN_OK;
  assert_true(fine || c.code == REIN_MEMORY);
  release(&c);
  return fine;
}

static void memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes),           cmocka_unit_test(fails),
      cmocka_unit_test(handed_nulls),     cmocka_unit_test(nulls_beside_a_choice),
      cmocka_unit_test(depth_is_bounded), cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
