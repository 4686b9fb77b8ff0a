/* The machine, one behaviour a test: events in, the whole trace compared. */
#include "core/scripts.h"

/* ---- the straight way -------------------------------------------------------- */

static void answer_without_tools(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, answers);
  assert_true(str_is(agent_text(p.agent), "hello"));
  expect(&p, REIN_OUTCOME_FINISHED, "send ");
}

static void one_tool_then_answer(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, one_then_answer);
  assert_true(str_is(agent_text(p.agent), "the answer"));
  assert_int_equal(agent_stats(p.agent).turns, 1);
  assert_int_equal(agent_stats(p.agent).requests, 2);
  assert_int_equal(agent_stats(p.agent).spent, 30);
  assert_true(play_sent(&p, "done"));
  expect(&p, REIN_OUTCOME_FINISHED, "send run:read send ");
}

static void more_words_go_on(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, answers);
  play_say(&p, "and now?");
  assert_true(play_sent(&p, "and now?") && play_sent(&p, "hello"));
  expect(&p, REIN_OUTCOME_FINISHED, "send send ");
}

static void blank_words_are_refused(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, answers);
  play_say(&p, " \n\t");
  assert_int_equal(p.code, REIN_INPUT);
  assert_int_equal(p.sends, 1);
  play_release(&p);
}

/* ---- calls of one reply --------------------------------------------------------- */

static void mixed(struct play *p, struct play_reply *r) {
  if (p->sends > 1) {
    play_text(r, "end");
    return;
  }
  play_call(r, "a", "read", "{\"path\":\"1\"}");
  play_call(r, "b", "read", "{\"path\":\"2\"}");
  play_call(r, "c", "write", "{}");
  play_call(r, "d", "read", "{\"path\":\"3\"}");
  play_call(r, "e", "risky", "{}");
}

static void reads_overlap_and_writes_wait(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  start(&p, &c, mixed);
  p.hold_runs = true;
  play_say(&p, "go");
  assert_string_equal(buf_z(&p.trace), "send run:read run:read ");
  /* the second answers first: the writer still waits for the first */
  play_feed(&p, &(struct event){.kind = EVENT_RESULT, .id = p.held_run[1], .text = STR("2")});
  play_pump(&p);
  assert_string_equal(buf_z(&p.trace), "send run:read run:read ");
  play_feed(&p, &(struct event){.kind = EVENT_RESULT, .id = p.held_run[0], .text = STR("1")});
  play_pump(&p);
  assert_string_equal(buf_z(&p.trace), "send run:read run:read run:write ");
  p.hold_runs = false;
  play_feed(&p, &(struct event){.kind = EVENT_RESULT, .id = p.held_run[2], .text = STR("w")});
  play_pump(&p);
  expect(&p, REIN_OUTCOME_FINISHED,
         "send run:read run:read run:write run:read ask:risky run:risky send ");
}

static void say_no(struct play *p, const struct action *ask, struct event *v) {
  (void)p;
  (void)ask;
  v->verdict.verdict = REIN_DENY;
  v->text = STR("먼저 백업");
}

static void ok_denied_failed_refused(struct play *p, struct play_reply *r) {
  if (p->sends > 1) {
    play_text(r, "end");
    return;
  }
  play_call(r, "a", "read", "{\"path\":\"1\"}");
  play_call(r, "b", "banned", "{}");
  play_call(r, "c", "write", "{}");
  play_call(r, "d", "risky", "{}");
}

static const char *write_fails(struct play *p, struct str name, struct str args, bool *error) {
  (void)p;
  (void)args;
  *error = str_is(name, "write");
  return *error ? "disk full\nat line 3\nat line 4" : "real output";
}

static void every_call_gets_its_result(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  start(&p, &c, ok_denied_failed_refused);
  p.tool = write_fails;
  p.verdict = say_no;
  play_say(&p, "go");
  assert_true(play_sent(&p, "real output") && play_sent(&p, "먼저 백업"));
  assert_true(play_sent(&p, "the policy forbids it"));
  assert_true(play_sent(&p, "disk full") && !play_sent(&p, "at line 3"));
  assert_int_equal(agent_refusals(p.agent), 2);
  expect(&p, REIN_OUTCOME_FINISHED, "send run:read run:write ask:risky send ");
}

