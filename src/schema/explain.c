/* Finds what is wrong with a value that does not fit: the same walk as eval.c's,
 * which is asked rule by rule, but it goes on after the first failure. Of the
 * branches of a choice the one that came closest speaks.
 */
#include "schema/explain.h"

#include "base/utf8.h"
#include "schema/equal.h"
#include "schema/format.h"

/* How far each kind of failure puts a branch: one of another type is hardly
 * what was meant, one whose constant differs is another alternative. */
#define FAR_TYPE 1000
#define FAR_VALUES 500
#define FAR_CONSTANT 100 /* the same of a member: what tells alternatives apart */
#define FAR_INSIDE 50    /* at most, of anything else below */
#define FAR_ONE 10

static void explain_sub(struct check *c, const struct sub *sub, const struct json *value,
                        const struct place *at, struct seen *seen, struct account *a);

void account_add(struct account *a, unsigned far, const struct finding *finding) {
  a->far += far;
  if (finding->rank < a->best.rank) a->best = *finding;
}

static void say(struct check *c, struct account *a, const struct place *at, unsigned far,
                struct finding finding) {
  finding.values[0] = words_place(c, at);
  account_add(a, far, &finding);
}

/* ---- a value by itself ------------------------------------------------------ */

static void say_type(struct check *c, const struct sub *sub, const struct json *value,
                     const struct place *at, struct account *a) {
  struct finding f = {RANK_TYPE, T_SCHEMA_TYPE, {STR_NONE}};
  a->types |= sub->types;
  f.values[1] = words_types(c, sub->types);
  f.values[2] = words_kind(c, value);
  if (sub->types == 0) {
    f.text = T_SCHEMA_NOTHING;
    f.values[1] = f.values[2];
  }
  say(c, a, at, FAR_TYPE, f);
}

static void say_values(struct check *c, const struct rule *rule, const struct json *value,
                       const struct place *at, struct account *a) {
  struct finding f = {RANK_VALUES, T_SCHEMA_ENUM, {STR_NONE}};
  bool one = rule->values->n == 1;
  if (one) f.text = T_SCHEMA_CONST;
  f.values[1] = words_value(c, one ? rule->values->v[0] : rule->keyword);
  f.values[2] = words_value(c, value);
  say(c, a, at, FAR_VALUES, f);
}

static void say_bound(struct check *c, const struct rule *rule, const struct json *value,
                      const struct place *at, struct account *a) {
  static const enum text_id texts[] = {[RULE_MINIMUM] = T_SCHEMA_MINIMUM,
                                       [RULE_MAXIMUM] = T_SCHEMA_MAXIMUM,
                                       [RULE_ABOVE] = T_SCHEMA_ABOVE,
                                       [RULE_BELOW] = T_SCHEMA_BELOW,
                                       [RULE_MULTIPLE] = T_SCHEMA_MULTIPLE,
                                       [RULE_PATTERN] = T_SCHEMA_MATCH,
                                       [RULE_NOT] = T_SCHEMA_NOT};
  struct finding f = {RANK_OTHER, texts[rule->op], {STR_NONE}};
  f.values[1] = words_value(c, rule->keyword);
  if (rule->op == RULE_PATTERN) f.values[1] = words_text(c, rule->keyword->text);
  f.values[2] = words_value(c, value);
  say(c, a, at, FAR_ONE, f);
}

static void say_count(struct check *c, const struct rule *rule, const struct json *value,
                      const struct place *at, struct account *a) {
  static const enum text_id texts[] = {
      [RULE_MIN_LENGTH] = T_SCHEMA_MIN_LENGTH,   [RULE_MAX_LENGTH] = T_SCHEMA_MAX_LENGTH,
      [RULE_MIN_ITEMS] = T_SCHEMA_MIN_ITEMS,     [RULE_MAX_ITEMS] = T_SCHEMA_MAX_ITEMS,
      [RULE_MIN_MEMBERS] = T_SCHEMA_MIN_MEMBERS, [RULE_MAX_MEMBERS] = T_SCHEMA_MAX_MEMBERS};
  struct finding f = {RANK_OTHER, texts[rule->op], {STR_NONE}};
  size_t has = json_is(value, JSON_STRING) ? utf8_count(value->text) : value->count;
  f.values[1] = words_count(c, rule->count);
  f.values[2] = words_count(c, has);
  say(c, a, at, FAR_ONE, f);
}

