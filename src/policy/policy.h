/* The policy: which calls may happen. Rules by tool name; path, host and
 * command rules are refused by name until they are built, never ignored.
 *
 *   {"default": "ask", "rules": {"write_report": "ask",
 *    "send_email": {"verdict": "deny", "why": "retired; use the ticket tool"}}}
 *
 * Deny anywhere wins. Else a rule that names the tool beats "*", a flag beats a
 * config, ask beats allow; a rule beats the row's own verdict, and that the
 * default. A rule "*" is a rule for every tool.
 */
#pragma once

#include "json/json.h"

#include <rein.h>

struct policy_rule {
  struct str tool; /* name or "*" */
  enum rein_verdict verdict;
  struct str why;    /* may be empty */
  struct str source; /* the rule as written, for explanations */
  bool flag;         /* from the command line: said last, so it beats a config's rule of its kind */
};

struct policy {
  enum rein_verdict fallback; /* the stated default: ask unless said */
  struct policy_rule *rules;
  size_t count;
};

/* What was decided, and by what: a rule's text, "built-in", or "default". */
struct decision {
  enum rein_verdict verdict; /* ALLOW, ASK or DENY */
  struct str rule;
  struct str why;
};

/* Everything lives in the arena, and borrows from `doc`. NULL doc: no rules. */
enum rein_code policy_load(struct arena *arena, const struct json *doc, struct policy *policy,
                           struct err *err) REIN_CHECKED;
/* Adds 'RULE=VERDICT' (--policy), split at its last '='; stands before the rest. */
enum rein_code policy_add(struct arena *arena, struct policy *policy, struct str rule,
                          struct err *err) REIN_CHECKED;
struct decision policy_judge(const struct policy *policy, struct str tool, enum rein_verdict row);
/* A rule that names no tool of the list can never match: its index, or count. */
size_t policy_idle_rule(const struct policy *policy, const struct rein_tool *rows, size_t count,
                        size_t from);
const char *verdict_word(enum rein_verdict verdict);
