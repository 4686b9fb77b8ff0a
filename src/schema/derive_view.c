/* What a schema says: its members, with references and allOf merged in where
 * the dialect takes none of them.
 */
#include "schema/derive_inside.h"

#define MERGE_MAX 200 /* schemas merged into one: more is an attack */

struct opened {
  const struct json *target;
  struct opened *up;
};

struct def {
  const struct json *target;
  struct str name;
  bool taken;
  struct def *next;
};

const struct json *view_get(const struct view *v, const char *key) {
  return json_get(v->members.node, key);
}

/* ---- types --------------------------------------------------------------- */

static const char *const type_words[TYPE_COUNT] = {"null",   "boolean", "integer", "number",
                                                   "string", "array",   "object"};

const char *type_word(unsigned one) {
  size_t i = 0;
  while (i + 1 < TYPE_COUNT && !(one & 1u << i))
    i++;
  return type_words[i];
}

static unsigned type_by_word(struct str word) {
  for (size_t i = 0; i < TYPE_COUNT; i++)
    if (str_is(word, type_words[i])) return 1u << i;
  return 0;
}

unsigned types_named(const struct json *type) {
  unsigned types = type_by_word(json_text(type));
  for (const struct json *t = json_is(type, JSON_ARRAY) ? type->first : NULL; t; t = t->next)
    types |= type_by_word(json_text(t));
  return types & TYPE_NUMBER ? types & ~(unsigned)TYPE_INTEGER : types;
}

unsigned type_of(const struct json *value) {
  static const unsigned types[] = {TYPE_NULL,   TYPE_BOOLEAN, TYPE_BOOLEAN, TYPE_NUMBER,
                                   TYPE_STRING, TYPE_ARRAY,   TYPE_OBJECT};
  int64_t i;
  return json_int(value, &i) ? TYPE_INTEGER : types[value->kind];
}

static unsigned types_listed(const struct view *v) {
  const struct json *list = view_get(v, "enum"), *one = view_get(v, "const");
  unsigned types = one ? type_of(one) : 0;
  for (const struct json *e = json_is(list, JSON_ARRAY) && !one ? list->first : NULL; e;
       e = e->next)
    types |= type_of(e);
  return types & TYPE_NUMBER ? types & ~(unsigned)TYPE_INTEGER : types;
}

/* {"properties": …} without a type means an object to whoever wrote it. */
static unsigned types_meant(const struct view *v) {
  static const unsigned of[] = {[OF_ANY] = 0,
                                [OF_STRING] = TYPE_STRING,
                                [OF_NUMBER] = TYPE_NUMBER,
                                [OF_ARRAY] = TYPE_ARRAY,
                                [OF_OBJECT] = TYPE_OBJECT};
  unsigned types = 0;
  for (const struct json *m = v->members.node ? v->members.node->first : NULL; m; m = m->next) {
    const struct keyword *k = keyword_by_word(m->key);
    if (k) types |= of[k->of];
  }
  return types;
}

unsigned view_types(const struct view *v) {
  unsigned named = types_named(view_get(v, "type")), listed = types_listed(v);
  if (!named) return listed ? listed : types_meant(v);
  unsigned both = named & listed;
  if (named & TYPE_NUMBER && listed & TYPE_INTEGER) both |= TYPE_NUMBER;
  return both ? both : named;
}

/* ---- references ---------------------------------------------------------- */

static const struct json *find_anchor(const struct json *node, struct str name) {
  static const char *const words[] = {"$anchor", "$dynamicAnchor", "$id"};
  for (size_t i = 0; i < 3; i++) {
    struct str text = json_text(json_get(node, words[i]));
    if (str_starts(text, STR("#"))) text = str_part(text, 1, text.n); /* draft 7 */
    if (text.n && str_eq(text, name)) return node;
  }
  const struct json *found = NULL;
  for (const struct json *c = node->first; c && !found; c = c->next)
    found = find_anchor(c, name);
  return found;
}