static void say_format(struct check *c, const struct rule *rule, const struct json *value,
                       const struct place *at, struct account *a) {
  struct finding f = {RANK_OTHER, T_SCHEMA_FORMAT, {STR_NONE}};
  f.values[1] = str_of(rule->format->name);
  f.values[2] = words_value(c, value);
  f.values[3] = str_of(rule->format->example);
  say(c, a, at, FAR_ONE, f);
}

/* ---- what is inside --------------------------------------------------------- */

static void explain_inside(struct check *c, const struct sub *sub, const struct json *value,
                           const struct place *at, struct account *a) {
  struct account below = {.best = {.rank = RANK_NONE}};
  explain_sub(c, sub, value, at, NULL, &below);
  if (below.best.rank == RANK_NONE) return;
  unsigned far = below.far < FAR_INSIDE ? below.far : FAR_INSIDE;
  if (below.best.rank == RANK_VALUES) far = FAR_CONSTANT;
  account_add(a, far, &below.best);
}

static void say_missing(struct check *c, const struct members *m, const struct json *value,
                        const struct place *at, struct account *a) {
  for (size_t i = 0; i < m->n && !c->fail; i++) {
    if (!m->v[i].required || has_member(c, value, m->v[i].key)) continue;
    struct finding f = {RANK_MISSING, T_SCHEMA_MISSING, {STR_NONE}};
    f.values[1] = words_text(c, m->v[i].key);
    say(c, a, at, FAR_ONE, f);
  }
}

static void say_extra(struct check *c, const struct members *m, const struct json *member,
                      const struct place *at, struct account *a) {
  struct finding f = {RANK_EXTRA, T_SCHEMA_EXTRA, {STR_NONE}};
  f.values[1] = words_text(c, member->key);
  f.values[2] = words_known(c, m);
  say(c, a, at, FAR_ONE, f);
}

static void explain_member(struct check *c, const struct members *m, const struct json *member,
                           const struct place *at, struct account *a) {
  struct place inside = {at, member->key, 0, false};
  const struct member *known = members_find(m, member->key);
  bool held = known && known->sub;
  if (held) explain_inside(c, known->sub, member, &inside, a);
  for (size_t i = 0; i < m->pattern_n && !c->fail; i++) {
    if (!pattern_fits(c, m->patterns[i].pattern, member->key)) continue;
    held = true;
    explain_inside(c, m->patterns[i].sub, member, &inside, a);
  }
  if (held || !m->rest || c->fail) return;
  if (m->rest->types == 0)
    say_extra(c, m, member, at, a);
  else
    explain_inside(c, m->rest, member, &inside, a);
}

static void explain_members(struct check *c, const struct members *m, const struct json *value,
                            const struct place *at, struct account *a) {
  say_missing(c, m, value, at, a);
  for (const struct json *one = value->first; one && !c->fail; one = one->next)
    explain_member(c, m, one, at, a);
}

static void explain_names(struct check *c, const struct sub *sub, const struct json *value,
                          const struct place *at, struct account *a) {
  for (const struct json *m = value->first; m && !c->fail; m = m->next) {
    struct json name = {.kind = JSON_STRING, .source = m->key_source, .text = m->key};
    if (eval(c, sub, &name, NULL) || c->fail) continue;
    struct account below = {.best = {.rank = RANK_NONE}};
    struct place inside = {at, m->key, 0, false};
    explain_sub(c, sub, &name, &inside, NULL, &below);
    struct finding f = {RANK_EXTRA, T_SCHEMA_NAME, {STR_NONE}};
    f.values[1] = words_text(c, m->key);
    f.values[2] = below.best.values[1];
    say(c, a, at, FAR_ONE, f);
  }
}

