/* The valves and what goes wrong: limits, budgets, time, faults, interrupts. */
#include "core/scripts.h"

/* ---- valves -------------------------------------------------------------------------- */

static void turns_are_a_promise(void **state) {
  (void)state;
  static const struct {
    int64_t limit;
    int turns;
  } rows[] = {{REIN_ZERO, 0}, {1, 1}, {2, 2}, {5, 5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    struct agent_config c = play_config();
    c.limits.max_turns = rows[i].limit;
    run(&p, &c, always_reads);
    assert_int_equal(p.runs, rows[i].turns);
    assert_int_equal(p.sends, rows[i].turns + 1);
    assert_int_equal(p.done, REIN_OUTCOME_TURNS);
    assert_true(str_is(agent_text(p.agent), "looking"));
    p.reply = answers;
    play_say(&p, "stop now");
    assert_true(play_sent(&p, "not run: the limit of"));
    play_check_bodies(&p);
    assert_int_equal(play_replay(&p), agent_digest(p.agent));
    play_release(&p);
  }
}

/* Against a server that counts a token per `div` bytes and hides some. */
struct meter {
  int64_t div, hidden;
};

static void metered(struct play *p, struct play_reply *r) {
  const struct meter *m = p->ctx;
  always_reads(p, r);
  r->usage.input = (int64_t)play_last_body(p).n / m->div + m->hidden;
  r->usage.output = 200;
}

static void tokens_are_a_ceiling(void **state) {
  (void)state;
  static const struct meter meters[] = {{1, 0}, {1, 800}, {2, 800}, {4, 800}, {4, 0}};
  for (size_t i = 0; i < sizeof meters / sizeof *meters; i++) {
    for (int64_t limit = 2000; limit < 60000; limit += 3777) {
      struct play p;
      struct agent_config c = play_config();
      c.limits.token_budget = limit;
      c.limits.max_turns = REIN_OFF;
      c.output_limit = 1000;
      start(&p, &c, metered);
      p.ctx = (void *)&meters[i];
      play_say(&p, "go");
      assert_int_equal(p.done, REIN_OUTCOME_TOKENS);
      assert_true(agent_stats(p.agent).spent <= limit);
      play_check_bodies(&p);
      play_release(&p);
    }
  }
}

static void half_cut(struct play *p, struct play_reply *r) {
  (void)p;
  play_text(r, "half an ans");
  r->stop = STOP_LENGTH;
  r->word = "max_tokens";
}

static void a_reply_cut_by_the_budget_is_tokens(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  c.limits.token_budget = 2500;
  run(&p, &c, half_cut);
  assert_false(play_sent(&p, "\"output_limit\":16384"));
  expect(&p, REIN_OUTCOME_TOKENS, "send ");
}

/* ---- money ----------------------------------------------------------------------------- */

static const struct model_facts priced = {.priced = true,
                                          .rates = {3000000, 300000, 3750000, 15000000}};

static void cost_is_a_ceiling(void **state) {
  (void)state;
  static const struct meter meters[] = {{1, 0}, {1, 800}, {4, 800}, {4, 0}};
  for (size_t i = 0; i < sizeof meters / sizeof *meters; i++) {
    for (int64_t limit = 9000; limit < 300000; limit += 17777) {
      struct play p;
      struct agent_config c = play_config();
      c.limits.cost_uusd = limit;
      c.limits.max_turns = c.limits.token_budget = REIN_OFF;
      c.facts = priced;
      c.output_limit = 1000;
      start(&p, &c, metered);
      p.ctx = (void *)&meters[i];
      play_say(&p, "go");
      struct agent_stats s = agent_stats(p.agent);
      assert_int_equal(p.done, REIN_OUTCOME_COST);
      assert_true(s.cost <= limit * PICO_PER_MICRO);
      assert_true(s.cost == price_of(&priced, &s.usage));
      play_check_bodies(&p);
      assert_int_equal(play_replay(&p), agent_digest(p.agent));
      struct rein_limits more = *agent_limits(p.agent);
      more.cost_uusd = limit + 200000;
      play_feed(&p, &(struct event){.kind = EVENT_LIMITS, .limits = more});
      play_feed(&p, &(struct event){.kind = EVENT_RESUME, .text = STR("on")});
      play_pump(&p);
      assert_true(agent_stats(p.agent).cost > s.cost);
      assert_true(agent_stats(p.agent).cost <= more.cost_uusd * PICO_PER_MICRO);
      assert_int_equal(play_replay(&p), agent_digest(p.agent));
      play_release(&p);
    }
  }
}

static void a_reply_cut_by_money_is_cost(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  c.limits.cost_uusd = 20000;
  c.facts = priced;
  run(&p, &c, half_cut);
  assert_false(play_sent(&p, "\"output_limit\":16384"));
  expect(&p, REIN_OUTCOME_COST, "send ");
}

static void no_price_no_limit_of_money(void **state) {
  (void)state;
  struct agent *a;
  struct err err = {0};
  struct agent_config c = play_config();
  c.limits.cost_uusd = 5;
  assert_int_equal(agent_new(&c, &a, &err), REIN_INPUT);
  assert_int_equal(err.text, T_CORE_NO_PRICE);
  c.limits.cost_uusd = 0;
  assert_int_equal(agent_new(&c, &a, &err), REIN_OK);
  assert_int_equal(agent_stats(a).cost, -1);
  struct rein_limits limits = *agent_limits(a);
  limits.cost_uusd = 1000;
  struct event e = {.kind = EVENT_LIMITS, .limits = limits};
  assert_int_equal(agent_feed(a, &e, &err), REIN_INPUT);
  e.now = priced; /* known today */
  assert_int_equal(agent_feed(a, &e, &err), REIN_OK);
  assert_int_equal(agent_stats(a).cost, 0);
  agent_free(a);
}

static void refused_by_a_shared_budget(void **state) {
  (void)state;
  struct play p;
  struct action a;
  struct agent_config c = play_config();
  start(&p, &c, answers);
  play_feed(&p, &(struct event){.kind = EVENT_SAY, .text = STR("go")});
  assert_true(agent_next(p.agent, &a) && a.kind == ACTION_RESERVE);
  play_feed(&p, &(struct event){.kind = EVENT_REFUSED, .id = a.id});
  play_pump(&p);
  expect(&p, REIN_OUTCOME_TOKENS, "");
}

static void time_closes_a_hung_request(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  c.limits.time_ms = 3000;
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  assert_int_equal(agent_deadline(p.agent), 4000);
  play_tick(&p, 3999);
  assert_int_equal(p.done, REIN_OUTCOME_NONE);
  play_tick(&p, 4000);
  assert_int_equal(p.aborted_send, p.held_send);
  assert_true(agent_stats(p.agent).spent > 0); /* it may have cost all that was reserved */
  expect(&p, REIN_OUTCOME_TIME, "send ");
}

static void time_closes_a_hung_tool_and_an_open_question(void **state) {
  (void)state;
  for (int ask = 0; ask < 2; ask++) {
    struct play p;
    struct agent_config c = play_config();
    struct case_of_reply in = {ask ? "risky" : "write", "{}", 0};
    c.limits.time_ms = 3000;
    start(&p, &c, one_call);
    p.ctx = &in;
    p.hold_asks = p.hold_runs = true;
    play_say(&p, "go");
    play_tick(&p, 5000);
    assert_int_equal(p.done, REIN_OUTCOME_TIME);
    if (!ask) assert_int_equal(p.aborted_run, p.held_run[0]);
    play_say(&p, "more"); /* time is still up: nothing is sent */
    expect(&p, REIN_OUTCOME_TIME, ask ? "send ask:risky " : "send run:write ");
  }
}

static void all_limits_off_is_refused(void **state) {
  (void)state;
  struct agent_config c = play_config();
  struct agent *a;
  struct err err = {0};
  c.limits = (struct rein_limits){
      .max_turns = REIN_OFF, .token_budget = REIN_OFF, .cost_uusd = REIN_OFF, .time_ms = REIN_OFF};
  assert_int_equal(agent_new(&c, &a, &err), REIN_INPUT);
  assert_null(a);
  assert_int_equal(err.text, T_CORE_NO_LIMITS);
  c.limits = (struct rein_limits){.max_turns = -7};
  assert_int_equal(agent_new(&c, &a, &err), REIN_INPUT);
  assert_int_equal(err.text, T_CORE_BAD_LIMIT);
}

/* ---- failures ------------------------------------------------------------------------- */

static void fail_send(struct play *p, const struct fault *f) {
  play_feed(p,
            &(struct event){.kind = EVENT_FAILED, .at_ms = p->now, .id = p->held_send, .fault = f});
  play_pump(p);
}

static struct fault fault_of(enum fault_kind kind) {
  return (struct fault){
      .kind = kind, .message = STR("words"), .retry_after_ms = -1, .should_retry = -1};
}

static void retried_twice_then_given_up(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault f = fault_of(FAULT_OVERLOADED);
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  for (int i = 0; i < 2; i++) {
    fail_send(&p, &f);
    int64_t wait = agent_deadline(p.agent) - p.now;
    assert_in_range(wait, (375 << i), (500 << i));
    play_tick(&p, p.now + wait);
  }
  assert_int_equal(p.sends, 3);
  fail_send(&p, &f);
  assert_int_equal(agent_stats(p.agent).spent, 0);
  expect(&p, REIN_OUTCOME_MODEL_ERROR, "send send send ");
}

static void the_same_bytes_are_sent_again(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault f = fault_of(FAULT_BROKEN);
  f.billed = f.began = true;
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  struct agent_stats before = agent_stats(p.agent);
  fail_send(&p, &f);
  assert_int_equal(agent_stats(p.agent).spent, before.reserved);
  p.hold_sends = false;
  play_tick(&p, agent_deadline(p.agent));
  struct str rest = buf_str(&p.bodies), one = STR_NONE, two = STR_NONE;
  assert_true(str_next(&rest, '\n', &one) && str_next(&rest, '\n', &two));
  assert_true(str_eq(one, two));
  expect(&p, REIN_OUTCOME_FINISHED, "send send ");
}

static void retry_after_is_kept_and_time_holds(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault f = fault_of(FAULT_OVERLOADED);
  f.retry_after_ms = 17000;
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  fail_send(&p, &f);
  assert_int_equal(agent_deadline(p.agent), 18000);
  play_release(&p);
  c.limits.time_ms = 10000;
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  fail_send(&p, &f);
  expect(&p, REIN_OUTCOME_TIME, "send ");
}

static void what_is_final_is_final(void **state) {
  (void)state;
  static const struct {
    enum fault_kind kind;
    enum rein_outcome outcome;
    int should_retry;
    bool began;
  } rows[] = {
      {FAULT_INVALID, REIN_OUTCOME_MODEL_ERROR, -1, false},
      {FAULT_CONTEXT, REIN_OUTCOME_CONTEXT_FULL, -1, false},
      {FAULT_SCHEMA, REIN_OUTCOME_BAD_TOOL, -1, false},
      {FAULT_AUTH, REIN_OUTCOME_NOT_AUTHORISED, -1, false},
      {FAULT_QUOTA, REIN_OUTCOME_NOT_AUTHORISED, -1, false},
      {FAULT_STALLED, REIN_OUTCOME_MODEL_ERROR, -1, true},
      {FAULT_OVERLOADED, REIN_OUTCOME_MODEL_ERROR, 0, false}, /* x-should-retry: false */
      {FAULT_STALLED, REIN_OUTCOME_NONE, -1, false},
      {FAULT_CONNECT, REIN_OUTCOME_NONE, -1, false},
      {FAULT_GARBLED, REIN_OUTCOME_NONE, -1, true},
      {FAULT_INVALID, REIN_OUTCOME_NONE, 1, false}, /* x-should-retry: true */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    struct agent_config c = play_config();
    struct fault f = fault_of(rows[i].kind);
    f.should_retry = rows[i].should_retry;
    f.began = rows[i].began;
    start(&p, &c, answers);
    p.hold_sends = true;
    play_say(&p, "go");
    fail_send(&p, &f);
    expect(&p, rows[i].outcome, "send ");
  }
}

static void thinks(struct play *p, struct play_reply *r) {
  (void)p;
  r->blocks[r->count++] =
      (struct block){.kind = BLOCK_THINKING, .raw = STR("{}"), .wire = STR("toy")};
  play_text(r, "hm");
}

static void a_refused_signature_is_repaired_once(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault f = fault_of(FAULT_BOUND);
  start(&p, &c, thinks);
  play_say(&p, "go");
  p.hold_sends = true;
  play_say(&p, "more");
  assert_true(play_sent(&p, "thinking"));
  fail_send(&p, &f);
  assert_false(play_sent(&p, "thinking"));
  fail_send(&p, &f);
  expect(&p, REIN_OUTCOME_MODEL_ERROR, "send send rewrite send ");
}

/* None is known here: the provider's word counts, and once more costs one request. */
static void a_refused_signature_that_is_not_there_too(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault f = fault_of(FAULT_BOUND);
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  fail_send(&p, &f);
  fail_send(&p, &f);
  expect(&p, REIN_OUTCOME_MODEL_ERROR, "send rewrite send ");
}

/* A parameter that the provider refuses is left out for the rest of the run: one more
 * request each, never two for the same, and none where nothing is known to help. */
static void a_refused_parameter_is_left_out_for_the_run(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  struct fault usage = fault_of(FAULT_INVALID), limit = usage, other = usage;
  usage.repair = REWRITE_NO_USAGE_ASKED;
  limit.repair = REWRITE_NEW_LIMIT;
  start(&p, &c, answers);
  p.hold_sends = true;
  play_say(&p, "go");
  assert_false(play_sent(&p, "repaired"));
  fail_send(&p, &usage);
  assert_true(play_sent(&p, "\"repaired\":4"));
  fail_send(&p, &limit);
  assert_true(play_sent(&p, "\"repaired\":20"));
  play_send_reply(&p, p.held_send);
  play_pump(&p);
  assert_int_equal(p.done, REIN_OUTCOME_FINISHED);
  play_say(&p, "more");
  assert_true(play_sent(&p, "\"repaired\":20"));
  fail_send(&p, &usage); /* it was left out: the same words now mean nothing that is known */
  assert_int_equal(p.done, REIN_OUTCOME_MODEL_ERROR);
  play_say(&p, "again");
  fail_send(&p, &other);
  expect(&p, REIN_OUTCOME_MODEL_ERROR, "send rewrite send rewrite send send send ");
}

/* A quarter of a token a byte, and an answer that takes all the room it gets. */
static void fills_the_room(struct play *p, struct play_reply *r) {
  struct str body = play_last_body(p);
  const char *limit = body.p + str_find(body, STR("\"output_limit\":")) + 15;
  int64_t whole = *(int64_t *)p->ctx, room = strtoll(limit, NULL, 10);
  r->usage.input = (int64_t)body.n / 4;
  r->usage.output = room < whole ? room : whole;
  r->stop = room < whole ? STOP_LENGTH : STOP_END;
  play_text(r, room < whole ? "half an ans" : "the answer");
}

/* The first bound takes each byte for a token, so the limit was lowered more than
 * needed: the same request goes out again, and the half answer does not count. */
static void a_cut_that_was_not_needed_is_asked_for_again(void **state) {
  (void)state;
  static const struct {
    int64_t whole, budget;
    const char *trace;
    enum rein_outcome outcome;
  } rows[] = {
      {2000, 7500, "send send ", REIN_OUTCOME_FINISHED},
      {500, 7500, "send ", REIN_OUTCOME_FINISHED},
      {9000, 7500, "send send ", REIN_OUTCOME_TOKENS},
      {9000, 9000, "send ", REIN_OUTCOME_TOKENS}, /* what is left is not 512 more */
      {9000, 100000, "send ", REIN_OUTCOME_TRUNCATED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    struct agent_config c = play_config();
    struct buf words;
    int64_t whole = rows[i].whole;
    buf_init(&words, 10000);
    while (words.n < 5000)
      buf_lit(&words, "be brief ");
    c.limits.token_budget = rows[i].budget;
    c.output_limit = 8000;
    start(&p, &c, fills_the_room);
    p.ctx = &whole;
    play_say(&p, buf_z(&words));
    bool whole_one = rows[i].outcome == REIN_OUTCOME_FINISHED;
    assert_true(str_is(agent_text(p.agent), whole_one ? "the answer" : "half an ans"));
    assert_true(agent_stats(p.agent).spent <= rows[i].budget);
    buf_release(&words);
    expect(&p, rows[i].outcome, rows[i].trace);
  }
}

/* A provider that counts no prompt counts nothing: the reservation is booked. */
static void counts_no_prompt(struct play *p, struct play_reply *r) {
  always_reads(p, r);
  r->usage = (struct usage){.output = 5, .known_input = true, .known_output = true};
}

static void a_prompt_of_nothing_is_no_count(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = play_config();
  c.limits.token_budget = 8000;
  c.output_limit = 1000;
  start(&p, &c, counts_no_prompt);
  play_say(&p, "go");
  assert_int_equal(p.done, REIN_OUTCOME_TOKENS);
  assert_true(agent_stats(p.agent).spent > 3 * 1000);
  play_release(&p);
}

static void says(struct play *p, const char *english, const char *korean) {
  for (int i = 0; i < 2; i++) {
    struct buf words;
    play_sentence(p, i ? REIN_KOREAN : REIN_ENGLISH, &words);
    if (!strstr(buf_z(&words), i ? korean : english)) fail_msg("it says: %s", buf_z(&words));
    buf_release(&words);
  }
}

/* The wait may be the provider's or our own; why it is waited for is said. */
static void a_wait_that_time_forbids_says_all(void **state) {
  (void)state;
  for (int korean = 0; korean < 2; korean++) {
    struct play p;
    struct agent_config c = play_config();
    struct fault f = fault_of(FAULT_OVERLOADED);
    c.lang = korean ? REIN_KOREAN : REIN_ENGLISH;
    f.message = STR("too busy");
    c.limits.time_ms = 60500;
    f.retry_after_ms = 90500;
    start(&p, &c, answers);
    p.hold_sends = true;
    play_say(&p, "go");
    fail_send(&p, &f);
    assert_int_equal(p.done, REIN_OUTCOME_TIME);
    if (korean)
      says(&p, "1분 30.5초", "시간 한도 1분 0.5초");
    else
      says(&p, "has to wait 1 min 30.5 s, and the time limit of 1 min 0.5 s", "too busy");
    play_release(&p);
  }
}

static void stops_oddly(struct play *p, struct play_reply *r) {
  if (p->ctx) play_call(r, "a", "write", "{}");
  play_text(r, "hm");
  r->stop = STOP_UNKNOWN;
  r->word = "solar_flare";
}

static void an_unknown_stop_speaks_of_calls_where_there_are_some(void **state) {
  (void)state;
  for (int calls = 0; calls < 2; calls++) {
    struct play p;
    struct agent_config c = play_config();
    start(&p, &c, stops_oddly);
    p.ctx = calls ? &p : NULL;
    play_say(&p, "go");
    assert_int_equal(p.done, REIN_OUTCOME_MODEL_ERROR);
    assert_int_equal(p.runs, 0);
    if (calls)
      says(&p, "\"solar_flare\"; its calls were not run", "호출은 실행하지 않았습니다");
    else
      says(&p, "may not be whole: \"solar_flare\"", "온전한지 알 수 없습니다: \"solar_flare\"");
    play_release(&p);
  }
}

static void cancelled_anywhere(void **state) {
  (void)state;
  for (int at = 0; at < 4; at++) {
    struct play p;
    struct agent_config c = play_config();
    struct case_of_reply in = {at == 2 ? "risky" : "write", "{}", 0};
    struct fault f = fault_of(FAULT_CONNECT);
    start(&p, &c, one_call);
    p.ctx = &in;
    p.hold_sends = at == 0 || at == 3;
    p.hold_runs = p.hold_asks = true;
    play_say(&p, "go");
    if (at == 3) fail_send(&p, &f);
    play_feed(&p, &(struct event){
                      .kind = EVENT_CANCEL, .at_ms = p.now, .text = STR("Ctrl+C"), .signal = 2});
    play_pump(&p);
    assert_int_equal(p.done, REIN_OUTCOME_CANCELLED);
    assert_int_equal(agent_ended(p.agent)->signal, 2);
    p.hold_sends = false;
    play_say(&p, "go on");
    if (at == 1) assert_true(play_sent(&p, "interrupted by the user while it ran"));
    if (at == 2) assert_true(play_sent(&p, "not run: interrupted by the user"));
    /* the late answer of the given-up call changes nothing */
    uint64_t before = agent_digest(p.agent);
    (void)!agent_feed(p.agent, &(struct event){.kind = EVENT_RESULT, .id = 1, .text = STR("late")},
                      NULL);
    assert_int_equal(agent_digest(p.agent), before);
    play_check_bodies(&p);
    play_release(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_are_a_promise),
      cmocka_unit_test(tokens_are_a_ceiling),
      cmocka_unit_test(cost_is_a_ceiling),
      cmocka_unit_test(a_reply_cut_by_money_is_cost),
      cmocka_unit_test(no_price_no_limit_of_money),
      cmocka_unit_test(a_reply_cut_by_the_budget_is_tokens),
      cmocka_unit_test(refused_by_a_shared_budget),
      cmocka_unit_test(time_closes_a_hung_request),
      cmocka_unit_test(time_closes_a_hung_tool_and_an_open_question),
      cmocka_unit_test(all_limits_off_is_refused),
      cmocka_unit_test(retried_twice_then_given_up),
      cmocka_unit_test(the_same_bytes_are_sent_again),
      cmocka_unit_test(retry_after_is_kept_and_time_holds),
      cmocka_unit_test(what_is_final_is_final),
      cmocka_unit_test(a_refused_signature_is_repaired_once),
      cmocka_unit_test(a_refused_signature_that_is_not_there_too),
      cmocka_unit_test(a_refused_parameter_is_left_out_for_the_run),
      cmocka_unit_test(a_cut_that_was_not_needed_is_asked_for_again),
      cmocka_unit_test(a_prompt_of_nothing_is_no_count),
      cmocka_unit_test(a_wait_that_time_forbids_says_all),
      cmocka_unit_test(an_unknown_stop_speaks_of_calls_where_there_are_some),
      cmocka_unit_test(cancelled_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
