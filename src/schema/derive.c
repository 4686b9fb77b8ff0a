/* The walk: one schema in, the schema that is sent out. What it says is
 * derive_view.c's, objects and arrays are derive_object.c's, values and limits
 * derive_fit.c's, tools of one request derive_tools.c's.
 */
#include "schema/derive_inside.h"

/* ---- values that are listed ---------------------------------------------- */

static bool type_fits(unsigned type, const struct json *value) {
  unsigned t = type_of(value);
  return type == 0 || t == type || (type == TYPE_NUMBER && t == TYPE_INTEGER);
}

/* Whether values of this type can be listed at all. */
static bool lists(const struct derive *d, unsigned type) {
  if (shaped(d, SHAPE_STRINGS)) return type == TYPE_STRING;
  return !shaped(d, SHAPE_SCALARS) || !(type & (TYPE_ARRAY | TYPE_OBJECT));
}

/* The listed values of one type; NULL where one of them is refused. */
static struct json *listed_values(struct derive *d, const struct json *m, unsigned type) {
  struct made list = made_open(d, JSON_ARRAY);
  bool one = str_is(m->key, "const"), fine = one || json_is(m, JSON_ARRAY);
  for (const struct json *e = one ? m : m->first; e && fine; e = one ? NULL : e->next) {
    if (!type_fits(type, e)) continue;
    fine = !shaped(d, SHAPE_STRINGS) || json_text(e).n > 0; /* G: an empty one is refused */
    made_add(d, &list, STR_NONE, e);
  }
  return fine && list.node && list.node->count ? list.node : NULL;
}

/* enum and const of one type; `type` 0: all of them. */
static void put_listed(struct derive *d, struct view *v, const struct json *m, unsigned type,
                       struct made *out) {
  bool one = str_is(m->key, "const");
  struct json *list = v->root || !lists(d, type) ? NULL : listed_values(d, m, type);
  if (!list) {
    move(d, v, m);
  } else if (one && !shaped(d, SHAPE_STRINGS)) {
    made_add(d, out, m->key, m);
  } else {
    if (one) find(d, m, "const", EFFECT_REWRITTEN, T_SCHEMA_WHY_CONST);
    made_add(d, out, STR("enum"), list);
  }
}

/* ---- one type ------------------------------------------------------------ */

static unsigned of_type(enum keyword_of of) {
  switch (of) {
  case OF_ANY: return ~0u;
  case OF_STRING: return TYPE_STRING;
  case OF_NUMBER: return TYPE_NUMBER | TYPE_INTEGER;
  case OF_ARRAY: return TYPE_ARRAY;
  case OF_OBJECT: return TYPE_OBJECT;
  }
  return ~0u;
}

/* Whether a schema, or several, stand in a keyword's value. */
static enum keyword_kind holds(const struct json *m) {
  const struct keyword *k = keyword_by_word(m->key);
  if (str_is(m->key, "patternProperties") || str_is(m->key, "allOf")) return KIND_SCHEMAS;
  if (!k) return KIND_PLAIN;
  return k->kind == KIND_OPEN ? KIND_SCHEMA : k->kind;
}

/* What is kept, with the schemas in it derived. */
static const struct json *kept(struct derive *d, const struct json *m) {
  enum keyword_kind kind = holds(m);
  if (kind == KIND_SCHEMA && json_is(m, JSON_OBJECT)) return derive_schema(d, m, false);
  if (kind != KIND_SCHEMAS || !m->first) return m;
  struct made all = made_open(d, m->kind);
  for (const struct json *s = m->first; s; s = s->next)
    made_add(d, &all, s->key, derive_schema(d, s, false));
  return all.node;
}

static bool is_word(const char *const words[], struct str key) {
  for (size_t i = 0; words[i]; i++)
    if (str_is(key, words[i])) return true;
  return false;
}

static void put_plain(struct derive *d, struct view *v, const struct json *m, unsigned type,
                      struct made *out) {
  static const char *const defs[] = {"$defs", "definitions", NULL};
  const struct keyword *k = keyword_by_word(m->key);
  if (k && type && !(of_type(k->of) & type) && !shaped(d, SHAPE_FREE)) {
    find(d, m, k->word, EFFECT_REWRITTEN, T_SCHEMA_WHY_OTHER_TYPE);
    return;
  }
  if (v->root && str_is(m->key, "not")) { /* O §1: none of these at the root */
    move(d, v, m);
    return;
  }
  switch (dialect_treat(d->dialect, m->key)) {
  case TREAT_KEEP: made_add(d, out, m->key, kept(d, m)); return;
  case TREAT_FIT:
    if (value_fits(d, m, type))
      made_add(d, out, m->key, m);
    else
      move(d, v, m);
    return;
  case TREAT_MOVE: move(d, v, m); return;
  case TREAT_DROP:
    find(d, m, NULL, EFFECT_REWRITTEN,
         is_word(defs, m->key) ? T_SCHEMA_WHY_DEFS : T_SCHEMA_WHY_DROPPED);
    if (d->found.last) {
      d->found.last->keyword = m->key;
      d->found.last->values[0] = m->key;
    }
    return;
  }
}