const struct json *ref_target(const struct derive *d, struct str ref) {
  struct str base = json_text(json_get(d->root, "$id"));
  if (base.n && str_starts(ref, base)) ref = str_part(ref, base.n, ref.n);
  if (ref.n == 0 || str_is(ref, "#")) return d->root;
  if (str_starts(ref, STR("#/"))) {
    struct str pointer = str_part(ref, 1, ref.n);
    return str_find_char(pointer, '%') < pointer.n ? NULL : json_point(d->root, pointer);
  }
  return ref.p[0] == '#' ? find_anchor(d->root, str_part(ref, 1, ref.n)) : NULL;
}

static bool is_open(const struct derive *d, const struct json *target) {
  const struct opened *o = d->opened;
  while (o && o->target != target)
    o = o->up;
  return o != NULL;
}

bool ref_open(struct derive *d, const struct json *target) {
  struct opened *o = arena_new(d->arena, struct opened);
  if (!o) d->no_memory = true;
  if (!o) return false;
  *o = (struct opened){target, d->opened};
  d->opened = o;
  return true;
}

/* The reference to send for a schema that holds itself. */
static struct str def_ref(struct derive *d, const struct json *target) {
  if (target == d->root) return STR("#");
  struct def **at = &d->defs;
  size_t n = 1;
  while (*at && (*at)->target != target)
    at = &(*at)->next, n++;
  if (!*at) {
    struct def *one = arena_new(d->arena, struct def);
    struct buf name;
    if (!one) {
      d->no_memory = true;
      return STR("#");
    }
    buf_init(&name, 64);
    buf_fmt(&name, "#/$defs/d%zu", n);
    *one = (struct def){.target = target, .name = text_take(d, &name)};
    *at = one;
  }
  return (*at)->name;
}

struct json *defs_take(struct derive *d, struct str *name) {
  struct def *one = d->defs;
  while (one && one->taken)
    one = one->next;
  if (!one) return NULL;
  one->taken = true;
  *name = str_part(one->name, strlen("#/$defs/"), one->name.n);
  struct opened *before = d->opened;
  (void)ref_open(d, one->target);
  struct json *out = derive_schema(d, one->target, false);
  d->opened = before;
  return out;
}

/* ---- merging ------------------------------------------------------------- */

static void merge(struct derive *d, struct view *v, const struct json *schema, size_t *budget);

/* Both hold: {"allOf": [a, b]}, merged when its turn comes. */
static void join(struct derive *d, struct made *out, const char *word, const struct json *a,
                 const struct json *b) {
  struct made both = made_open(d, JSON_OBJECT), list = made_open(d, JSON_ARRAY);
  made_add(d, &list, STR_NONE, a);
  made_add(d, &list, STR_NONE, b);
  made_add(d, &both, str_of(word), list.node);
  made_add(d, out, a->key, both.node);
}

static bool same(struct derive *d, const struct json *a, const struct json *b) {
  struct buf x, y;
  buf_init(&x, 1u << 20);
  buf_init(&y, 1u << 20);
  json_canon(&x, a, false);
  json_canon(&y, b, false);
  bool equal = !x.fail && !y.fail && str_eq(buf_str(&x), buf_str(&y));
  if (x.fail == REIN_MEMORY || y.fail == REIN_MEMORY) d->no_memory = true;
  buf_release(&x);
  buf_release(&y);
  return equal;
}

const struct json *properties_merge(struct derive *d, const struct json *a, const struct json *b,
                                    const char *word) {
  struct made out = made_open(d, JSON_OBJECT);
  for (const struct json *m = a->first; m; m = m->next) {
    const struct json *other = json_member(b, m->key);
    if (other && !same(d, m, other))
      join(d, &out, word, m, other);
    else
      made_add(d, &out, m->key, m);
  }
  for (const struct json *m = b->first; m; m = m->next)
    if (!json_member(a, m->key)) made_add(d, &out, m->key, m);
  return out.node;
}

