/* Whole runs over HTTP on loopback: what a user, a model and a journal see. */
#include "driver/world.h"
#include "tools/call.h"

/* -- plain runs -- */

static void test_an_answer(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_words, "Hello.");
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_string_equal(buf_z(&live->log), "say granted reply ended(finished)");
  assert_string_equal(buf_z(&live->text), "Hello.");
  assert_true(str_is(agent_text(run_agent(live->run)), "Hello."));
  struct str head = peer_head(w.peer, 0);
  assert_true(str_starts(head, STR("POST /v1/messages HTTP/1.1\r\n")));
  assert_true(str_has(head, STR("content-type: application/json\r\n")));
  assert_true(str_has(head, STR("user-agent: rein/")));
  assert_true(str_has(head, STR("sk-test-0123456789")));
  world_close(&w);
}

static void test_calls_and_results(void **state) {
  static const char *const names[] = {"echo", "echo", "write", NULL};
  const struct rein_tool rows[] = {ROW("echo", tool_echo, NULL),
                                   ROW_WITH("write", tool_echo, NULL, REIN_WRITES, REIN_ALLOW, 0)};
  struct world w;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 2);
  struct live *live = world_say(&w, &spec, "Look");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  /* Both readers start together, under one commit; the writer waits for them. */
  assert_string_equal(buf_z(&live->log), "say granted reply started started result result "
                                         "started result granted reply ended(finished)");
  struct str second = peer_body(w.peer, 1);
  assert_int_equal(count_in(second, "\"tool_result\""), 3);
  assert_int_equal(peer_count(w.peer), 2);
  assert_int_equal(peer_connections(w.peer), 1); /* one connection serves the run */
  world_close(&w);
}

/* -- two that wait for each other: only beside one another can they answer -- */

struct meeting {
  int a[2], b[2];
};

static int meet(struct rein_call *call, int say_fd, int hear_fd) {
  char c;
  struct pollfd p = {.fd = hear_fd, .events = POLLIN};
  if (write(say_fd, "x", 1) != 1) return rein_call_error(call, "no pipe", SIZE_MAX);
  if (poll(&p, 1, 10000) != 1 || read(hear_fd, &c, 1) != 1)
    return rein_call_error(call, "alone", SIZE_MAX);
  return rein_call_result(call, "met", SIZE_MAX);
}

static int tool_left(struct rein_call *call) {
  struct meeting *m = rein_call_ctx(call);
  return meet(call, m->a[1], m->b[0]);
}

static int tool_right(struct rein_call *call) {
  struct meeting *m = rein_call_ctx(call);
  return meet(call, m->b[1], m->a[0]);
}

static void test_readers_overlap(void **state) {
  static const char *const names[] = {"left", "right", NULL};
  struct meeting m;
  struct world w;
  (void)state;
  assert_int_equal(pipe2(m.a, O_CLOEXEC), 0);
  assert_int_equal(pipe2(m.b, O_CLOEXEC), 0);
  const struct rein_tool rows[] = {ROW("left", tool_left, &m), ROW("right", tool_right, &m)};
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 2);
  struct live *live = world_say(&w, &spec, "Meet");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_int_equal(count_in(peer_body(w.peer, 1), "alone"), 0);
  assert_int_equal(count_in(peer_body(w.peer, 1), "\"met\""), 2);
  world_close(&w);
  for (int i = 0; i < 2; i++) {
    close(m.a[i]);
    close(m.b[i]);
  }
}

/* -- tools that misbehave -- */

static int tool_mute(struct rein_call *call) {
  (void)call;
  return 0;
}

static int tool_broken(struct rein_call *call) {
  return rein_call_error(call, "the shelf fell over\nand more", SIZE_MAX);
}

static int tool_garbage(struct rein_call *call) {
  return rein_call_result(call, "a\xff\xed\xa0\x80z", 6);
}

