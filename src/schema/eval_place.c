/* Rules that look at the same value once more. What a branch that does not fit
 * looked at does not count as seen, so each branch that may fail has a set of
 * its own.
 */
#include "schema/eval.h"

bool eval_all(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen) {
  if (!check_spend(c, (int64_t)subs->n)) return false;
  for (size_t i = 0; i < subs->n; i++)
    if (!eval(c, subs->v[i], value, seen)) return false;
  return true;
}

static bool eval_branch(struct check *c, const struct sub *sub, const struct json *value,
                        struct seen *seen) {
  struct seen own;
  if (!seen) return eval(c, sub, value, NULL);
  if (!seen_init(c, &own, value) || !eval(c, sub, value, &own)) return false;
  seen_add(seen, &own);
  return true;
}

bool eval_any(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen) {
  bool found = false;
  if (!check_spend(c, (int64_t)subs->n)) return false;
  for (size_t i = 0; !seen && i < subs->n && !c->fail; i++)
    if (eval(c, subs->v[i], value, NULL)) return true;
  for (size_t i = 0; seen && i < subs->n; i++) {
    found = eval_branch(c, subs->v[i], value, seen) || found;
    if (c->fail) return false;
  }
  return found;
}

bool eval_one(struct check *c, const struct subs *subs, const struct json *value,
              struct seen *seen) {
  size_t found = 0;
  if (!check_spend(c, (int64_t)subs->n)) return false;
  for (size_t i = 0; i < subs->n && found < 2; i++) {
    found += eval_branch(c, subs->v[i], value, seen);
    if (c->fail) return false;
  }
  return found == 1;
}

bool eval_not(struct check *c, const struct sub *sub, const struct json *value) {
  return !eval(c, sub, value, NULL) && !c->fail;
}

bool eval_if(struct check *c, const struct condition *condition, const struct json *value,
             struct seen *seen) {
  bool holds = eval_branch(c, condition->when, value, seen);
  if (c->fail) return false;
  const struct sub *next = holds ? condition->then : condition->otherwise;
  return !next || eval(c, next, value, seen);
}

bool eval_dependents(struct check *c, const struct needs *needs, const struct json *value,
                     struct seen *seen) {
  for (size_t i = 0; i < needs->n; i++)
    if (has_member(c, value, needs->v[i].key) && !eval(c, needs->v[i].sub, value, seen))
      return false;
  return !c->fail;
}
