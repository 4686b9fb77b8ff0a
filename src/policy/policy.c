/* Rules by tool name: see policy.h. Loading is strict, judging is a walk. */
#include "policy/policy.h"

#include "text/text.h"

#define RULE_NAME_MAX 64 /* as a tool's name */

const char *verdict_word(enum rein_verdict verdict) {
  switch (verdict) {
  case REIN_UNDECIDED: return "undecided";
  case REIN_ALLOW: return "allow";
  case REIN_ASK: return "ask";
  case REIN_DENY: return "deny";
  }
  return "undecided";
}

static bool read_verdict(struct str word, enum rein_verdict *verdict) {
  for (enum rein_verdict v = REIN_ALLOW; v <= REIN_DENY; v++) {
    if (!str_is(word, verdict_word(v))) continue;
    *verdict = v;
    return true;
  }
  return false;
}

static bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

static enum rein_code check_name(struct str name, struct err *err) {
  if (str_is(name, "*")) return REIN_OK;
  if (str_find_char(name, '(') < name.n) return ERR(err, REIN_INPUT, T_POLICY_PATTERN, name);
  bool fine = name.n > 0 && name.n <= RULE_NAME_MAX;
  for (size_t i = 0; i < name.n && fine; i++)
    fine = name_char(name.p[i]);
  return fine ? REIN_OK : ERR(err, REIN_INPUT, T_POLICY_BAD_NAME, name);
}

/* { "verdict": …, "why": … }: all but the verdict. */
static enum rein_code read_why(const struct json *member, struct policy_rule *rule,
                               struct err *err) {
  const struct json *why = json_get(member, "why");
  for (const struct json *m = member->first; m; m = m->next)
    if (!str_is(m->key, "verdict") && !str_is(m->key, "why"))
      return ERR(err, REIN_INPUT, T_POLICY_RULE_KEY, member->key, m->key);
  if (why && !json_is(why, JSON_STRING))
    return ERR(err, REIN_INPUT, T_POLICY_BAD_WHY, member->key, why->source);
  rule->why = json_text(why);
  return REIN_OK;
}

static struct str text_or_source(const struct json *node) {
  if (!node) return STR_NONE;
  return json_is(node, JSON_STRING) ? node->text : node->source;
}

static enum rein_code read_rule(const struct json *member, struct policy_rule *rule,
                                struct err *err) {
  enum rein_code code = check_name(member->key, err);
  if (code) return code;
  const struct json *word = member;
  if (json_is(member, JSON_OBJECT)) {
    code = read_why(member, rule, err);
    if (code) return code;
    word = json_get(member, "verdict");
  }
  rule->tool = rule->source = member->key;
  if (!read_verdict(json_text(word), &rule->verdict))
    return ERR(err, REIN_INPUT, T_POLICY_BAD_VERDICT, member->key, text_or_source(word));
  return REIN_OK;
}

static enum rein_code read_rules(struct arena *arena, const struct json *rules,
                                 struct policy *policy, struct err *err) {
  if (!json_is(rules, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_POLICY_NOT_OBJECT);
  if (rules->count == 0) return REIN_OK;
  policy->rules = arena_array(arena, struct policy_rule, rules->count);
  if (!policy->rules) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  for (const struct json *m = rules->first; m; m = m->next) {
    enum rein_code code = read_rule(m, &policy->rules[policy->count], err);
    if (code) return code;
    policy->count++;
  }
  return REIN_OK;
}

enum rein_code policy_load(struct arena *arena, const struct json *doc, struct policy *policy,
                           struct err *err) {
  *policy = (struct policy){.fallback = REIN_ASK};
  if (!doc) return REIN_OK;
  if (!json_is(doc, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_POLICY_NOT_OBJECT);
  const struct json *twin = json_find_twin(doc);
  if (twin) return ERR(err, REIN_INPUT, T_POLICY_TWIN, twin->key);
  for (const struct json *m = doc->first; m; m = m->next) {
    enum rein_code code = REIN_OK;
    if (str_is(m->key, "rules"))
      code = read_rules(arena, m, policy, err);
    else if (str_is(m->key, "tests"))
      code = ERR(err, REIN_INPUT, T_POLICY_TESTS);
    else if (!str_is(m->key, "default"))
      code = ERR(err, REIN_INPUT, T_POLICY_UNKNOWN_KEY, m->key);
    else if (!read_verdict(json_text(m), &policy->fallback))
      code = ERR(err, REIN_INPUT, T_POLICY_BAD_DEFAULT, text_or_source(m));
    if (code) return code;
  }
  return REIN_OK;
}

enum rein_code policy_add(struct arena *arena, struct policy *policy, struct str rule,
                          struct err *err) {
  struct str kept, name, word;
  if (!str_split_last(rule, '=', &name, &word))
    return ERR(err, REIN_INPUT, T_POLICY_NO_EQUALS, rule);
  struct policy_rule *rules = arena_array(arena, struct policy_rule, policy->count + 1);
  if (!rules || !arena_str(arena, rule, &kept)) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  str_split_last(kept, '=', &name, &word);
  name = str_trim(name);
  enum rein_code code = check_name(name, err);
  if (code) return code;
  rules[0] = (struct policy_rule){.tool = name, .source = kept, .flag = true};
  if (!read_verdict(str_trim(word), &rules[0].verdict))
    return ERR(err, REIN_INPUT, T_POLICY_BAD_VERDICT, name, word);
  for (size_t i = 0; i < policy->count; i++)
    rules[i + 1] = policy->rules[i];
  policy->rules = rules;
  policy->count++;
  return REIN_OK;
}

/* Deny beats all; a rule that names the tool beats "*"; what the command line
 * says beats the config; ask beats allow. */
static bool beats(const struct policy_rule *a, const struct policy_rule *b) {
  if (!b) return true;
  if ((a->verdict == REIN_DENY) != (b->verdict == REIN_DENY)) return a->verdict == REIN_DENY;
  bool a_all = str_is(a->tool, "*"), b_all = str_is(b->tool, "*");
  if (a_all != b_all) return b_all;
  if (a->flag != b->flag) return a->flag;
  return a->verdict == REIN_ASK && b->verdict == REIN_ALLOW;
}

struct decision policy_judge(const struct policy *policy, struct str tool, enum rein_verdict row) {
  const struct policy_rule *best = NULL;
  for (size_t i = 0; policy && i < policy->count; i++) {
    const struct policy_rule *rule = &policy->rules[i];
    bool matches = str_is(rule->tool, "*") || str_eq(rule->tool, tool);
    if (matches && beats(rule, best)) best = rule;
  }
  if (best) return (struct decision){best->verdict, best->source, best->why};
  if (row != REIN_UNDECIDED)
    return (struct decision){row, str_of(text_raw(T_POLICY_BUILT_IN, REIN_ENGLISH)), STR_NONE};
  return (struct decision){policy ? policy->fallback : REIN_ASK,
                           str_of(text_raw(T_POLICY_DEFAULT, REIN_ENGLISH)), STR_NONE};
}

size_t policy_idle_rule(const struct policy *policy, const struct rein_tool *rows, size_t count,
                        size_t from) {
  for (size_t i = from; i < policy->count; i++) {
    bool used = str_is(policy->rules[i].tool, "*");
    for (size_t j = 0; j < count && !used; j++)
      used = str_eq(policy->rules[i].tool, str_of(rows[j].name));
    if (!used) return i;
  }
  return policy->count;
}
