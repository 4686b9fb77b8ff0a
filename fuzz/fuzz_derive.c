/* Any JSON as the schema of a tool, derived for each dialect: it ends within its
 * ceilings, twice with the same bytes, and what is sent is JSON with an object at
 * its root.
 */
#include "base/buf.h"
#include "schema/derive.h"

#include <stdlib.h>

static enum rein_code once(struct arena *arena, const struct dialect *d, const struct json *doc,
                           struct tool_sent sent[2], struct findings *found) {
  const struct tool_schema tools[2] = {{STR("one"), doc->source, doc},
                                       {STR("two"), doc->source, doc}};
  return derive_tools(arena, &(struct derive_spec){d, REIN_KOREAN, tools, 2, true}, sent, found);
}

static void check(const struct dialect *d, const struct json *doc) {
  struct arena arena;
  struct tool_sent a[2], b[2];
  struct findings found = {0}, again = {0};
  struct json *sent;
  arena_init(&arena, 256u << 20);
  if (once(&arena, d, doc, a, &found) == REIN_OK && once(&arena, d, doc, b, &again) == REIN_OK) {
    for (int i = 0; i < 2; i++) {
      if (a[i].refused != b[i].refused || !str_eq(a[i].schema, b[i].schema)) abort();
      if (a[i].refused) continue;
      if (json_parse(&arena, a[i].schema, JSON_STRICT, &sent, NULL) == REIN_INPUT) abort();
      if (!json_is(sent, JSON_OBJECT)) abort();
      if (a[i].strict && !(d->shape & SHAPE_STRICT)) abort();
    }
  }
  arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena;
  struct json *doc;
  arena_init(&arena, 16u << 20);
  struct str text = {(const char *)data, size};
  if (json_parse(&arena, text, JSON_UNIQUE, &doc, NULL) == REIN_OK)
    for (size_t i = 0; i < DIALECT_COUNT; i++)
      check(&dialects[i], doc);
  arena_release(&arena);
  return 0;
}
