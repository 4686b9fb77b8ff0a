/* Turns the keywords of one subschema into rules, in the order in which they are
 * tried, and says where a keyword holds something it cannot.
 */
#include "schema/compile.h"

#include "base/mem.h"

static const struct {
  const char *name;
  unsigned bits;
} types[] = {{"null", TYPE_NULL},       {"boolean", TYPE_BOOL},  {"number", TYPE_NUMBER},
             {"integer", TYPE_INTEGER}, {"string", TYPE_STRING}, {"array", TYPE_ARRAY},
             {"object", TYPE_OBJECT}};

static unsigned type_bits(struct str name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (str_is(name, types[i].name)) return types[i].bits;
  return 0;
}

static bool build_types(struct compile *c, struct sub *sub, const struct json *keyword) {
  bool list = json_is(keyword, JSON_ARRAY) && keyword->count > 0;
  unsigned all = list ? 0 : type_bits(json_text(keyword));
  for (const struct json *one = list ? keyword->first : NULL; one; one = one->next) {
    unsigned bits = type_bits(json_text(one));
    if (!bits) return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_TYPE, one->source);
    all |= bits;
  }
  if (!all) return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_TYPE, keyword->source);
  sub->types = all;
  return true;
}

struct rule *build_rule(struct compile *c, enum rule_op op, unsigned kinds,
                        const struct json *keyword) {
  struct rule *rule = &c->rules[c->rule_n++];
  *rule = (struct rule){.op = op, .kinds = kinds, .keyword = keyword};
  return rule;
}

/* 3 and 3.0; what is larger than any size stands for the largest. */
bool build_count(struct compile *c, const struct sub *sub, const struct json *keyword,
                 size_t *count) {
  int64_t n;
  bool whole = json_is(keyword, JSON_NUMBER) && json_whole(keyword->text);
  if (!whole || json_compare(keyword->text, STR("0")) < 0)
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_COUNT, keyword->source);
  *count = json_int(keyword, &n) ? (size_t)n : SIZE_MAX;
  return true;
}

const struct sub *build_child(const struct compile *c, const struct json *json) {
  return index_find(c, json);
}

static struct pattern *find_pattern(const struct compile *c, struct str text) {
  for (struct pattern *p = c->schema->patterns; p; p = p->next)
    if (str_eq(p->text, text)) return p;
  return NULL;
}

static struct pattern *bad_pattern(struct compile *c, const struct sub *sub,
                                   const struct json *keyword, const struct err *why) {
  struct buf words;
  buf_init(&words, 4096);
  err_put(&words, c->schema->lang, why);
  if (words.fail)
    compile_full(c);
  else
    compile_wrong(c, sub, keyword, T_SCHEMA_PATTERN, buf_str(&words));
  buf_release(&words);
  return NULL;
}

struct pattern *build_pattern(struct compile *c, const struct sub *sub, const struct json *keyword,
                              struct str text) {
  struct err why;
  struct pattern *pattern = find_pattern(c, text);
  if (pattern) return pattern;
  if (++c->patterns > SCHEMA_PATTERNS_MAX) {
    compile_limit(c, SCHEMA_PATTERNS_MAX, T_SCHEMA_TOO_MANY_PATTERNS);
    return NULL;
  }
  pattern = arena_new(c->arena, struct pattern);
  enum rein_code code =
      pattern ? regex_new(text, REGEX_UNICODE, &pattern->regex, &why) : REIN_MEMORY;
  if (code == REIN_MEMORY) {
    compile_full(c);
    return NULL;
  }
  if (code) return bad_pattern(c, sub, keyword, &why);
  pattern->text = text;
  pattern->next = c->schema->patterns;
  c->schema->patterns = pattern;
  return pattern;
}

static void narrow(struct sub *sub, const struct rule *rule) {
  int64_t bound = rule->bound->value;
  if (rule->op == RULE_MINIMUM || rule->op == RULE_ABOVE) {
    bound += rule->op == RULE_ABOVE;
    if (bound > sub->low) sub->low = bound;
  } else {
    bound -= rule->op == RULE_BELOW;
    if (bound < sub->high) sub->high = bound;
  }
}

/* A range of integers, out of bounds that are short integers themselves. */
static void find_range(struct sub *sub) {
  bool all = sub->types & TYPE_NUMBER && !(sub->kinds & TYPE_NUMBER);
  sub->low = INT64_MIN;
  sub->high = INT64_MAX;
  sub->ranged = sub->types & (TYPE_NUMBER | TYPE_INTEGER) && !all;
  for (size_t i = 0; i < sub->rule_n && sub->ranged; i++) {
    const struct rule *rule = &sub->rules[i];
    if (!(rule->kinds & TYPE_NUMBER)) continue;
    bool bounds = rule->op >= RULE_MINIMUM && rule->op <= RULE_BELOW;
    sub->ranged = bounds && rule->bound->small;
    if (sub->ranged) narrow(sub, rule);
  }
}

static bool keep_rules(struct compile *c, struct sub *sub) {
  if (c->rule_n == 0) return true;
  struct rule *rules = arena_array(c->arena, struct rule, c->rule_n);
  if (!rules) return compile_full(c);
  memcpy(rules, c->rules, c->rule_n * sizeof *rules);
  sub->rules = rules;
  for (size_t i = 0; i < c->rule_n; i++) {
    sub->kinds |= rules[i].kinds;
    if (rules[i].op >= RULE_NESTED) sub->nested |= rules[i].kinds;
  }
  sub->rule_n = (uint32_t)c->rule_n;
  return true;
}

/* In the order in which their rules are tried. */
static bool (*const builders[])(struct compile *c, const struct sub *sub,
                                const struct keywords *found) = {
    build_values,  build_numbers, build_strings, build_counts,
    build_members, build_needs,   build_items,   build_in_place};

bool build_sub(struct compile *c, struct sub *sub) {
  struct keywords found;
  c->rule_n = 0;
  if (!json_is(sub->json, JSON_OBJECT)) return true;
  keywords_find(&found, sub->json, sub->resource->draft, sub->resource->vocabulary);
  const struct json *type = found.v[KEYWORD_TYPE];
  sub->tracks = found.v[KEYWORD_UNEVALUATED_ITEMS] || found.v[KEYWORD_UNEVALUATED_PROPERTIES];
  bool fine = !type || build_types(c, sub, type);
  for (size_t i = 0; i < sizeof builders / sizeof *builders && fine; i++)
    fine = builders[i](c, sub, &found);
  if (!fine || !keep_rules(c, sub)) return false;
  find_range(sub);
  return true;
}