static void say_needs(struct check *c, const struct needs *needs, const struct json *value,
                      const struct place *at, struct account *a) {
  for (size_t i = 0; i < needs->n && !c->fail; i++) {
    if (!has_member(c, value, needs->v[i].key)) continue;
    for (const struct json *key = needs->v[i].keys->first; key && !c->fail; key = key->next) {
      if (has_member(c, value, key->text)) continue;
      struct finding f = {RANK_MISSING, T_SCHEMA_NEEDS, {STR_NONE}};
      f.values[1] = words_text(c, needs->v[i].key);
      f.values[2] = words_text(c, key->text);
      say(c, a, at, FAR_ONE, f);
    }
  }
}

static void explain_items(struct check *c, const struct items *items, const struct json *value,
                          const struct place *at, struct account *a) {
  size_t i = 0;
  for (const struct json *item = value->first; item && !c->fail; item = item->next, i++) {
    struct place inside = {at, STR_NONE, i, true};
    const struct sub *sub = i < items->first.n ? items->first.v[i] : items->rest;
    if (!sub) return;
    if (i < items->first.n || sub->types != 0) {
      explain_inside(c, sub, item, &inside, a);
      continue;
    }
    struct finding f = {RANK_OTHER, T_SCHEMA_MAX_ITEMS, {STR_NONE}};
    f.values[1] = words_count(c, items->first.n);
    f.values[2] = words_count(c, value->count);
    say(c, a, at, FAR_ONE, f);
    return;
  }
}

static void say_contains(struct check *c, const struct contains *contains, const struct json *value,
                         const struct place *at, struct account *a) {
  size_t found = 0;
  for (const struct json *item = value->first; item && !c->fail; item = item->next)
    found += eval(c, contains->sub, item, NULL);
  bool few = found < contains->min;
  struct finding f = {RANK_OTHER, few ? T_SCHEMA_CONTAINS_FEW : T_SCHEMA_CONTAINS_MANY, {STR_NONE}};
  f.values[1] = words_count(c, few ? contains->min : contains->max);
  f.values[2] = words_count(c, found);
  f.values[3] = words_value(c, contains->sub->json);
  say(c, a, at, FAR_ONE, f);
}

static void say_twice(struct check *c, const struct json *value, const struct place *at,
                      struct account *a) {
  size_t i = 0;
  for (const struct json *x = value->first; x && !c->fail; x = x->next, i++) {
    size_t k = i + 1;
    for (const struct json *y = x->next; y && check_spend(c, 1); y = y->next, k++) {
      if (!value_equal(x, y, &c->steps)) continue;
      struct finding f = {RANK_OTHER, T_SCHEMA_UNIQUE, {STR_NONE}};
      f.values[1] = words_count(c, i);
      f.values[2] = words_count(c, k);
      f.values[3] = words_value(c, x);
      say(c, a, at, FAR_ONE, f);
      return;
    }
  }
}

/* The member or item itself is not wanted, or what is in it. */
static void explain_others(struct check *c, const struct sub *sub, const struct json *value,
                           const struct place *at, struct seen *seen, struct account *a) {
  size_t i = 0;
  bool array = json_is(value, JSON_ARRAY);
  for (const struct json *one = value->first; one && !c->fail; one = one->next, i++) {
    struct place inside = {at, one->key, i, array};
    if (seen_has(seen, i)) continue;
    if (array || sub->types != 0) {
      explain_inside(c, sub, one, &inside, a);
      continue;
    }
    struct finding f = {RANK_EXTRA, T_SCHEMA_UNEVALUATED, {STR_NONE}};
    f.values[1] = words_text(c, one->key);
    say(c, a, at, FAR_ONE, f);
  }
}