static void test_tools_that_misbehave(void **state) {
  static const char *const names[] = {"mute", "broken", "garbage", "nowhere", NULL};
  const struct rein_tool rows[] = {ROW("mute", tool_mute, NULL), ROW("broken", tool_broken, NULL),
                                   ROW("garbage", tool_garbage, NULL)};
  struct world w;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 3);
  struct live *live = world_say(&w, &spec, "Try");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  struct str second = peer_body(w.peer, 1);
  assert_int_equal(count_in(second, "mute returned without an answer"), 1);
  assert_int_equal(count_in(second, "the shelf fell over"), 1);
  assert_int_equal(count_in(second, "a\xef\xbf\xbd\xef\xbf\xbdz"), 1);
  assert_int_equal(count_in(second, "nowhere"), 2); /* its call, and the answer to it */
  world_close(&w);
}

static int tool_flood(struct rein_call *call) {
  size_t n = CALL_RESULT_MAX + 4096;
  char *flood = malloc(n);
  assert_non_null(flood);
  memset(flood, 'x', n);
  int code = rein_call_result(call, flood, n);
  free(flood);
  return code;
}

static void test_a_tool_that_floods(void **state) {
  static const char *const names[] = {"flood", NULL};
  const struct rein_tool rows[] = {ROW("flood", tool_flood, NULL)};
  struct world w;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  struct live *live = world_say(&w, &spec, "Go");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  live->big = true;
  assert_true(peer_body(w.peer, 1).n < 200000); /* the model gets a head and a tail */
  world_close(&w);
}

static void test_a_late_tool_is_given_up(void **state) {
  static const char *const names[] = {"deaf", "echo", NULL};
  struct gate g;
  struct world w;
  (void)state;
  gate_open(&g);
  const struct rein_tool rows[] = {
      ROW_WITH("deaf", tool_deaf, &g, REIN_READS_PRIVATE, REIN_ALLOW, 30),
      ROW("echo", tool_echo, NULL)};
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 2);
  struct live *live = world_say(&w, &spec, "Wait");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_int_equal(count_in(peer_body(w.peer, 1), "deaf timed out after 0.030 s"), 1);
  assert_int_equal(atomic_load(&g.passed), 0);
  gate_release(&g); /* it answers now, unheard */
  world_close(&w);
  gate_close(&g);
}

/* A tool that is still deaf when everything is taken down keeps its own memory. */
static void test_an_orphan_outlives_its_run(void **state) {
  static const char *const names[] = {"deaf", NULL};
  struct gate g;
  struct world w;
  (void)state;
  gate_open(&g);
  const struct rein_tool rows[] = {
      ROW_WITH("deaf", tool_deaf, &g, REIN_READS_PRIVATE, REIN_ALLOW, 10)};
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  world_say(&w, &spec, "Wait");
  loop_run(w.loop);
  size_t fds = w.fds;
  w.fds = SIZE_MAX; /* the thread still holds none of ours */
  live_prove(w.lives[0], w.peer);
  driver_free(w.driver);
  http_free(w.http);
  loop_free(w.loop, 0);
  peer_stop(w.peer);
  live_free(w.lives[0]);
  assert_int_equal(atomic_load(&g.passed), 0);
  assert_int_equal(open_fds(), fds);
  gate_release(&g);
  while (atomic_load(&g.passed) == 0)
    sched_yield();
  /* Its memory is freed by its own thread: the leak checker looks at the end. */
  gate_close(&g);
}

/* -- retries -- */

static bool serve_overloaded(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer;
  (void)body;
  if (n == 0) {
    peer_answer(fd, 529, "content-type: application/json\r\nretry-after-ms: 5\r\n",
                STR("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                    "\"message\":\"Overloaded for sk-test-0123456789\"},"
                    "\"request_id\":\"req_7\"}"));
    return true;
  }
  say(fd, ctx);
  return true;
}

