/* Any bytes as JSON: what is read can be written and read again as the same,
 * its spelling is stable, and mending is done once and for all.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MUST(what)                                                                                 \
  do {                                                                                             \
    if (!(what)) abort();                                                                          \
  } while (0)

#define BYTES_MAX ((size_t)64 << 20)

static void rewrite(struct json_out *w, const struct json *node) {
  bool object = node->kind == JSON_OBJECT;
  if (!object && node->kind != JSON_ARRAY) {
    if (node->kind == JSON_STRING && !node->surrogate)
      json_put_text(w, node->text);
    else
      json_put_raw(w, node->source);
    return;
  }
  json_open(w, object ? '{' : '[');
  size_t count = 0;
  for (const struct json *child = node->first; child; child = child->next, count++) {
    if (object) json_key_str(w, child->key);
    rewrite(w, child);
  }
  MUST(count == node->count);
  json_close(w, object ? '}' : ']');
}

/* Spans lie in the text, in order, and inside their parent. */
static void check_spans(const struct json *node) {
  const char *at = node->source.p, *end = at + node->source.n;
  MUST(node->source.n > 0);
  int64_t whole;
  double number;
  if (json_int(node, &whole)) MUST(json_double(node, &number));
  for (const struct json *child = node->first; child; child = child->next) {
    struct str key = child->key_source;
    if (node->kind == JSON_OBJECT) {
      MUST(key.p > at && key.n >= 2 && key.p[0] == '"' && key.p[key.n - 1] == '"');
      at = key.p + key.n;
    }
    MUST(child->source.p > at || (child->source.p == at && node->kind != JSON_ARRAY));
    at = child->source.p + child->source.n;
    MUST(at < end);
    MUST(!child->surrogate || node->surrogate);
    check_spans(child);
  }
}

static struct json *parse(struct arena *arena, struct str text, unsigned mode) {
  struct json *doc = NULL;
  struct err err = {0};
  enum rein_code code = json_parse(arena, text, mode, &doc, &err);
  MUST((code == REIN_OK) == (doc != NULL));
  MUST(code == err.code && err.at <= text.n);
  return doc;
}

static void check_tree(struct arena *arena, const struct json *doc) {
  struct buf canon = {.max = BYTES_MAX}, again = {.max = BYTES_MAX}, text = {.max = BYTES_MAX};
  check_spans(doc);
  json_canon(&canon, doc, false);
  struct json_out w = json_out(&text);
  rewrite(&w, doc);
  const struct json *second = parse(arena, buf_str(&text), JSON_STRICT);
  MUST(second && (second->twin != NULL) == (doc->twin != NULL));
  json_canon(&again, second, false);
  MUST(str_eq(buf_str(&canon), buf_str(&again)));
  const struct json *third = parse(arena, buf_str(&canon), JSON_STRICT);
  MUST(third);
  buf_reset(&again);
  json_canon(&again, third, false);
  MUST(str_eq(buf_str(&canon), buf_str(&again)));
  MUST(utf8_valid(buf_str(&canon)));
  buf_release(&text);
  buf_release(&again);
  buf_release(&canon);
}

/* Mending changes nothing that needs none, leaves nothing that needs some, and
 * a good text stays good. */
static void check_mend(struct arena *arena, struct str s, const struct json *doc) {
  struct buf once = {.max = BYTES_MAX}, twice = {.max = BYTES_MAX};
  json_mend(&once, s);
  json_mend(&twice, buf_str(&once));
  MUST(str_eq(buf_str(&once), buf_str(&twice)));
  MUST(utf8_valid(buf_str(&once)));
  if (doc) {
    const struct json *mended = parse(arena, buf_str(&once), JSON_STRICT);
    MUST(mended && !mended->surrogate);
    MUST(doc->surrogate != str_eq(buf_str(&once), s));
  }
  buf_release(&twice);
  buf_release(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  struct str s = {(const char *)data, n};
  struct arena arena;
  arena_init(&arena, BYTES_MAX);
  const struct json *doc = parse(&arena, s, JSON_STRICT);
  const struct json *relaxed = parse(&arena, s, JSON_COMMENTS);
  MUST(!doc || relaxed);
  const struct json *unique = parse(&arena, s, JSON_UNIQUE);
  MUST((unique != NULL) == (doc && !json_find_twin(doc)));
  if (relaxed) check_tree(&arena, relaxed);
  check_mend(&arena, s, doc);
  arena_release(&arena);
  return 0;
}
