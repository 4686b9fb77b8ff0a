/* Finds what is wrong with a value that does not fit: the same walk as eval.c's,
 * which is asked rule by rule, but it goes on after the first failure. Of the
 * branches of a choice the one that came closest speaks.
 */
#include "schema/explain.h"

#include "base/utf8.h"
#include "schema/equal.h"
#include "schema/format.h"

/* How far each kind of failure puts a branch: one of another type is hardly what
 * was meant; a member whose one value differs tells that another alternative was,
 * however much else is wrong in the right one. */
#define FAR_TYPE 1000000
#define FAR_VALUES 100000
#define FAR_CONSTANT 10000
#define FAR_WORD 100  /* a member that has another of several values */
#define FAR_INSIDE 50 /* at most, of anything else below */
#define FAR_ONE 10
#define FAR_MOST 2000000000

/* All that is wrong with one value under one subschema. */
struct account {
  unsigned far;   /* how much: the branch with the least came closest */
  unsigned types; /* what would have been taken, where the type is wrong */
  struct finding best;
};
#define ACCOUNT_EMPTY                                                                              \
  {                                                                                                \
    .best = {.rank = RANK_NONE }                                                                   \
  }

static void explain_sub(struct check *c, const struct sub *sub, const struct json *value,
                        struct seen *seen, struct account *a);

static void say(struct account *a, unsigned far, const struct finding *finding) {
  a->far = a->far < FAR_MOST ? a->far + far : FAR_MOST;
  if (finding->rank < a->best.rank) a->best = *finding;
}

static struct word text(struct str s) {
  return (struct word){WORD_TEXT, {.text = s}};
}

static struct word source(const struct json *value) {
  return (struct word){WORD_SOURCE, {.value = value}};
}

static struct word kind(const struct json *value) {
  return (struct word){WORD_KIND, {.value = value}};
}

static struct word count(size_t n) {
  return (struct word){WORD_COUNT, {.count = n}};
}

/* ---- a value by itself ------------------------------------------------------ */

static void say_type(const struct sub *sub, const struct json *value, struct account *a) {
  struct word types = {WORD_TYPES, {.types = sub->types}};
  struct finding f = {RANK_TYPE, T_SCHEMA_TYPE, value, {types, kind(value)}};
  if (sub->types == 0) f = (struct finding){RANK_TYPE, T_SCHEMA_NOTHING, value, {kind(value)}};
  a->types |= sub->types;
  say(a, FAR_TYPE, &f);
}

static void say_values(const struct rule *rule, const struct json *value, struct account *a) {
  bool one = rule->values->n == 1;
  struct word wanted = source(one ? rule->values->v[0] : rule->keyword);
  enum text_id id = one ? T_SCHEMA_CONST : T_SCHEMA_ENUM;
  struct finding f = {RANK_VALUES, id, value, {wanted, source(value)}};
  say(a, FAR_VALUES, &f);
}

static void say_bound(const struct rule *rule, const struct json *value, struct account *a) {
  static const enum text_id texts[] = {[RULE_MINIMUM] = T_SCHEMA_MINIMUM,
                                       [RULE_MAXIMUM] = T_SCHEMA_MAXIMUM,
                                       [RULE_ABOVE] = T_SCHEMA_ABOVE,
                                       [RULE_BELOW] = T_SCHEMA_BELOW,
                                       [RULE_MULTIPLE] = T_SCHEMA_MULTIPLE,
                                       [RULE_PATTERN] = T_SCHEMA_MATCH,
                                       [RULE_NOT] = T_SCHEMA_NOT};
  bool pattern = rule->op == RULE_PATTERN;
  struct word wanted = pattern ? text(rule->keyword->text) : source(rule->keyword);
  struct finding f = {RANK_OTHER, texts[rule->op], value, {wanted, source(value)}};
  say(a, FAR_ONE, &f);
}

static void say_count(const struct rule *rule, const struct json *value, struct account *a) {
  static const enum text_id texts[] = {
      [RULE_MIN_LENGTH] = T_SCHEMA_MIN_LENGTH,   [RULE_MAX_LENGTH] = T_SCHEMA_MAX_LENGTH,
      [RULE_MIN_ITEMS] = T_SCHEMA_MIN_ITEMS,     [RULE_MAX_ITEMS] = T_SCHEMA_MAX_ITEMS,
      [RULE_MIN_MEMBERS] = T_SCHEMA_MIN_MEMBERS, [RULE_MAX_MEMBERS] = T_SCHEMA_MAX_MEMBERS};
  size_t has = json_is(value, JSON_STRING) ? utf8_count(value->text) : value->count;
  struct finding f = {RANK_OTHER, texts[rule->op], value, {count(rule->count), count(has)}};
  say(a, FAR_ONE, &f);
}

