/* The evaluator: a subschema's types, then its rules until one says no. */
#include "schema/eval.h"

#include "base/utf8.h"
#include "schema/equal.h"
#include "schema/format.h"

/* Bytes of text that are hashed, counted or matched in the time of a step. */
#define STEP_BYTES 16
/* The pattern matcher's steps (about nanoseconds) in one of ours. */
#define STEP_MATCHING 10

void check_init(struct check *c, struct schema *schema) {
  *c = (struct check){.schema = schema, .steps = SCHEMA_STEPS_MAX};
  arena_init(&c->arena, CHECK_BYTES_MAX);
}

void check_release(struct check *c) {
  arena_release(&c->arena);
}

bool check_end(struct check *c, enum rein_code code, enum text_id why) {
  if (c->fail) return false;
  c->fail = code;
  c->why = why;
  return false;
}

void *check_alloc(struct check *c, size_t size, size_t n) {
  void *p = arena_alloc_array(&c->arena, size, n);
  if (!p && c->arena.full) check_end(c, REIN_LIMIT, T_SCHEMA_STEPS);
  if (!p && !c->arena.full) check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  return p;
}

static bool is_same(struct check *c, const struct values *values, size_t i, uint64_t hash,
                    const struct json *value) {
  return values->hash[i] == hash && value_equal(values->v[i], value, &c->steps);
}

static bool is_value(struct check *c, const struct values *values, const struct json *value) {
  if (!values->slot && value->kind == JSON_STRING) return values_word(values, value->text);
  if (!check_spend(c, (int64_t)(value->source.n / STEP_BYTES))) return false;
  uint64_t hash = value_hash(value);
  bool found = false;
  for (size_t i = 0; !values->slot && i < values->n && !found; i++)
    found = is_same(c, values, i, hash, value);
  for (size_t at = hash & values->mask; values->slot && values->slot[at] && !found;
       at = (at + 1) & values->mask)
    found = is_same(c, values, values->slot[at] - 1, hash, value);
  return found || (check_spend(c, 0) && false);
}

/* <0, 0, >0, without taking the text apart where it is a short integer. */
static int compare(const struct bound *bound, struct str number) {
  int64_t n;
  if (bound->small && json_short(number, &n)) return n < bound->value ? -1 : n > bound->value;
  struct json_decimal d = json_decimal(number);
  return json_decimal_compare(&d, &bound->decimal);
}

static bool is_multiple(struct check *c, const struct bound *bound, struct str number) {
  int64_t n;
  if (bound->small && json_short(number, &n)) return n % bound->value == 0;
  struct json_decimal d = json_decimal(number);
  return check_spend(c, (int64_t)number.n) && number_multiple(&d, &bound->decimal);
}

/* Code points; bytes bound them on both sides, so that most need no count. */
static bool is_long(struct check *c, struct str text, size_t min) {
  if (text.n < min) return false;
  if (text.n / 4 >= min) return true;
  return check_spend(c, (int64_t)(text.n / STEP_BYTES)) && utf8_count(text) >= min;
}

static bool is_short(struct check *c, struct str text, size_t max) {
  if (text.n <= max) return true;
  return check_spend(c, (int64_t)(text.n / STEP_BYTES)) && utf8_count(text) <= max;
}

bool pattern_fits(struct check *c, struct pattern *pattern, struct str text) {
  if (!pattern->scratch && regex_scratch_new(pattern->regex, &pattern->scratch))
    return check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  enum regex_hit hit = regex_match(pattern->regex, pattern->scratch, text, 0, NULL);
  int64_t took = regex_took(pattern->scratch) / STEP_MATCHING;
  if (!check_spend(c, took + (int64_t)(text.n / STEP_BYTES))) return false;
  if (hit == REGEX_GAVE_UP) return check_end(c, REIN_LIMIT, T_SCHEMA_STEPS);
  if (hit == REGEX_NO_MEMORY) return check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  return hit == REGEX_YES;
}

static bool format_fits(struct check *c, const struct format *format, struct str text) {
  if (!check_spend(c, (int64_t)(text.n / STEP_BYTES))) return false;
  switch (format_check(format, text)) {
  case FORMAT_RIGHT: return true;
  case FORMAT_WRONG: return false;
  case FORMAT_NO_MEMORY: break;
  }
  return check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
}