/* Keywords that name members which no list of properties can. */
static void put_open(struct derive *d, struct view *v, const struct json *m, unsigned type,
                     struct made *out) {
  bool says = !json_is(m, JSON_TRUE) && !(json_is(m, JSON_OBJECT) && m->count == 0);
  bool shuts = json_is(m, JSON_FALSE) && shaped(d, SHAPE_CLOSED);
  if (says && !shuts) go_loose(d, m, NULL, T_SCHEMA_WHY_OPEN);
  if (says && !shuts && d->found.last && d->found.last->effect == EFFECT_LOOSE)
    d->found.last->keyword = m->key;
  put_plain(d, v, m, type, out);
}

/* Every member but those of the shape of objects and arrays. */
static void put_member(struct derive *d, struct view *v, const struct json *m, unsigned type,
                       bool *typed, struct made *out) {
  static const char *const shape[] = {
      "type",  "properties",  "required",        "description",
      "items", "prefixItems", "additionalItems", "additionalProperties",
      NULL};
  static const char *const listed[] = {"enum", "const", NULL};
  static const char *const branched[] = {"anyOf", "oneOf", NULL};
  const struct keyword *k = keyword_by_word(m->key);
  if (is_word(shape, m->key)) return;
  if (is_word(listed, m->key))
    put_listed(d, v, m, type, out);
  else if (is_word(branched, m->key))
    put_any_of(d, v, m, typed, out);
  else if (k && k->kind == KIND_OPEN)
    put_open(d, v, m, type, out);
  else if (str_is(m->key, "nullable") && !shaped(d, SHAPE_FREE))
    find(d, m, "nullable", EFFECT_REWRITTEN, T_SCHEMA_WHY_NULLABLE);
  else if (k && k->kind == KIND_SHAPE)
    made_add(d, out, m->key, kept(d, m)); /* allOf and $ref of a dialect that takes them */
  else
    put_plain(d, v, m, type, out);
}

static const struct json *members(const struct view *v) {
  return v->members.node ? v->members.node->first : NULL;
}

/* The schema of one type; `type` 0: as it stands, or any value. */
static struct json *derive_one(struct derive *d, struct view *v, unsigned type,
                               const struct json *types) {
  struct made out = made_open(d, JSON_OBJECT);
  bool typed = false;
  if (type && !types)
    made_text(d, &out, "type", str_of(type_word(type)));
  else if (types)
    made_add(d, &out, STR("type"), types);
  for (const struct json *m = members(v); m; m = m->next)
    put_member(d, v, m, type, &typed, &out);
  if (typed) made_remove(&out, "type");
  unsigned all = type ? type : view_types(v);
  if (!typed && all & TYPE_OBJECT) put_object(d, v, &out);
  if (!typed && all & TYPE_ARRAY) put_items(d, v, &out);
  return out.node;
}

/* null as it stands in the list under `key`. */
static struct json *null_in(struct derive *d, struct str key) {
  struct made branch = made_open(d, JSON_OBJECT);
  if (str_is(key, "type")) return made_string(d, STR("null"));
  if (!str_is(key, "anyOf")) return made_null(d);
  made_text(d, &branch, "type", STR("null"));
  return branch.node;
}

/* A member of a derived schema with null among what it takes. */
static void add_null(struct derive *d, const struct json *m, struct made *out) {
  static const char *const grows[] = {"type", "enum", "const", "anyOf", NULL};
  struct made list = made_open(d, JSON_ARRAY);
  bool one = str_is(m->key, "const"), single = one || m->kind != JSON_ARRAY;
  if (!is_word(grows, m->key)) {
    made_add(d, out, m->key, m);
    return;
  }
  for (const struct json *e = single ? m : m->first; e; e = single ? NULL : e->next)
    made_add(d, &list, STR_NONE, e);
  made_add(d, &list, STR_NONE, null_in(d, m->key));
  made_add(d, out, one ? STR("enum") : m->key, list.node);
}

