/* Rules that lead to other subschemas: members, items, and those that look at
 * the same value once more.
 */
#include "schema/compile.h"

#include "base/hash.h"
#include "schema/equal.h"

#define FEW 8 /* so many are compared one by one: a table would not be faster */

static bool no_string(struct compile *c, const struct sub *sub, const struct json *list) {
  const struct json *one = json_is(list, JSON_ARRAY) ? list->first : NULL;
  while (one && json_is(one, JSON_STRING))
    one = one->next;
  if (!one && json_is(list, JSON_ARRAY)) return false;
  compile_wrong(c, sub, list, T_SCHEMA_WANT_NAMES, STR_NONE);
  return true;
}

/* ---- members ------------------------------------------------------------- */

struct member *members_find(const struct members *m, struct str key) {
  if (!m->slot) {
    for (size_t i = 0; i < m->n; i++)
      if (same_text(m->v[i].key, key)) return &m->v[i];
    return NULL;
  }
  size_t at = hash_str(key) & m->mask;
  while (m->slot[at] && !str_eq(m->v[m->slot[at] - 1].key, key))
    at = (at + 1) & m->mask;
  return m->slot[at] ? &m->v[m->slot[at] - 1] : NULL;
}

static bool make_slots(struct compile *c, struct members *m, size_t most) {
  size_t size = 16;
  while (size < 2 * most)
    size *= 2;
  m->slot = most > FEW ? arena_array(c->arena, uint32_t, size) : NULL;
  m->mask = (uint32_t)size - 1;
  return most <= FEW || m->slot || compile_full(c);
}

static struct member *add_member(struct members *m, struct str key) {
  struct member *found = members_find(m, key);
  if (found) return found;
  if (m->slot) {
    size_t at = hash_str(key) & m->mask;
    while (m->slot[at])
      at = (at + 1) & m->mask;
    m->slot[at] = (uint32_t)m->n + 1;
  }
  m->v[m->n].key = key;
  return &m->v[m->n++];
}

static bool add_names(struct compile *c, struct members *m, const struct json *properties,
                      const struct json *required) {
  size_t most = (properties ? properties->count : 0) + (required ? required->count : 0);
  if (most == 0) return true;
  m->v = arena_array(c->arena, struct member, most);
  if (!m->v) return compile_full(c);
  if (!make_slots(c, m, most)) return false;
  for (const struct json *p = properties ? properties->first : NULL; p; p = p->next)
    add_member(m, p->key)->sub = build_child(c, p);
  for (const struct json *r = required ? required->first : NULL; r; r = r->next) {
    struct member *member = add_member(m, r->text);
    m->required += !member->required;
    member->required = true;
  }
  return true;
}

static bool add_patterns(struct compile *c, const struct sub *sub, struct members *m,
                         const struct json *keyword) {
  if (!keyword || keyword->count == 0) return true;
  m->patterns = arena_array(c->arena, struct pattern_sub, keyword->count);
  if (!m->patterns) return compile_full(c);
  for (const struct json *p = keyword->first; p; p = p->next) {
    struct pattern *pattern = build_pattern(c, sub, keyword, p->key);
    if (!pattern) return false;
    m->patterns[m->pattern_n++] = (struct pattern_sub){pattern, build_child(c, p)};
  }
  return true;
}

static bool add_members(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *properties = found->v[KEYWORD_PROPERTIES];
  const struct json *patterns = found->v[KEYWORD_PATTERN_PROPERTIES];
  const struct json *rest = found->v[KEYWORD_ADDITIONAL_PROPERTIES];
  const struct json *required = found->v[KEYWORD_REQUIRED];
  if (required && no_string(c, sub, required)) return false;
  if (!properties && !patterns && !rest && !required) return true;
  struct members *m = arena_new(c->arena, struct members);
  if (!m) return compile_full(c);
  if (!add_names(c, m, properties, required) || !add_patterns(c, sub, m, patterns)) return false;
  m->rest = rest ? build_child(c, rest) : NULL;
  build_rule(c, RULE_MEMBERS, TYPE_OBJECT, properties ? properties : required)->members = m;
  return true;
}

