/* Runs that are stopped from outside: cancelled at every moment, out of time. */
#include "driver/world.h"

/* -- cancelling -- */

struct canceller {
  struct live *live;
  atomic_int *when; /* becomes positive */
  struct loop_timer *timer;
  int signal;
  int64_t cancelled_ms;
};

/* Looks until the moment has come; the tests' only timer, and no clock of theirs. */
static void look(void *ctx) {
  struct canceller *c = ctx;
  struct loop *loop = c->live->world->loop;
  if (atomic_load(c->when) == 0) {
    loop_timer_set(c->timer, loop_now(loop) + 1);
    return;
  }
  c->cancelled_ms = loop_now(loop);
  driver_cancel(c->live->run, c->signal);
}

static void cancel_when(struct canceller *c, struct live *live, atomic_int *when, int signal) {
  *c = (struct canceller){.live = live, .when = when, .signal = signal};
  assert_int_equal(loop_timer_new(live->world->loop, look, c, &c->timer), REIN_OK);
  loop_timer_set(c->timer, 0);
}

static void cancelled_fast(struct canceller *c) {
  assert_int_equal(c->live->outcome, REIN_OUTCOME_CANCELLED);
  assert_true(loop_now(c->live->world->loop) - c->cancelled_ms < 1000);
  loop_timer_free(c->timer);
}

static atomic_int streaming;

static bool serve_half(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct reply_text r;
  (void)ctx;
  (void)peer;
  (void)n;
  (void)body;
  reply_begin(&r);
  reply_say(&r, "I was about to");
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&r.b));
  buf_release(&r.b);
  atomic_store(&streaming, 1);
  peer_wait(fd);
  return false;
}

static void test_cancel_while_streaming(void **state) {
  struct canceller c;
  struct world w;
  (void)state;
  atomic_store(&streaming, 0);
  world_open(&w, serve_half, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  cancel_when(&c, live, &streaming, 2);
  loop_run(w.loop);
  cancelled_fast(&c);
  assert_int_equal(report_exit(live->run), 130);
  assert_string_equal(buf_z(&live->log), "say granted cancel ended(cancelled)");
  world_close(&w);
}

static void cancel_a_tool(rein_tool_fn fn) {
  static const char *const names[] = {"slow", NULL};
  struct canceller c;
  struct gate g;
  struct world w;
  gate_open(&g);
  const struct rein_tool rows[] = {ROW("slow", fn, &g)};
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  struct live *live = world_say(&w, &spec, "Go");
  cancel_when(&c, live, &g.waiting, 15);
  loop_run(w.loop);
  cancelled_fast(&c);
  assert_int_equal(report_exit(live->run), 143);
  assert_string_equal(buf_z(&live->log), "say granted reply started cancel ended(cancelled)");
  if (fn == tool_deaf) gate_release(&g);
  world_close(&w); /* waits for it, so that its memory is gone */
  if (fn == tool_patient) assert_int_equal(atomic_load(&g.cancelled), 1);
  gate_close(&g);
}

static void test_cancel_while_a_tool_runs(void **state) {
  (void)state;
  cancel_a_tool(tool_patient);
  cancel_a_tool(tool_deaf);
}

static atomic_int asked;

static void ask_nobody_answers(void *ctx, struct run *run, const struct action *ask) {
  (void)ctx;
  (void)run;
  assert_true(str_is(ask->tool->name, "risky"));
  assert_true(ask->args.n > 0 && ask->rule.n > 0);
  atomic_store(&asked, 1);
}

static void test_cancel_while_asking(void **state) {
  static const char *const names[] = {"risky", NULL};
  const struct rein_tool rows[] = {
      ROW_WITH("risky", tool_echo, NULL, REIN_READS_PRIVATE, REIN_ASK, 0)};
  struct canceller c;
  struct world w;
  (void)state;
  atomic_store(&asked, 0);
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  spec.ask = ask_nobody_answers;
  struct live *live = world_say(&w, &spec, "Go");
  cancel_when(&c, live, &asked, 0);
  loop_run(w.loop);
  cancelled_fast(&c);
  assert_int_equal(report_exit(live->run), 25);
  driver_answer(live->run, 1, REIN_ALLOW, BY_PERSON, STR("late"), false); /* changes nothing */
  world_close(&w);
}

static bool serve_never_now(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer;
  (void)n;
  (void)body;
  peer_answer(fd, 503, "retry-after: 300\r\n", STR("busy"));
  atomic_store((atomic_int *)ctx, 1);
  return true;
}

static void test_cancel_in_a_pause(void **state) {
  struct canceller c;
  struct world w;
  atomic_int served = 0;
  (void)state;
  world_open(&w, serve_never_now, &served);
  struct run_spec spec = world_spec(&w, NULL, 0);
  struct live *live = world_say(&w, &spec, "Hi");
  cancel_when(&c, live, &served, 1);
  loop_run(w.loop);
  cancelled_fast(&c);
  assert_int_equal(report_exit(live->run), 129);
  world_close(&w);
}

/* -- time -- */

static void test_time_in_a_hung_request(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_silence, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.agent.limits.time_ms = 60;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_TIME);
  assert_true(live->took_ms >= 60 && live->took_ms < 2000);
  world_close(&w);
}

static void test_time_in_a_hung_tool(void **state) {
  static const char *const names[] = {"patient", NULL};
  struct gate g;
  struct world w;
  (void)state;
  gate_open(&g);
  const struct rein_tool rows[] = {ROW("patient", tool_patient, &g)};
  world_open(&w, serve_calls, (void *)names);
  struct run_spec spec = world_spec(&w, rows, 1);
  spec.agent.limits.time_ms = 80;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_TIME);
  assert_true(live->took_ms < 2000);
  world_close(&w);
  gate_close(&g);
}

static void test_a_wait_longer_than_the_time(void **state) {
  atomic_int served = 0;
  struct world w;
  (void)state;
  world_open(&w, serve_never_now, &served);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.agent.limits.time_ms = 5000;
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_TIME);
  assert_true(live->took_ms < 1000); /* it does not wait for what cannot be */
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cancel_while_streaming),
      cmocka_unit_test(test_cancel_while_a_tool_runs),
      cmocka_unit_test(test_cancel_while_asking),
      cmocka_unit_test(test_cancel_in_a_pause),
      cmocka_unit_test(test_time_in_a_hung_request),
      cmocka_unit_test(test_time_in_a_hung_tool),
      cmocka_unit_test(test_a_wait_longer_than_the_time),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