static bool takes_null(const struct json *out) {
  const struct json *any = json_get(out, "anyOf");
  bool takes = types_named(json_get(out, "type")) & TYPE_NULL;
  for (const struct json *b = any ? any->first : NULL; b && !takes; b = b->next)
    takes = takes_null(b);
  return takes || json_get(out, "nullable");
}

struct json *allow_null(struct derive *d, struct json *out) {
  struct made made = made_open(d, JSON_OBJECT), list = made_open(d, JSON_ARRAY);
  if (takes_null(out)) return out;
  if (json_get(out, "$ref")) { /* nothing may stand beside it */
    made_add(d, &list, STR_NONE, out);
    made_add(d, &made, STR("anyOf"), list.node);
    return allow_null(d, made.node);
  }
  for (const struct json *m = out ? out->first : NULL; m; m = m->next)
    add_null(d, m, &made);
  return made.node;
}

/* ---- several types, any value -------------------------------------------- */

static void add_type(struct derive *d, struct made *list, struct json *schema) {
  if (schema) made_add(d, list, STR_NONE, schema);
}

/* What has no type, where every schema needs one. */
static struct json *derive_any(struct derive *d, struct view *v) {
  static const char *const words[] = {"string", "number", "boolean", "object"};
  struct made out = made_open(d, JSON_OBJECT), list = made_open(d, JSON_ARRAY);
  bool typed = false;
  for (const struct json *m = members(v); m; m = m->next)
    put_member(d, v, m, 0, &typed, &out);
  go_loose(d, v->from, "type", T_SCHEMA_WHY_ANY);
  find(d, v->from, "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_ANY);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    struct made one = made_open(d, JSON_OBJECT);
    made_text(d, &one, "type", str_of(words[i]));
    add_type(d, &list, one.node);
  }
  made_add(d, &out, STR("anyOf"), list.node);
  put_description(d, v, &out);
  if (shaped(d, SHAPE_NULLABLE)) made_flag(d, &out, "nullable", true);
  return out.node;
}

/* Members that say what something is for, not what it may be. */
static bool is_about(const struct json *m) {
  const struct keyword *k = keyword_by_word(m->key);
  return !k || (k->of == OF_ANY && k->kind != KIND_SHAPE && !str_is(m->key, "if") &&
                !str_is(m->key, "then") && !str_is(m->key, "else") && !str_is(m->key, "not"));
}

