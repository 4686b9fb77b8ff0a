/* The wrap-up: one last request that sums up, whichever valve closed; the outcome stays
 * the valve's, the ceilings hold, a replay agrees, and the run can go on. */
#include "core/scripts.h"

static void sums_up(struct play *p, struct play_reply *r) {
  if (play_sent(p, "\"no_tools\":true")) {
    play_text(r, "summary");
    r->usage.input = (int64_t)play_last_body(p).n / 3;
    return;
  }
  always_reads(p, r);
  r->usage.input = (int64_t)play_last_body(p).n / 3;
  r->usage.output = 200;
}

/* A resume builds no request of the past: sizes alone must lead to the same state. */
static void check_measured(const struct play *p) {
  struct arena arena;
  struct agent_config config;
  struct record_head head;
  struct agent *agent;
  struct action a;
  struct event e;
  struct str rest = buf_str(&p->journal), line;
  arena_init(&arena, SIZE_MAX);
  assert_true(str_next(&rest, '\n', &line));
  assert_int_equal(record_read_start(&arena, line, toy_by_name, &config, &head, NULL), REIN_OK);
  assert_int_equal(agent_new(&config, &agent, NULL), REIN_OK);
  agent_measure(agent, true);
  while (str_next(&rest, '\n', &line) && line.n) {
    assert_int_equal(record_read(&arena, line, &e, NULL), REIN_OK);
    (void)!agent_feed(agent, &e, NULL);
    while (agent_next(agent, &a)) {}
  }
  struct agent_stats was = agent_stats(p->agent), now = agent_stats(agent);
  assert_true(was.spent == now.spent && was.cost == now.cost && was.requests == now.requests);
  assert_int_equal(agent_ended(agent)->outcome, agent_ended(p->agent)->outcome);
  assert_true(str_eq(agent_text(agent), agent_text(p->agent)));
  agent_free(agent);
  arena_release(&arena);
}

static void check_wrapped(struct play *p, enum rein_outcome outcome) {
  assert_int_equal(p->done, outcome);
  assert_int_equal(agent_ended(p->agent)->outcome, outcome);
  assert_true(agent_ended(p->agent)->why.text != T_NONE);
  assert_true(play_sent(p, "\"no_tools\":true") && play_sent(p, "Sum up now"));
  assert_true(play_sent(p, "\"tools\":[\"read\""));
  assert_true(str_is(agent_text(p->agent), "summary"));
  play_check_bodies(p);
  assert_int_equal(play_replay(p), agent_digest(p->agent));
  check_measured(p);
}

static const struct model_facts priced = {.priced = true,
                                          .rates = {3000000, 300000, 3750000, 15000000}};

static struct agent_config wraps(void) {
  struct agent_config c = play_config();
  c.limits.wrap_up = true;
  c.limits.no_progress = REIN_PROGRESS_OFF;
  c.output_limit = 1000;
  c.facts = priced;
  return c;
}

static void of_turns(void **state) {
  (void)state;
  for (int64_t limit = 1; limit < 4; limit++) {
    struct play p;
    struct agent_config c = wraps();
    c.limits.max_turns = limit;
    run(&p, &c, sums_up);
    assert_int_equal(p.sends, limit + 2);
    check_wrapped(&p, REIN_OUTCOME_TURNS);
    assert_true(play_sent(&p, "not run: the limit of"));
    assert_true(agent_goes_on(p.agent));
    struct rein_limits more = *agent_limits(p.agent);
    more.max_turns += 2;
    play_feed(&p, &(struct event){.kind = EVENT_LIMITS, .limits = more});
    play_feed(&p, &(struct event){.kind = EVENT_RESUME});
    play_pump(&p);
    assert_int_equal(agent_stats(p.agent).turns, limit + 2);
    assert_true(play_sent(&p, "Go on with the task"));
    check_wrapped(&p, REIN_OUTCOME_TURNS);
    play_release(&p);
  }
}

