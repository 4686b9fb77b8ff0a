/* Objects and arrays: properties, required, the members that are not named;
 * items and tuples; and what the branches of an object bring along.
 */
#include "schema/derive_inside.h"

/* ---- branches of an object ----------------------------------------------- */

/* Properties that only a branch names would be lost with it. */
static void absorb(struct derive *d, struct view *v, const struct view *branch) {
  const struct json *more = view_get(branch, "properties"), *own = view_get(v, "properties");
  if (!json_is(more, JSON_OBJECT) || more->count == 0) return;
  const struct json *both =
      json_is(own, JSON_OBJECT) ? properties_merge(d, own, more, "anyOf") : more;
  made_remove(&v->members, "properties");
  made_add(d, &v->members, STR("properties"), both);
}

static bool listed(const struct json *list, struct str key) {
  for (const struct json *e = json_is(list, JSON_ARRAY) ? list->first : NULL; e; e = e->next)
    if (json_is(e, JSON_STRING) && str_eq(e->text, key)) return true;
  return false;
}

/* What every branch requires is required. */
static void require_common(struct derive *d, struct view *v, const struct json *common) {
  const struct json *own = view_get(v, "required");
  struct made all = made_open(d, JSON_ARRAY);
  for (const struct json *e = json_is(own, JSON_ARRAY) ? own->first : NULL; e; e = e->next)
    made_add(d, &all, STR_NONE, e);
  for (const struct json *e = common->first; e; e = e->next)
    if (!listed(own, e->text)) made_add(d, &all, STR_NONE, e);
  made_remove(&v->members, "required");
  made_add(d, &v->members, STR("required"), all.node);
}

static struct json *in_both(struct derive *d, const struct json *a, const struct json *b) {
  struct made out = made_open(d, JSON_ARRAY);
  for (const struct json *e = json_is(a, JSON_ARRAY) ? a->first : NULL; e; e = e->next)
    if (listed(b, json_text(e))) made_add(d, &out, STR_NONE, e);
  return out.node;
}

static void absorb_one(struct derive *d, struct view *v, const struct json *schema,
                       struct view *branch) {
  struct opened *before = d->opened;
  bool root = d->depth < DERIVE_DEPTH_MAX && json_is(schema, JSON_OBJECT);
  if (root && view_make(d, schema, true, branch) && !branch->itself.n) {
    d->depth++;
    absorb_branches(d, branch);
    d->depth--;
    absorb(d, v, branch);
  }
  d->opened = before;
}

static void absorb_list(struct derive *d, struct view *v, const struct json *list) {
  const struct json *common = NULL;
  for (const struct json *b = json_is(list, JSON_ARRAY) ? list->first : NULL; b; b = b->next) {
    struct view branch = {0};
    absorb_one(d, v, b, &branch);
    const struct json *required = view_get(&branch, "required");
    common = common ? in_both(d, common, required) : in_both(d, required, required);
  }
  if (common && common->count) require_common(d, v, common);
}

static void absorb_map(struct derive *d, struct view *v, const struct json *map) {
  struct view branch = {0};
  for (const struct json *s = json_is(map, JSON_OBJECT) ? map->first : NULL; s; s = s->next)
    absorb_one(d, v, s, &branch);
}

void absorb_branches(struct derive *d, struct view *v) {
  static const char *const lists[] = {"anyOf", "oneOf"}, *const maps[] = {"dependentSchemas",
                                                                          "dependencies"};
  static const char *const single[] = {"then", "else"};
  struct view branch = {0};
  bool object = view_types(v) & TYPE_OBJECT, flat = shaped(d, SHAPE_ANY_OF_ALONE);
  if (!(object || v->root) || (!flat && !v->root)) return;
  for (size_t i = 0; i < 2; i++)
    if (v->root || !view_alone(v, lists[i])) absorb_list(d, v, view_get(v, lists[i]));
  for (size_t i = 0; i < 2 && flat; i++) {
    absorb_map(d, v, view_get(v, maps[i]));
    absorb_one(d, v, view_get(v, single[i]), &branch);
  }
}

/* ---- objects ------------------------------------------------------------- */

static void put_optional(struct derive *d, const struct json *p, struct json **schema) {
  if (!shaped(d, SHAPE_ALL_REQUIRED)) return;
  find(d, p, "required", EFFECT_REWRITTEN, T_SCHEMA_WHY_OPTIONAL);
  *schema = allow_null(d, *schema);
}

