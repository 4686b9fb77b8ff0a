/* Exchanges for pool threads: carried, cancelled, and cut off by the end. */
#include "seen.h"

#include "support/oom.h"
#include "support/peer.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct tool {
  struct http *http;
  struct http_request request;
  struct buf headers, body;
  struct http_result result;
  struct err err;
  enum rein_code code;
  atomic_bool cancel;
  atomic_int looks;
  sem_t began, go, ended;
  bool done;
};

struct world {
  struct loop *loop;
  struct http *http;
  struct peer *peer;
  char url[128];
};

static void open_world(struct world *w, peer_fn fn, void *ctx) {
  struct err err = {0};
  w->peer = peer_start(fn, ctx);
  assert_int_equal(loop_new(&w->loop, &err), REIN_OK);
  assert_int_equal(http_new(w->loop, &(struct http_options){0}, &w->http, &err), REIN_OK);
  (void)snprintf(w->url, sizeof w->url, "%s/", peer_url(w->peer));
}

static void close_world(struct world *w) {
  http_free(w->http);
  loop_free(w->loop, 10000);
  peer_stop(w->peer);
}

static void tool_init(struct tool *t, const struct world *w) {
  *t = (struct tool){.http = w->http,
                     .request = {.method = "POST", .url = w->url, .body = STR("hi")}};
  buf_init(&t->headers, 4096);
  buf_init(&t->body, 1000);
  t->result.headers = &t->headers;
  t->result.body = &t->body;
  sem_init(&t->began, 0, 0);
  sem_init(&t->go, 0, 0);
  sem_init(&t->ended, 0, 0);
}

static void tool_release(struct tool *t) {
  buf_release(&t->headers);
  buf_release(&t->body);
}

static bool cancelled(void *ctx) {
  struct tool *t = ctx;
  atomic_fetch_add(&t->looks, 1);
  return atomic_load(&t->cancel);
}

static void work(void *ctx) {
  struct tool *t = ctx;
  sem_post(&t->began);
  t->code = http_wait(t->http, &t->request, cancelled, t, &t->result, &t->err);
  sem_post(&t->ended);
}

static void done(void *ctx) {
  struct tool *t = ctx;
  t->done = true;
}

static void carry(struct world *w, struct tool *t) {
  assert_int_equal(loop_work(w->loop, work, done, NULL, t), REIN_OK);
  loop_run(w->loop);
  assert_true(t->done);
}

/* ---- peers ---- */

static bool plain(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n, (void)body;
  peer_answer(fd, 201, "X-Kind: plain\r\n", STR("hello"));
  return true;
}

static bool hang(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer, (void)n, (void)body;
  if (ctx) sem_post(ctx);
  peer_wait(fd);
  return false;
}

/* Half an answer, then nothing. */
static bool half(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  peer_write(fd, STR("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf"));
  return hang(ctx, peer, fd, n, body);
}

static bool flood(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  static char text[1001];
  (void)ctx, (void)peer, (void)n, (void)body;
  memset(text, 'x', sizeof text);
  peer_answer(fd, 200, "", (struct str){text, sizeof text});
  return true;
}

static bool many_headers(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n, (void)body;
  peer_write(fd, STR("HTTP/1.1 200 OK\r\n"));
  for (int i = 0; i < 300; i++)
    peer_write(fd, STR("x-long: some value that takes room\r\n"));
  peer_write(fd, STR("content-length: 0\r\n\r\n"));
  return true;
}

/* ---- tests ---- */

static void whole(void **state) {
  (void)state;
  struct world w;
  struct tool t;
  open_world(&w, plain, NULL);
  tool_init(&t, &w);
  carry(&w, &t);
  assert_int_equal(t.code, REIN_OK);
  assert_int_equal(t.result.end, HTTP_WHOLE);
  assert_int_equal(t.result.status, 201);
  assert_text(buf_str(&t.headers), "content-length: 5\nx-kind: plain\n");
  assert_text(buf_str(&t.body), "hello");
  assert_string_equal(t.result.why, "");
  assert_text(peer_body(w.peer, 0), "hi");
  tool_release(&t);
  close_world(&w);
}

static void ends(void **state) {
  (void)state;
  struct world w;
  struct tool t;
  open_world(&w, flood, NULL);
  tool_init(&t, &w);
  carry(&w, &t);
  assert_int_equal(t.code, REIN_OK);
  assert_int_equal(t.result.end, HTTP_BIG);
  assert_int_equal(t.body.n, 1000);
  tool_release(&t);
  tool_init(&t, &w);
  t.request.url = "http://127.0.0.1:1/";
  carry(&w, &t);
  assert_int_equal(t.code, REIN_OK);
  assert_int_equal(t.result.end, HTTP_CONNECT);
  assert_int_equal(t.result.status, 0);
  assert_true(strstr(t.result.why, "Failed to connect") != NULL);
  tool_release(&t);
  tool_init(&t, &w);
  t.request.url = "file:///etc/passwd";
  carry(&w, &t);
  assert_int_equal(t.code, REIN_INPUT);
  assert_int_equal(t.err.text, T_HOST_URL);
  tool_release(&t);
  close_world(&w);

  open_world(&w, many_headers, NULL);
  tool_init(&t, &w);
  carry(&w, &t);
  assert_int_equal(t.code, REIN_LIMIT);
  assert_int_equal(t.err.text, T_HOST_HEADERS_BIG);
  tool_release(&t);
  close_world(&w);
}