static const struct json *merge_lists(struct derive *d, const struct json *a,
                                      const struct json *b) {
  struct made out = made_open(d, JSON_ARRAY);
  for (const struct json *e = a->first; e; e = e->next)
    made_add(d, &out, STR_NONE, e);
  for (const struct json *e = b->first; e; e = e->next) {
    bool there = false;
    for (const struct json *x = a->first; x && !there; x = x->next)
      there = str_eq(json_text(x), json_text(e));
    if (!there) made_add(d, &out, STR_NONE, e);
  }
  return out.node;
}

static void replace(struct view *v, const struct json *old, const struct json *value) {
  if (!value || value == old) return;
  struct json *at = v->members.node ? v->members.node->first : NULL;
  while (at && at != old)
    at = at->next;
  if (!at) return;
  struct json *next = at->next;
  struct str key = at->key, key_source = at->key_source;
  *at = *value;
  at->key = key;
  at->key_source = key_source;
  at->next = next;
}

static const struct json *both_types(struct derive *d, const struct json *a, const struct json *b) {
  unsigned x = types_named(a), y = types_named(b), both = x & y;
  if ((x | y) & TYPE_NUMBER && (x | y) & TYPE_INTEGER) both |= TYPE_INTEGER;
  struct made out = made_open(d, JSON_ARRAY);
  for (unsigned t = 1; t < 1u << TYPE_COUNT; t <<= 1)
    if (both & t) made_add(d, &out, STR_NONE, made_string(d, str_of(type_word(t))));
  return both ? out.node : a;
}

/* One schema for both, where each says something of its own; NULL: one is none. */
static const struct json *both_schemas(struct derive *d, const struct json *a,
                                       const struct json *b) {
  struct made out = made_open(d, JSON_OBJECT);
  if (json_is(a, JSON_ARRAY) || json_is(b, JSON_ARRAY)) return NULL; /* a tuple of draft 7 */
  if (json_is(a, JSON_FALSE) || json_is(b, JSON_TRUE)) return a;
  if (json_is(b, JSON_FALSE) || json_is(a, JSON_TRUE)) return b;
  join(d, &out, "allOf", a, b);
  return out.node ? out.node->first : a;
}

/* Words, of which the first will do. */
static bool is_said(struct str key) {
  return str_is(key, "title") || str_is(key, "default") || str_is(key, "examples");
}

/* A keyword that both say differently. False: there is no one word for both. */
static bool merge_two(struct derive *d, struct view *v, const struct json *old,
                      const struct json *m) {
  if (same(d, old, m)) return true;
  bool below = str_is(m->key, "additionalProperties") || str_is(m->key, "items");
  const struct json *both = below ? both_schemas(d, old, m) : NULL;
  if (both)
    replace(v, old, both);
  else if (str_is(m->key, "type"))
    replace(v, old, both_types(d, old, m));
  else if (str_is(m->key, "properties"))
    replace(v, old, properties_merge(d, old, m, "allOf"));
  else if (str_is(m->key, "required"))
    replace(v, old, merge_lists(d, old, m));
  else if (str_is(m->key, "description"))
    note_text(d, v, T_SCHEMA_NOTE_WORDS, json_text(m), STR_NONE);
  else
    return is_said(m->key);
  return true;
}

static void merge_member(struct derive *d, struct view *v, const struct json *m) {
  const struct json *old = json_member(v->members.node, m->key);
  if (!old)
    made_add(d, &v->members, m->key, m);
  else if (!merge_two(d, v, old, m))
    move(d, v, m);
}

