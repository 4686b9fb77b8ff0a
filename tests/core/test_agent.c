/* The machine, one behaviour a test: events in, the whole trace compared. */
#include "core/play.h"

/* ---- scripts -------------------------------------------------------------- */

static void one_then_answer(struct play *p, struct play_reply *r) {
  if (p->sends == 1)
    play_call(r, "a", "read", "{\"path\":\"x\"}");
  else
    play_text(r, "the answer");
}

static void always_reads(struct play *p, struct play_reply *r) {
  static char args[40];
  snprintf(args, sizeof args, "{\"path\":\"f%d\"}", p->sends);
  play_text(r, "looking");
  play_call(r, "a", "read", args);
}

static void answers(struct play *p, struct play_reply *r) {
  (void)p;
  play_text(r, "hello");
}

struct case_of_reply {
  const char *name, *args;
  enum stop stop;
};

static void one_call(struct play *p, struct play_reply *r) {
  const struct case_of_reply *c = p->ctx;
  if (p->sends > 1) {
    play_text(r, "end");
    return;
  }
  play_call(r, "a", c->name, c->args);
  r->stop = c->stop ? c->stop : STOP_TOOLS;
}

static void start(struct play *p, const struct agent_config *config, play_reply_fn reply) {
  *p = (struct play){.reply = reply, .now = 1000};
  assert_true(play_new(p, config));
}

static void run(struct play *p, const struct agent_config *config, play_reply_fn reply) {
  start(p, config, reply);
  play_say(p, "do it");
}

static void expect(struct play *p, enum rein_outcome outcome, const char *trace) {
  play_check_bodies(p);
  assert_string_equal(buf_z(&p->trace), trace);
  assert_int_equal(p->done, outcome);
  assert_int_equal(agent_ended(p->agent)->outcome, outcome);
  assert_int_equal(play_replay(p), agent_digest(p->agent));
  play_release(p);
}

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
  c.limits = (struct rein_limits){REIN_OFF, REIN_OFF, REIN_OFF, REIN_OFF, 0};
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
      cmocka_unit_test(turns_are_a_promise),
      cmocka_unit_test(tokens_are_a_ceiling),
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
      cmocka_unit_test(cancelled_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