static void say_format(const struct rule *rule, const struct json *value, struct account *a) {
  struct word name = text(str_of(rule->format->name));
  struct word example = text(str_of(rule->format->example));
  struct finding f = {RANK_OTHER, T_SCHEMA_FORMAT, value, {name, source(value), example}};
  say(a, FAR_ONE, &f);
}

/* ---- what is inside --------------------------------------------------------- */

static void explain_inside(struct check *c, const struct sub *sub, const struct json *value,
                           struct account *a) {
  struct account below = ACCOUNT_EMPTY;
  explain_sub(c, sub, value, NULL, &below);
  if (below.best.rank == RANK_NONE) return;
  unsigned far = below.far < FAR_INSIDE ? below.far : FAR_INSIDE;
  if (below.best.rank == RANK_VALUES) far = FAR_WORD;
  if (below.best.text == T_SCHEMA_CONST && below.best.at == value) far = FAR_CONSTANT;
  say(a, far, &below.best);
}

static void say_missing(struct check *c, const struct members *m, const struct json *value,
                        struct account *a) {
  for (size_t i = 0; i < m->n && !c->fail; i++) {
    if (!m->v[i].required || has_member(c, value, m->v[i].key)) continue;
    struct finding f = {RANK_MISSING, T_SCHEMA_MISSING, value, {text(m->v[i].key)}};
    say(a, FAR_ONE, &f);
  }
}

static void say_extra(const struct members *m, const struct json *value, const struct json *member,
                      struct account *a) {
  struct word known = {WORD_KNOWN, {.members = m}};
  struct finding f = {RANK_EXTRA, T_SCHEMA_EXTRA, value, {text(member->key), known}};
  say(a, FAR_ONE, &f);
}

static void explain_member(struct check *c, const struct members *m, const struct json *value,
                           const struct json *member, struct account *a) {
  const struct member *known = members_find(m, member->key);
  bool held = known && known->sub;
  if (held) explain_inside(c, known->sub, member, a);
  for (size_t i = 0; i < m->pattern_n && !c->fail; i++) {
    if (!pattern_fits(c, m->patterns[i].pattern, member->key)) continue;
    held = true;
    explain_inside(c, m->patterns[i].sub, member, a);
  }
  if (held || !m->rest || c->fail) return;
  if (m->rest->types == 0)
    say_extra(m, value, member, a);
  else
    explain_inside(c, m->rest, member, a);
}

static void explain_members(struct check *c, const struct members *m, const struct json *value,
                            struct account *a) {
  say_missing(c, m, value, a);
  if (!check_spend(c, (int64_t)value->count)) return;
  for (const struct json *one = value->first; one && !c->fail; one = one->next)
    explain_member(c, m, value, one, a);
}

/* The first of the names that do not fit. It lives as long as what is found about it. */
static void explain_names(struct check *c, const struct sub *sub, const struct json *value,
                          struct account *a) {
  struct json *name = check_alloc(c, sizeof *name, 1);
  for (const struct json *m = value->first; name && m && check_spend(c, 1); m = m->next) {
    struct account below = ACCOUNT_EMPTY;
    *name = (struct json){.kind = JSON_STRING, .source = m->key_source, .text = m->key};
    explain_sub(c, sub, name, NULL, &below);
    if (below.best.rank == RANK_NONE) continue;
    struct finding f = {RANK_EXTRA, T_SCHEMA_NAME, value, {text(m->key), below.best.words[0]}};
    if (below.best.text == T_SCHEMA_NOTHING) f.text = T_SCHEMA_UNEVALUATED;
    say(a, FAR_ONE, &f);
    return;
  }
}

static void say_needs(struct check *c, const struct needs *needs, const struct json *value,
                      struct account *a) {
  for (size_t i = 0; i < needs->n && !c->fail; i++) {
    if (!has_member(c, value, needs->v[i].key)) continue;
    for (const struct json *key = needs->v[i].keys->first; key && !c->fail; key = key->next) {
      if (has_member(c, value, key->text)) continue;
      struct word has = text(needs->v[i].key);
      struct finding f = {RANK_MISSING, T_SCHEMA_NEEDS, value, {has, text(key->text)}};
      say(a, FAR_ONE, &f);
    }
  }
}

static void explain_items(struct check *c, const struct items *items, const struct json *value,
                          struct account *a) {
  size_t i = 0;
  if (!check_spend(c, (int64_t)value->count)) return;
  for (const struct json *item = value->first; item && !c->fail; item = item->next, i++) {
    const struct sub *sub = i < items->first.n ? items->first.v[i] : items->rest;
    if (!sub) return;
    if (i < items->first.n || sub->types != 0) {
      explain_inside(c, sub, item, a);
      continue;
    }
    struct word most = count(items->first.n), has = count(value->count);
    struct finding f = {RANK_OTHER, T_SCHEMA_MAX_ITEMS, value, {most, has}};
    say(a, FAR_ONE, &f);
    return;
  }
}

