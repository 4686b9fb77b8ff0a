/* Any bytes as a schema: no crash, an end, and a reason with a sentence. */
#include "schema/schema.h"

#include "base/mem.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena;
  struct json *doc;
  struct schema *schema;
  struct err err = {0};
  static const struct json value = {.kind = JSON_STRING, .source = {"\"a\"", 3}, .text = {"a", 1}};
  if (size < 1) return 0;
  struct schema_options options = {.hold_formats = data[0] & 1,
                                   .draft = data[0] & 2 ? SCHEMA_DRAFT_7 : SCHEMA_DRAFT_2020};
  arena_init(&arena, 64u << 20);
  struct str text = {(const char *)data + 1, size - 1};
  if (json_parse(&arena, text, JSON_UNIQUE, &doc, NULL)) goto out;
  enum rein_code code = schema_new(doc, &options, &schema, &err);
  assert(code == REIN_OK || (err.code == code && err.text != T_NONE));
  if (!code) (void)!schema_check(schema, &value, NULL);
  schema_free(schema);
out:
  arena_release(&arena);
  return 0;
}
