/* The policy: which calls may happen.
 *
 *   {"default": "ask",
 *    "rules": {"write_report": "ask", "path(.env)": "deny", "exec(git diff *)": "allow",
 *              "host(api.notion.com)": "allow",
 *              "send_email": {"verdict": "deny", "why": "retired; use the ticket tool"}},
 *    "tests": {"exec": {"git diff HEAD": "allow", "git diff; rm -rf x": "ask"}}}
 *
 * A call is judged part by part: each path, each host, each command, assignment
 * and redirection, and the strictest verdict holds. For a part: deny wins; else a
 * rule with a pattern beats one that only names the tool, and that "*"; a flag
 * beats the config; ask beats allow; a rule beats the row's own verdict, and that
 * the default. docs/POLICY.md says all of it for people.
 */
#pragma once

#include "json/json.h"
#include "policy/subject.h"

#include <rein.h>

enum rule_kind {
  RULE_BARE,    /* TOOL or "*" */
  RULE_PATTERN, /* TOOL(PATTERN): a path, a host or a command, by what the tool takes */
  RULE_PATH,    /* path(PATTERN) */
  RULE_HOST,    /* host(PATTERN) */
  RULE_TAINT,   /* "taint": sending out, when private data was read and outside text seen */
};

struct policy_rule {
  struct str name;   /* as written before the verdict: exec(git diff *) */
  struct str source; /* the rule as written, for explanations */
  struct str why;    /* may be empty */
  enum rein_verdict verdict;
  bool flag; /* from the command line: said last, so it beats a config's rule of its kind */
  /* and what was read of the name */
  enum rule_kind kind;
  struct str tool;    /* or "*" */
  struct str pattern; /* within the brackets */
  struct str path;    /* the same as a path */
  struct str *words;  /* the same as a command */
  size_t word_count;
  bool no_command; /* no single command can be it */
};

/* One exact call that was allowed for this project. */
struct policy_grant {
  struct str tool, args;
};

struct policy {
  enum rein_verdict fallback; /* the stated default: ask unless said */
  struct policy_rule *rules;
  size_t count;
  struct policy_grant *grants;
  size_t grant_count;
  const struct json *tests; /* of the config; NULL none */
};

/* What was decided, and by what: a rule's text, "built-in", or "default". */
struct decision {
  enum rein_verdict verdict; /* ALLOW, ASK or DENY */
  struct str rule;
  struct str why;
  struct str lift; /* the rule that would allow it: exec, path(.git/config) */
  struct str part; /* of the call, that decided: a path, a host, a command; empty: all of it */
  bool unclear;    /* more than one reading: needs a typed yes, and is never remembered */
  bool tainted;    /* the same, because it sends out what may be private */
  enum text_id unclear_why; /* why a command is not fully understood; T_NONE */
};

/* ---- loading: load.c */

/* Everything lives in the arena, and borrows from `doc`. NULL doc: no rules. */
enum rein_code policy_load(struct arena *arena, const struct json *doc, struct policy *policy,
                           struct err *err) REIN_CHECKED;
/* Adds 'RULE=VERDICT' (--policy), split at its last '='; stands before the rest. */
enum rein_code policy_add(struct arena *arena, struct policy *policy, struct str rule,
                          struct err *err) REIN_CHECKED;
/* Takes over the rules of another policy, and its default where that is stricter;
 * without `widen` only rules that deny or ask. */
enum rein_code policy_join(struct arena *arena, struct policy *policy, const struct policy *other,
                           bool widen, struct err *err) REIN_CHECKED;
/* Reads `name` into the rule; borrows it. */
enum rein_code rule_read(struct arena *arena, struct str name, struct policy_rule *rule,
                         struct err *err) REIN_CHECKED;
const char *verdict_word(enum rein_verdict verdict);
bool verdict_read(struct str word, enum rein_verdict *verdict);

/* ---- judging: policy.c, judge.c */

/* By name alone: what can be said before there is a call. */
struct decision policy_judge(const struct policy *policy, struct str tool, enum rein_verdict row);
/* A call. What the decision borrows lives in the arena and the policy. Errors: REIN_MEMORY. */
enum rein_code policy_decide(struct arena *arena, const struct policy *policy,
                             const struct subject *subject, struct decision *decision) REIN_CHECKED;
/* The same for one more path of the call, as it really is (a link's target, a
 * file met by a walk). `path` is relative to the root. */
enum rein_code policy_decide_path(struct arena *arena, const struct policy *policy,
                                  const struct subject *subject, struct str path,
                                  struct decision *decision) REIN_CHECKED;
/* What stands against sending out once tainted: the rule "taint", else ask. */
struct decision policy_taint(const struct policy *policy, struct str tool);
bool policy_granted(const struct policy *policy, struct str tool, struct str args);
/* Whether a rule is about paths and denies or asks: then real paths are looked at. */
bool policy_has_path_rules(const struct policy *policy, struct str tool);

/* ---- looking at the rules themselves: check.c */

/* A rule that can never match, from rule `from` on: its index, and why; or count. */
size_t policy_idle_rule(const struct policy *policy, const struct rein_tool *rows, size_t count,
                        size_t from, enum text_id *why, struct str *other);
/* The arguments that `call` means for the row: a JSON object, or the text of its
 * command, path or address. Errors: REIN_INPUT, in words; REIN_MEMORY. */
enum rein_code policy_call(struct arena *arena, const struct rein_tool *row, struct str call,
                           struct json **args, struct err *err) REIN_CHECKED;
/* How the policy's own tests go. */
struct policy_tests {
  size_t count, failed;
  struct str tool, call; /* of the first that failed */
  enum rein_verdict want, got;
  struct str rule; /* that decided it */
};
typedef void (*policy_test_fn)(void *ctx, struct str tool, struct str call, enum rein_verdict want,
                               const struct decision *got);
/* Runs them over these rows; `each` (may be NULL) hears of every one. Errors:
 * REIN_INPUT (a test that cannot be read, named), REIN_MEMORY. */
enum rein_code policy_test(const struct policy *policy, const struct rein_tool *rows, size_t count,
                           struct str root, policy_test_fn each, void *ctx,
                           struct policy_tests *tests, struct err *err) REIN_CHECKED;
