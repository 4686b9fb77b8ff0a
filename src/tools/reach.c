/* Asked on the loop's thread, for each address that a name leads to. */
#include "tools/reach.h"

#include "policy/rank.h"
#include "text/text.h"

static bool is_about_hosts(const struct policy_rule *rule, struct str tool) {
  return (rule->kind == RULE_HOST || rule->kind == RULE_PATTERN) && rule_names(rule, tool);
}

static bool copy_rule(struct arena *arena, const struct policy_rule *from, struct policy_rule *to) {
  *to = (struct policy_rule){.verdict = from->verdict, .kind = from->kind};
  return arena_str(arena, from->pattern, &to->pattern);
}

enum rein_code reach_make(struct reach *reach, struct arena *arena, const struct policy *policy,
                          const struct rein_tool *row, struct err *err) {
  *reach = (struct reach){.tool = str_of(row->name)};
  reach->rules = arena_array(arena, struct policy_rule, policy->count + 1);
  if (!reach->rules) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  for (size_t i = 0; i < policy->count; i++) {
    if (!is_about_hosts(&policy->rules[i], reach->tool)) continue;
    if (!copy_rule(arena, &policy->rules[i], &reach->rules[reach->count]))
      return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
    reach->count++;
  }
  return REIN_OK;
}

/* A star may stand for the rest of an address, not for where it begins. */
static bool spells(struct str pattern) {
  size_t star = str_find_char(pattern, '*'), dot = str_find_char(pattern, '.');
  size_t colon = str_find_char(pattern, ':');
  return star == pattern.n || dot < star || colon < star;
}

static bool is_localhost(struct str name) {
  return str_is(name, "localhost") || str_ends(name, STR(".localhost"));
}

struct str reach_lift(const struct url_host *asked, struct str real, bool loopback) {
  return loopback && is_localhost(asked->name) ? asked->name : real;
}

static bool fits(const struct policy_rule *rule, const struct url_host *host) {
  return host_fits(rule->pattern, host, false);
}

struct place {
  const struct url_host *asked, *real;
  bool local; /* a loopback address that was asked for as localhost */
};

static bool forbids(const struct policy_rule *rule, const struct place *at) {
  if (rule->verdict == REIN_ALLOW || !fits(rule, at->real)) return false;
  bool asked_about = at->local || str_eq(at->asked->name, at->real->name);
  return rule->verdict == REIN_DENY || !asked_about;
}

static bool opens(const struct policy_rule *rule, const struct place *at) {
  if (rule->verdict == REIN_DENY || !spells(rule->pattern)) return false;
  return fits(rule, at->real) || (at->local && fits(rule, at->asked));
}

enum reach_says reach_judge(const struct reach *reach, const struct url_host *asked,
                            const struct url_host *real, bool public, bool loopback) {
  struct place at = {asked, real, loopback && is_localhost(asked->name)};
  bool spelled = false;
  for (size_t i = 0; reach && i < reach->count; i++) {
    if (forbids(&reach->rules[i], &at)) return REACH_FORBIDDEN;
    spelled = spelled || opens(&reach->rules[i], &at);
  }
  return public || spelled ? REACH_YES : REACH_INSIDE;
}

bool reach_spells(const struct reach *reach, const struct url_host *host) {
  for (size_t i = 0; reach && i < reach->count; i++) {
    const struct policy_rule *rule = &reach->rules[i];
    if (rule->verdict != REIN_DENY && spells(rule->pattern) && fits(rule, host)) return true;
  }
  return false;
}