bool build_members(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *names = found->v[KEYWORD_PROPERTY_NAMES];
  if (!add_members(c, sub, found)) return false;
  if (names) build_rule(c, RULE_NAMES, TYPE_OBJECT, names)->sub = build_child(c, names);
  return true;
}

/* ---- members that need others -------------------------------------------- */

static bool add_need(struct compile *c, const struct sub *sub, const struct json *keyword,
                     struct needs *keys, struct needs *subs) {
  for (const struct json *m = keyword->first; m; m = m->next) {
    bool list = json_is(m, JSON_ARRAY);
    if (list && no_string(c, sub, m)) return false;
    struct needs *to = list ? keys : subs;
    to->v[to->n++] = (struct need){m->key, list ? m : NULL, list ? NULL : build_child(c, m)};
  }
  return true;
}

static struct needs *new_needs(struct compile *c, size_t n) {
  struct needs *needs = arena_new(c->arena, struct needs);
  if (needs) needs->v = arena_array(c->arena, struct need, n);
  if (needs && needs->v) return needs;
  compile_full(c);
  return NULL;
}

static bool add_needs(struct compile *c, const struct sub *sub, const struct json *keyword) {
  if (!keyword) return true;
  if (!json_is(keyword, JSON_OBJECT))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_MAP, STR_NONE);
  struct needs *keys = new_needs(c, keyword->count), *subs = new_needs(c, keyword->count);
  if (!keys || !subs || !add_need(c, sub, keyword, keys, subs)) return false;
  if (keys->n) build_rule(c, RULE_NEEDS, TYPE_OBJECT, keyword)->needs = keys;
  if (subs->n) build_rule(c, RULE_DEPENDENTS, TYPE_OBJECT, keyword)->needs = subs;
  return true;
}

static bool lists_alone(struct compile *c, const struct sub *sub, const struct json *keyword) {
  for (const struct json *m = keyword && json_is(keyword, JSON_OBJECT) ? keyword->first : NULL; m;
       m = m->next)
    if (!json_is(m, JSON_ARRAY))
      return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_NAMES, STR_NONE);
  return true;
}

bool build_needs(struct compile *c, const struct sub *sub, const struct keywords *found) {
  return lists_alone(c, sub, found->v[KEYWORD_DEPENDENT_REQUIRED]) &&
         add_needs(c, sub, found->v[KEYWORD_DEPENDENT_REQUIRED]) &&
         add_needs(c, sub, found->v[KEYWORD_DEPENDENT_SCHEMAS]) &&
         add_needs(c, sub, found->v[KEYWORD_DEPENDENCIES]);
}

/* ---- items ---------------------------------------------------------------- */

static bool fill_subs(struct compile *c, struct subs *subs, const struct json *list) {
  subs->v = arena_array(c->arena, const struct sub *, list->count);
  if (!subs->v) return compile_full(c);
  for (const struct json *one = list->first; one; one = one->next)
    subs->v[subs->n++] = build_child(c, one);
  return true;
}

static bool add_items(struct compile *c, const struct keywords *found) {
  const struct json *first = found->v[KEYWORD_PREFIX_ITEMS], *rest = found->v[KEYWORD_ITEMS];
  if (json_is(rest, JSON_ARRAY)) { /* draft 7 */
    first = rest;
    rest = found->v[KEYWORD_ADDITIONAL_ITEMS];
  }
  if (!first && !rest) return true;
  struct items *items = arena_new(c->arena, struct items);
  if (!items) return compile_full(c);
  if (first && !fill_subs(c, &items->first, first)) return false;
  if (rest) items->rest = build_child(c, rest);
  build_rule(c, RULE_ITEMS, TYPE_ARRAY, first ? first : rest)->items = items;
  return true;
}

static bool add_contains(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *keyword = found->v[KEYWORD_CONTAINS];
  const struct json *min = found->v[KEYWORD_MIN_CONTAINS], *max = found->v[KEYWORD_MAX_CONTAINS];
  struct contains made = {
      .min = 1, .max = SIZE_MAX, .marks = sub->resource->draft != SCHEMA_DRAFT_7};
  if (min && !build_count(c, sub, min, &made.min)) return false;
  if (max && !build_count(c, sub, max, &made.max)) return false;
  if (!keyword) return true;
  struct contains *contains = arena_new(c->arena, struct contains);
  if (!contains) return compile_full(c);
  made.sub = build_child(c, keyword);
  *contains = made;
  build_rule(c, RULE_CONTAINS, TYPE_ARRAY, keyword)->contains = contains;
  return true;
}

