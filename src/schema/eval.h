/* One value against a compiled schema: only yes or no. Why not is explain.c's
 * business, which asks here again, rule by rule.
 */
#pragma once

#include "schema/equal.h"
#include "schema/made.h"

/* The resources entered on the way, for $dynamicRef. */
struct scope {
  const struct scope *up;
  const struct resource *resource;
};

struct check {
  struct schema *schema;
  int64_t steps; /* left */
  unsigned depth;
  enum rein_code fail;       /* once set, every answer is no */
  enum text_id why;          /* of REIN_LIMIT */
  const struct scope *scope; /* NULL: none was entered */
  struct arena arena;
};

/* Which items or members of one value were looked at by some rule: what
 * unevaluatedItems and unevaluatedProperties ask for. */
struct seen {
  uint64_t few; /* of up to 64; else `many` */
  uint64_t *many;
  size_t n;
};

void check_init(struct check *c, struct schema *schema);
void check_release(struct check *c);
/* Ends the check: REIN_LIMIT with a sentence, or REIN_MEMORY. Always false. */
bool check_end(struct check *c, enum rein_code code, enum text_id why);
/* Takes n steps; false when there are none left. */
static inline bool check_spend(struct check *c, int64_t n) {
  c->steps -= n;
  return c->steps > 0 || check_end(c, REIN_LIMIT, T_SCHEMA_STEPS);
}
/* Memory of the check; NULL: ended. */
void *check_alloc(struct check *c, size_t size, size_t n);

static inline bool type_fits(unsigned types, const struct json *value) {
  if (types >> value->kind & 1) return true;
  return types & TYPE_INTEGER && value->kind == JSON_NUMBER && json_whole(value->text);
}

/* Whether it is one of a few values: no hash needed. */
static inline bool values_word(const struct values *values, struct str word) {
  for (size_t i = 0; i < values->n; i++)
    if (values->v[i]->kind == JSON_STRING && same_text(values->v[i]->text, word)) return true;
  return false;
}

bool eval_members(struct check *c, const struct members *m, const struct json *value,
                  struct seen *seen);
bool eval_rules(struct check *c, const struct sub *sub, const struct json *value,
                struct seen *seen);
/* `seen` may be NULL: nobody asks. Most values end here, at their type; whoever
 * asks about many takes the steps for them. */
static inline __attribute__((always_inline)) bool
eval(struct check *c, const struct sub *sub, const struct json *value, struct seen *seen) {
  int64_t n;
  sub = sub->to;
  if (sub->ranged && value->kind == JSON_NUMBER && json_short(value->text, &n))
    return n >= sub->low && n <= sub->high;
  if (!type_fits(sub->types, value)) return false;
  if (value->kind == JSON_STRING && sub->words) return values_word(sub->words, value->text);
  if (value->kind == JSON_OBJECT && sub->members) return eval_members(c, sub->members, value, seen);
  return !(sub->kinds >> value->kind & 1) || eval_rules(c, sub, value, seen);
}
bool eval_rule(struct check *c, const struct rule *rule, const struct json *value,
               struct seen *seen);
const struct sub *dynamic_target(const struct check *c, const struct dynamic *dynamic);
bool pattern_fits(struct check *c, struct pattern *pattern, struct str text);

/* seen.c */
bool seen_init(struct check *c, struct seen *seen, const struct json *value);
void seen_mark(struct seen *seen, size_t i);
bool seen_has(const struct seen *seen, size_t i);
void seen_add(struct seen *to, const struct seen *from);

/* eval_inside.c: the rules that lead to items and members. */
bool eval_items(struct check *c, const struct items *items, const struct json *value,
                struct seen *seen);
/* eval_parts.c: the rarer ones. */
bool eval_names(struct check *c, const struct sub *sub, const struct json *value);
bool eval_needs(struct check *c, const struct needs *needs, const struct json *value);
bool eval_contains(struct check *c, const struct contains *contains, const struct json *value,
                   struct seen *seen);
bool eval_unique(struct check *c, const struct json *value);
/* The first item that stands there twice, at *i and *k; NULL: none, or ended. */
const struct json *find_twice(struct check *c, const struct json *value, size_t *i, size_t *k);
bool eval_others(struct check *c, const struct sub *sub, const struct json *value,
                 struct seen *seen);
/* json_member() as a question that costs steps. */
bool has_member(struct check *c, const struct json *value, struct str key);

/* eval_place.c: the rules that look at the same value once more. */
bool eval_all(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen);
bool eval_any(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen);
bool eval_one(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen);
bool eval_not(struct check *c, const struct sub *sub, const struct json *value);
bool eval_if(struct check *c, const struct condition *condition, const struct json *value,
             struct seen *seen);
bool eval_dependents(struct check *c, const struct needs *needs, const struct json *value,
                     struct seen *seen);
