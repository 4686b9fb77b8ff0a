/* Rules looked at before there is a call: those that can never match, and the
 * tests that a policy carries. */
#include "policy/path.h"
#include "policy/policy.h"
#include "policy/rank.h"
#include "text/text.h"

#define TEST_ARENA_MAX (8u << 20) /* of one test: its call, read and judged */

/* ---- rules that can never match ------------------------------------------------- */

static bool names_some(const struct policy_rule *rule, const struct rein_tool *rows, size_t count) {
  if (rule->kind == RULE_TAINT || str_is(rule->tool, "*")) return true;
  for (size_t i = 0; i < count; i++)
    if (str_eq(rule->tool, str_of(rows[i].name))) return true;
  return false;
}

/* Whether a tool that it names takes anything that a pattern could be about. */
static bool has_parts(const struct policy_rule *rule, const struct rein_tool *rows, size_t count) {
  if (rule->kind == RULE_BARE || rule->kind == RULE_TAINT) return true;
  for (size_t i = 0; i < count; i++) {
    const struct rein_tool *row = &rows[i];
    if (!rule_names(rule, str_of(row->name))) continue;
    bool paths = row->paths || row->commands;
    bool hosts = row->urls || row->hosts || row->commands;
    if (rule->kind == RULE_PATH ? paths : rule->kind == RULE_HOST ? hosts : paths || hosts)
      return true;
  }
  return false;
}

/* A command rule that is no single command, for tools that take nothing else. */
static bool is_no_command(const struct policy_rule *rule, const struct rein_tool *rows,
                          size_t count) {
  if (rule->kind != RULE_PATTERN || !rule->no_command) return false;
  for (size_t i = 0; i < count; i++)
    if (rule_names(rule, str_of(rows[i].name)) && (rows[i].paths || rows[i].urls || rows[i].hosts))
      return false;
  return true;
}

static bool covers(const struct policy_rule *a, const struct policy_rule *b) {
  if (!str_is(a->tool, "*") && !str_eq(a->tool, b->tool)) return false;
  if (a->kind == RULE_BARE) return b->kind != RULE_TAINT;
  if (a->kind != b->kind) return false;
  return str_eq(a->pattern, b->pattern) || (a->kind == RULE_TAINT);
}

/* A rule that always wins where this one matches; a flag is meant to. */
static const struct policy_rule *shadow_of(const struct policy *policy, size_t at) {
  const struct policy_rule *rule = &policy->rules[at];
  for (size_t i = 0; i < policy->count; i++) {
    const struct policy_rule *other = &policy->rules[i];
    if (i == at || other->flag > rule->flag || !covers(other, rule)) continue;
    bool wins = rule_beats(other, rule) && !rule_beats(rule, other);
    bool twin = other->verdict == rule->verdict && other->kind == rule->kind && i < at;
    if ((wins && other->verdict != rule->verdict) || (twin && str_eq(other->name, rule->name)))
      return other;
  }
  return NULL;
}

size_t policy_idle_rule(const struct policy *policy, const struct rein_tool *rows, size_t count,
                        size_t from, enum text_id *why, struct str *other) {
  *other = STR_NONE;
  for (size_t i = from; i < policy->count; i++) {
    const struct policy_rule *rule = &policy->rules[i], *shadow = shadow_of(policy, i);
    *why = T_NONE;
    if (!names_some(rule, rows, count))
      *why = T_POLICY_IDLE_TOOL;
    else if (!has_parts(rule, rows, count))
      *why = T_POLICY_IDLE_PARTS;
    else if (is_no_command(rule, rows, count))
      *why = T_POLICY_IDLE_COMMAND;
    else if (shadow)
      *why = T_POLICY_IDLE_SHADOW;
    if (shadow) *other = shadow->source;
    if (*why) return i;
  }
  return policy->count;
}

/* ---- tests -------------------------------------------------------------------------- */

struct testing {
  const struct policy *policy;
  const struct rein_tool *rows;
  size_t count;
  struct str root;
  policy_test_fn each;
  void *ctx;
  struct policy_tests *tests;
};