static void say_contains(struct check *c, const struct contains *contains, const struct json *value,
                         struct account *a) {
  size_t found = 0;
  if (!check_spend(c, (int64_t)value->count)) return;
  for (const struct json *item = value->first; item && !c->fail; item = item->next)
    found += eval(c, contains->sub, item, NULL);
  bool few = found < contains->min;
  enum text_id id = few ? T_SCHEMA_CONTAINS_FEW : T_SCHEMA_CONTAINS_MANY;
  struct word wanted = count(few ? contains->min : contains->max);
  struct finding f = {RANK_OTHER, id, value, {wanted, count(found), source(contains->sub->json)}};
  say(a, FAR_ONE, &f);
}

static void say_twice(struct check *c, const struct json *value, struct account *a) {
  size_t i, k;
  const struct json *one = find_twice(c, value, &i, &k);
  if (!one) return;
  struct finding f = {RANK_OTHER, T_SCHEMA_UNIQUE, value, {count(i), count(k), source(one)}};
  say(a, FAR_ONE, &f);
}

/* The member or item itself is not wanted, or what is in it. */
static void explain_others(struct check *c, const struct sub *sub, const struct json *value,
                           struct seen *seen, struct account *a) {
  size_t i = 0;
  if (!check_spend(c, (int64_t)value->count)) return;
  for (const struct json *one = value->first; one && !c->fail; one = one->next, i++) {
    if (seen_has(seen, i)) continue;
    if (json_is(value, JSON_ARRAY) || sub->types != 0) {
      explain_inside(c, sub, one, a);
      continue;
    }
    struct finding f = {RANK_EXTRA, T_SCHEMA_UNEVALUATED, value, {text(one->key)}};
    say(a, FAR_ONE, &f);
  }
}

/* ---- choices ---------------------------------------------------------------- */

static bool is_member(struct check *c, const struct json *value, const struct json *one) {
  const struct json *m = json_is(value, JSON_OBJECT) ? value->first : NULL;
  while (m && m != one && check_spend(c, 1))
    m = m->next;
  return m && m == one;
}

/* The types, or the values, of all branches, where each fails by that alone: of
 * the value itself, or of the member that tells the alternatives apart. */
static bool say_together(struct check *c, const struct subs *subs, const struct json *value,
                         const struct account *closest, struct account *a) {
  const struct finding *best = &closest->best;
  bool here = best->at == value;
  struct word types = {WORD_TYPES, {.types = closest->types}};
  struct finding f = {RANK_TYPE, T_SCHEMA_TYPE, best->at, {types, kind(value)}};
  if (here && best->rank == RANK_TYPE && closest->types) {
    a->types |= closest->types;
    say(a, FAR_TYPE, &f);
    return true;
  }
  if (best->rank != RANK_VALUES || !(here || is_member(c, value, best->at))) return false;
  struct choice choice = {subs, here ? NULL : &best->at->key};
  for (size_t i = 0; i < subs->n; i++)
    if (!check_spend(c, 1) || !branch_values(&choice, i)) return false;
  struct word list = {WORD_LIST, {.choice = choice}};
  f = (struct finding){RANK_VALUES, T_SCHEMA_ENUM, best->at, {list, source(best->at)}};
  say(a, here ? FAR_VALUES : FAR_CONSTANT, &f);
  return true;
}

static void explain_choice(struct check *c, const struct subs *subs, const struct json *value,
                           struct account *a) {
  struct account closest = {.far = UINT32_MAX, .best = {.rank = RANK_NONE}};
  for (size_t i = 0; i < subs->n && check_spend(c, 1); i++) {
    struct account branch = ACCOUNT_EMPTY;
    explain_sub(c, subs->v[i], value, NULL, &branch);
    branch.types |= closest.types;
    closest.types = branch.types;
    if (branch.best.rank != RANK_NONE && branch.far < closest.far) closest = branch;
  }
  if (closest.best.rank == RANK_NONE) return;
  if (!say_together(c, subs, value, &closest, a)) say(a, closest.far, &closest.best);
}

static void explain_one(struct check *c, const struct subs *subs, const struct json *value,
                        struct account *a) {
  size_t fits[2], n = 0;
  for (size_t i = 0; i < subs->n && n < 2 && check_spend(c, 1); i++)
    if (eval(c, subs->v[i], value, NULL)) fits[n++] = i + 1;
  if (n < 2) {
    explain_choice(c, subs, value, a);
    return;
  }
  struct word first = count(fits[0]), second = count(fits[1]);
  struct finding f = {RANK_OTHER, T_SCHEMA_ONE_OF, value, {first, second, source(value)}};
  say(a, FAR_ONE, &f);
}

