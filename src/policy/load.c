/* Reads rules. Strict: what is not understood is an error that names it, and no
 * rule is passed over. Who wins is judge.c's. */
#include "policy/path.h"
#include "policy/policy.h"
#include "policy/command.h"
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

bool verdict_read(struct str word, enum rein_verdict *verdict) {
  for (enum rein_verdict v = REIN_ALLOW; v <= REIN_DENY; v++) {
    if (!str_is(word, verdict_word(v))) continue;
    *verdict = v;
    return true;
  }
  return false;
}

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
}

/* ---- a rule's name ------------------------------------------------------------- */

static bool name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

static enum rein_code check_name(struct str name, struct str shown, struct err *err) {
  if (str_is(name, "*")) return REIN_OK;
  bool fine = name.n > 0 && name.n <= RULE_NAME_MAX;
  for (size_t i = 0; i < name.n && fine; i++)
    fine = name_char(name.p[i]);
  return fine ? REIN_OK : ERR(err, REIN_INPUT, T_POLICY_BAD_NAME, shown);
}

static enum rein_code read_pattern(struct arena *arena, struct policy_rule *rule, struct err *err) {
  struct num_text room;
  struct str p = rule->pattern;
  bool fine = true;
  if (str_blank(p) || (p.n && memchr(p.p, ANY_TEXT, p.n)))
    return ERR(err, REIN_INPUT, T_POLICY_EMPTY_PATTERN, rule->name);
  if (p.n > PATTERN_MAX)
    return ERR(err, REIN_INPUT, T_POLICY_LONG_PATTERN, rule->tool, str_num(&room, (int64_t)p.n),
               str_num(&(struct num_text){""}, PATTERN_MAX));
  if (!path_pattern(arena, p, &rule->path)) return no_memory(err);
  if (rule->kind != RULE_PATTERN) return REIN_OK;
  if (command_pattern(arena, p, &rule->words, &rule->word_count, &fine)) return no_memory(err);
  rule->no_command = !fine || !rule->word_count;
  return REIN_OK;
}

enum rein_code rule_read(struct arena *arena, struct str name, struct policy_rule *rule,
                         struct err *err) {
  struct str tool = name, pattern = STR_NONE;
  rule->name = name;
  bool has_pattern = str_split(name, '(', &tool, &pattern);
  rule->tool = str_trim(tool);
  if (has_pattern && !str_ends(pattern, STR(")")))
    return ERR(err, REIN_INPUT, T_POLICY_OPEN_PATTERN, name);
  enum rein_code code = check_name(rule->tool, name, err);
  if (code) return code;
  if (!has_pattern) {
    rule->kind = str_is(rule->tool, "taint") ? RULE_TAINT : RULE_BARE;
    bool word = str_is(rule->tool, "path") || str_is(rule->tool, "host");
    return word ? ERR(err, REIN_INPUT, T_POLICY_NEEDS_PATTERN, name) : REIN_OK;
  }
  rule->pattern = str_part(pattern, 0, pattern.n - 1);
  rule->kind = RULE_PATTERN;
  if (str_is(rule->tool, "path")) rule->kind = RULE_PATH;
  if (str_is(rule->tool, "host")) rule->kind = RULE_HOST;
  if (rule->kind != RULE_PATTERN) rule->tool = STR("*");
  return read_pattern(arena, rule, err);
}

/* ---- the config ------------------------------------------------------------------ */

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

static enum rein_code read_member(struct arena *arena, const struct json *member,
                                  struct policy_rule *rule, struct err *err) {
  enum rein_code code = rule_read(arena, member->key, rule, err);
  if (code) return code;
  const struct json *word = member;
  if (json_is(member, JSON_OBJECT)) {
    code = read_why(member, rule, err);
    if (code) return code;
    word = json_get(member, "verdict");
  }
  rule->source = member->key;
  if (!verdict_read(json_text(word), &rule->verdict))
    return ERR(err, REIN_INPUT, T_POLICY_BAD_VERDICT, member->key, text_or_source(word));
  return REIN_OK;
}

static enum rein_code read_rules(struct arena *arena, const struct json *rules,
                                 struct policy *policy, struct err *err) {
  if (!json_is(rules, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_POLICY_NOT_OBJECT);
  if (rules->count == 0) return REIN_OK;
  policy->rules = arena_array(arena, struct policy_rule, rules->count);
  if (!policy->rules) return no_memory(err);
  for (const struct json *m = rules->first; m; m = m->next) {
    enum rein_code code = read_member(arena, m, &policy->rules[policy->count], err);
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
      policy->tests = m;
    else if (!str_is(m->key, "default"))
      code = ERR(err, REIN_INPUT, T_POLICY_UNKNOWN_KEY, m->key);
    else if (!verdict_read(json_text(m), &policy->fallback))
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
  if (!rules || !arena_str(arena, rule, &kept)) return no_memory(err);
  str_split_last(kept, '=', &name, &word);
  enum rein_code code = rule_read(arena, str_trim(name), &rules[0], err);
  if (code) return code;
  rules[0].source = kept;
  rules[0].flag = true;
  if (!verdict_read(str_trim(word), &rules[0].verdict))
    return ERR(err, REIN_INPUT, T_POLICY_BAD_VERDICT, rules[0].name, word);
  for (size_t i = 0; i < policy->count; i++)
    rules[i + 1] = policy->rules[i];
  policy->rules = rules;
  policy->count++;
  return REIN_OK;
}

enum rein_code policy_join(struct arena *arena, struct policy *policy, const struct policy *other,
                           bool widen, struct err *err) {
  struct policy_rule *rules =
      arena_array(arena, struct policy_rule, policy->count + other->count + 1);
  if (!rules) return no_memory(err);
  size_t n = 0;
  for (; n < policy->count; n++)
    rules[n] = policy->rules[n];
  for (size_t i = 0; i < other->count; i++)
    if (widen || other->rules[i].verdict != REIN_ALLOW) rules[n++] = other->rules[i];
  policy->rules = rules;
  policy->count = n;
  if (other->fallback > policy->fallback) policy->fallback = other->fallback;
  return REIN_OK;
}
