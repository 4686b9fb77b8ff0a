/* Makes a schema: walks the document, builds the rules of every subschema found
 * (references find more), and refuses what would never end.
 */
#include "schema/compile.h"

#include "base/mem.h"

#include "base/utf8.h"

#define PATH_BYTES_MAX (64u << 10) /* a longer one is cut in the sentence anyway */
#define HOPS_MAX 8                 /* references in a row, skipped at once */
#define SHOWN_POINTS_MAX 60        /* of a keyword's value in a sentence */

/* The last step of a path: a member's key, or its place in a list. */
static void put_place(struct buf *out, const struct sub *sub) {
  struct num_text room;
  int64_t i = 0;
  json_step_put(out, sub->keyword->key);
  if (sub->keyword == sub->json) return;
  if (json_is(sub->keyword, JSON_OBJECT)) {
    json_step_put(out, sub->json->key);
    return;
  }
  for (const struct json *one = sub->keyword->first; one && one != sub->json; one = one->next)
    i++;
  json_step_put(out, str_num(&room, i));
}

/* Recursion is bounded by the reader's JSON_DEPTH_MAX, as the walk was. */
void sub_path(struct buf *out, const struct sub *sub) {
  if (!sub || out->fail) return;
  sub_path(out, sub->parent);
  if (sub->keyword) put_place(out, sub);
}

bool compile_full(struct compile *c) {
  struct num_text room;
  if (c->fail) return false;
  c->fail = c->arena->full ? REIN_LIMIT : REIN_MEMORY;
  if (c->arena->full)
    ERR(c->err, REIN_LIMIT, T_SCHEMA_TOO_LARGE, str_num(&room, SCHEMA_BYTES_MAX >> 20));
  else
    ERR(c->err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  return false;
}

bool compile_limit(struct compile *c, int64_t limit, enum text_id text) {
  struct num_text room;
  if (!c->fail) c->fail = ERR(c->err, REIN_LIMIT, text, str_num(&room, limit));
  return false;
}

bool compile_wrong(struct compile *c, const struct sub *sub, const struct json *keyword,
                   enum text_id text, struct str what) {
  struct buf path;
  if (c->fail) return false;
  buf_init(&path, PATH_BYTES_MAX);
  sub_path(&path, sub);
  if (keyword) json_step_put(&path, keyword->key);
  if (path.fail == REIN_MEMORY) {
    compile_full(c);
  } else {
    struct str place = path.n ? buf_str(&path) : str_of(text_raw(T_SCHEMA_TOP, c->schema->lang));
    c->fail = ERR(c->err, REIN_INPUT, text, place, utf8_head(what, SHOWN_POINTS_MAX));
  }
  buf_release(&path);
  return false;
}

/* Whether evaluating `sub` is no more than evaluating what its $ref leads to; in
 * another resource $dynamicRef would miss that it was entered. */
static bool is_alias(const struct sub *sub) {
  const struct rule *rule = sub->rules;
  return sub->rule_n == 1 && rule->op == RULE_REF && sub->types == TYPE_ANY &&
         rule->sub->resource == sub->resource;
}

/* What its only rule about objects says; nothing need be kept of having been here. */
static const struct members *lone_members(const struct sub *sub) {
  const struct members *found = NULL;
  for (size_t i = 0; i < sub->rule_n; i++) {
    const struct rule *rule = &sub->rules[i];
    if (!(rule->kinds & TYPE_OBJECT)) continue;
    if (rule->op != RULE_MEMBERS) return NULL;
    found = rule->members;
  }
  return sub->tracks ? NULL : found;
}

/* What its only rule about strings says, where that is a few values. */
static const struct values *lone_words(const struct sub *sub) {
  const struct values *found = NULL;
  for (size_t i = 0; i < sub->rule_n; i++) {
    const struct rule *rule = &sub->rules[i];
    if (!(rule->kinds & TYPE_STRING)) continue;
    if (found || rule->op != RULE_VALUES || rule->values->slot) return NULL;
    found = rule->values;
  }
  return found;
}

/* Short ways for what most schemas are made of. There are no loops any more, but
 * chains of references may be long. */
static void find_short_ways(struct compile *c) {
  for (size_t i = 0; i < c->sub_n; i++) {
    struct sub *sub = c->subs[i];
    sub->words = lone_words(sub);
    if (!c->schema->dynamic) sub->members = lone_members(sub);
    for (int hops = 0; hops < HOPS_MAX && is_alias(sub->to); hops++)
      sub->to = sub->to->rules[0].sub;
  }
}

static bool compile_all(struct compile *c, const struct json *doc) {
  enum schema_draft draft = c->options->draft ? c->options->draft : SCHEMA_DRAFT_2020;
  struct resource *resource = index_document(c, doc, STR_NONE, draft);
  if (!resource || !index_walk(c, doc, resource, NULL, NULL)) return false;
  index_rename(c, resource);
  for (size_t i = 0; i < c->sub_n; i++)
    if (!build_sub(c, c->subs[i])) return false;
  c->schema->root = index_find(c, doc);
  if (!loops_refuse(c)) return false;
  find_short_ways(c);
  return true;
}

enum rein_code schema_new(const struct json *doc, const struct schema_options *options,
                          struct schema **out, struct err *err) {
  static const struct schema_options none;
  *out = NULL;
  struct schema *schema = mem_zero(sizeof *schema);
  if (!schema) return ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  struct compile c = {
      .schema = schema, .arena = &schema->arena, .options = options ? options : &none, .err = err};
  arena_init(&schema->arena, SCHEMA_BYTES_MAX);
  schema->lang = c.options->lang ? c.options->lang : REIN_ENGLISH;
  if (!compile_all(&c, doc)) {
    schema_free(schema);
    return c.fail;
  }
  *out = schema;
  return REIN_OK;
}

void schema_free(struct schema *schema) {
  if (!schema) return;
  for (struct pattern *p = schema->patterns; p; p = p->next) {
    regex_scratch_free(p->scratch);
    regex_free(p->regex);
  }
  arena_release(&schema->arena);
  mem_free(schema);
}
