/* Rules about what is inside a value: members, items, their names and number. */
#include "schema/eval.h"

#include "schema/equal.h"

bool has_member(struct check *c, const struct json *value, struct str key) {
  return check_spend(c, 1 + (int64_t)(value->count / 4)) && json_member(value, key);
}

/* Members mostly come in the schema's order, so the next one is looked at first. */
static const struct member *find(const struct members *m, struct str key, size_t *next) {
  if (*next < m->n && str_eq(m->v[*next].key, key)) return &m->v[(*next)++];
  const struct member *found = members_find(m, key);
  if (found) *next = (size_t)(found - m->v) + 1;
  return found;
}

static bool eval_patterns(struct check *c, const struct members *m, const struct json *member,
                          bool *held) {
  for (size_t i = 0; i < m->pattern_n; i++) {
    if (!pattern_fits(c, m->patterns[i].pattern, member->key)) {
      if (c->fail) return false;
      continue;
    }
    *held = true;
    if (!eval(c, m->patterns[i].sub, member, NULL)) return false;
  }
  return true;
}

/* With a key that stands twice the count below would be wrong. */
static bool has_required(struct check *c, const struct members *m, const struct json *value) {
  for (size_t i = 0; i < m->n; i++)
    if (m->v[i].required && !has_member(c, value, m->v[i].key)) return false;
  return true;
}

/* *held: some subschema was for it. */
static bool eval_member(struct check *c, const struct members *m, const struct member *known,
                        const struct json *member, bool *held) {
  *held = known && known->sub;
  if (*held && !eval(c, known->sub, member, NULL)) return false;
  if (m->pattern_n && !eval_patterns(c, m, member, held)) return false;
  if (*held || !m->rest) return true;
  *held = true;
  return eval(c, m->rest, member, NULL);
}

bool eval_members(struct check *c, const struct members *m, const struct json *value,
                  struct seen *seen) {
  size_t next = 0, i = 0, required = 0;
  bool held;
  if (!check_spend(c, (int64_t)value->count)) return false;
  for (const struct json *member = value->first; member; member = member->next, i++) {
    const struct member *known = find(m, member->key, &next);
    if (known) required += known->required;
    if (!eval_member(c, m, known, member, &held)) return false;
    if (seen && held) seen_mark(seen, i);
  }
  return value->twin ? has_required(c, m, value) : required >= m->required;
}

bool eval_names(struct check *c, const struct sub *sub, const struct json *value) {
  for (const struct json *m = value->first; m; m = m->next) {
    struct json name = {.kind = JSON_STRING, .source = m->key_source, .text = m->key};
    if (!eval(c, sub, &name, NULL)) return false;
  }
  return true;
}

bool eval_needs(struct check *c, const struct needs *needs, const struct json *value) {
  for (size_t i = 0; i < needs->n; i++) {
    if (!has_member(c, value, needs->v[i].key)) continue;
    for (const struct json *key = needs->v[i].keys->first; key; key = key->next)
      if (!has_member(c, value, key->text)) return false;
  }
  return !c->fail;
}

bool eval_items(struct check *c, const struct items *items, const struct json *value,
                struct seen *seen) {
  size_t i = 0;
  for (const struct json *item = value->first; item; item = item->next, i++) {
    const struct sub *sub = i < items->first.n ? items->first.v[i] : items->rest;
    if (!sub) return true;
    if (!eval(c, sub, item, NULL)) return false;
    if (seen) seen_mark(seen, i);
  }
  return true;
}

bool eval_contains(struct check *c, const struct contains *contains, const struct json *value,
                   struct seen *seen) {
  size_t i = 0, found = 0;
  for (const struct json *item = value->first; item; item = item->next, i++) {
    if (!eval(c, contains->sub, item, NULL)) {
      if (c->fail) return false;
      continue;
    }
    found++;
    if (found > contains->max) return false;
    if (seen && contains->marks) seen_mark(seen, i);
    if (!seen && found >= contains->min && contains->max == SIZE_MAX) return true;
  }
  return found >= contains->min;
}

#define FEW 8 /* so many are compared in pairs: a table would not be faster */

static bool few_unique(struct check *c, const struct json *value) {
  for (const struct json *a = value->first; a; a = a->next)
    for (const struct json *b = a->next; b; b = b->next)
      if (value_equal(a, b, &c->steps)) return false;
  return check_spend(c, 0);
}

bool eval_unique(struct check *c, const struct json *value) {
  size_t size = 16;
  if (value->count <= FEW) return few_unique(c, value);
  while (size < 2 * value->count)
    size *= 2;
  const struct json **slot = check_alloc(c, sizeof *slot, size);
  if (!slot || !check_spend(c, (int64_t)(value->source.n / 16 + size / 8))) return false;
  uint64_t *hash = check_alloc(c, sizeof *hash, size);
  if (!hash) return false;
  for (const struct json *item = value->first; item; item = item->next) {
    uint64_t h = value_hash(item);
    size_t at = h & (size - 1);
    for (; slot[at]; at = (at + 1) & (size - 1))
      if (!check_spend(c, 1) || (hash[at] == h && value_equal(slot[at], item, &c->steps)))
        return false;
    slot[at] = item;
    hash[at] = h;
  }
  return check_spend(c, 0);
}

bool eval_others(struct check *c, const struct sub *sub, const struct json *value,
                 struct seen *seen) {
  size_t i = 0;
  for (const struct json *one = value->first; one; one = one->next, i++) {
    if (seen_has(seen, i)) continue;
    if (!eval(c, sub, one, NULL)) return false;
    seen_mark(seen, i);
  }
  return true;
}
