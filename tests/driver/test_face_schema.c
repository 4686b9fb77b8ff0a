/* JSON Schema through the library's face alone. */
#include "base/mem.h"

#include "support/oom.h"
#include "support/test.h"

#include <rein.h>

#define SCHEMA                                                                                     \
  "{\"type\":\"object\",\"required\":[\"when\"],\"properties\":{\"when\":{\"$ref\":"               \
  "\"https://example.com/when\"},\"note\":{\"maxLength\":3}}}"

static const struct rein_schema_document when = {
    "https://example.com/when", "{\"type\":\"string\",\"format\":\"date\"}", SIZE_MAX};
static const struct rein_schema_options options = {.size = sizeof options,
                                                   .hold_formats = true,
                                                   .lang = REIN_KOREAN,
                                                   .documents = &when,
                                                   .document_count = 1};

static void says(void **state) {
  (void)state;
  struct rein_schema *s;
  struct rein_error error;
  assert_int_equal(rein_schema_new(SCHEMA, SIZE_MAX, &options, &s, &error), REIN_OK);
  assert_int_equal(rein_schema_check(s, "{\"when\":\"2026-12-01\"}", SIZE_MAX, &error), REIN_OK);
  assert_int_equal(rein_schema_check(s, "{\"when\":\"soon\"}", SIZE_MAX, &error), REIN_INPUT);
  assert_string_equal(error.message,
                      "/when: date 형식이어야 하는데(예: 2026-12-01) \"soon\" 값이 왔습니다.");
  assert_int_equal(rein_schema_check(s, "{", 1, &error), REIN_INPUT);
  rein_schema_free(s);
}

static void refuses(void **state) {
  (void)state;
  struct rein_schema *s;
  struct rein_error error;
  assert_int_equal(
      rein_schema_new("{\"properties\":{\"a\":{\"type\":\"text\"}}}", SIZE_MAX, NULL, &s, &error),
      REIN_INPUT);
  assert_null(s);
  assert_non_null(strstr(error.message, "/properties/a/type: must be one or more of string"));
  assert_int_equal(rein_schema_new("no", 2, NULL, &s, NULL), REIN_INPUT);
  rein_schema_free(NULL);
}

static bool scenario(void *ctx) {
  (void)ctx;
  struct rein_schema *s;
  struct rein_error error;
  enum rein_code code = rein_schema_new(SCHEMA, SIZE_MAX, &options, &s, &error);
  if (!code) code = rein_schema_check(s, "{\"when\":\"2026-12-01\"}", SIZE_MAX, &error);
  rein_schema_free(s);
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  return code == REIN_OK;
}

static void memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(says), cmocka_unit_test(refuses),
                                     cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
