/* anyOf and oneOf: kept, turned into anyOf, or moved; what a provider wants of
 * their branches.
 */
#include "schema/derive_inside.h"

static struct json *derive_branch(struct derive *d, const struct json *branch,
                                  const struct json *type) {
  if (!type || !json_is(branch, JSON_OBJECT) || json_get(branch, "type") ||
      json_get(branch, "$ref"))
    return derive_schema(d, branch, false);
  struct made typed = made_open(d, JSON_OBJECT);
  made_add(d, &typed, STR("type"), type);
  for (const struct json *m = branch->first; m; m = m->next)
    made_add(d, &typed, m->key, m);
  if (typed.node) typed.node->source = branch->source;
  return derive_schema(d, typed.node, false);
}

static struct str first_key(const struct derive *d, const struct json *branch) {
  const struct json *ref = json_get(branch, "$ref");
  if (ref) branch = ref_target(d, json_text(ref));
  const struct json *properties = json_get(branch, "properties");
  return properties && properties->first ? properties->first->key : STR_NONE;
}

static bool is_first(const struct derive *d, const struct json *list, struct str key) {
  for (const struct json *b = list->first; b; b = b->next)
    if (key.n && str_eq(first_key(d, b), key)) return true;
  return false;
}

/* "Objects provided via 'anyOf' must not share identical first keys" (O §1). */
static void part_first_keys(struct derive *d, const struct json *at, const struct json *list,
                            struct json *branch) {
  struct json *properties = branch->first;
  if (!shaped(d, SHAPE_FIRST_KEYS) || !is_first(d, list, first_key(d, branch))) return;
  while (properties && !str_is(properties->key, "properties"))
    properties = properties->next;
  struct json *free = properties ? properties->first : NULL;
  while (free && is_first(d, list, free->key))
    free = free->next;
  if (!free) {
    go_loose(d, at, "anyOf", T_SCHEMA_WHY_FIRST_KEYS);
    return;
  }
  struct json *before = properties->first;
  while (before->next != free)
    before = before->next;
  before->next = free->next;
  free->next = properties->first;
  properties->first = free;
  find(d, at, "anyOf", EFFECT_REWRITTEN, T_SCHEMA_WHY_KEY_ORDER);
}

static void put_branches(struct derive *d, const struct json *m, const struct json *type,
                         const char *word, struct made *out) {
  struct made list = made_open(d, JSON_ARRAY);
  bool null = false;
  for (const struct json *b = m->first; b; b = b->next) {
    struct json *branch = derive_branch(d, b, type);
    if (!branch || !list.node) continue;
    bool is_null = str_is(json_text(json_get(branch, "type")), "null");
    null = null || (is_null && shaped(d, SHAPE_NULLABLE));
    if (is_null && shaped(d, SHAPE_NULLABLE)) continue;
    part_first_keys(d, b, list.node, branch);
    made_add(d, &list, STR_NONE, branch);
  }
  if (list.node && list.node->count == 0)
    made_add(d, &list, STR_NONE, derive_schema(d, NULL, false));
  made_add(d, out, str_of(word), list.node);
  if (null) made_flag(d, out, "nullable", true);
}

/* anyOf and oneOf: kept, or turned into anyOf, or moved. */
void put_any_of(struct derive *d, struct view *v, const struct json *m, bool *typed,
                struct made *out) {
  bool alone = view_alone(v, m->key.p[0] == 'o' ? "oneOf" : "anyOf");
  if (!json_is(m, JSON_ARRAY) || v->root || (!alone && shaped(d, SHAPE_ANY_OF_ALONE))) {
    move(d, v, m);
    return;
  }
  bool one_of = str_is(m->key, "oneOf"), turn = one_of && shaped(d, SHAPE_MERGE);
  if (turn) find(d, m, "oneOf", EFFECT_REWRITTEN, T_SCHEMA_WHY_ONE_OF);
  bool push = shaped(d, SHAPE_ANY_OF_ALONE);
  put_branches(d, m, push ? view_get(v, "type") : NULL, one_of && !turn ? "oneOf" : "anyOf", out);
  *typed = *typed || push;
}