static void denied_by_name_is_not_offered(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, answers);
  assert_false(play_sent(&p, "\"banned\""));
  assert_true(play_sent(&p, "\"risky\""));
  play_release(&p);
}

static void nobody(struct play *p, const struct action *ask, struct event *v) {
  (void)p;
  (void)ask;
  v->verdict.verdict = REIN_DENY;
  v->verdict.by = BY_NOBODY;
}

static void risky_then_answer(struct play *p, struct play_reply *r) {
  if (p->sends == 1)
    play_call(r, "a", "risky", "{\"a\":1}");
  else
    play_text(r, "answer");
}

static void nobody_to_ask_is_unapproved(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  start(&p, &c, risky_then_answer);
  p.verdict = nobody;
  play_say(&p, "go");
  assert_int_equal(p.runs, 0);
  assert_true(str_is(agent_text(p.agent), "answer"));
  expect(&p, REIN_OUTCOME_UNAPPROVED, "send ask:risky send ");
}

static void remembers(struct play *p, const struct action *ask, struct event *v) {
  (void)p;
  (void)ask;
  v->verdict.remember = true;
}

static void risky_thrice(struct play *p, struct play_reply *r) {
  if (p->sends == 4)
    play_text(r, "answer");
  else
    play_call(r, "a", "risky", p->sends < 3 ? "{\"a\":1}" : "{\"a\":2}");
}

static void yes_for_the_run_is_for_the_exact_call(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  start(&p, &c, risky_thrice);
  p.verdict = remembers;
  play_say(&p, "go");
  expect(&p, REIN_OUTCOME_FINISHED,
         "send ask:risky run:risky send run:risky send ask:risky run:risky send ");
}

