/* Rules about a value by itself: the values that are allowed, numbers, strings,
 * and how many.
 */
#include "schema/compile.h"
#include "schema/equal.h"
#include "schema/format.h"

#define FEW 8 /* so many are compared one by one: a table would not be faster */

static bool make_slots(struct compile *c, struct values *values) {
  size_t size = 16;
  while (size < 2 * values->n)
    size *= 2;
  values->slot = arena_array(c->arena, uint32_t, size);
  if (!values->slot) return compile_full(c);
  values->mask = (uint32_t)size - 1;
  for (size_t i = 0; i < values->n; i++) {
    size_t at = values->hash[i] & values->mask;
    while (values->slot[at])
      at = (at + 1) & values->mask;
    values->slot[at] = (uint32_t)i + 1;
  }
  return true;
}

static bool add_values(struct compile *c, const struct json *keyword, const struct json *first,
                       size_t n) {
  struct values *values = arena_new(c->arena, struct values);
  if (!values) return compile_full(c);
  values->v = arena_array(c->arena, const struct json *, n);
  values->hash = arena_array(c->arena, uint64_t, n);
  if (!values->v || !values->hash) return compile_full(c);
  for (const struct json *v = first; values->n < n; v = v->next) {
    values->v[values->n] = v;
    values->hash[values->n++] = value_hash(v);
  }
  build_rule(c, RULE_VALUES, TYPE_ANY, keyword)->values = values;
  return n <= FEW || make_slots(c, values);
}

bool build_values(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *list = found->v[KEYWORD_ENUM], *one = found->v[KEYWORD_CONST];
  if (list && !json_is(list, JSON_ARRAY))
    return compile_wrong(c, sub, list, T_SCHEMA_WANT_ARRAY, STR_NONE);
  return (!list || add_values(c, list, list->first, list->count)) &&
         (!one || add_values(c, one, one, 1));
}

static bool is_small(struct str number, int64_t *value) {
  return number.n <= 18 && str_to_num(number, value);
}

static bool add_bound(struct compile *c, const struct sub *sub, const struct json *keyword,
                      enum rule_op op) {
  if (!json_is(keyword, JSON_NUMBER))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_NUMBER, keyword->source);
  struct bound *bound = arena_new(c->arena, struct bound);
  if (!bound) return compile_full(c);
  bound->decimal = json_decimal(keyword->text);
  bound->small = is_small(keyword->text, &bound->value);
  build_rule(c, op, TYPE_NUMBER, keyword)->bound = bound;
  return true;
}

static bool add_multiple(struct compile *c, const struct sub *sub, const struct json *keyword) {
  if (!json_is(keyword, JSON_NUMBER) || json_compare(keyword->text, STR("0")) <= 0)
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_ABOVE_ZERO, keyword->source);
  struct json_decimal d = json_decimal(keyword->text);
  if (d.huge || json_digits(&d) > MULTIPLE_DIGITS_MAX)
    return compile_wrong(c, sub, keyword, T_SCHEMA_MULTIPLE_DIGITS, keyword->source);
  return add_bound(c, sub, keyword, RULE_MULTIPLE);
}

bool build_numbers(struct compile *c, const struct sub *sub, const struct keywords *found) {
  static const struct {
    enum keyword keyword;
    enum rule_op op;
  } rows[] = {{KEYWORD_MINIMUM, RULE_MINIMUM},
              {KEYWORD_MAXIMUM, RULE_MAXIMUM},
              {KEYWORD_EXCLUSIVE_MINIMUM, RULE_ABOVE},
              {KEYWORD_EXCLUSIVE_MAXIMUM, RULE_BELOW}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct json *keyword = found->v[rows[i].keyword];
    if (keyword && !add_bound(c, sub, keyword, rows[i].op)) return false;
  }
  const struct json *multiple = found->v[KEYWORD_MULTIPLE_OF];
  return !multiple || add_multiple(c, sub, multiple);
}

static bool add_format(struct compile *c, const struct sub *sub, const struct json *keyword) {
  if (!json_is(keyword, JSON_STRING))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
  const struct format *format = format_find(keyword->text);
  bool held = c->options->hold_formats || sub->resource->vocabulary & VOCABULARY_FORMAT_HELD;
  if (held && format) build_rule(c, RULE_FORMAT, TYPE_STRING, keyword)->format = format;
  return true;
}

static bool add_pattern(struct compile *c, const struct sub *sub, const struct json *keyword) {
  if (!json_is(keyword, JSON_STRING))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
  struct pattern *pattern = build_pattern(c, sub, keyword, keyword->text);
  if (!pattern) return false;
  build_rule(c, RULE_PATTERN, TYPE_STRING, keyword)->pattern = pattern;
  return true;
}

static bool add_count(struct compile *c, const struct sub *sub, const struct json *keyword,
                      enum rule_op op, unsigned kinds) {
  size_t count;
  if (!keyword) return true;
  if (!build_count(c, sub, keyword, &count)) return false;
  build_rule(c, op, kinds, keyword)->count = count;
  return true;
}

bool build_strings(struct compile *c, const struct sub *sub, const struct keywords *found) {
  const struct json *format = found->v[KEYWORD_FORMAT], *pattern = found->v[KEYWORD_PATTERN];
  return add_count(c, sub, found->v[KEYWORD_MIN_LENGTH], RULE_MIN_LENGTH, TYPE_STRING) &&
         add_count(c, sub, found->v[KEYWORD_MAX_LENGTH], RULE_MAX_LENGTH, TYPE_STRING) &&
         (!format || add_format(c, sub, format)) && (!pattern || add_pattern(c, sub, pattern));
}

bool build_counts(struct compile *c, const struct sub *sub, const struct keywords *found) {
  static const struct {
    enum keyword keyword;
    enum rule_op op;
    unsigned kinds;
  } rows[] = {{KEYWORD_MIN_ITEMS, RULE_MIN_ITEMS, TYPE_ARRAY},
              {KEYWORD_MAX_ITEMS, RULE_MAX_ITEMS, TYPE_ARRAY},
              {KEYWORD_MIN_PROPERTIES, RULE_MIN_MEMBERS, TYPE_OBJECT},
              {KEYWORD_MAX_PROPERTIES, RULE_MAX_MEMBERS, TYPE_OBJECT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!add_count(c, sub, found->v[rows[i].keyword], rows[i].op, rows[i].kinds)) return false;
  return true;
}