bool build_items(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *unique = found->v[KEYWORD_UNIQUE_ITEMS];
  if (!add_items(c, found) || !add_contains(c, sub, found)) return false;
  if (!unique) return true;
  if (!json_is(unique, JSON_TRUE) && !json_is(unique, JSON_FALSE))
    return compile_wrong(c, sub, unique, T_SCHEMA_WANT_BOOL, unique->source);
  if (json_is(unique, JSON_TRUE)) build_rule(c, RULE_UNIQUE, TYPE_ARRAY, unique);
  return true;
}

/* ---- the same value once more --------------------------------------------- */

static bool add_subs(struct compile *c, const struct json *keyword, enum rule_op op) {
  if (!keyword) return true;
  struct subs *subs = arena_new(c->arena, struct subs);
  if (!subs) return compile_full(c);
  build_rule(c, op, TYPE_ANY, keyword)->subs = subs;
  return fill_subs(c, subs, keyword);
}

static bool add_ref(struct compile *c, const struct sub *sub, const struct json *keyword) {
  const struct sub *to = keyword ? refs_find(c, sub, keyword, NULL) : NULL;
  if (to) build_rule(c, RULE_REF, TYPE_ANY, keyword)->sub = to;
  return to || !keyword;
}

static bool add_dynamic(struct compile *c, const struct sub *sub, const struct json *keyword) {
  const struct anchor *anchor = NULL;
  if (!keyword) return true;
  const struct sub *to = refs_find(c, sub, keyword, &anchor);
  struct dynamic *dynamic = to ? arena_new(c->arena, struct dynamic) : NULL;
  if (!dynamic) return c->fail ? false : compile_full(c);
  *dynamic = (struct dynamic){to, anchor ? anchor->name : STR_NONE};
  c->schema->dynamic = c->schema->dynamic || anchor;
  build_rule(c, RULE_DYNAMIC_REF, TYPE_ANY, keyword)->dynamic = dynamic;
  return true;
}

static bool add_condition(struct compile *c, const struct keywords *found) {
  const struct json *when = found->v[KEYWORD_IF], *then = found->v[KEYWORD_THEN];
  const struct json *otherwise = found->v[KEYWORD_ELSE];
  if (!when) return true;
  struct condition *condition = arena_new(c->arena, struct condition);
  if (!condition) return compile_full(c);
  condition->when = build_child(c, when);
  if (then) condition->then = build_child(c, then);
  if (otherwise) condition->otherwise = build_child(c, otherwise);
  build_rule(c, RULE_IF, TYPE_ANY, when)->condition = condition;
  return true;
}

static void add_sub_rule(struct compile *c, const struct json *keyword, enum rule_op op,
                         unsigned kinds) {
  if (keyword) build_rule(c, op, kinds, keyword)->sub = build_child(c, keyword);
}

bool build_in_place(struct compile *c, const struct sub *sub, const struct keywords *found) {
  if (!add_ref(c, sub, found->v[KEYWORD_REF]) ||
      !add_dynamic(c, sub, found->v[KEYWORD_DYNAMIC_REF]) ||
      !add_subs(c, found->v[KEYWORD_ALL_OF], RULE_ALL) ||
      !add_subs(c, found->v[KEYWORD_ANY_OF], RULE_ANY) ||
      !add_subs(c, found->v[KEYWORD_ONE_OF], RULE_ONE))
    return false;
  add_sub_rule(c, found->v[KEYWORD_NOT], RULE_NOT, TYPE_ANY);
  if (!add_condition(c, found)) return false;
  add_sub_rule(c, found->v[KEYWORD_UNEVALUATED_ITEMS], RULE_OTHER_ITEMS, TYPE_ARRAY);
  add_sub_rule(c, found->v[KEYWORD_UNEVALUATED_PROPERTIES], RULE_OTHER_MEMBERS, TYPE_OBJECT);
  return true;
}
