/* Loading is strict, and deny wins among rules by name. Patterns: test_rules.c. */
#include "policy/policy.h"
#include "text/text.h"

#include "support/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct loaded {
  struct arena arena;
  struct policy policy;
  struct err err;
  enum rein_code code;
};

static void load(struct loaded *l, const char *text) {
  struct json *doc;
  *l = (struct loaded){0};
  arena_init(&l->arena, 1 << 20);
  l->code = json_parse(&l->arena, str_of(text), 0, &doc, &l->err);
  if (l->code == REIN_OK) l->code = policy_load(&l->arena, doc, &l->policy, &l->err);
}

static void judged(void **state) {
  (void)state;
  static const struct {
    const char *policy, *tool;
    enum rein_verdict row, want;
  } rows[] = {
      {"{}", "read_file", REIN_ALLOW, REIN_ALLOW},
      {"{}", "mine", REIN_UNDECIDED, REIN_ASK},
      {"{\"default\":\"deny\"}", "mine", REIN_UNDECIDED, REIN_DENY},
      {"{\"default\":\"deny\"}", "read_file", REIN_ALLOW, REIN_ALLOW},
      {"{\"rules\":{\"a\":\"allow\"}}", "a", REIN_ASK, REIN_ALLOW},
      {"{\"rules\":{\"a\":\"allow\"}}", "A", REIN_ASK, REIN_ASK},
      {"{\"rules\":{\"a\":\"ask\"}}", "a", REIN_ALLOW, REIN_ASK},
      {"{\"rules\":{\"*\":\"deny\",\"a\":\"allow\"}}", "a", REIN_ALLOW, REIN_DENY},
      {"{\"rules\":{\"*\":\"ask\",\"a\":\"allow\"}}", "a", REIN_ALLOW, REIN_ALLOW},
      {"{\"rules\":{\"*\":\"allow\"}}", "mine", REIN_UNDECIDED, REIN_ALLOW},
      {"{\"rules\":{\"a\":{\"verdict\":\"deny\",\"why\":\"old\"}}}", "a", REIN_ALLOW, REIN_DENY},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct loaded l;
    load(&l, rows[i].policy);
    assert_int_equal(l.code, REIN_OK);
    struct decision d = policy_judge(&l.policy, str_of(rows[i].tool), rows[i].row);
    assert_int_equal(d.verdict, rows[i].want);
    assert_true(d.rule.n > 0);
    arena_release(&l.arena);
  }
}

static void refused(void **state) {
  (void)state;
  static const struct {
    const char *policy;
    enum text_id why;
  } rows[] = {
      {"[]", T_POLICY_NOT_OBJECT},
      {"{\"rules\":[]}", T_POLICY_NOT_OBJECT},
      {"{\"default\":\"maybe\"}", T_POLICY_BAD_DEFAULT},
      {"{\"default\":1}", T_POLICY_BAD_DEFAULT},
      {"{\"rules\":{\"a\":{\"verdict\":\"deny\",\"why\":3}}}", T_POLICY_BAD_WHY},
      {"{\"rules\":{\"a\":{\"verdict\":\"deny\",\"why\":null}}}", T_POLICY_BAD_WHY},
      {"{\"rule\":{}}", T_POLICY_UNKNOWN_KEY},
      {"{\"rules\":{\"a\":\"Allow\"}}", T_POLICY_BAD_VERDICT},
      {"{\"rules\":{\"a\":null}}", T_POLICY_BAD_VERDICT},
      {"{\"rules\":{\"a\":{\"why\":\"x\"}}}", T_POLICY_BAD_VERDICT},
      {"{\"rules\":{\"a\":{\"verdict\":\"ask\",\"wy\":\"x\"}}}", T_POLICY_RULE_KEY},
      {"{\"rules\":{\"path(.env\":\"deny\"}}", T_POLICY_OPEN_PATTERN},
      {"{\"rules\":{\"exec()\":\"allow\"}}", T_POLICY_EMPTY_PATTERN},
      {"{\"rules\":{\"a b(x)\":\"allow\"}}", T_POLICY_BAD_NAME},
      {"{\"rules\":{\"path\":\"deny\"}}", T_POLICY_NEEDS_PATTERN},
      {"{\"rules\":{\"host\":\"deny\"}}", T_POLICY_NEEDS_PATTERN},
      {"{\"rules\":{\"a b\":\"deny\"}}", T_POLICY_BAD_NAME},
      {"{\"rules\":{\"\":\"deny\"}}", T_POLICY_BAD_NAME},
      {"{\"rules\":{\"a\":\"deny\",\"a\":\"allow\"}}", T_POLICY_TWIN},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct loaded l;
    load(&l, rows[i].policy);
    assert_int_equal(l.code, REIN_INPUT);
    assert_int_equal(l.err.text, rows[i].why);
    arena_release(&l.arena);
  }
}

static void from_the_command_line(void **state) {
  (void)state;
  struct loaded l;
  load(&l, "{\"rules\":{\"a\":\"ask\"}}");
  assert_int_equal(policy_add(&l.arena, &l.policy, STR("b=deny"), &l.err), REIN_OK);
  assert_int_equal(policy_add(&l.arena, &l.policy, STR(" a = allow "), &l.err), REIN_OK);
  assert_int_equal(policy_judge(&l.policy, STR("b"), REIN_ALLOW).verdict, REIN_DENY);
  /* the flag that an error advises does what it says; a deny it never lifts */
  assert_int_equal(policy_judge(&l.policy, STR("a"), REIN_ALLOW).verdict, REIN_ALLOW);
  assert_int_equal(policy_add(&l.arena, &l.policy, STR("b=allow"), &l.err), REIN_OK);
  assert_int_equal(policy_judge(&l.policy, STR("b"), REIN_ALLOW).verdict, REIN_DENY);
  assert_int_equal(policy_add(&l.arena, &l.policy, STR("b"), &l.err), REIN_INPUT);
  assert_int_equal(l.err.text, T_POLICY_NO_EQUALS);
  assert_int_equal(policy_add(&l.arena, &l.policy, STR("b="), &l.err), REIN_INPUT);
  assert_int_equal(policy_add(&l.arena, &l.policy, STR("host(a=b)=deny"), &l.err), REIN_OK);
  assert_true(str_is(l.policy.rules[0].pattern, "a=b"));
  static const struct rein_tool rows[] = {{.name = "a", .urls = "url"}};
  enum text_id why;
  struct str other;
  size_t idle = policy_idle_rule(&l.policy, rows, 1, 0, &why, &other);
  assert_int_equal(why, T_POLICY_IDLE_TOOL);
  assert_true(str_is(l.policy.rules[idle].tool, "b"));
  idle = policy_idle_rule(&l.policy, rows, 1, idle + 1, &why, &other);
  assert_true(str_is(l.policy.rules[idle].source, "b=deny"));
  assert_int_equal(policy_idle_rule(&l.policy, rows, 1, idle + 1, &why, &other), l.policy.count);
  arena_release(&l.arena);
}

static bool scenario(void *ctx) {
  struct loaded l;
  (void)ctx;
  load(&l, "{\"rules\":{\"a\":\"ask\",\"b\":{\"verdict\":\"deny\",\"why\":\"x\"}}}");
  if (l.code == REIN_OK) l.code = policy_add(&l.arena, &l.policy, STR("c=allow"), &l.err);
  assert_true(l.code == REIN_OK || l.code == REIN_MEMORY);
  arena_release(&l.arena);
  return l.code == REIN_OK;
}

static void memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(judged),
      cmocka_unit_test(refused),
      cmocka_unit_test(from_the_command_line),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