static void of_budgets(void **state) {
  (void)state;
  size_t whole = 0;
  for (int64_t limit = 9000; limit < 90000; limit += 3777) {
    for (int money = 0; money < 2; money++) {
      struct play p;
      struct agent_config c = wraps();
      c.limits.max_turns = REIN_OFF;
      c.limits.token_budget = money ? REIN_OFF : limit;
      if (money) c.limits.cost_uusd = limit * 10;
      run(&p, &c, sums_up);
      struct agent_stats s = agent_stats(p.agent);
      assert_true(s.spent <= limit || money);
      assert_true(!money || s.cost <= limit * 10 * PICO_PER_MICRO);
      if (p.sends > 0) check_wrapped(&p, money ? REIN_OUTCOME_COST : REIN_OUTCOME_TOKENS);
      whole += p.sends > 1;
      play_release(&p);
    }
  }
  assert_true(whole > 30);
}

static void the_same(struct play *p, struct play_reply *r) {
  if (play_sent(p, "\"no_tools\":true")) {
    play_text(r, "summary");
    return;
  }
  static char id[32];
  snprintf(id, sizeof id, "t%d", p->sends);
  play_call(r, id, "read", "{\"path\":\"a\"}");
}

static void of_no_progress(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = wraps();
  c.limits.no_progress = REIN_PROGRESS_DEFAULT;
  run(&p, &c, the_same);
  check_wrapped(&p, REIN_OUTCOME_NO_PROGRESS);
  play_release(&p);
}

/* In a call that hangs, and in a request that does. */
static void of_time(void **state) {
  (void)state;
  for (int sends = 0; sends < 2; sends++) {
    struct play p;
    struct agent_config c = wraps();
    c.limits.time_ms = 80000;
    start(&p, &c, sums_up);
    p.hold_sends = sends;
    p.hold_runs = !sends;
    play_say(&p, "go");
    assert_int_equal(agent_deadline(p.agent), 71000);
    p.hold_sends = false;
    play_tick(&p, 71000);
    assert_int_equal(sends ? p.aborted_send : p.aborted_run, 1);
    check_wrapped(&p, REIN_OUTCOME_TIME);
    play_release(&p);
  }
}

/* The wrap-up itself may hang: then the limit itself ends it. */
static void time_is_the_limit(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = wraps();
  c.limits.time_ms = 80000;
  start(&p, &c, sums_up);
  p.hold_sends = true;
  play_say(&p, "go");
  play_tick(&p, 71000);
  assert_int_equal(p.done, REIN_OUTCOME_NONE);
  assert_int_equal(agent_deadline(p.agent), 81000);
  play_tick(&p, 81000);
  assert_int_equal(p.done, REIN_OUTCOME_TIME);
  assert_int_equal(play_replay(&p), agent_digest(p.agent));
  play_release(&p);
}

/* It asks for tools all the same: nothing runs, and the transcript stays whole. */
static void calls_are_not_run(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = wraps();
  c.limits.max_turns = 1;
  run(&p, &c, always_reads);
  assert_int_equal(p.runs, 1);
  assert_int_equal(p.sends, 3);
  assert_int_equal(p.done, REIN_OUTCOME_TURNS);
  p.reply = answers;
  play_say(&p, "and now?");
  play_check_bodies(&p);
  assert_int_equal(play_replay(&p), agent_digest(p.agent));
  play_release(&p);
}

static void a_fault_changes_no_outcome(void **state) {
  (void)state;
  struct play p;
  struct agent_config c = wraps();
  struct fault f = {.kind = FAULT_INVALID, .status = 400, .message = STR("no")};
  c.limits.max_turns = REIN_ZERO;
  start(&p, &c, sums_up);
  play_feed(&p, &(struct event){.kind = EVENT_SAY, .text = STR("go")});
  struct action a;
  for (int sent = 0; agent_next(p.agent, &a);) {
    bool last = a.kind == ACTION_SEND && sent++ == 1;
    if (last)
      play_feed(&p, &(struct event){.kind = EVENT_FAILED, .id = a.id, .fault = &f});
    else
      play_act(&p, &a);
  }
  assert_int_equal(p.done, REIN_OUTCOME_TURNS);
  assert_int_equal(agent_ended(p.agent)->why.text, T_CORE_END_NO_TURNS);
  play_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_turns),
      cmocka_unit_test(of_budgets),
      cmocka_unit_test(of_no_progress),
      cmocka_unit_test(of_time),
      cmocka_unit_test(time_is_the_limit),
      cmocka_unit_test(calls_are_not_run),
      cmocka_unit_test(a_fault_changes_no_outcome),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