/* ---- choices ---------------------------------------------------------------- */

/* The types, or the values, of all branches, where each fails by that alone. */
static bool say_together(struct check *c, const struct subs *subs, const struct json *value,
                         const struct place *at, const struct account *all, struct account *a) {
  struct finding f = {RANK_TYPE, T_SCHEMA_TYPE, {STR_NONE}};
  if (all->far >= FAR_TYPE) {
    a->types |= all->types;
    f.values[1] = words_types(c, all->types);
    f.values[2] = words_kind(c, value);
    say(c, a, at, FAR_TYPE, f);
    return true;
  }
  struct str list = all->best.rank == RANK_VALUES ? words_list(c, subs) : STR_NONE;
  if (list.n == 0) return false;
  f.rank = RANK_VALUES;
  f.text = T_SCHEMA_ENUM;
  f.values[1] = list;
  f.values[2] = words_value(c, value);
  say(c, a, at, FAR_VALUES, f);
  return true;
}

static void explain_choice(struct check *c, const struct subs *subs, const struct json *value,
                           const struct place *at, struct account *a) {
  struct account closest = {.far = UINT32_MAX, .best = {.rank = RANK_NONE}};
  for (size_t i = 0; i < subs->n && !c->fail; i++) {
    struct account branch = {.best = {.rank = RANK_NONE}};
    explain_sub(c, subs->v[i], value, at, NULL, &branch);
    branch.types |= closest.types;
    closest.types = branch.types;
    if (branch.best.rank != RANK_NONE && branch.far < closest.far) closest = branch;
  }
  if (closest.best.rank == RANK_NONE) return;
  if (!say_together(c, subs, value, at, &closest, a)) account_add(a, closest.far, &closest.best);
}

static void explain_one(struct check *c, const struct subs *subs, const struct json *value,
                        const struct place *at, struct account *a) {
  size_t fits[2], n = 0;
  for (size_t i = 0; i < subs->n && n < 2 && !c->fail; i++)
    if (eval(c, subs->v[i], value, NULL)) fits[n++] = i + 1;
  if (n < 2) {
    explain_choice(c, subs, value, at, a);
    return;
  }
  struct finding f = {RANK_OTHER, T_SCHEMA_ONE_OF, {STR_NONE}};
  f.values[1] = words_count(c, fits[0]);
  f.values[2] = words_count(c, fits[1]);
  f.values[3] = words_value(c, value);
  say(c, a, at, FAR_ONE, f);
}

static void explain_if(struct check *c, const struct condition *condition, const struct json *value,
                       const struct place *at, struct account *a) {
  bool holds = eval(c, condition->when, value, NULL);
  const struct sub *next = holds ? condition->then : condition->otherwise;
  if (next) explain_sub(c, next, value, at, NULL, a);
}

static void explain_dependents(struct check *c, const struct needs *needs, const struct json *value,
                               const struct place *at, struct account *a) {
  for (size_t i = 0; i < needs->n && !c->fail; i++)
    if (has_member(c, value, needs->v[i].key)) explain_sub(c, needs->v[i].sub, value, at, NULL, a);
}

static void explain_all(struct check *c, const struct subs *subs, const struct json *value,
                        const struct place *at, struct account *a) {
  for (size_t i = 0; i < subs->n && !c->fail; i++)
    explain_sub(c, subs->v[i], value, at, NULL, a);
}

/* ---- all of it --------------------------------------------------------------- */