/* A call that does not run is told so, and the run goes on. */
static void calls_that_cannot_run(void **state) {
  (void)state;
  static const struct {
    struct case_of_reply in;
    const char *told;
  } rows[] = {
      {{"raed", "{}", 0}, "unknown tool \\\"raed\\\"; available: read, write, risky, clock"},
      {{"Read", "{\"path\":\"x\"}", 0}, "unknown tool"},
      {{"", "{}", 0}, "unknown tool"},
      {{"x\033[2J", "{}", 0}, "u{1b}"},
      {{"read", "{\"path\":\"x\"", 0}, "not usable JSON"},
      {{"read", "[1]", 0}, "one JSON object"},
      {{"read", "{\"path\":\"x\",\"path\":\"y\"}", 0}, "not usable JSON"},
      {{"read", "{\"path\":\"x\",\"lim", STOP_LENGTH}, "cut off by the output limit"},
      {{"nope", "{\"path\":\"x\",\"lim", STOP_LENGTH}, "cut off by the output limit"},
      {{"nope", "{}", STOP_LENGTH}, "unknown tool"},
      {{"read", "{}", STOP_LENGTH}, "cut off by the output limit"},
      {{"read", "{}", 0}, "\\\"path\\\" is required"},
      {{"read", "{\"path\":null}", 0}, "expected string, got null"},
      {{"read", "{\"path\":1}", 0}, "expected string, got number"},
      {{"read", "{\"path\":\"x\",\"limit\":1.5}", 0}, "expected integer"},
      {{"read", "{\"path\":\"x\",\"limit\":1e400}", 0}, "too large"},
      {{"read", "{\"path\":\"x\",\"lines\":1}", 0}, "it takes path, limit"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    struct agent_config c = play_config();
    start(&p, &c, one_call);
    p.ctx = (void *)&rows[i].in;
    play_say(&p, "go");
    if (!play_sent(&p, rows[i].told))
      fail_msg("%s(%s): not told \"%s\" but %.*s", rows[i].in.name, rows[i].in.args, rows[i].told,
               (int)play_last_body(&p).n, play_last_body(&p).p);
    assert_int_equal(p.runs, 0);
    expect(&p, REIN_OUTCOME_FINISHED, "send send ");
  }
}

static struct buf seen_args;
static const char *keep_args(struct play *p, struct str name, struct str args, bool *error) {
  (void)p;
  (void)name;
  (void)error;
  buf_reset(&seen_args);
  buf_put(&seen_args, args);
  return "ok";
}

static void null_for_an_absent_optional_is_dropped(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct case_of_reply in = {"read", "{\"path\":\"x\",\"limit\":null}", 0};
  buf_init(&seen_args, 1000);
  start(&p, &c, one_call);
  p.ctx = &in;
  p.tool = keep_args;
  play_say(&p, "go");
  assert_string_equal(buf_z(&seen_args), "{\"path\":\"x\"}");
  assert_true(play_sent(&p, "\\\"limit\\\":null")); /* the history keeps what was written */
  buf_release(&seen_args);
  expect(&p, REIN_OUTCOME_FINISHED, "send run:read send ");
}

static void numbers_stay_as_written(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct case_of_reply in = {"write", "{\"id\":2512292042121000001,\"f\":0.10,\"e\":1e3,\"z\":-0}",
                             0};
  buf_init(&seen_args, 1000);
  start(&p, &c, one_call);
  p.ctx = &in;
  p.tool = keep_args;
  play_say(&p, "go");
  assert_string_equal(buf_z(&seen_args), in.args);
  buf_release(&seen_args);
  expect(&p, REIN_OUTCOME_FINISHED, "send run:write send ");
}

static void same_ids(struct play *p, struct play_reply *r) {
  if (p->sends > 2) {
    play_text(r, "end");
    return;
  }
  play_call(r, "t1", "read", p->sends == 1 ? "{\"path\":\"1\"}" : "{\"path\":\"3\"}");
  play_call(r, "t1", "read", p->sends == 1 ? "{\"path\":\"2\"}" : "{\"path\":\"4\"}");
  play_call(r, "", "clock", "{}");
}

static void no_id_stands_twice(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, same_ids);
  struct arena arena;
  struct json *doc;
  struct str ids[16];
  size_t n = 0;
  arena_init(&arena, 1 << 20);
  assert_int_equal(json_parse(&arena, play_last_body(&p), 0, &doc, NULL), REIN_OK);
  for (const struct json *m = json_get(doc, "messages")->first; m; m = m->next)
    for (const struct json *b = json_get(m, "content")->first; b; b = b->next)
      if (str_is(json_text(json_get(b, "type")), "tool_use"))
        ids[n++] = json_text(json_get(b, "id"));
  assert_int_equal(n, 6);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      assert_false(str_eq(ids[i], ids[j]));
  arena_release(&arena);
  expect(&p, REIN_OUTCOME_FINISHED,
         "send run:read run:read run:clock send run:read run:read run:clock send ");
}

/* ---- stop reasons ------------------------------------------------------------------ */

struct stop_case {
  enum stop stop;
  const char *text, *word;
  enum rein_outcome outcome;
  const char *sentence;
};

static void stops(struct play *p, struct play_reply *r) {
  const struct stop_case *c = p->ctx;
  if (p->sends > 1) {
    play_text(r, "later");
    return;
  }
  if (c->text) play_text(r, c->text);
  r->stop = c->stop;
  r->word = c->word;
}

