/* What is decided by name alone: lists of tools, the start of a run, grants. */
#include "policy/policy.h"

#include "policy/rank.h"
#include "text/text.h"

bool rule_beats(const struct policy_rule *a, const struct policy_rule *b) {
  if (!b) return true;
  if ((a->verdict == REIN_DENY) != (b->verdict == REIN_DENY)) return a->verdict == REIN_DENY;
  bool a_bare = a->kind == RULE_BARE, b_bare = b->kind == RULE_BARE;
  if (a_bare != b_bare) return b_bare;
  bool a_all = a_bare && str_is(a->tool, "*"), b_all = b_bare && str_is(b->tool, "*");
  if (a_all != b_all) return b_all;
  if (a->flag != b->flag) return a->flag;
  return a->verdict == REIN_ASK && b->verdict == REIN_ALLOW;
}

bool rule_names(const struct policy_rule *rule, struct str tool) {
  return str_is(rule->tool, "*") || str_eq(rule->tool, tool);
}

struct decision rule_decides(const struct policy *policy, const struct policy_rule *best,
                             struct str tool, enum rein_verdict row) {
  struct decision d = {.lift = tool};
  if (best) {
    d.verdict = best->verdict;
    d.rule = best->source;
    d.why = best->why;
    if (best->kind != RULE_BARE) d.lift = best->name;
  } else if (row != REIN_UNDECIDED) {
    d.verdict = row;
    d.rule = str_of(text_raw(T_POLICY_BUILT_IN, REIN_ENGLISH));
  } else {
    d.verdict = policy ? policy->fallback : REIN_ASK;
    d.rule = str_of(text_raw(T_POLICY_DEFAULT, REIN_ENGLISH));
  }
  return d;
}

struct decision policy_judge(const struct policy *policy, struct str tool, enum rein_verdict row) {
  const struct policy_rule *best = NULL;
  for (size_t i = 0; policy && i < policy->count; i++) {
    const struct policy_rule *rule = &policy->rules[i];
    bool matches = rule->kind == RULE_BARE && rule_names(rule, tool);
    if (matches && rule_beats(rule, best)) best = rule;
  }
  return rule_decides(policy, best, tool, row);
}

struct decision policy_taint(const struct policy *policy, struct str tool) {
  const struct policy_rule *best = NULL;
  for (size_t i = 0; policy && i < policy->count; i++)
    if (policy->rules[i].kind == RULE_TAINT && rule_beats(&policy->rules[i], best))
      best = &policy->rules[i];
  struct decision d = rule_decides(policy, best, tool, REIN_ASK);
  d.lift = STR("taint");
  d.tainted = d.verdict != REIN_ALLOW;
  if (!best) d.rule = str_of(text_raw(T_POLICY_TAINT, REIN_ENGLISH));
  return d;
}

bool policy_granted(const struct policy *policy, struct str tool, struct str args) {
  for (size_t i = 0; policy && i < policy->grant_count; i++)
    if (str_eq(policy->grants[i].tool, tool) && str_eq(policy->grants[i].args, args)) return true;
  return false;
}

bool policy_has_path_rules(const struct policy *policy, struct str tool) {
  for (size_t i = 0; policy && i < policy->count; i++) {
    const struct policy_rule *rule = &policy->rules[i];
    bool paths = rule->kind == RULE_PATH || rule->kind == RULE_PATTERN;
    if (paths && rule->verdict != REIN_ALLOW && rule_names(rule, tool)) return true;
  }
  return false;
}