/* A property whose key the provider refuses. */
static void move_property(struct derive *d, struct view *v, const struct json *p, bool required) {
  struct buf b;
  buf_init(&b, 4096);
  tree_put(&b, p);
  if (b.fail == REIN_LIMIT) {
    buf_reset(&b);
    buf_lit(&b, "…");
  }
  go_loose(d, p, "properties", T_SCHEMA_WHY_KEY);
  find(d, p, "properties", EFFECT_MOVED, T_SCHEMA_WHY_KEY);
  note_text(d, v, required ? T_SCHEMA_NOTE_MEMBER_MUST : T_SCHEMA_NOTE_MEMBER, p->key,
            text_take(d, &b));
}

static void put_properties(struct derive *d, struct view *v, struct made *list,
                           struct made *required) {
  const struct json *all = view_get(v, "properties"), *must = view_get(v, "required");
  for (const struct json *p = json_is(all, JSON_OBJECT) ? all->first : NULL; p; p = p->next) {
    bool is = listed(must, p->key);
    if (json_is(p, JSON_FALSE)) {
      find(d, p, "properties", EFFECT_REWRITTEN, T_SCHEMA_WHY_NEVER);
      continue;
    }
    if (!dialect_takes_key(d->dialect, p->key, v->root)) {
      move_property(d, v, p, is);
      continue;
    }
    struct json *schema = derive_schema(d, p, false);
    if (!is) put_optional(d, p, &schema);
    made_add(d, list, p->key, schema);
    if (is || shaped(d, SHAPE_ALL_REQUIRED))
      made_add(d, required, STR_NONE, made_string(d, p->key));
  }
}

/* Required, and not among the properties. */
static void put_unnamed(struct derive *d, struct view *v, struct made *required) {
  const struct json *must = view_get(v, "required"), *all = view_get(v, "properties");
  for (const struct json *e = json_is(must, JSON_ARRAY) ? must->first : NULL; e; e = e->next) {
    if (json_member(all, json_text(e))) continue;
    go_loose(d, e, "required", T_SCHEMA_WHY_UNNAMED);
    if (shaped(d, SHAPE_UNCLOSED)) {
      find(d, e, "required", EFFECT_MOVED, T_SCHEMA_WHY_UNNAMED);
      note_text(d, v, T_SCHEMA_NOTE_REQUIRED, json_text(e), STR_NONE);
    } else {
      made_add(d, required, STR_NONE, made_string(d, json_text(e)));
    }
  }
}

static void put_closed(struct derive *d, struct view *v, bool names, struct made *out) {
  const struct json *more = view_get(v, "additionalProperties");
  if (more && !json_is(more, JSON_FALSE))
    go_loose(d, more, "additionalProperties", T_SCHEMA_WHY_OPEN);
  else if (!more && !names && !v->root)
    go_loose(d, v->from, "additionalProperties", T_SCHEMA_WHY_OPEN_OBJECT);
  else if (!more)
    find(d, v->from, "additionalProperties", EFFECT_REWRITTEN, T_SCHEMA_WHY_CLOSED);
  made_flag(d, out, "additionalProperties", false);
}

static void put_more(struct derive *d, struct view *v, struct made *out) {
  const struct json *more = view_get(v, "additionalProperties");
  if (!more) return;
  if (!shaped(d, SHAPE_UNCLOSED)) {
    made_add(d, out, more->key, json_is(more, JSON_OBJECT) ? derive_schema(d, more, false) : more);
  } else if (json_is(more, JSON_FALSE)) {
    find(d, more, "additionalProperties", EFFECT_MOVED, T_SCHEMA_WHY_MOVED);
    note_text(d, v, T_SCHEMA_NOTE_CLOSED, STR_NONE, STR_NONE);
  } else if (json_is(more, JSON_OBJECT) && more->count) {
    move(d, v, more);
  } else {
    find(d, more, "additionalProperties", EFFECT_REWRITTEN, T_SCHEMA_WHY_DROPPED);
  }
}

void put_object(struct derive *d, struct view *v, struct made *out) {
  struct made list = made_open(d, JSON_OBJECT), required = made_open(d, JSON_ARRAY);
  put_properties(d, v, &list, &required);
  put_unnamed(d, v, &required);
  bool names = list.node && list.node->count, closed = shaped(d, SHAPE_CLOSED);
  if (v->root && !view_get(v, "properties"))
    find(d, v->from, "properties", EFFECT_REWRITTEN, T_SCHEMA_WHY_PROPERTIES);
  if (names || closed || v->root) made_add(d, out, STR("properties"), list.node);
  if ((required.node && required.node->count) || shaped(d, SHAPE_ALL_REQUIRED))
    made_add(d, out, STR("required"), required.node);
  if (closed)
    put_closed(d, v, names, out);
  else
    put_more(d, v, out);
}

