/* Arguments against a schema, as far as the first tools need it: type, required,
 * properties, additionalProperties false, enum, items. What it does not know it
 * leaves to the tool; the full validator takes its place behind the same face.
 */
#include "schema/check.h"

#include "base/utf8.h"
#include "json/write.h"

#define CHECK_DEPTH_MAX 64   /* recursion; arguments of a tool are flat */
#define CANON_MAX (1u << 20) /* an enum value larger than that equals nothing */
#define SHOWN_MAX 60         /* code points of a value in a sentence */

/* Where the check stands: a chain of keys, so that no pointer is built for nothing. */
struct place {
  const struct place *up;
  struct str key;
  size_t depth;
};

static void put_place(struct buf *b, const struct place *at) {
  if (!at->up) return;
  put_place(b, at->up);
  buf_c(b, '/');
  buf_put(b, at->key);
}

static enum rein_code wrong(const struct place *at, struct err *err, enum text_id id, struct str a,
                            struct str b) {
  struct buf where;
  buf_init(&where, 200);
  put_place(&where, at);
  struct str shown = where.n ? buf_str(&where) : str_of(text_raw(T_SCHEMA_ROOT, REIN_ENGLISH));
  enum rein_code code = ERR(err, REIN_INPUT, id, shown, a, b);
  buf_release(&where);
  return code;
}

static const char *kind_word(const struct json *v) {
  static const char *const words[] = {"null",   "boolean", "boolean", "number",
                                      "string", "array",   "object"};
  return words[v->kind];
}

static bool is_integer(const struct json *v) {
  int64_t i;
  double d;
  if (!json_is(v, JSON_NUMBER)) return false;
  if (json_int(v, &i)) return true;
  /* A big one: no fraction and no exponent is an integer of any size. */
  bool plain = str_find_char(v->text, '.') == v->text.n &&
               str_find_char(v->text, 'e') == v->text.n && str_find_char(v->text, 'E') == v->text.n;
  return plain && json_double(v, &d);
}

static bool has_type(const struct json *v, struct str type) {
  if (str_is(type, "integer")) return is_integer(v);
  return str_is(type, kind_word(v));
}

static bool type_fits(const struct json *type, const struct json *v) {
  if (json_is(type, JSON_STRING)) return has_type(v, type->text);
  if (!json_is(type, JSON_ARRAY)) return true;
  for (const struct json *t = type->first; t; t = t->next)
    if (has_type(v, json_text(t))) return true;
  return false;
}

enum same { SAME_NO, SAME_YES, SAME_NO_MEMORY };

static enum same compare(const struct json *a, const struct json *b) {
  if (a->kind != b->kind) return SAME_NO;
  if (a->kind == JSON_STRING) return str_eq(a->text, b->text) ? SAME_YES : SAME_NO;
  struct buf x, y;
  buf_init(&x, CANON_MAX);
  buf_init(&y, CANON_MAX);
  json_canon(&x, a, false);
  json_canon(&y, b, false);
  bool no_memory = x.fail == REIN_MEMORY || y.fail == REIN_MEMORY;
  bool same = !x.fail && !y.fail && str_eq(buf_str(&x), buf_str(&y));
  buf_release(&x);
  buf_release(&y);
  if (no_memory) return SAME_NO_MEMORY;
  return same ? SAME_YES : SAME_NO;
}

static enum same in_enum(const struct json *options, const struct json *v) {
  if (!json_is(options, JSON_ARRAY)) return SAME_YES;
  for (const struct json *o = options->first; o; o = o->next) {
    enum same same = compare(o, v);
    if (same != SAME_NO) return same;
  }
  return SAME_NO;
}

static bool required(const struct json *schema, struct str key) {
  const struct json *list = json_get(schema, "required");
  for (const struct json *r = list ? list->first : NULL; r; r = r->next)
    if (str_eq(json_text(r), key)) return true;
  return false;
}

static bool takes_null(const struct json *property) {
  const struct json *type = json_get(property, "type");
  const struct json *options = json_get(property, "enum");
  static const struct json null = {.kind = JSON_NULL, .source = {"null", 4}};
  if (type && !type_fits(type, &null)) return false;
  for (const struct json *o = options ? options->first : NULL; o; o = o->next)
    if (json_is(o, JSON_NULL)) return true;
  return options == NULL;
}

static const struct json *property_of(const struct json *schema, struct str key) {
  const struct json *properties = json_get(schema, "properties");
  for (const struct json *p = properties ? properties->first : NULL; p; p = p->next)
    if (str_eq(p->key, key)) return p;
  return NULL;
}

/* null where the member is optional and has no null: strict modes' "absent". */
static bool stands_for_absent(const struct json *schema, const struct json *member) {
  const struct json *property = property_of(schema, member->key);
  return json_is(member, JSON_NULL) && property && !takes_null(property) &&
         !required(schema, member->key);
}

static void put_keys(struct buf *b, const struct json *schema) {
  const struct json *properties = json_get(schema, "properties");
  for (const struct json *p = properties ? properties->first : NULL; p; p = p->next) {
    if (b->n) buf_lit(b, ", ");
    buf_put(b, p->key);
  }
  if (b->n == 0) buf_put(b, str_of(text_raw(T_SCHEMA_NONE, REIN_ENGLISH)));
}

static enum rein_code check_value(const struct json *schema, const struct json *v,
                                  const struct place *at, struct err *err);