#define MANY 60

static void many(void **state) {
  (void)state;
  struct world w;
  static struct tool t[MANY];
  open_world(&w, plain, NULL);
  for (int i = 0; i < MANY; i++) {
    tool_init(&t[i], &w);
    assert_int_equal(loop_work(w.loop, work, done, NULL, &t[i]), REIN_OK);
  }
  loop_run(w.loop);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(t[i].code, REIN_OK);
    assert_text(buf_str(&t[i].body), "hello");
    tool_release(&t[i]);
  }
  assert_int_equal(peer_count(w.peer), MANY);
  close_world(&w);
}

/* Cancelled once it hangs: the thread is back at its next look, and the
 * exchange ends, or the loop would run on. */
static void *cancel_when_hung(void *ctx) {
  struct tool *t = ((void **)ctx)[0];
  sem_wait(((void **)ctx)[1]);
  atomic_store(&t->cancel, true);
  return NULL;
}

static void cancel(void **state) {
  (void)state;
  static const peer_fn peers[] = {hang, half};
  for (int i = 0; i < 2; i++) {
    struct world w;
    struct tool t;
    sem_t hung;
    pthread_t thread;
    sem_init(&hung, 0, 0);
    open_world(&w, peers[i], &hung);
    tool_init(&t, &w);
    void *both[] = {&t, &hung};
    assert_int_equal(pthread_create(&thread, NULL, cancel_when_hung, both), 0);
    carry(&w, &t);
    pthread_join(thread, NULL);
    assert_int_equal(t.code, REIN_CANCELLED);
    assert_int_equal(t.err.text, T_HOST_CLOSED);
    tool_release(&t);
    close_world(&w);
  }
}

/* The http goes while a thread waits: the thread is told at once. */
static void freed(void **state) {
  (void)state;
  struct world w;
  struct tool t;
  struct loop_timer *timer;
  sem_t hung;
  sem_init(&hung, 0, 0);
  open_world(&w, hang, &hung);
  tool_init(&t, &w);
  assert_int_equal(loop_timer_new(w.loop, (loop_fn)loop_stop, w.loop, &timer), REIN_OK);
  assert_int_equal(loop_work(w.loop, work, done, NULL, &t), REIN_OK);
  while (sem_trywait(&hung) != 0) {
    loop_timer_set(timer, loop_now(w.loop) + 1);
    loop_run(w.loop);
  }
  loop_timer_free(timer);
  http_free(w.http);
  sem_wait(&t.ended);
  assert_int_equal(t.code, REIN_CANCELLED);
  loop_free(w.loop, 10000);
  peer_stop(w.peer);
  tool_release(&t);
}

/* A thread that asks only after everything is gone. */
static void late_work(void *ctx) {
  struct tool *t = ctx;
  sem_post(&t->began);
  sem_wait(&t->go);
  t->code = http_wait(t->http, &t->request, NULL, NULL, &t->result, &t->err);
  sem_post(&t->ended);
}

static void too_late(void **state) {
  (void)state;
  struct world w;
  static struct tool t;
  open_world(&w, plain, NULL);
  tool_init(&t, &w);
  assert_int_equal(loop_work(w.loop, late_work, done, NULL, &t), REIN_OK);
  sem_wait(&t.began);
  http_free(w.http);
  loop_free(w.loop, 0);
  peer_stop(w.peer);
  sem_post(&t.go);
  sem_wait(&t.ended);
  assert_int_equal(t.code, REIN_CANCELLED);
  assert_false(t.done);
  tool_release(&t);
}

static bool scenario(void *ctx) {
  struct peer *peer = ctx;
  struct world w = {.peer = peer};
  struct tool t;
  struct err err = {0};
  bool good = false;
  if (loop_new(&w.loop, &err) != REIN_OK) return false;
  if (http_new(w.loop, &(struct http_options){0}, &w.http, &err) == REIN_OK) {
    (void)snprintf(w.url, sizeof w.url, "%s/", peer_url(peer));
    tool_init(&t, &w);
    if (loop_work(w.loop, work, done, NULL, &t) == REIN_OK) {
      loop_run(w.loop);
      assert_true(t.done);
      assert_true(t.code == REIN_OK || t.code == REIN_MEMORY || t.code == REIN_CANCELLED);
      good = t.code == REIN_OK && t.result.end == HTTP_WHOLE && t.body.n == 5;
    }
    http_free(w.http);
    tool_release(&t);
  }
  loop_free(w.loop, 10000);
  return good;
}

static void no_memory(void **state) {
  (void)state;
  struct peer *peer = peer_start(plain, NULL);
  assert_true(oom_each(scenario, peer) > 10);
  peer_stop(peer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole),     cmocka_unit_test(ends),  cmocka_unit_test(many),
      cmocka_unit_test(cancel),    cmocka_unit_test(freed), cmocka_unit_test(too_late),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
