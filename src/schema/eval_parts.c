/* The rarer rules about what is inside a value; members and items are in eval_inside.c. */
#include "schema/eval.h"

#include "schema/equal.h"

bool has_member(struct check *c, const struct json *value, struct str key) {
  return check_spend(c, 1 + (int64_t)(value->count / 4)) && json_member(value, key);
}

bool eval_names(struct check *c, const struct sub *sub, const struct json *value) {
  if (!check_spend(c, (int64_t)value->count)) return false;
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

bool eval_contains(struct check *c, const struct contains *contains, const struct json *value,
                   struct seen *seen) {
  size_t i = 0, found = 0;
  if (!check_spend(c, (int64_t)value->count)) return false;
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

static const struct json *few_twice(struct check *c, const struct json *value, size_t *i,
                                    size_t *k) {
  *i = 0;
  for (const struct json *a = value->first; a; a = a->next, ++*i) {
    *k = *i + 1;
    for (const struct json *b = a->next; b; b = b->next, ++*k)
      if (value_equal(a, b, &c->steps)) return b;
  }
  return NULL;
}

/* The items seen so far, by their hash. */
struct table {
  const struct json **item;
  uint64_t *hash;
  size_t mask;
};

/* The one that is the same; NULL: it was new, and is put there. */
static const struct json *table_find(struct check *c, struct table *t, const struct json *item) {
  uint64_t hash = value_hash(item);
  size_t at = hash & t->mask;
  for (; t->item[at] && check_spend(c, 1); at = (at + 1) & t->mask)
    if (t->hash[at] == hash && value_equal(t->item[at], item, &c->steps)) return t->item[at];
  if (c->fail) return NULL;
  t->item[at] = item;
  t->hash[at] = hash;
  return NULL;
}

static size_t place_of(const struct json *array, const struct json *item) {
  size_t i = 0;
  for (const struct json *one = array->first; one != item; one = one->next)
    i++;
  return i;
}

static const struct json *many_twice(struct check *c, const struct json *value, size_t *i,
                                     size_t *k) {
  size_t size = 16;
  while (size < 2 * value->count)
    size *= 2;
  struct table t = {.mask = size - 1};
  t.item = check_alloc(c, sizeof *t.item, size);
  t.hash = check_alloc(c, sizeof *t.hash, size);
  if (!t.item || !t.hash || !check_spend(c, (int64_t)(value->source.n / 16 + size / 8)))
    return NULL;
  *k = 0;
  for (const struct json *item = value->first; item && !c->fail; item = item->next, ++*k) {
    const struct json *same = table_find(c, &t, item);
    if (!same) continue;
    *i = place_of(value, same);
    return item;
  }
  return NULL;
}

const struct json *find_twice(struct check *c, const struct json *value, size_t *i, size_t *k) {
  const struct json *found =
      value->count <= FEW ? few_twice(c, value, i, k) : many_twice(c, value, i, k);
  return check_spend(c, 0) ? found : NULL;
}

bool eval_unique(struct check *c, const struct json *value) {
  size_t i, k;
  return !find_twice(c, value, &i, &k) && !c->fail;
}

bool eval_others(struct check *c, const struct sub *sub, const struct json *value,
                 struct seen *seen) {
  size_t i = 0;
  if (!check_spend(c, (int64_t)value->count)) return false;
  for (const struct json *one = value->first; one; one = one->next, i++) {
    if (seen_has(seen, i)) continue;
    if (!eval(c, sub, one, NULL)) return false;
    seen_mark(seen, i);
  }
  return true;
}