/* ---- arrays -------------------------------------------------------------- */

/* What an array begins with, one schema a place; NULL: it is no tuple. */
static const struct json *tuple_of(const struct view *v, const struct json **rest) {
  const struct json *prefix = view_get(v, "prefixItems"), *items = view_get(v, "items");
  *rest = items;
  if (json_is(prefix, JSON_ARRAY)) return prefix;
  if (!json_is(items, JSON_ARRAY)) return NULL;
  *rest = view_get(v, "additionalItems"); /* draft 7 */
  return items;
}

static bool ends(const struct view *v, const struct json *tuple, const struct json *rest) {
  int64_t most;
  if (json_is(rest, JSON_FALSE) || json_is(view_get(v, "unevaluatedItems"), JSON_FALSE))
    return true;
  return json_int(view_get(v, "maxItems"), &most) && most >= 0 && (size_t)most <= tuple->count;
}

/* Places are not told apart: each item is one of them, and words say which. */
static void put_tuple(struct derive *d, struct view *v, const struct json *tuple,
                      const struct json *rest, struct made *out) {
  struct made any = made_open(d, JSON_OBJECT), list = made_open(d, JSON_ARRAY);
  find(d, tuple, "prefixItems", EFFECT_REWRITTEN, T_SCHEMA_WHY_TUPLE);
  struct buf b;
  buf_init(&b, 4096);
  tree_put(&b, tuple);
  if (b.fail == REIN_LIMIT) {
    buf_reset(&b);
    buf_lit(&b, "…");
  }
  note_text(d, v, T_SCHEMA_NOTE_PREFIX, text_take(d, &b), STR_NONE);
  for (const struct json *e = tuple->first; e; e = e->next)
    made_add(d, &list, STR_NONE, e);
  if (json_is(rest, JSON_OBJECT)) made_add(d, &list, STR_NONE, rest);
  made_add(d, &any, STR("anyOf"), list.node);
  bool open = !json_is(rest, JSON_OBJECT) && !ends(v, tuple, rest);
  if (open) go_loose(d, tuple, "prefixItems", T_SCHEMA_WHY_TUPLE);
  bool single = list.node && list.node->count == 1;
  const struct json *items = open ? NULL : single ? list.node->first : any.node;
  made_add(d, out, STR("items"), derive_schema(d, items, false));
}

/* For those who take tuples, in the words of 2020-12. */
static void put_prefix(struct derive *d, struct view *v, const struct json *tuple,
                       const struct json *rest, struct made *out) {
  struct made list = made_open(d, JSON_ARRAY);
  for (const struct json *e = tuple->first; e; e = e->next)
    made_add(d, &list, STR_NONE, derive_schema(d, e, false));
  if (!str_is(tuple->key, "prefixItems"))
    find(d, tuple, "items", EFFECT_REWRITTEN, T_SCHEMA_WHY_DRAFT);
  if (list.node && list.node->count) made_add(d, out, STR("prefixItems"), list.node);
  if (json_is(rest, JSON_FALSE)) {
    find(d, rest, "items", EFFECT_MOVED, T_SCHEMA_WHY_MOVED);
    note_text(d, v, T_SCHEMA_NOTE_NO_MORE, STR_NONE, STR_NONE);
  }
  if (json_is(rest, JSON_OBJECT) || shaped(d, SHAPE_ITEMS))
    made_add(d, out, STR("items"), derive_schema(d, rest, false));
  if (!json_is(rest, JSON_OBJECT) && shaped(d, SHAPE_ITEMS))
    find(d, tuple, "items", EFFECT_REWRITTEN, T_SCHEMA_WHY_ITEMS);
}

void put_items(struct derive *d, struct view *v, struct made *out) {
  const struct json *rest, *tuple = tuple_of(v, &rest);
  if (tuple && tuple->count) {
    if (shaped(d, SHAPE_MERGE))
      put_tuple(d, v, tuple, rest, out);
    else
      put_prefix(d, v, tuple, rest, out);
    return;
  }
  if (json_is(rest, JSON_FALSE)) {
    find(d, rest, "items", EFFECT_MOVED, T_SCHEMA_WHY_MOVED);
    note_text(d, v, T_SCHEMA_NOTE_NO_ITEMS, STR_NONE, STR_NONE);
  }
  if (!json_is(rest, JSON_OBJECT) && !shaped(d, SHAPE_ITEMS)) return;
  if (!json_is(rest, JSON_OBJECT))
    find(d, rest ? rest : v->from, "items", EFFECT_REWRITTEN, T_SCHEMA_WHY_ITEMS);
  made_add(d, out, STR("items"), derive_schema(d, rest, false));
}