static const struct rein_tool *find_row(const struct testing *t, struct str name) {
  for (size_t i = 0; i < t->count; i++)
    if (str_eq(name, str_of(t->rows[i].name))) return &t->rows[i];
  return NULL;
}

/* The argument that a bare text is for: the row's first command, path or address. */
static struct str main_argument(const struct rein_tool *row) {
  const char *lists[] = {row->commands, row->paths, row->urls};
  for (size_t i = 0; i < 3; i++) {
    struct str rest = str_of(lists[i]), name;
    if (str_next(&rest, ',', &name)) return str_trim(name);
  }
  return STR_NONE;
}

/* {"command":"git diff"} from git diff; a text that is an object already stays. */
enum rein_code policy_call(struct arena *arena, const struct rein_tool *row, struct str call,
                           struct json **args, struct err *err) {
  struct str name = main_argument(row);
  struct json *text = arena_new(arena, struct json);
  if (str_starts(call, STR("{"))) {
    enum rein_code code = json_parse(arena, call, JSON_UNIQUE, args, NULL);
    if (code == REIN_MEMORY) return ERR(err, code, T_CORE_END_MEMORY);
    if (code == REIN_OK && json_is(*args, JSON_OBJECT)) return REIN_OK;
  }
  if (!name.n) return ERR(err, REIN_INPUT, T_POLICY_TEST_CALL, str_of(row->name), call);
  *args = arena_new(arena, struct json);
  if (!*args || !text) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  *text = (struct json){.kind = JSON_STRING, .text = call, .key = name};
  **args = (struct json){.kind = JSON_OBJECT, .first = text, .count = 1};
  return REIN_OK;
}

static void book(const struct testing *t, struct str tool, struct str call, enum rein_verdict want,
                 const struct decision *got) {
  struct policy_tests *tests = t->tests;
  tests->count++;
  if (t->each) t->each(t->ctx, tool, call, want, got);
  if (want == got->verdict) return;
  if (tests->failed++) return;
  tests->tool = tool;
  tests->call = call;
  tests->want = want;
  tests->got = got->verdict;
  tests->rule = got->rule;
}

static enum rein_code test_one(const struct testing *t, const struct rein_tool *row,
                               const struct json *test, struct err *err) {
  struct arena arena;
  struct json *args;
  struct subject subject;
  struct decision d = {.verdict = REIN_DENY};
  enum rein_verdict want;
  struct str tool = str_of(row->name);
  if (!verdict_read(json_text(test), &want))
    return ERR(err, REIN_INPUT, T_POLICY_TEST_VERDICT, tool, test->key);
  arena_init(&arena, TEST_ARENA_MAX);
  enum rein_code code = policy_call(&arena, row, test->key, &args, err);
  if (!code && (subject_read(&arena, row, args, t->root, &subject) ||
                policy_decide(&arena, t->policy, &subject, &d)))
    code = ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  if (!code) book(t, tool, test->key, want, &d);
  arena_release(&arena);
  return code;
}

enum rein_code policy_test(const struct policy *policy, const struct rein_tool *rows, size_t count,
                           struct str root, policy_test_fn each, void *ctx,
                           struct policy_tests *tests, struct err *err) {
  struct testing t = {policy, rows, count, root, each, ctx, tests};
  *tests = (struct policy_tests){0};
  if (!policy->tests) return REIN_OK;
  if (!json_is(policy->tests, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_POLICY_TESTS);
  for (const struct json *tool = policy->tests->first; tool; tool = tool->next) {
    const struct rein_tool *row = find_row(&t, tool->key);
    if (!row) return ERR(err, REIN_INPUT, T_POLICY_TEST_TOOL, tool->key);
    if (!json_is(tool, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_POLICY_TESTS);
    for (const struct json *test = tool->first; test; test = test->next) {
      enum rein_code code = test_one(&t, row, test, err);
      if (code) return code;
    }
  }
  return REIN_OK;
}
