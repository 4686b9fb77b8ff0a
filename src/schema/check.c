/* The face for values: plain ones, and the arguments of a call. */
#include "schema/absent.h"
#include "schema/eval.h"
#include "schema/explain.h"

#include "base/utf8.h"

#define SENTENCE_BYTES_MAX (16u << 10)

static enum rein_code say_limit(const struct check *c, struct err *err) {
  struct num_text room;
  if (c->fail == REIN_MEMORY) return ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  int64_t limit = c->why == T_SCHEMA_DEEP ? SCHEMA_DEPTH_MAX : SCHEMA_STEPS_MAX;
  struct str root = str_of(text_raw(T_SCHEMA_ROOT, c->schema->lang));
  return ERR(err, REIN_LIMIT, c->why, root, str_num(&room, limit));
}

enum rein_code schema_check(struct schema *schema, const struct json *value, struct err *err) {
  struct check c;
  check_init(&c, schema);
  bool fits = eval(&c, schema->root, value, NULL);
  enum rein_code code = REIN_OK;
  if (c.fail)
    code = say_limit(&c, err);
  else if (!fits)
    code = REIN_INPUT;
  check_release(&c);
  return code == REIN_INPUT && err ? explain(schema, value, err) : code;
}

/* The first number that no double can hold; NULL: none. */
static const struct json *find_huge(const struct json *value) {
  double d;
  if (json_is(value, JSON_NUMBER)) return json_double(value, &d) ? NULL : value;
  const struct json *found = NULL;
  for (const struct json *one = value->first; one && !found; one = one->next)
    found = find_huge(one);
  return found;
}

static enum rein_code no_huge(struct schema *schema, const struct json *args, struct err *err) {
  const struct json *huge = find_huge(args);
  struct finding f = {RANK_OTHER, T_SCHEMA_NUMBER, huge, {{WORD_SOURCE, {.value = huge}}}};
  return huge ? finding_say(&f, args, schema->lang, err) : REIN_OK;
}

static enum rein_code check_clean(struct schema *schema, struct str text, struct err *err) {
  struct arena arena;
  struct json *doc;
  arena_init(&arena, CHECK_BYTES_MAX);
  enum rein_code code = json_parse(&arena, text, JSON_STRICT, &doc, err);
  if (!code) code = schema_check(schema, doc, err);
  arena_release(&arena);
  return code;
}

enum rein_code schema_check_args(struct schema *schema, const struct json *args, struct buf *out,
                                 struct str *clean, struct err *err) {
  bool dropped = false;
  *clean = args->source;
  enum rein_code code = no_huge(schema, args, err);
  if (!code) code = absent_drop(schema, args, out, &dropped, err);
  if (code) return code;
  if (!dropped) return schema_check(schema, args, err);
  *clean = buf_str(out);
  return check_clean(schema, *clean, err);
}

void schema_line(struct buf *out, enum rein_lang lang, const struct err *err) {
  struct buf said, shown;
  buf_init(&said, SENTENCE_BYTES_MAX);
  buf_init(&shown, 4 * SENTENCE_BYTES_MAX);
  err_put(&said, lang, err);
  utf8_show(&shown, buf_str(&said), false);
  struct str all = buf_str(&shown), head = utf8_head(all, SCHEMA_LINE_POINTS);
  if (head.n < all.n) head = utf8_head(all, SCHEMA_LINE_POINTS - 1);
  buf_put(out, head);
  if (head.n < all.n) buf_lit(out, "…");
  if ((said.fail || shown.fail) && !out->fail) out->fail = REIN_MEMORY;
  buf_release(&said);
  buf_release(&shown);
}