static enum rein_code check_member(const struct json *schema, const struct json *member,
                                   const struct place *at, struct err *err) {
  const struct json *property = property_of(schema, member->key);
  struct place inside = {at, member->key, at->depth + 1};
  if (property)
    return stands_for_absent(schema, member) ? REIN_OK
                                             : check_value(property, member, &inside, err);
  if (!json_is(json_get(schema, "additionalProperties"), JSON_FALSE)) return REIN_OK;
  struct buf keys;
  buf_init(&keys, 300);
  put_keys(&keys, schema);
  enum rein_code code = wrong(at, err, T_SCHEMA_EXTRA, member->key, buf_str(&keys));
  buf_release(&keys);
  return code;
}

static const struct json *member_of(const struct json *object, struct str key) {
  for (const struct json *m = object->first; m; m = m->next)
    if (str_eq(m->key, key)) return m;
  return NULL;
}

static enum rein_code check_object(const struct json *schema, const struct json *v,
                                   const struct place *at, struct err *err) {
  const struct json *list = json_get(schema, "required");
  for (const struct json *r = list ? list->first : NULL; r; r = r->next)
    if (!member_of(v, json_text(r)))
      return wrong(at, err, T_SCHEMA_MISSING, json_text(r), STR_NONE);
  for (const struct json *m = v->first; m; m = m->next) {
    enum rein_code code = check_member(schema, m, at, err);
    if (code) return code;
  }
  return REIN_OK;
}

static enum rein_code check_items(const struct json *schema, const struct json *v,
                                  const struct place *at, struct err *err) {
  const struct json *items = json_get(schema, "items");
  struct num_text room;
  int64_t i = 0;
  for (const struct json *e = v->first; e && json_is(items, JSON_OBJECT); e = e->next) {
    struct place inside = {at, str_num(&room, i++), at->depth + 1};
    enum rein_code code = check_value(items, e, &inside, err);
    if (code) return code;
  }
  return REIN_OK;
}

static struct str shown(const struct json *v) {
  return utf8_head(v->source, SHOWN_MAX);
}

static enum rein_code check_type(const struct json *schema, const struct json *v,
                                 const struct place *at, struct err *err) {
  const struct json *type = json_get(schema, "type");
  if (type && !type_fits(type, v)) {
    struct str want = json_is(type, JSON_STRING) ? type->text : type->source;
    return wrong(at, err, T_SCHEMA_TYPE, want, str_of(kind_word(v)));
  }
  const struct json *options = json_get(schema, "enum");
  switch (options ? in_enum(options, v) : SAME_YES) {
  case SAME_YES: return REIN_OK;
  case SAME_NO: return wrong(at, err, T_SCHEMA_ENUM, options->source, shown(v));
  case SAME_NO_MEMORY: return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  }
  return REIN_OK;
}

static enum rein_code check_value(const struct json *schema, const struct json *v,
                                  const struct place *at, struct err *err) {
  double d;
  struct num_text room;
  if (at->depth > CHECK_DEPTH_MAX)
    return wrong(at, err, T_SCHEMA_DEEP, str_num(&room, CHECK_DEPTH_MAX), STR_NONE);
  if (json_is(v, JSON_NUMBER) && !json_double(v, &d))
    return wrong(at, err, T_SCHEMA_NUMBER, shown(v), STR_NONE);
  enum rein_code code = check_type(schema, v, at, err);
  if (code == REIN_OK && json_is(v, JSON_OBJECT)) code = check_object(schema, v, at, err);
  if (code == REIN_OK && json_is(v, JSON_ARRAY)) code = check_items(schema, v, at, err);
  return code;
}

/* Writes v without the nulls that stood for "absent". Depth was checked. */
static void put_clean(struct json_out *w, const struct json *schema, const struct json *v) {
  if (!json_is(v, JSON_OBJECT)) {
    json_put_raw(w, v->source);
    return;
  }
  json_open(w, '{');
  for (const struct json *m = v->first; m; m = m->next) {
    if (stands_for_absent(schema, m)) continue;
    const struct json *property = property_of(schema, m->key);
    json_key_str(w, m->key);
    if (property)
      put_clean(w, property, m);
    else
      json_put_raw(w, m->source);
  }
  json_close(w, '}');
}

static bool any_absent(const struct json *schema, const struct json *v) {
  for (const struct json *m = json_is(v, JSON_OBJECT) ? v->first : NULL; m; m = m->next) {
    const struct json *property = property_of(schema, m->key);
    if (stands_for_absent(schema, m) || (property && any_absent(property, m))) return true;
  }
  return false;
}

enum rein_code schema_check(const struct json *schema, const struct json *args, struct buf *out,
                            struct str *clean, struct err *err) {
  struct place root = {0};
  enum rein_code code = check_value(schema, args, &root, err);
  if (code) return code;
  *clean = args->source;
  if (!any_absent(schema, args)) return REIN_OK;
  struct json_out w = json_out(out);
  size_t from = out->n;
  put_clean(&w, schema, args);
  if (out->fail) return ERR(err, out->fail, T_CORE_END_MEMORY);
  *clean = str_part(buf_str(out), from, out->n - from);
  return REIN_OK;
}

enum rein_code schema_usable(struct str tool, const struct json *schema, struct err *err) {
  const struct json *type = json_get(schema, "type");
  if (json_is(schema, JSON_OBJECT) && json_is(type, JSON_STRING) && str_is(type->text, "object"))
    return REIN_OK;
  return ERR(err, REIN_INPUT, T_SCHEMA_NOT_OBJECT, tool);
}
