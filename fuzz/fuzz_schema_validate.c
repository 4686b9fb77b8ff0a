/* A schema and a value, divided by a line end: no crash, an end, a line that can be
 * shown, and the same verdict when the value is checked again.
 */
#include "schema/schema.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(const struct err *err, enum rein_lang lang) {
  struct buf line;
  buf_init(&line, 1 << 16);
  schema_line(&line, lang, err);
  assert(line.n > 0 && utf8_count(buf_str(&line)) <= SCHEMA_LINE_POINTS);
  assert(str_find_char(buf_str(&line), '\n') == line.n);
  buf_release(&line);
}

static void check(struct schema *schema, const struct json *value) {
  struct err err = {0};
  struct buf out;
  struct str clean;
  enum rein_code code = schema_check(schema, value, &err);
  assert(code == schema_check(schema, value, NULL));
  if (code) check_line(&err, REIN_ENGLISH);
  if (code) check_line(&err, REIN_KOREAN);
  buf_init(&out, 1 << 20);
  (void)!schema_check_args(schema, value, &out, &clean, &err);
  buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena;
  struct json *doc, *value;
  struct schema *schema = NULL;
  struct schema_options options = {.hold_formats = true};
  struct str text = {(const char *)data, size}, first, second;
  if (!str_split(text, '\n', &first, &second)) return 0;
  arena_init(&arena, 64u << 20);
  if (!json_parse(&arena, first, JSON_STRICT, &doc, NULL) &&
      !json_parse(&arena, second, JSON_STRICT, &value, NULL) &&
      !schema_new(doc, &options, &schema, NULL))
    check(schema, value);
  schema_free(schema);
  arena_release(&arena);
  return 0;
}
