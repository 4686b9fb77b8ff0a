/* Patterns of paths and hosts, who wins, what is never allowed, rules that can
 * never match, and tests that a policy carries. */
#include "judging.h"

#include "policy/path.h"
#include "support/oom.h"

static void globs(void **state) {
  (void)state;
  static const struct {
    const char *pattern, *text;
    bool fits;
  } rows[] = {
      {"a", "a", true},
      {"a", "ab", false},
      {"*", "a", true},
      {"*", "a/b", false},
      {"**", "a/b", true},
      {"a/*", "a/b", true},
      {"a/*", "a/b/c", false},
      {"a/**", "a/b/c", true},
      {"a/**", "a", false},
      {"**/x", "x", true},
      {"**/x", "a/b/x", true},
      {"**/x", "ax", false},
      {"a/**/x", "a/x", true},
      {"a/**/x", "a/b/x", true},
      {"*.md", "a.md", true},
      {"*.md", ".md", true},
      {"a*b*c", "aXbYbZc", true},
      {"a*b*c", "aXbYbZ", false},
      {".env", ".env.x", false},
      {"", "", true},
      {"*", "", true},
      {"**a", "a", true},
      {"**a", "b/a", true},
      {"a**", "a/b", true},
      {"x/**/**/y", "x/y", true},
      {"*/*", "a/b", true},
      {"*/*", "ab", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (glob_fits(str_of(rows[i].pattern), str_of(rows[i].text), GLOB_PATH) != rows[i].fits)
      fail_msg("%s against %s", rows[i].pattern, rows[i].text);
  assert_true(glob_fits(STR(".env"), STR(".e\0"), GLOB_PATH));
  assert_true(glob_fits(STR(".env"), STR("\0"), GLOB_PATH));
  assert_false(glob_fits(STR(".env"), STR(".f\0"), GLOB_PATH));
  assert_true(glob_fits(STR("a*z"), STR("\0m\0"), GLOB_PATH));
  assert_false(glob_fits(STR("a*z"), STR("b\0"), GLOB_PATH));
}

static void clean_paths(void **state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } rows[] = {
      {".env", ".env"},
      {"./.env", ".env"},
      {"sub/../.env", ".env"},
      {"sub//x/./y/", "sub/x/y"},
      {"", "."},
      {"..", "/home/u"},
      {"../proj/a", "a"},
      {"../proj-backup/a", "/home/u/proj-backup/a"},
      {"/home/u/proj/a", "a"},
      {"/home/u/proj", "."},
      {"//home/./u/proj/../proj/a", "a"},
      {"/home/u/proj-backup/a", "/home/u/proj-backup/a"},
      {"/../../etc/passwd", "/etc/passwd"},
      {"../../../../../etc", "/etc"},
      {"~/x", "~/x"},
      {"\xe1\x84\x80\xe1\x85\xa1.txt", "\xea\xb0\x80.txt"}, /* taken apart, composed */
  };
  struct arena arena;
  struct str clean;
  arena_init(&arena, 1 << 20);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_true(path_clean(&arena, STR("/home/u/proj"), str_of(rows[i].text), &clean));
    assert_str(clean, str_of(rows[i].want));
  }
  assert_true(path_clean(&arena, STR_NONE, STR("../x"), &clean));
  assert_text(clean, "../x");
  arena_release(&arena);
}

struct row {
  const char *tool, *args;
  enum rein_verdict want;
};

static void judge_rows(const char *policy, const struct row *rows, size_t n) {
  struct judged j;
  size_t wrong = 0;
  judged_load(&j, policy);
  assert_int_equal(j.code, REIN_OK);
  for (size_t i = 0; i < n; i++) {
    struct decision d;
    assert_int_equal(judged_call(&j, rows[i].tool, str_of(rows[i].args), &d), REIN_OK);
    if (d.verdict == rows[i].want) continue;
    wrong++;
    print_error("%s %s: want %s, got %s (%.*s)\n", rows[i].tool, rows[i].args,
                verdict_word(rows[i].want), verdict_word(d.verdict), (int)d.rule.n, d.rule.p);
  }
  assert_int_equal(wrong, 0);
  arena_release(&j.arena);
}
#define JUDGE(policy, rows) judge_rows((policy), (rows), sizeof(rows) / sizeof *(rows))

