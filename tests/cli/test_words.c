/* The program's small parts that need no process: what an answer means, what a
 * question shows, values of options, the nearest name, numbers for people. */
#include "support/test.h"

#include "cli/near.h"
#include "cli/options.h"
#include "cli/prompt.h"
#include "cli/reveal.h"
#include "cli/show.h"
#include "cli/status.h"

static void answers(void **state) {
  static const struct {
    const char *line;
    enum answer answer;
    const char *reason;
  } rows[] = {
      {"", ANSWER_ENTER, ""},       {"  ", ANSWER_ENTER, ""},
      {"y", ANSWER_YES, ""},        {"Y", ANSWER_YES, ""},
      {"yes", ANSWER_YES, ""},      {"ㅛ", ANSWER_YES, ""},
      {"예", ANSWER_YES, ""},       {"네 ", ANSWER_YES, ""},
      {"n", ANSWER_NO, ""},         {"N", ANSWER_NO, ""},
      {"no", ANSWER_NO, ""},        {"ㅜ", ANSWER_NO, ""},
      {"아니오", ANSWER_NO, ""},    {"아니요", ANSWER_NO, ""},
      {"n why", ANSWER_NO, "why"},  {"아니요  먼저 백업 ", ANSWER_NO, "먼저 백업"},
      {"a", ANSWER_THIS, ""},       {"A", ANSWER_PROJECT, ""},
      {"v", ANSWER_VIEW, ""},       {"ㅍ", ANSWER_VIEW, ""},
      {"yy", ANSWER_OTHER, ""},     {"y n", ANSWER_OTHER, ""},
      {"nope", ANSWER_OTHER, ""},   {"a b", ANSWER_OTHER, ""},
      {"\x1b[A", ANSWER_OTHER, ""}, {"\xff", ANSWER_OTHER, ""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct str reason = STR_NONE;
    assert_int_equal(prompt_read(str_of(rows[i].line), &reason), rows[i].answer);
    assert_true(str_is(reason, rows[i].reason));
  }
}

static void question(void **state) {
  struct buf b;
  (void)state;
  buf_init(&b, 1 << 20);
  prompt_put(&b, REIN_ENGLISH, STR("exec"), STR("exec=ask"),
             STR("{\"command\":\"ls\\u202e \\u200bx\",\"n\":[1,\"\\u001b\"],\"lines\":\"a\\nb\"}"),
             false);
  assert_string_equal(buf_z(&b), "exec wants to run, and it needs approval (exec=ask):\n"
                                 "  command: ls\\u{202e} \\u{200b}x\n"
                                 "  n: [1,\"\\u001b\"]\n"
                                 "  lines: \n    | a\n    | b");
  buf_reset(&b);
  prompt_put(&b, REIN_KOREAN, STR("t"), STR("기본"), STR("not json \x07"), false);
  assert_string_equal(buf_z(&b), "t 실행에 승인이 필요합니다(기본):\n  not json \\u{7}");
  buf_reset(&b);
  prompt_put(&b, REIN_ENGLISH, STR("t"), STR("r"), STR("{}"), false);
  assert_string_equal(buf_z(&b), "t wants to run, and it needs approval (r):");
  buf_release(&b);
}

static void many_arguments(void **state) {
  struct buf args, b;
  (void)state;
  buf_init(&args, 1 << 20);
  buf_init(&b, 1 << 20);
  buf_c(&args, '{');
  for (int i = 0; i < 50; i++)
    buf_fmt(&args, "%s\"key%d\":%d", i ? "," : "", i, i);
  buf_c(&args, '}');
  prompt_put(&b, REIN_ENGLISH, STR("t"), STR("r"), buf_str(&args), false);
  assert_non_null(strstr(buf_z(&b), "key19: 19\n  … and 30 more arguments (v shows all)"));
  buf_reset(&b);
  prompt_put(&b, REIN_ENGLISH, STR("t"), STR("r"), buf_str(&args), true);
  assert_non_null(strstr(buf_z(&b), "key49: 49"));
  buf_release(&args);
  buf_release(&b);
}

static void lines(void **state) {
  static const struct {
    const char *text;
    size_t columns;
    const char *shown;
  } rows[] = {
      {"plain", 10, "plain"},           {"a\nb\tc\x1b", 40, "a\\nb\\tc\\u{1b}"},
      {"가나다라", 8, "가나다라"},      {"가나다라", 7, "가나다 …"},
      {"abcdef", 3, "abc …"},           {"", 5, ""},
      {"\xff", 5, "\xEF\xBF\xBD"},      {"a\u200bb\u2800", 40, "a\\u{200b}b\\u{2800}"},
      {"👩\u200d💻　", 40, "👩\u200d💻　"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct buf b;
    buf_init(&b, 4096);
    reveal_line(&b, str_of(rows[i].text), rows[i].columns);
    assert_string_equal(buf_z(&b), rows[i].shown);
    buf_release(&b);
  }
}

static void spans(void **state) {
  static const struct {
    const char *text;
    int64_t ms; /* -9: refused */
  } rows[] = {
      {"10m", 600000},
      {"90s", 90000},
      {"1h30m", 5400000},
      {"500ms", 500},
      {"1m500ms", 60500},
      {"0", 0},
      {"0s", 0},
      {"off", REIN_OFF},
      {"10", -9},
      {"", -9},
      {"m", -9},
      {"1m1m", -9},
      {"1s1m", -9},
      {"1 m", -9},
      {"-1s", -9},
      {"1.5s", -9},
      {"9999999999999999999h", -9},
      {"1hh", -9},
      {"1d", -9},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct value value = {.num = -9};
    enum rein_code code = value_read(&option_rows[OPTION_ID_TIME_LIMIT], STR("x"),
                                     str_of(rows[i].text), &value, NULL);
    assert_int_equal(code == REIN_OK, rows[i].ms != -9);
    assert_true(value.num == rows[i].ms);
  }
}

static void nearest(void **state) {
  static const char *const rows[][2] = {{"max-turn", "max-turns"},
                                        {"modle", "model"},
                                        {"mdoel", "model"},
                                        {"xyzzyq", ""},
                                        {"", ""},
                                        {"max-turns-and-much-more-than-that-too", ""}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct near near = {.wanted = str_of(rows[i][0])};
    near_try(&near, STR("model"));
    near_try(&near, STR("max-turns"));
    assert_true(str_is(near.best, rows[i][1]));
  }
}

static void sums(void **state) {
  struct agent_stats stats = {.turns = 2,
                              .requests = 3,
                              .spent = 12345,
                              .cost = -1,
                              .usage = {.input = 1000000, .cache_read = 234567, .output = 89}};
  struct rein_limits limits = {
      .max_turns = 30, .token_budget = 300000, .cost_uusd = REIN_OFF, .time_ms = REIN_OFF};
  struct buf b;
  (void)state;
  buf_init(&b, 4096);
  show_put_sum(&b, REIN_ENGLISH, &stats, 12345);
  assert_string_equal(buf_z(&b),
                      "2 tool turns, 3 model requests, 1,234,567 tokens in, 89 out, 12.3 s");
  buf_reset(&b);
  show_put_sum(&b, REIN_KOREAN, &stats, 950);
  assert_string_equal(buf_z(&b), "도구 호출 2턴, 모델 요청 3회로 끝났습니다. (입력 1,234,567토큰, "
                                 "출력 89토큰, 0.9초)");
  buf_reset(&b);
  status_put(&b, REIN_ENGLISH, &stats, &limits, 3725000, STR("exec"));
  assert_string_equal(buf_z(&b), "turns 2/30 | tokens 12.3k/300k | 1:02:05 | exec");
  limits = (struct rein_limits){
      .max_turns = REIN_OFF, .token_budget = REIN_OFF, .cost_uusd = REIN_OFF, .time_ms = 600000};
  stats.spent = 1234567;
  buf_reset(&b);
  status_put(&b, REIN_KOREAN, &stats, &limits, 65000, STR("x"));
  assert_string_equal(buf_z(&b), "턴 2 | 토큰 1.2m | 1:05/10:00 | x");
  buf_release(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answers), cmocka_unit_test(question), cmocka_unit_test(many_arguments),
      cmocka_unit_test(lines),   cmocka_unit_test(spans),    cmocka_unit_test(nearest),
      cmocka_unit_test(sums)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