/* The outermost resource entered that has the anchor wins. */
const struct sub *dynamic_target(const struct check *c, const struct dynamic *dynamic) {
  const struct sub *found = dynamic->sub;
  if (dynamic->name.n == 0) return found;
  for (const struct scope *s = c->scope; s; s = s->up)
    for (const struct anchor *a = s->resource->anchors; a; a = a->next)
      if (a->dynamic && str_eq(a->name, dynamic->name)) found = a->sub;
  return found;
}

/* dispatch */
bool eval_rule(struct check *c, const struct rule *rule, const struct json *value,
               struct seen *seen) {
  switch (rule->op) {
  case RULE_VALUES: return is_value(c, rule->values, value);
  case RULE_MINIMUM: return compare(rule->bound, value->text) >= 0;
  case RULE_MAXIMUM: return compare(rule->bound, value->text) <= 0;
  case RULE_ABOVE: return compare(rule->bound, value->text) > 0;
  case RULE_BELOW: return compare(rule->bound, value->text) < 0;
  case RULE_MULTIPLE: return is_multiple(c, rule->bound, value->text);
  case RULE_MIN_LENGTH: return is_long(c, value->text, rule->count);
  case RULE_MAX_LENGTH: return is_short(c, value->text, rule->count);
  case RULE_FORMAT: return format_fits(c, rule->format, value->text);
  case RULE_PATTERN: return pattern_fits(c, rule->pattern, value->text);
  case RULE_MIN_ITEMS:
  case RULE_MIN_MEMBERS: return value->count >= rule->count;
  case RULE_MAX_ITEMS:
  case RULE_MAX_MEMBERS: return value->count <= rule->count;
  case RULE_MEMBERS: return eval_members(c, rule->members, value, seen);
  case RULE_NAMES: return eval_names(c, rule->sub, value);
  case RULE_NEEDS: return eval_needs(c, rule->needs, value);
  case RULE_DEPENDENTS: return eval_dependents(c, rule->needs, value, seen);
  case RULE_ITEMS: return eval_items(c, rule->items, value, seen);
  case RULE_CONTAINS: return eval_contains(c, rule->contains, value, seen);
  case RULE_UNIQUE: return eval_unique(c, value);
  case RULE_REF: return eval(c, rule->sub, value, seen);
  case RULE_DYNAMIC_REF: return eval(c, dynamic_target(c, rule->dynamic), value, seen);
  case RULE_ALL: return eval_all(c, rule->subs, value, seen);
  case RULE_ANY: return eval_any(c, rule->subs, value, seen);
  case RULE_ONE: return eval_one(c, rule->subs, value, seen);
  case RULE_NOT: return eval_not(c, rule->sub, value);
  case RULE_IF: return eval_if(c, rule->condition, value, seen);
  case RULE_OTHER_ITEMS:
  case RULE_OTHER_MEMBERS: return eval_others(c, rule->sub, value, seen);
  }
  return false;
}

static inline bool rules_fit(struct check *c, const struct sub *sub, const struct json *value,
                             struct seen *seen) {
  const struct rule *rule = sub->rules;
  for (size_t i = 0; i < sub->rule_n; i++, rule++)
    if (rule->kinds >> value->kind & 1 && !eval_rule(c, rule, value, seen)) return false;
  return true;
}

/* What its own rules leave over is asked of a set of its own. */
static bool rules_fit_apart(struct check *c, const struct sub *sub, const struct json *value,
                            struct seen *seen) {
  struct seen own;
  if (!seen_init(c, &own, value) || !rules_fit(c, sub, value, &own)) return false;
  if (seen) seen_add(seen, &own);
  return true;
}

/* In another resource than what led here. */
static bool rules_fit_there(struct check *c, const struct sub *sub, const struct json *value,
                            struct seen *seen) {
  const struct scope *before = c->scope;
  struct scope here = {before, sub->resource};
  c->scope = &here;
  bool fits = sub->tracks ? rules_fit_apart(c, sub, value, seen) : rules_fit(c, sub, value, seen);
  c->scope = before;
  return fits;
}

bool eval_rules(struct check *c, const struct sub *sub, const struct json *value,
                struct seen *seen) {
  if (!check_spend(c, 1 + (int64_t)sub->rule_n)) return false;
  if (!(sub->nested >> value->kind & 1)) return rules_fit(c, sub, value, NULL);
  if (c->depth >= SCHEMA_DEPTH_MAX) return check_end(c, REIN_LIMIT, T_SCHEMA_DEEP);
  c->depth++;
  bool same = c->scope && c->scope->resource == sub->resource && !sub->tracks;
  bool fits = same ? rules_fit(c, sub, value, seen) : rules_fit_there(c, sub, value, seen);
  c->depth--;
  return fits;
}