static void test_overloaded_then_good(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_overloaded, "Here.");
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_string_equal(buf_z(&live->log), "say granted failed retry(overloaded) tick granted "
                                         "reply ended(finished)");
  assert_true(str_eq(peer_body(w.peer, 0), peer_body(w.peer, 1)));
  assert_true(str_has(buf_str(&live->notes), STR("[key]")));
  for (size_t i = 0; i < live->events; i++) {
    struct journal *journal = run_journal(live->run);
    struct str line;
    assert_int_equal(journal->kind->record(journal, i, &line, NULL), REIN_OK);
    assert_false(str_has(line, STR("sk-test-0123456789")));
  }
  assert_false(str_has(buf_str(&live->notes), STR("sk-test-0123456789")));
  world_close(&w);
}

static bool serve_torn(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct reply_text r;
  (void)peer;
  (void)body;
  if (n > 0) {
    say(fd, ctx);
    return true;
  }
  reply_begin(&r);
  reply_say(&r, "half of ");
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&r.b));
  buf_release(&r.b);
  return false; /* closed in the middle */
}

static void test_a_torn_stream_then_good(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_torn, "All of it.");
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_string_equal(buf_z(&live->log), "say granted failed withdrawn retry(broken) tick "
                                         "granted reply ended(finished)");
  assert_string_equal(buf_z(&live->text), "All of it.");
  world_close(&w);
}

static void test_a_stall(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_silence, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.idle_ms = 40;
  spec.agent.retries = REIN_OFF;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_MODEL_ERROR);
  assert_string_equal(buf_z(&live->log), "say granted failed ended(model_error)");
  struct buf why;
  buf_init(&why, 4096);
  report_put_reason(&why, live->run, REIN_ENGLISH);
  assert_true(str_has(buf_str(&why), STR("stalled")));
  buf_release(&why);
  world_close(&w);
}

/* Longer in all than the idle limit, never silent for as long. */
static bool serve_slowly(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct reply_text r;
  struct pollfd p = {.fd = fd, .events = POLLRDHUP};
  (void)ctx;
  (void)peer;
  (void)n;
  (void)body;
  reply_begin(&r);
  peer_stream_begin(fd);
  for (int i = 0; i < 6; i++) {
    reply_say(&r, "piece ");
    peer_stream(fd, buf_str(&r.b));
    buf_reset(&r.b);
    poll(&p, 1, 120);
  }
  reply_end(&r, "end_turn");
  peer_stream(fd, buf_str(&r.b));
  buf_release(&r.b);
  peer_wait(fd); /* and it never says that it is done */
  return false;
}

static void test_slow_is_not_stalled(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_slowly, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.idle_ms = 600;
  spec.agent.retries = REIN_OFF;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_string_equal(buf_z(&live->text), "piece piece piece piece piece piece ");
  world_close(&w);
}

static void test_a_server_that_never_closes(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_slowly, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_true(live->took_ms < 10000); /* far from the five minutes of the idle limit */
  world_close(&w);
}

static void test_nobody_listens(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_words, "");
  struct run_spec spec = world_spec(&w, NULL, 0);
  char url[64];
  snprintf(url, sizeof url, "%s", peer_url(w.peer));
  peer_stop(w.peer);
  w.peer = NULL;
  spec.base_url = str_of(url);
  spec.agent.retries = REIN_OFF;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_MODEL_ERROR);
  struct agent_stats stats = agent_stats(run_agent(live->run));
  assert_int_equal(stats.spent, 0); /* never sent, never booked */
  world_close(&w);
}

/* -- asking -- */

static void ask_yes(void *ctx, struct run *run, const struct action *ask) {
  int *times = ctx;
  driver_answer(run, ask->id, ++*times == 1 ? REIN_ALLOW : REIN_DENY, BY_PERSON, STR("because"),
                false);
}

