/* A schema whose references lead back to it without going into the value would
 * be tried forever, whatever the value: it is refused when it is made. What
 * only a $dynamicRef closes shows when a value is checked, by its depth.
 */
#include "schema/compile.h"

static const struct sub *condition_sub(const struct condition *condition, size_t i) {
  const struct sub *all[3];
  size_t n = 0;
  if (condition->when) all[n++] = condition->when;
  if (condition->then) all[n++] = condition->then;
  if (condition->otherwise) all[n++] = condition->otherwise;
  return i < n ? all[i] : NULL;
}

/* dispatch */
const struct sub *rule_in_place(const struct rule *rule, size_t i) {
  switch (rule->op) {
  case RULE_REF:
  case RULE_NOT: return i == 0 ? rule->sub : NULL;
  case RULE_DYNAMIC_REF: return i == 0 ? rule->dynamic->sub : NULL;
  case RULE_ALL:
  case RULE_ANY:
  case RULE_ONE: return i < rule->subs->n ? rule->subs->v[i] : NULL;
  case RULE_IF: return condition_sub(rule->condition, i);
  case RULE_DEPENDENTS: return i < rule->needs->n ? rule->needs->v[i].sub : NULL;
  case RULE_VALUES:
  case RULE_MINIMUM:
  case RULE_MAXIMUM:
  case RULE_ABOVE:
  case RULE_BELOW:
  case RULE_MULTIPLE:
  case RULE_MIN_LENGTH:
  case RULE_MAX_LENGTH:
  case RULE_FORMAT:
  case RULE_PATTERN:
  case RULE_MIN_ITEMS:
  case RULE_MAX_ITEMS:
  case RULE_MIN_MEMBERS:
  case RULE_MAX_MEMBERS:
  case RULE_MEMBERS:
  case RULE_NAMES:
  case RULE_NEEDS:
  case RULE_ITEMS:
  case RULE_CONTAINS:
  case RULE_UNIQUE:
  case RULE_OTHER_ITEMS:
  case RULE_OTHER_MEMBERS: break;
  }
  return NULL;
}

/* Adds `by` to the count of references that lead to each sub below `from`. */
static void count_into(const struct sub *from, uint32_t *count, int by, uint32_t *free,
                       size_t *free_n) {
  for (size_t r = 0; r < from->rule_n; r++) {
    const struct sub *to;
    for (size_t i = 0; (to = rule_in_place(&from->rules[r], i)); i++) {
      count[to->number] += (uint32_t)by;
      if (by < 0 && count[to->number] == 0) free[(*free_n)++] = to->number;
    }
  }
}

/* A sub that nothing (left) leads to is on no loop: taken away until none is
 * found; what remains is a loop, or behind one. */
bool loops_refuse(struct compile *c) {
  uint32_t *count = arena_array(c->arena, uint32_t, c->sub_n);
  uint32_t *free = arena_array(c->arena, uint32_t, c->sub_n);
  size_t free_n = 0, gone = 0;
  if (!count || !free) return compile_full(c);
  for (size_t i = 0; i < c->sub_n; i++)
    count_into(c->subs[i], count, 1, NULL, NULL);
  for (size_t i = 0; i < c->sub_n; i++)
    if (count[i] == 0) free[free_n++] = (uint32_t)i;
  while (gone < free_n)
    count_into(c->subs[free[gone++]], count, -1, free, &free_n);
  if (gone == c->sub_n) return true;
  size_t i = 0;
  while (count[i] == 0)
    i++;
  return compile_wrong(c, c->subs[i], NULL, T_SCHEMA_LOOP, STR_NONE);
}