/* dispatch */
static void explain_rule(struct check *c, const struct rule *rule, const struct json *value,
                         const struct place *at, struct seen *seen, struct account *a) {
  switch (rule->op) {
  case RULE_VALUES: say_values(c, rule, value, at, a); return;
  case RULE_MINIMUM:
  case RULE_MAXIMUM:
  case RULE_ABOVE:
  case RULE_BELOW:
  case RULE_MULTIPLE:
  case RULE_PATTERN:
  case RULE_NOT: say_bound(c, rule, value, at, a); return;
  case RULE_MIN_LENGTH:
  case RULE_MAX_LENGTH:
  case RULE_MIN_ITEMS:
  case RULE_MAX_ITEMS:
  case RULE_MIN_MEMBERS:
  case RULE_MAX_MEMBERS: say_count(c, rule, value, at, a); return;
  case RULE_FORMAT: say_format(c, rule, value, at, a); return;
  case RULE_MEMBERS: explain_members(c, rule->members, value, at, a); return;
  case RULE_NAMES: explain_names(c, rule->sub, value, at, a); return;
  case RULE_NEEDS: say_needs(c, rule->needs, value, at, a); return;
  case RULE_DEPENDENTS: explain_dependents(c, rule->needs, value, at, a); return;
  case RULE_ITEMS: explain_items(c, rule->items, value, at, a); return;
  case RULE_CONTAINS: say_contains(c, rule->contains, value, at, a); return;
  case RULE_UNIQUE: say_twice(c, value, at, a); return;
  case RULE_REF: explain_sub(c, rule->sub, value, at, NULL, a); return;
  case RULE_DYNAMIC_REF:
    explain_sub(c, dynamic_target(c, rule->dynamic), value, at, NULL, a);
    return;
  case RULE_ALL: explain_all(c, rule->subs, value, at, a); return;
  case RULE_ANY: explain_choice(c, rule->subs, value, at, a); return;
  case RULE_ONE: explain_one(c, rule->subs, value, at, a); return;
  case RULE_IF: explain_if(c, rule->condition, value, at, a); return;
  case RULE_OTHER_ITEMS:
  case RULE_OTHER_MEMBERS: explain_others(c, rule->sub, value, at, seen, a); return;
  }
}

static void explain_rules(struct check *c, const struct sub *sub, const struct json *value,
                          const struct place *at, struct seen *seen, struct account *a) {
  for (const struct rule *rule = sub->rules; rule < sub->rules + sub->rule_n && !c->fail; rule++) {
    if (!(rule->kinds >> value->kind & 1) || !check_spend(c, 1)) continue;
    if (!eval_rule(c, rule, value, seen) && !c->fail) explain_rule(c, rule, value, at, seen, a);
  }
}

static void explain_sub(struct check *c, const struct sub *sub, const struct json *value,
                        const struct place *at, struct seen *seen, struct account *a) {
  struct seen own;
  const struct scope *before = c->scope;
  struct scope here = {before, sub->resource};
  if (c->fail) return;
  if (!type_fits(sub->types, value)) {
    say_type(c, sub, value, at, a);
    return;
  }
  if (sub->rule_n == 0) return;
  if (c->depth >= SCHEMA_DEPTH_MAX) {
    check_end(c, REIN_LIMIT, T_SCHEMA_DEEP);
    return;
  }
  if (sub->tracks && !seen) {
    if (!seen_init(c, &own, value)) return;
    seen = &own;
  }
  c->scope = &here;
  c->depth++;
  explain_rules(c, sub, value, at, seen, a);
  c->depth--;
  c->scope = before;
}

enum rein_code explain(struct schema *schema, const struct json *value, struct err *err) {
  struct check c;
  struct place root = {0};
  struct account all = {.best = {.rank = RANK_NONE}};
  check_init(&c, schema);
  explain_sub(&c, schema->root, value, &root, NULL, &all);
  struct finding *f = &all.best;
  if (f->rank == RANK_NONE && c.fail != REIN_MEMORY) { /* out of steps before the first */
    f->text = T_SCHEMA_MISMATCH;
    f->values[0] = words_place(&c, &root);
    f->values[1] = words_kind(&c, value);
  }
  enum rein_code code = REIN_INPUT;
  if (c.fail == REIN_MEMORY)
    code = ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  else
    ERR(err, REIN_INPUT, f->text, f->values[0], f->values[1], f->values[2], f->values[3]);
  check_release(&c);
  return code;
}