/* {"type": ["string", "array"], …} as one schema each. */
static struct json *derive_split(struct derive *d, struct view *v, unsigned types) {
  struct made out = made_open(d, JSON_OBJECT), list = made_open(d, JSON_ARRAY);
  struct view about = {.from = v->from, .members = made_open(d, JSON_OBJECT)};
  struct view rest = {.from = v->from, .members = made_open(d, JSON_OBJECT), .root = v->root};
  bool typed = false;
  about.notes = v->notes;
  about.notes_end = v->notes ? v->notes_end : &about.notes;
  find(d, json_get(v->from, "type"), "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_SPLIT);
  for (const struct json *m = members(v); m; m = m->next) {
    bool is = is_about(m) || str_is(m->key, "description");
    made_add(d, is ? &about.members : &rest.members, m->key, m);
  }
  for (const struct json *m = members(&about); m; m = m->next)
    put_member(d, &about, m, 0, &typed, &out);
  for (unsigned t = 1; t < 1u << TYPE_COUNT; t <<= 1) {
    if (!(types & t) || (t == TYPE_NULL && shaped(d, SHAPE_NULLABLE))) continue;
    rest.notes = NULL;
    rest.notes_end = &rest.notes;
    struct json *one = derive_one(d, &rest, t, NULL);
    struct made whole = {one, NULL};
    put_description(d, &rest, &whole);
    add_type(d, &list, one);
  }
  made_add(d, &out, STR("anyOf"), list.node);
  put_description(d, &about, &out);
  if (types & TYPE_NULL && shaped(d, SHAPE_NULLABLE)) made_flag(d, &out, "nullable", true);
  return out.node;
}

/* A reference to what holds it, with its own words around it. */
static struct json *derive_itself(struct derive *d, struct view *v) {
  struct made out = made_open(d, JSON_OBJECT), ref = made_open(d, JSON_OBJECT);
  made_text(d, &ref, "$ref", v->itself);
  if (!view_alone(v, "$ref")) go_loose(d, v->from, "$ref", T_SCHEMA_WHY_RECURSION);
  if (!v->notes && !view_get(v, "description")) return ref.node;
  struct made list = made_open(d, JSON_ARRAY);
  made_add(d, &list, STR_NONE, ref.node);
  made_add(d, &out, STR("anyOf"), list.node);
  put_description(d, v, &out);
  return out.node;
}

/* derive_one with its description. */
static struct json *derive_whole(struct derive *d, struct view *v, unsigned type,
                                 const struct json *types) {
  struct made out = {derive_one(d, v, type, types), NULL};
  put_description(d, v, &out);
  return out.node;
}

static struct json *say_nullable(struct derive *d, struct view *v, struct json *out) {
  struct made more = {out, NULL};
  if (!out) return NULL;
  for (more.end = &out->first; *more.end;)
    more.end = &(*more.end)->next;
  find(d, view_get(v, "type"), "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_NULLABLE_SAID);
  made_flag(d, &more, "nullable", true);
  return out;
}

/* null and nothing else, where "nullable" is the only way to say it. */
static struct json *derive_null(struct derive *d, struct view *v) {
  find(d, v->from, "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_NULLABLE_SAID);
  note_text(d, v, T_SCHEMA_NOTE_NULL, STR_NONE, STR_NONE);
  return say_nullable(d, v, derive_whole(d, v, TYPE_STRING, NULL));
}

/* anyOf or oneOf and nothing but words beside: the branches have the types. */
static bool is_branched(const struct view *v) {
  bool any = view_get(v, "anyOf") && view_alone(v, "anyOf");
  bool one = view_get(v, "oneOf") && view_alone(v, "oneOf");
  return (any || one) && !v->root;
}

/* One type, or one and null. */
static struct json *derive_single(struct derive *d, struct view *v, unsigned types) {
  unsigned some = types & ~(unsigned)TYPE_NULL;
  if (!view_get(v, "type")) find(d, v->from, "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_TYPE);
  if (!some && shaped(d, SHAPE_NULLABLE)) return derive_null(d, v);
  struct json *out = derive_whole(d, v, some ? some : types, NULL);
  if (!some || types == some) return out;
  return shaped(d, SHAPE_NULLABLE) ? say_nullable(d, v, out) : allow_null(d, out);
}

static struct json *derive_typed(struct derive *d, struct view *v) {
  unsigned types = view_types(v);
  const struct json *type = view_get(v, "type");
  unsigned some = types & ~(unsigned)TYPE_NULL;
  bool many = some & (some - 1);
  bool must = shaped(d, SHAPE_TYPED) || v->root;
  if (is_branched(v)) return derive_whole(d, v, 0, shaped(d, SHAPE_ANY_OF_ALONE) ? NULL : type);
  if (!types && must) return derive_any(d, v);
  if (many && shaped(d, SHAPE_SPLIT)) return derive_split(d, v, types);
  if (many || (!type && !must)) return derive_whole(d, v, 0, type);
  return derive_single(d, v, types);
}

/* The root is an object, whatever it does not say. */
static void root_type(struct derive *d, struct view *v) {
  const struct json *type = view_get(v, "type");
  if (json_is(type, JSON_STRING)) return;
  find(d, v->from, "type", EFFECT_REWRITTEN, T_SCHEMA_WHY_ROOT_TYPE);
  made_remove(&v->members, "type");
  made_text(d, &v->members, "type", STR("object"));
}

static struct json *derive_object(struct derive *d, const struct json *schema, bool root) {
  struct opened *before = d->opened;
  struct view v;
  struct json *out = NULL;
  if (root) (void)ref_open(d, schema);
  if (view_make(d, schema, root, &v)) {
    if (root) root_type(d, &v);
    absorb_branches(d, &v);
    out = v.itself.n ? derive_itself(d, &v) : derive_typed(d, &v);
  }
  d->opened = before;
  return out;
}

/* Recursion: DERIVE_DEPTH_MAX. */
struct json *derive_schema(struct derive *d, const struct json *schema, bool root) {
  static const struct json any = {.kind = JSON_OBJECT};
  const struct json *above = d->here;
  if (schema && schema->source.p) d->here = schema;
  if (json_is(schema, JSON_TRUE)) find(d, schema, "true", EFFECT_REWRITTEN, T_SCHEMA_WHY_TRUE);
  if (++d->nodes > DERIVE_NODES_MAX || d->depth >= DERIVE_DEPTH_MAX) d->too_large = true;
  if (d->too_large || d->no_memory) return NULL;
  d->depth++;
  struct json *out = derive_object(d, json_is(schema, JSON_OBJECT) ? schema : &any, root);
  d->depth--;
  d->here = above;
  return out;
}