static void stop_reasons_without_calls(void **state) {
  (void)state;
  static const struct stop_case rows[] = {
      {STOP_END, "hi", "end_turn", REIN_OUTCOME_FINISHED, ""},
      {STOP_TOOLS, "hi", "tool_use", REIN_OUTCOME_FINISHED, ""},
      {STOP_LENGTH, "cut", "max_tokens", REIN_OUTCOME_TRUNCATED, "max_tokens"},
      {STOP_REFUSAL, NULL, "refusal", REIN_OUTCOME_REFUSED, "refus"},
      {STOP_REFUSAL, "no", "refusal", REIN_OUTCOME_REFUSED, "거부"},
      {STOP_CONTEXT, "x", "model_context_window_exceeded", REIN_OUTCOME_CONTEXT_FULL, "context"},
      {STOP_UNKNOWN, "x", "solar_flare", REIN_OUTCOME_MODEL_ERROR, "solar_flare"},
      {STOP_END, NULL, "end_turn", REIN_OUTCOME_EMPTY, "empty"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    struct agent_config c = play_config();
    struct buf en, ko;
    start(&p, &c, stops);
    p.ctx = (void *)&rows[i];
    play_say(&p, "go");
    play_sentence(&p, REIN_ENGLISH, &en);
    play_sentence(&p, REIN_KOREAN, &ko);
    assert_true(str_has(buf_str(&en), str_of(rows[i].sentence)) ||
                str_has(buf_str(&ko), str_of(rows[i].sentence)));
    buf_release(&en);
    buf_release(&ko);
    expect(&p, rows[i].outcome, "send ");
  }
}

static void a_refusal_is_not_kept(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  static const struct stop_case refusal = {STOP_REFUSAL, "I will not", "refusal", 0, NULL};
  start(&p, &c, stops);
  p.ctx = (void *)&refusal;
  play_say(&p, "go");
  play_say(&p, "please");
  assert_false(play_sent(&p, "I will not"));
  expect(&p, REIN_OUTCOME_FINISHED, "send send ");
}

static void a_paused_reply_goes_back(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  static const struct stop_case pause = {STOP_PAUSE, "searching", "pause_turn", 0, NULL};
  start(&p, &c, stops);
  p.ctx = (void *)&pause;
  play_say(&p, "go");
  assert_true(play_sent(&p, "searching"));
  assert_int_equal(agent_stats(p.agent).turns, 1);
  expect(&p, REIN_OUTCOME_FINISHED, "send send ");
}

static void unknown_stop_with_a_call_runs_nothing(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct case_of_reply in = {"read", "{\"path\":\"x\"}", STOP_UNKNOWN};
  start(&p, &c, one_call);
  p.ctx = &in;
  play_say(&p, "go");
  assert_int_equal(p.done, REIN_OUTCOME_MODEL_ERROR);
  play_say(&p, "again");
  assert_true(play_sent(&p, "not run: the reply ended for an unknown reason"));
  expect(&p, REIN_OUTCOME_FINISHED, "send send ");
}

static void empty_after_a_result(struct play *p, struct play_reply *r) {
  if (p->sends == 1) play_call(r, "a", "read", "{\"path\":\"x\"}");
  if (p->sends == 3 && p->ctx) play_text(r, "at last");
}

static void an_empty_reply_is_nudged_once(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  run(&p, &c, empty_after_a_result);
  assert_true(play_sent(&p, "Your last reply was empty"));
  expect(&p, REIN_OUTCOME_EMPTY, "send run:read send send ");
  start(&p, &c, empty_after_a_result);
  p.ctx = &p;
  play_say(&p, "go");
  expect(&p, REIN_OUTCOME_FINISHED, "send run:read send send ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(answer_without_tools),
      cmocka_unit_test(one_tool_then_answer),
      cmocka_unit_test(more_words_go_on),
      cmocka_unit_test(blank_words_are_refused),
      cmocka_unit_test(reads_overlap_and_writes_wait),
      cmocka_unit_test(every_call_gets_its_result),
      cmocka_unit_test(denied_by_name_is_not_offered),
      cmocka_unit_test(nobody_to_ask_is_unapproved),
      cmocka_unit_test(yes_for_the_run_is_for_the_exact_call),
      cmocka_unit_test(calls_that_cannot_run),
      cmocka_unit_test(null_for_an_absent_optional_is_dropped),
      cmocka_unit_test(numbers_stay_as_written),
      cmocka_unit_test(no_id_stands_twice),
      cmocka_unit_test(stop_reasons_without_calls),
      cmocka_unit_test(a_refusal_is_not_kept),
      cmocka_unit_test(a_paused_reply_goes_back),
      cmocka_unit_test(unknown_stop_with_a_call_runs_nothing),
      cmocka_unit_test(an_empty_reply_is_nudged_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
