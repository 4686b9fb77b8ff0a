/* Exchanges that are dropped, and a system that gives nothing more. */
#include "exchange.h"

#include "support/oom.h"

#include <sys/resource.h>
#include <unistd.h>

/* ---- aborts ---------------------------------------------------------------------------- */

static void abort_everywhere(void **state) {
  (void)state;
  static const char *const logs[] = {"", "200", "200 content-length=5",
                                     "200 content-length=5 x-kind=plain|hello",
                                     "200 content-length=5 x-kind=plain|hello|whole"};
  for (enum at at = AT_STATUS; at <= AT_END; at++) {
    struct world w;
    struct seen after;
    open_world(&w, plain, NULL);
    struct http_request request = post(&w);
    seen_init(&after, w.http);
    w.seen.abort_at = at;
    w.seen.next_at = at;
    w.seen.next = &after;
    w.seen.next_request = &request;
    carry(&w, &w.seen, &request);
    assert_str(buf_str(&w.seen.log), str_of(logs[at]));
    assert_int_equal(w.seen.ends, at == AT_END);
    assert_true(seen_ends(&after, "|hello|whole")); /* started in the callback, and unharmed */
    buf_release(&after.log);
    close_world(&w);
  }
}

static void abort_outside(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  open_world(&w, plain, NULL);
  struct http_request request = post(&w);
  assert_int_equal(seen_start(&w.seen, &request, &err), REIN_OK);
  http_abort(w.seen.call);
  http_abort(NULL);
  loop_run(w.loop);
  assert_text(buf_str(&w.seen.log), "");
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|hello|whole"));
  close_world(&w);
}

static void abort_it(void *ctx) {
  struct seen *s = ctx;
  http_abort(s->call);
}

/* While it connects: curl closes such a socket without a word, and the loop must
 * not go on watching its number, which the next exchange gets. */
static void abort_connecting(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  struct loop_timer *timer;
  open_world(&w, plain, NULL);
  struct http_request request = post(&w);
  assert_int_equal(loop_timer_new(w.loop, abort_it, &w.seen, &timer), REIN_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(seen_start(&w.seen, &request, &err), REIN_OK);
    loop_timer_set(timer, loop_now(w.loop)); /* right after curl's own */
    loop_run(w.loop);
    assert_text(buf_str(&w.seen.log), "");
  }
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|hello|whole"));
  loop_timer_free(timer);
  close_world(&w);
}

static bool odd_hang(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  if (str_is(body, "hang")) return hang(ctx, peer, fd, n, body);
  return plain(ctx, peer, fd, n, body);
}

/* One exchange ends another one that hangs, from each of its callbacks. */
static void abort_other(void **state) {
  (void)state;
  for (enum at at = AT_STATUS; at <= AT_END; at++) {
    struct world w;
    struct err err = {0};
    struct seen hung;
    open_world(&w, odd_hang, NULL);
    seen_init(&hung, w.http);
    struct http_request request = post(&w);
    request.body = STR("hang");
    assert_int_equal(seen_start(&hung, &request, &err), REIN_OK);
    request.body = STR("go");
    w.seen.abort_at = at;
    w.seen.other = &hung;
    carry(&w, &w.seen, &request);
    assert_true(seen_ends(&w.seen, "|hello|whole"));
    assert_text(buf_str(&hung.log), "");
    buf_release(&hung.log);
    close_world(&w);
  }
}

static void free_under_way(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  struct loop_timer *timer;
  open_world(&w, hang, NULL);
  struct http_request request = post(&w);
  for (int i = 0; i < 5; i++)
    assert_int_equal(seen_start(&w.seen, &request, &err), REIN_OK);
  assert_int_equal(loop_timer_new(w.loop, (loop_fn)loop_stop, w.loop, &timer), REIN_OK);
  loop_timer_set(timer, loop_now(w.loop) + 20);
  loop_run(w.loop);
  loop_timer_free(timer);
  close_world(&w);
  assert_int_equal(w.seen.ends, 0);
}

/* ---- when the system gives nothing more ------------------------------------------------------ */

static void no_descriptors(void **state) {
  (void)state;
  struct world w;
  struct rlimit old, none;
  open_world(&w, plain, NULL);
  struct http_request request = post(&w);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  none = old;
  int next = dup(0);
  close(next);
  none.rlim_cur = (rlim_t)next;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  carry(&w, &w.seen, &request);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_true(w.seen.end == HTTP_CONNECT || w.seen.end == HTTP_BROKEN);
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|hello|whole"));
  close_world(&w);
}

static bool exchange(void *ctx) {
  struct world *w = ctx;
  struct err err = {0};
  struct loop *loop;
  struct http *http;
  static const char *const headers[] = {"x-key: k", "x-empty:", NULL};
  if (loop_new(&loop, &err) != REIN_OK) return false;
  bool good = false;
  struct http_options options = {.no_proxy = "localhost"};
  if (http_new(loop, &options, &http, &err) == REIN_OK) {
    struct http_request request = post(w);
    struct seen s;
    request.headers = headers;
    seen_init(&s, http);
    for (int i = 0; i < 2; i++) {
      enum rein_code code = seen_start(&s, &request, &err);
      if (code == REIN_OK)
        loop_run(loop);
      else
        assert_int_equal(code, REIN_MEMORY);
      assert_true(code != REIN_OK || s.ends > 0);
    }
    good = s.ends == 2 && str_ends(buf_str(&s.log), STR("|hello|whole"));
    buf_release(&s.log);
    http_free(http);
  }
  loop_free(loop, 0);
  return good;
}

static void no_memory(void **state) {
  (void)state;
  struct world w;
  open_world(&w, plain, NULL);
  assert_true(oom_each(exchange, &w) > 10);
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(abort_everywhere), cmocka_unit_test(abort_outside),
      cmocka_unit_test(abort_connecting), cmocka_unit_test(abort_other),
      cmocka_unit_test(free_under_way),   cmocka_unit_test(no_descriptors),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
