/* JSON Schema as rein.h offers it: texts in, copied and parsed here, sentences out.
 * What a schema means is src/schema's business.
 */
#include "base/mem.h"
#include "schema/schema.h"

#define FACE_SCHEMA_MAX (64u << 20) /* schema and documents, parsed */
#define FACE_VALUE_MAX (256u << 20) /* a value, parsed: about 10 MB of text */

struct rein_schema {
  struct arena arena;
  struct schema *schema;
  enum rein_lang lang;
};

static enum rein_code fail(struct rein_error *error, enum rein_lang lang, const struct err *err) {
  if (!error) return err->code;
  char room[sizeof error->message];
  struct buf line = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  schema_line(&line, lang, err);
  *error = (struct rein_error){.code = err->code};
  memcpy(error->message, room, line.n);
  return err->code;
}

static struct str text_of(const char *text, size_t len) {
  return len == SIZE_MAX ? str_of(text) : (struct str){text, len};
}

static enum rein_code read_json(struct arena *arena, struct str text, struct json **doc,
                                struct err *err) {
  struct str copy;
  if (!arena_str(arena, text, &copy)) return ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  return json_parse(arena, copy, JSON_UNIQUE, doc, err);
}

static enum rein_code read_documents(struct rein_schema *s, const struct rein_schema_options *o,
                                     struct schema_options *to, struct err *err) {
  struct schema_document *all =
      arena_array(&s->arena, struct schema_document, o->document_count + 1);
  if (!all) return ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  for (size_t i = 0; i < o->document_count; i++) {
    const struct rein_schema_document *d = &o->documents[i];
    struct json *doc;
    enum rein_code code = read_json(&s->arena, text_of(d->text, d->len), &doc, err);
    if (code) return code;
    if (!arena_str(&s->arena, str_of(d->uri), &all[i].uri))
      return ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
    all[i].json = doc;
  }
  to->documents = all;
  to->document_count = o->document_count;
  return REIN_OK;
}

enum rein_code rein_schema_new(const char *text, size_t len,
                               const struct rein_schema_options *options,
                               struct rein_schema **schema, struct rein_error *error) {
  struct rein_schema_options o = {0};
  struct err err = {0};
  struct json *doc;
  *schema = NULL;
  if (options) memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
  enum rein_lang lang = o.lang == REIN_KOREAN ? REIN_KOREAN : REIN_ENGLISH;
  struct schema_options inner = {.hold_formats = o.hold_formats, .lang = lang};
  struct rein_schema *s = mem_zero(sizeof *s);
  if (!s) {
    (void)ERR(&err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
    return fail(error, lang, &err);
  }
  arena_init(&s->arena, FACE_SCHEMA_MAX);
  s->lang = lang;
  enum rein_code code = read_documents(s, &o, &inner, &err);
  if (!code) code = read_json(&s->arena, text_of(text, len), &doc, &err);
  if (!code) code = schema_new(doc, &inner, &s->schema, &err);
  if (code) {
    rein_schema_free(s);
    return fail(error, lang, &err);
  }
  *schema = s;
  return REIN_OK;
}

enum rein_code rein_schema_check(struct rein_schema *s, const char *json, size_t len,
                                 struct rein_error *error) {
  struct arena arena;
  struct json *doc;
  struct err err = {0};
  arena_init(&arena, FACE_VALUE_MAX);
  enum rein_code code = json_parse(&arena, text_of(json, len), JSON_UNIQUE, &doc, &err);
  if (!code) code = schema_check(s->schema, doc, &err);
  arena_release(&arena);
  return code ? fail(error, s->lang, &err) : REIN_OK;
}

void rein_schema_free(struct rein_schema *s) {
  if (!s) return;
  schema_free(s->schema);
  arena_release(&s->arena);
  mem_free(s);
}