static void paths(void **state) {
  (void)state;
  static const struct row rows[] = {
      {"read_file", "{\"path\":\"a\"}", REIN_ALLOW},
      {"read_file", "{\"path\":\".env\"}", REIN_DENY},
      {"read_file", "{\"path\":\"./x/../.env\"}", REIN_DENY},
      {"read_file", "{\"path\":\"/home/u/proj/.env\"}", REIN_DENY},
      {"read_file", "{\"path\":\"../proj/.env\"}", REIN_DENY},
      {"read_file", "{\"path\":\".env.example\"}", REIN_ALLOW},
      {"read_file", "{\"path\":\"keys/a/b\"}", REIN_DENY},
      {"read_file", "{\"path\":\"keys\"}", REIN_DENY},
      {"read_file", "{\"path\":\"dir/x\"}", REIN_DENY},
      {"read_file", "{\"path\":\"/etc/passwd\"}", REIN_ASK},
      {"read_file", "{\"path\":\"../../../etc/passwd\"}", REIN_ASK},
      {"write_file", "{\"path\":\"src/a\"}", REIN_ALLOW},
      {"write_file", "{\"path\":\"src/../a\"}", REIN_ASK},
      {"write_file", "{\"path\":\"a\"}", REIN_ASK},
      {"write_file", "{\"path\":\".env\"}", REIN_DENY},
      {"write_file", "{\"path\":[\"src/a\",\"b\"]}", REIN_ASK},
      {"write_file", "{\"path\":[\"src/a\",\"src/b\"]}", REIN_ALLOW},
      {"write_file", "{\"path\":3}", REIN_ASK},
      {"write_file", "{}", REIN_ASK},
  };
  JUDGE(
      "{\"rules\":{\"path(.env)\":\"deny\",\"path(keys/**)\":\"deny\",\"read_file(dir)\":\"deny\","
      "\"path(/etc/**)\":\"ask\",\"write_file(src/**)\":\"allow\"}}",
      rows);
}

/* Writes that become code, whatever allows writing. */
static void guarded(void **state) {
  (void)state;
  static const struct row rows[] = {
      {"write_file", "{\"path\":\"a\"}", REIN_ALLOW},
      {"write_file", "{\"path\":\".gitattributes\"}", REIN_ALLOW},
      {"write_file", "{\"path\":\".git/config\"}", REIN_ASK},
      {"write_file", "{\"path\":\".GIT/config\"}", REIN_ASK},
      {"write_file", "{\"path\":\"sub/../.git/info/attributes\"}", REIN_ASK},
      {"write_file", "{\"path\":\"submodule/.git/config\"}", REIN_ASK},
      {"write_file", "{\"path\":\".rein/config.json\"}", REIN_ASK},
      {"write_file", "{\"path\":\".envrc\"}", REIN_ASK},
      {"write_file", "{\"path\":\".config/rein/config.json\"}", REIN_ASK},
      {"write_file", "{\"path\":\".local/state/rein/kept.json\"}", REIN_ASK},
      {"read_file", "{\"path\":\".git/config\"}", REIN_ALLOW},
  };
  static const struct row named[] = {{"write_file", "{\"path\":\".git/info/x\"}", REIN_ALLOW},
                                     {"write_file", "{\"path\":\".git/config\"}", REIN_ASK}};
  JUDGE("{\"rules\":{\"write_file(**)\":\"allow\"}}", rows);
  JUDGE("{\"rules\":{\"write_file\":\"allow\"}}", rows);
  JUDGE("{\"rules\":{\"write_file\":\"allow\",\"path(.git/info/*)\":\"allow\"}}", named);
}