static void test_a_person_decides(void **state) {
  static const char *const names[] = {"risky", "risky", NULL};
  const struct rein_tool rows[] = {
      ROW_WITH("risky", tool_echo, NULL, REIN_READS_PRIVATE, REIN_ASK, 0)};
  struct world w;
  int times = 0;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  spec.ask = ask_yes;
  spec.ask_ctx = &times;
  struct live *live = world_say(&w, &spec, "Go");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_int_equal(times, 2);
  assert_int_equal(agent_refusals(run_agent(live->run)), 1);
  assert_int_equal(count_in(peer_body(w.peer, 1), "because"), 1);
  world_close(&w);
}

static void test_nobody_can_be_asked(void **state) {
  static const char *const names[] = {"risky", NULL};
  const struct rein_tool rows[] = {
      ROW_WITH("risky", tool_echo, NULL, REIN_READS_PRIVATE, REIN_ASK, 0)};
  struct world w;
  struct buf json;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  struct live *live = world_say(&w, &spec, "Go");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_UNAPPROVED);
  buf_init(&json, 1u << 20);
  report_put_json(&json, live->run, REIN_KOREAN);
  assert_true(str_has(buf_str(&json), STR("\"exit\":15")));
  assert_true(str_has(buf_str(&json), STR("\"by\":\"nobody\"")));
  assert_true(str_has(buf_str(&json), STR("--policy 'risky=allow'")));
  assert_true(str_has(buf_str(&json), STR("\"cost_usd\":null")));
  assert_true(str_has(buf_str(&json), STR("\"run\":\"20261130-140305-a1b2c3\"")));
  buf_release(&json);
  world_close(&w);
}

/* -- a fleet -- */

static void test_two_hundred_runs(void **state) {
  static const char *const names[] = {"echo", "echo", NULL};
  const struct rein_tool rows[] = {ROW("echo", tool_echo, NULL)};
  struct world w;
  (void)state;
  world_open(&w, serve_calls, (void *)names);
  for (int i = 0; i < 200; i++) {
    struct run_spec spec = world_spec(&w, rows, 1);
    world_say(&w, &spec, "Go");
  }
  loop_run(w.loop);
  for (size_t i = 0; i < w.count; i++) {
    assert_true(w.lives[i]->ended);
    assert_int_equal(w.lives[i]->outcome, REIN_OUTCOME_FINISHED);
  }
  assert_int_equal(peer_count(w.peer), 400);
  world_close(&w);
}

static void test_more_words(void **state) {
  struct err err = {0};
  struct world w;
  (void)state;
  world_open(&w, serve_words, "Yes.");
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  assert_int_equal(driver_say(live->run, STR("too early"), &err), REIN_INPUT);
  loop_run(w.loop);
  live->ended = false;
  assert_int_equal(driver_say(live->run, STR(" \n"), &err), REIN_INPUT);
  assert_int_equal(driver_say(live->run, STR("Again"), &err), REIN_OK);
  loop_run(w.loop);
  assert_true(live->ended);
  assert_int_equal(peer_count(w.peer), 2);
  assert_int_equal(count_in(peer_body(w.peer, 1), "\"role\":\"user\""), 2);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_answer),
      cmocka_unit_test(test_calls_and_results),
      cmocka_unit_test(test_readers_overlap),
      cmocka_unit_test(test_tools_that_misbehave),
      cmocka_unit_test(test_a_tool_that_floods),
      cmocka_unit_test(test_a_late_tool_is_given_up),
      cmocka_unit_test(test_an_orphan_outlives_its_run),
      cmocka_unit_test(test_overloaded_then_good),
      cmocka_unit_test(test_a_torn_stream_then_good),
      cmocka_unit_test(test_a_stall),
      cmocka_unit_test(test_slow_is_not_stalled),
      cmocka_unit_test(test_a_server_that_never_closes),
      cmocka_unit_test(test_nobody_listens),
      cmocka_unit_test(test_a_person_decides),
      cmocka_unit_test(test_nobody_can_be_asked),
      cmocka_unit_test(test_two_hundred_runs),
      cmocka_unit_test(test_more_words),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
