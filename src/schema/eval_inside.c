/* Rules about members and items: where most of the time of a check goes. */
#include "schema/eval.h"

#include "schema/equal.h"

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

/* With patterns, with a key that stands twice, or where somebody asks what was held. */
static bool eval_marking(struct check *c, const struct members *m, const struct json *value,
                         struct seen *seen) {
  size_t i = 0, required = 0;
  bool held;
  for (const struct json *member = value->first; member; member = member->next, i++) {
    const struct member *known = members_find(m, member->key);
    required += known && known->required;
    if (!eval_member(c, m, known, member, &held)) return false;
    if (seen && held) seen_mark(seen, i);
  }
  return value->twin ? has_required(c, m, value) : required >= m->required;
}

/* Nothing is added to the NULL of an empty list. */
static inline const struct member *members_end(const struct members *m) {
  return m->n ? m->v + m->n : m->v;
}

bool eval_members(struct check *c, const struct members *m, const struct json *value,
                  struct seen *seen) {
  const struct member *next = m->v, *end = members_end(m);
  size_t required = 0;
  if (!check_spend(c, (int64_t)value->count)) return false;
  if (seen || m->pattern_n || value->twin) return eval_marking(c, m, value, seen);
  for (const struct json *member = value->first; member; member = member->next) {
    /* They mostly come in the schema's order. */
    const struct member *known = next;
    if (known == end || !same_text(known->key, member->key)) known = members_find(m, member->key);
    const struct sub *sub = m->rest;
    if (known) {
      next = known + 1;
      required += known->required;
      if (known->sub) sub = known->sub;
    }
    if (sub && !eval(c, sub, member, NULL)) return false;
  }
  return required >= m->required;
}

bool eval_items(struct check *c, const struct items *items, const struct json *value,
                struct seen *seen) {
  size_t i = 0;
  if (!check_spend(c, (int64_t)value->count)) return false;
  for (const struct json *item = value->first; item; item = item->next, i++) {
    const struct sub *sub = i < items->first.n ? items->first.v[i] : items->rest;
    if (!sub) return true;
    if (!eval(c, sub, item, NULL)) return false;
    if (seen) seen_mark(seen, i);
  }
  return true;
}