static void merge_ref(struct derive *d, struct view *v, const struct json *m, bool only,
                      size_t *budget) {
  const struct json *target = ref_target(d, json_text(m));
  if (!target) {
    go_loose(d, m, "$ref", T_SCHEMA_WHY_REF_UNKNOWN);
    find(d, m, "$ref", EFFECT_MOVED, T_SCHEMA_WHY_REF_UNKNOWN);
    note_text(d, v, T_SCHEMA_NOTE_REF, json_text(m), STR_NONE);
  } else if (!is_open(d, target)) {
    find(d, m, "$ref", EFFECT_REWRITTEN, T_SCHEMA_WHY_REF);
    (void)ref_open(d, target);
    merge(d, v, target, budget);
  } else if (shaped(d, SHAPE_RECURSES) && only) {
    v->itself = def_ref(d, target);
    if (!str_eq(v->itself, json_text(m))) find(d, m, "$ref", EFFECT_REWRITTEN, T_SCHEMA_WHY_REF);
  } else {
    go_loose(d, m, "$ref", T_SCHEMA_WHY_RECURSION);
    find(d, m, "$ref", EFFECT_MOVED, T_SCHEMA_WHY_RECURSION);
    note_text(d, v, T_SCHEMA_NOTE_REF, json_text(m), STR_NONE);
  }
}

/* Only words stand beside it. */
bool view_alone(const struct view *v, const char *key) {
  static const char *const words[] = {
      "title",    "description", "default",     "examples", "example",  "$schema",   "$id",
      "$comment", "$defs",       "definitions", "type",     "nullable", "deprecated"};
  for (const struct json *m = v->members.node ? v->members.node->first : NULL; m; m = m->next) {
    bool fine = str_is(m->key, key) || !keyword_by_word(m->key);
    for (size_t i = 0; i < sizeof words / sizeof *words && !fine; i++)
      fine = str_is(m->key, words[i]);
    if (!fine) return false;
  }
  return true;
}

static bool is_ref(struct str key) {
  return str_is(key, "$ref") || str_is(key, "$dynamicRef") || str_is(key, "$recursiveRef");
}

/* A reference that the provider can follow in what is sent. */
static bool ref_is_kept(const struct derive *d, const struct view *v, const struct json *m) {
  struct str to = json_text(m);
  bool here =
      str_is(to, "#") || str_starts(to, STR("#/$defs/")) || str_starts(to, STR("#/definitions/"));
  return !shaped(d, SHAPE_MERGE) && !v->root && here && str_is(m->key, "$ref") && ref_target(d, to);
}

static void merge_all_of(struct derive *d, struct view *v, const struct json *list,
                         size_t *budget) {
  find(d, list, "allOf", EFFECT_REWRITTEN, T_SCHEMA_WHY_ALL_OF);
  for (const struct json *e = json_is(list, JSON_ARRAY) ? list->first : NULL; e; e = e->next)
    merge(d, v, e, budget);
}

/* Whether n refers and says nothing besides. */
static bool only_refers(const struct view *v, const struct json *n) {
  size_t others = 0;
  for (const struct json *m = n->first; m; m = m->next) {
    const struct keyword *k = keyword_by_word(m->key);
    bool words = !k || (k->of == OF_ANY && k->kind != KIND_SHAPE) || str_is(m->key, "description");
    others += !is_ref(m->key) && !words;
  }
  return others == 0 && v->members.node && v->members.node->count == 0;
}

static void merge(struct derive *d, struct view *v, const struct json *n, size_t *budget) {
  if (!json_is(n, JSON_OBJECT)) return;
  if (*budget == 0 || ++d->nodes > DERIVE_NODES_MAX) {
    d->too_large = true;
    return;
  }
  --*budget;
  bool only = only_refers(v, n), flat = shaped(d, SHAPE_MERGE) || v->root;
  for (const struct json *m = n->first; m && !d->too_large; m = m->next) {
    if (is_ref(m->key) && !ref_is_kept(d, v, m))
      merge_ref(d, v, m, only, budget);
    else if (flat && str_is(m->key, "allOf"))
      merge_all_of(d, v, m, budget);
    else
      merge_member(d, v, m);
  }
}

bool view_make(struct derive *d, const struct json *schema, bool root, struct view *v) {
  size_t budget = MERGE_MAX;
  *v = (struct view){.from = schema, .members = made_open(d, JSON_OBJECT), .root = root};
  v->notes_end = &v->notes;
  merge(d, v, schema, &budget);
  return !d->no_memory && !d->too_large;
}