static void hosts(void **state) {
  (void)state;
  static const struct row rows[] = {
      {"http_get", "{\"url\":\"https://api.notion.com/v1\"}", REIN_ALLOW},
      {"http_get", "{\"url\":\"HTTPS://API.Notion.com.:443/v1\"}", REIN_ALLOW},
      {"http_get", "{\"url\":\"https://api.notion.com@evil.com/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"https://evil.com\\\\@api.notion.com/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"https://api.notion.com.evil.com/\"}", REIN_ASK},
      {"http_get", "{\"url\":\"https://a.b.internal/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"http://localhost:8080/\"}", REIN_ALLOW},
      {"http_get", "{\"url\":\"http://localhost:8081/\"}", REIN_ASK},
      {"http_get", "{\"url\":\"http://localhost/\"}", REIN_ASK},
      {"http_get", "{\"url\":\"http://[::1]:8080/\"}", REIN_ALLOW},
      {"http_get", "{\"url\":\"ftp://api.notion.com/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"//api.notion.com/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"https://a%2einternal/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"https://api.notion.com:99999/\"}", REIN_DENY},
      {"http_get", "{\"url\":\"\"}", REIN_DENY},
      {"github", "{}", REIN_DENY},
      {"exec", "{\"command\":\"curl https://x.internal/a\"}", REIN_DENY},
  };
  JUDGE("{\"rules\":{\"host(api.notion.com)\":\"allow\",\"host(*.internal)\":\"deny\","
        "\"http_get(localhost:8080)\":\"allow\",\"http_get([::1])\":\"allow\","
        "\"host(api.github.com)\":\"deny\"}}",
        rows);
}

static void who_wins(void **state) {
  (void)state;
  static const struct row a[] = {{"read_file", "{\"path\":\"a\"}", REIN_DENY},
                                 {"read_file", "{\"path\":\"b\"}", REIN_ALLOW}};
  JUDGE("{\"rules\":{\"read_file\":\"allow\",\"path(a)\":\"deny\",\"read_file(a)\":\"allow\"}}", a);
  static const struct row b[] = {{"read_file", "{\"path\":\"a\"}", REIN_ALLOW},
                                 {"read_file", "{\"path\":\"b\"}", REIN_ASK}};
  JUDGE("{\"rules\":{\"read_file\":\"ask\",\"*\":\"ask\",\"path(a)\":\"allow\"}}", b);
  static const struct row c[] = {{"read_file", "{\"path\":\"a\"}", REIN_ASK}};
  JUDGE("{\"rules\":{\"read_file(a)\":\"allow\",\"path(*)\":\"ask\"}}", c);
  static const struct row d[] = {{"read_file", "{\"path\":\"a\"}", REIN_DENY}};
  JUDGE("{\"rules\":{\"*\":\"deny\",\"read_file(a)\":\"allow\"}}", d);
  /* a flag beats the config's rule of its kind, and no deny */
  struct judged j;
  struct decision got;
  judged_load(&j, "{\"rules\":{\"path(a)\":\"ask\",\"path(b)\":\"deny\"}}");
  assert_int_equal(policy_add(&j.arena, &j.policy, STR("path(a)=allow"), &j.err), REIN_OK);
  assert_int_equal(policy_add(&j.arena, &j.policy, STR("path(b)=allow"), &j.err), REIN_OK);
  assert_int_equal(judged_call(&j, "read_file", STR("{\"path\":\"a\"}"), &got), REIN_OK);
  assert_int_equal(got.verdict, REIN_ALLOW);
  assert_int_equal(judged_call(&j, "read_file", STR("{\"path\":\"b\"}"), &got), REIN_OK);
  assert_int_equal(got.verdict, REIN_DENY);
  assert_text(got.part, "b");
  arena_release(&j.arena);
}

static void idle(void **state) {
  (void)state;
  static const struct {
    const char *rules;
    enum text_id why;
  } rows[] = {
      {"\"nobody\":\"deny\"", T_POLICY_IDLE_TOOL},
      {"\"get_time(x)\":\"deny\"", T_POLICY_IDLE_PARTS},
      {"\"exec(git diff && rm)\":\"allow\"", T_POLICY_IDLE_COMMAND},
      {"\"exec(cat $x)\":\"allow\"", T_POLICY_IDLE_COMMAND},
      {"\"exec(cat > x)\":\"allow\"", T_POLICY_IDLE_COMMAND},
      {"\"exec(cat 'a)\":\"allow\"", T_POLICY_IDLE_COMMAND},
      {"\"*\":\"deny\",\"exec(cat *)\":\"allow\"", T_POLICY_IDLE_SHADOW},
      {"\"read_file\":\"deny\",\"read_file(x)\":\"allow\"", T_POLICY_IDLE_SHADOW},
      {"\"exec(cat *)\":\"allow\",\"path(x)\":\"deny\",\"*\":\"ask\",\"taint\":\"deny\"", T_NONE},
      {"\"path(x)\":\"deny\",\"read_file(x)\":\"allow\"", T_NONE},
      {"\"write_file(a;b)\":\"deny\"", T_NONE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct judged j;
    struct buf text;
    enum text_id why = T_NONE;
    struct str other;
    buf_init(&text, 4096);
    buf_fmt(&text, "{\"rules\":{%s}}", rows[i].rules);
    judged_load(&j, buf_z(&text));
    assert_int_equal(j.code, REIN_OK);
    size_t at = policy_idle_rule(&j.policy, judged_rows, JUDGED_ROWS, 0, &why, &other);
    if (at == j.policy.count) why = T_NONE;
    if (why != rows[i].why) fail_msg("%s: %d", rows[i].rules, why);
    arena_release(&j.arena);
    buf_release(&text);
  }
}

static void own_tests(void **state) {
  (void)state;
  static const struct {
    const char *tests;
    enum text_id why;
    size_t failed;
  } rows[] = {
      {"{\"exec\":{\"git diff HEAD\":\"allow\",\"git diff --output=x\":\"ask\","
       "\"git diff; rm -rf "
       "x\":\"ask\"},\"read_file\":{\"a\":\"allow\",\"{\\\"path\\\":\\\"b\\\"}\":"
       "\"allow\"},\"get_time\":{\"{}\":\"allow\"}}",
       T_NONE, 0},
      {"{\"exec\":{\"git diff\":\"ask\",\"ls\":\"allow\"}}", T_NONE, 2},
      {"{\"nobody\":{}}", T_POLICY_TEST_TOOL, 0},
      {"{\"exec\":[]}", T_POLICY_TESTS, 0},
      {"[]", T_POLICY_TESTS, 0},
      {"{\"exec\":{\"a\":\"maybe\"}}", T_POLICY_TEST_VERDICT, 0},
      {"{\"get_time\":{\"now\":\"allow\"}}", T_POLICY_TEST_CALL, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct judged j;
    struct buf text;
    struct policy_tests tests;
    buf_init(&text, 4096);
    buf_fmt(&text, "{\"rules\":{\"exec(git diff *)\":\"allow\"},\"tests\":%s}", rows[i].tests);
    judged_load(&j, buf_z(&text));
    enum rein_code code =
        policy_test(&j.policy, judged_rows, JUDGED_ROWS, STR("/r"), NULL, NULL, &tests, &j.err);
    assert_int_equal(code == REIN_OK ? T_NONE : j.err.text, rows[i].why);
    if (code == REIN_OK) assert_int_equal(tests.failed, rows[i].failed);
    if (tests.failed) assert_text(tests.call, "git diff");
    arena_release(&j.arena);
    buf_release(&text);
  }
}

static bool scenario(void *ctx) {
  struct judged j;
  struct decision d = {0};
  struct policy_tests tests;
  (void)ctx;
  judged_load(&j, "{\"rules\":{\"exec(git diff *)\":\"allow\",\"path(가/*)\":\"deny\","
                  "\"host(a)\":\"deny\"},\"tests\":{\"exec\":{\"git diff\":\"allow\"}}}");
  enum rein_code code = j.code;
  if (!code) code = policy_add(&j.arena, &j.policy, STR("read_file(x)=ask"), &j.err);
  if (!code)
    code = judged_call(
        &j, "exec",
        STR("{\"command\":\"sh -c 'git diff $(ls `rm x`)' > 가/y <<E; find . -exec ls {} +\\nE\"}"),
        &d);
  if (!code) assert_int_equal(d.verdict, REIN_DENY);
  if (!code) code = judged_call(&j, "http_get", STR("{\"url\":\"https://a/\"}"), &d);
  if (!code)
    code = policy_test(&j.policy, judged_rows, JUDGED_ROWS, STR("/r"), NULL, NULL, &tests, &j.err);
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  arena_release(&j.arena);
  return code == REIN_OK;
}

static void memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(globs),   cmocka_unit_test(clean_paths), cmocka_unit_test(paths),
      cmocka_unit_test(guarded), cmocka_unit_test(hosts),       cmocka_unit_test(who_wins),
      cmocka_unit_test(idle),    cmocka_unit_test(own_tests),   cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