static void explain_if(struct check *c, const struct condition *condition, const struct json *value,
                       struct account *a) {
  bool holds = eval(c, condition->when, value, NULL);
  const struct sub *next = holds ? condition->then : condition->otherwise;
  if (next && !c->fail) explain_sub(c, next, value, NULL, a);
}

static void explain_dependents(struct check *c, const struct needs *needs, const struct json *value,
                               struct account *a) {
  for (size_t i = 0; i < needs->n && !c->fail; i++)
    if (has_member(c, value, needs->v[i].key)) explain_sub(c, needs->v[i].sub, value, NULL, a);
}

static void explain_all(struct check *c, const struct subs *subs, const struct json *value,
                        struct account *a) {
  for (size_t i = 0; i < subs->n && check_spend(c, 1); i++)
    explain_sub(c, subs->v[i], value, NULL, a);
}

/* ---- all of it --------------------------------------------------------------- */

/* dispatch */
static void explain_rule(struct check *c, const struct rule *rule, const struct json *value,
                         struct seen *seen, struct account *a) {
  switch (rule->op) {
  case RULE_VALUES: say_values(rule, value, a); return;
  case RULE_MINIMUM:
  case RULE_MAXIMUM:
  case RULE_ABOVE:
  case RULE_BELOW:
  case RULE_MULTIPLE:
  case RULE_PATTERN:
  case RULE_NOT: say_bound(rule, value, a); return;
  case RULE_MIN_LENGTH:
  case RULE_MAX_LENGTH:
  case RULE_MIN_ITEMS:
  case RULE_MAX_ITEMS:
  case RULE_MIN_MEMBERS:
  case RULE_MAX_MEMBERS: say_count(rule, value, a); return;
  case RULE_FORMAT: say_format(rule, value, a); return;
  case RULE_MEMBERS: explain_members(c, rule->members, value, a); return;
  case RULE_NAMES: explain_names(c, rule->sub, value, a); return;
  case RULE_NEEDS: say_needs(c, rule->needs, value, a); return;
  case RULE_DEPENDENTS: explain_dependents(c, rule->needs, value, a); return;
  case RULE_ITEMS: explain_items(c, rule->items, value, a); return;
  case RULE_CONTAINS: say_contains(c, rule->contains, value, a); return;
  case RULE_UNIQUE: say_twice(c, value, a); return;
  case RULE_REF: explain_sub(c, rule->sub, value, NULL, a); return;
  case RULE_DYNAMIC_REF: explain_sub(c, dynamic_target(c, rule->dynamic), value, NULL, a); return;
  case RULE_ALL: explain_all(c, rule->subs, value, a); return;
  case RULE_ANY: explain_choice(c, rule->subs, value, a); return;
  case RULE_ONE: explain_one(c, rule->subs, value, a); return;
  case RULE_IF: explain_if(c, rule->condition, value, a); return;
  case RULE_OTHER_ITEMS:
  case RULE_OTHER_MEMBERS: explain_others(c, rule->sub, value, seen, a); return;
  }
}

/* What is left over for the unevaluated ones can be told only where all others hold. */
static void explain_rules(struct check *c, const struct sub *sub, const struct json *value,
                          struct seen *seen, struct account *a) {
  bool fits = true;
  const struct rule *rule = sub->rules;
  for (size_t i = 0; i < sub->rule_n && !c->fail; i++, rule++) {
    if (!(rule->kinds >> value->kind & 1) || !check_spend(c, 1)) continue;
    if (rule->op >= RULE_OTHER_ITEMS && !fits) return;
    if (eval_rule(c, rule, value, seen) || c->fail) continue;
    fits = false;
    explain_rule(c, rule, value, seen, a);
  }
}

static void explain_sub(struct check *c, const struct sub *sub, const struct json *value,
                        struct seen *seen, struct account *a) {
  struct seen own;
  const struct scope *before = c->scope;
  if (c->fail) return;
  sub = sub->to;
  struct scope here = {before, sub->resource};
  if (!type_fits(sub->types, value)) {
    say_type(sub, value, a);
    return;
  }
  if (!(sub->kinds >> value->kind & 1)) return;
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
  explain_rules(c, sub, value, seen, a);
  c->depth--;
  c->scope = before;
}

enum rein_code explain(struct schema *schema, const struct json *value, struct err *err) {
  struct check c;
  struct account all = ACCOUNT_EMPTY;
  check_init(&c, schema);
  explain_sub(&c, schema->root, value, NULL, &all);
  struct finding *f = &all.best;
  if (f->rank == RANK_NONE) /* out of steps before the first */
    *f = (struct finding){RANK_OTHER, T_SCHEMA_MISMATCH, value, {kind(value)}};
  enum rein_code code = c.fail == REIN_MEMORY ? ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY)
                                              : finding_say(f, value, schema->lang, err);
  check_release(&c);
  return code;
}
