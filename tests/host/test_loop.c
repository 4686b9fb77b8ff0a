/* The loop: timers, posts, work, and its end while work is stuck. */
#include "support/test.h"

#include "host/loop.h"
#include "support/oom.h"
#include "text/text.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct loop *open_loop(void) {
  struct loop *loop = NULL;
  struct err err = {0};
  assert_int_equal(loop_new(&loop, &err), REIN_OK);
  return loop;
}

static void nothing(void **state) {
  (void)state;
  struct loop *loop = open_loop();
  loop_run(loop);
  loop_run(loop);
  loop_free(loop, 0);
  loop_free(NULL, 0);
}

/* ---- timers ------------------------------------------------------------------- */

struct tick {
  struct loop *loop;
  struct loop_timer *timer;
  char *log, name;
  int64_t at_ms, late_ms;
  int again;
};

static void tick(void *ctx) {
  struct tick *t = ctx;
  size_t n = strlen(t->log);
  t->log[n] = t->name;
  t->late_ms = loop_now(t->loop) - t->at_ms;
  if (t->again-- > 0) {
    t->at_ms = loop_now(t->loop) + 3;
    loop_timer_set(t->timer, t->at_ms);
    return;
  }
  loop_timer_free(t->timer);
}

static void timers(void **state) {
  (void)state;
  struct loop *loop = open_loop();
  char log[16] = "";
  int64_t now = loop_now(loop);
  /* In order of their deadlines; the past, and an early one set again. */
  struct tick t[] = {{loop, NULL, log, 'c', now + 30, -1, 0},
                     {loop, NULL, log, 'a', now - 5000, -1, 0},
                     {loop, NULL, log, 'b', now + 5, -1, 2}};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(loop_timer_new(loop, tick, &t[i], &t[i].timer), REIN_OK);
    loop_timer_set(t[i].timer, now + 1);
    loop_timer_set(t[i].timer, t[i].at_ms);
  }
  struct loop_timer *off;
  assert_int_equal(loop_timer_new(loop, tick, NULL, &off), REIN_OK);
  loop_timer_set(off, now + 1);
  loop_timer_set(off, INT64_MAX);
  loop_run(loop);
  assert_int_equal(strspn(log, "abc"), 5);
  assert_int_equal(log[0], 'a');
  for (size_t i = 0; i < 3; i++)
    assert_true(t[i].late_ms >= 0);
  loop_timer_free(off);
  loop_timer_free(NULL);
  loop_free(loop, 0);
}

static void stop(void *ctx) {
  loop_stop(ctx);
}

static void stopping(void **state) {
  (void)state;
  struct loop *loop = open_loop();
  struct loop_timer *soon, *never;
  assert_int_equal(loop_timer_new(loop, stop, loop, &soon), REIN_OK);
  assert_int_equal(loop_timer_new(loop, stop, loop, &never), REIN_OK);
  loop_timer_set(never, loop_now(loop) + 3600000);
  loop_timer_set(soon, 0);
  loop_run(loop);
  /* Stopped once is not stopped for good. */
  loop_timer_set(soon, loop_now(loop) + 5);
  int64_t began = loop_now(loop);
  loop_run(loop);
  assert_true(loop_now(loop) - began >= 5);
  loop_timer_free(soon);
  loop_timer_free(never);
  loop_free(loop, 0);
}

/* ---- posts and work ---------------------------------------------------------------- */

struct many {
  struct loop *loop;
  pthread_t owner;
  pthread_barrier_t all;
  atomic_int worked;
  int posted, done, dropped;
  bool elsewhere;
};

static void on_posted(void *ctx) {
  struct many *m = ctx;
  m->elsewhere = m->elsewhere || !pthread_equal(pthread_self(), m->owner);
  m->posted++;
}

static void on_work(void *ctx) {
  struct many *m = ctx;
  assert_false(pthread_equal(pthread_self(), m->owner));
  assert_int_equal(loop_post(m->loop, on_posted, m), REIN_OK);
  atomic_fetch_add(&m->worked, 1);
}

static void on_done(void *ctx) {
  struct many *m = ctx;
  m->elsewhere = m->elsewhere || !pthread_equal(pthread_self(), m->owner);
  m->done++;
  assert_true(m->posted >= m->done); /* a work's posts come before its end */
}

static void on_drop(void *ctx) {
  struct many *m = ctx;
  m->dropped++;
}

static void many_works(void **state) {
  (void)state;
  struct many m = {.loop = open_loop(), .owner = pthread_self()};
  for (int i = 0; i < 500; i++)
    assert_int_equal(loop_work(m.loop, on_work, on_done, on_drop, &m), REIN_OK);
  loop_run(m.loop);
  assert_int_equal(atomic_load(&m.worked), 500);
  assert_int_equal(m.posted, 500);
  assert_int_equal(m.done, 500);
  assert_int_equal(m.dropped, 0);
  assert_false(m.elsewhere);
  loop_free(m.loop, 1000);
}

#define TOGETHER 40

static void meet(void *ctx) {
  struct many *m = ctx;
  (void)pthread_barrier_wait(&m->all);
}

static void count_done(void *ctx) {
  struct many *m = ctx;
  m->done++;
}

/* More of them at once than a pool of a few threads would run: each waits for
 * all others. Then again, with the threads there. */
static void all_at_once(void **state) {
  (void)state;
  struct many m = {.loop = open_loop()};
  assert_int_equal(pthread_barrier_init(&m.all, NULL, TOGETHER), 0);
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < TOGETHER; i++)
      assert_int_equal(loop_work(m.loop, meet, count_done, NULL, &m), REIN_OK);
    loop_run(m.loop);
    assert_int_equal(m.done, round * TOGETHER);
  }
  loop_free(m.loop, 1000);
  pthread_barrier_destroy(&m.all);
}

/* Work begun from `done`, and from a post. */
static void chain_done(void *ctx) {
  struct many *m = ctx;
  if (++m->done < 20) assert_int_equal(loop_work(m->loop, on_work, chain_done, NULL, m), REIN_OK);
}

static void chain_post(void *ctx) {
  struct many *m = ctx;
  assert_int_equal(loop_work(m->loop, on_work, chain_done, NULL, m), REIN_OK);
}

static void chains(void **state) {
  (void)state;
  struct many m = {.loop = open_loop(), .owner = pthread_self()};
  assert_int_equal(loop_post(m.loop, chain_post, &m), REIN_OK);
  loop_run(m.loop); /* a post alone is work to do */
  assert_int_equal(m.done, 20);
  loop_free(m.loop, 1000);
}

static void post_stop(void *ctx) {
  struct many *m = ctx;
  assert_int_equal(loop_post(m->loop, on_posted, m), REIN_OK);
  loop_stop(m->loop);
}

/* What is posted when the loop stops runs the next time, or is forgotten. */
static void posts_and_stop(void **state) {
  (void)state;
  struct many m = {.loop = open_loop(), .owner = pthread_self()};
  assert_int_equal(loop_post(m.loop, post_stop, &m), REIN_OK);
  loop_run(m.loop);
  assert_int_equal(m.posted, 0);
  loop_run(m.loop);
  assert_int_equal(m.posted, 1);
  assert_int_equal(loop_post(m.loop, on_posted, &m), REIN_OK);
  loop_free(m.loop, 0);
  assert_int_equal(m.posted, 1);
}

/* ---- work that is stuck --------------------------------------------------------------- */

struct stuck {
  struct loop *loop;
  struct loop_timer *timer;
  sem_t began, go, gone;
  atomic_int late_post; /* what loop_post said after the loop was freed */
  bool done;
};

static void stuck_work(void *ctx) {
  struct stuck *s = ctx;
  sem_post(&s->began);
  sem_wait(&s->go);
  atomic_store(&s->late_post, (int)loop_post(s->loop, stop, s->loop));
}

static void stuck_done(void *ctx) {
  struct stuck *s = ctx;
  s->done = true;
}

static void stuck_drop(void *ctx) {
  struct stuck *s = ctx;
  sem_post(&s->gone);
}

static void stuck_init(struct stuck *s) {
  *s = (struct stuck){.loop = open_loop()};
  sem_init(&s->began, 0, 0);
  sem_init(&s->go, 0, 0);
  sem_init(&s->gone, 0, 0);
}

static void stuck_for_good(void **state) {
  (void)state;
  static struct stuck s; /* its work may outlive this function by a moment */
  stuck_init(&s);
  assert_int_equal(loop_work(s.loop, stuck_work, stuck_done, stuck_drop, &s), REIN_OK);
  sem_wait(&s.began);
  int64_t began = loop_now(s.loop);
  struct loop *other = open_loop();
  loop_free(s.loop, 30);
  int64_t took = loop_now(other) - began;
  assert_true(took >= 30 && took < 20000);
  sem_post(&s.go); /* now it ends, with the loop's owner gone */
  sem_wait(&s.gone);
  assert_int_equal(atomic_load(&s.late_post), REIN_CANCELLED);
  assert_false(s.done);
  loop_free(other, 0);
}

static void *free_later(void *ctx) {
  struct stuck *s = ctx;
  sem_post(&s->go);
  return NULL;
}

/* Work that ends within the grace is waited for, and no longer than that. */
static void stuck_for_a_while(void **state) {
  (void)state;
  static struct stuck s;
  pthread_t thread;
  stuck_init(&s);
  assert_int_equal(loop_work(s.loop, stuck_work, stuck_done, stuck_drop, &s), REIN_OK);
  sem_wait(&s.began);
  struct loop *other = open_loop();
  int64_t began = loop_now(other);
  assert_int_equal(pthread_create(&thread, NULL, free_later, &s), 0);
  loop_free(s.loop, 60000);
  assert_true(loop_now(other) - began < 30000);
  assert_int_equal(sem_trywait(&s.gone), 0);
  assert_false(s.done);
  pthread_join(thread, NULL);
  loop_free(other, 0);
}

/* Every thread is stuck: what waits for one is dropped, and is not begun later. */
static void never_begun(void **state) {
  (void)state;
  static struct stuck s;
  struct many m = {.loop = NULL};
  stuck_init(&s);
  for (int i = 0; i < LOOP_THREADS_MAX; i++)
    assert_int_equal(loop_work(s.loop, stuck_work, NULL, stuck_drop, &s), REIN_OK);
  for (int i = 0; i < LOOP_THREADS_MAX; i++)
    sem_wait(&s.began);
  for (int i = 0; i < 7; i++)
    assert_int_equal(loop_work(s.loop, on_work, on_done, on_drop, &m), REIN_OK);
  loop_free(s.loop, 0);
  assert_int_equal(m.dropped, 7);
  for (int i = 0; i < LOOP_THREADS_MAX; i++)
    sem_post(&s.go);
  for (int i = 0; i < LOOP_THREADS_MAX; i++)
    sem_wait(&s.gone);
  assert_int_equal(atomic_load(&m.worked), 0);
}

/* ---- signals ------------------------------------------------------------------------------ */

struct heard {
  struct loop *loop;
  int signals[4], n;
};

static void hear(void *ctx, int signum) {
  struct heard *h = ctx;
  h->signals[h->n++] = signum;
  loop_stop(h->loop);
}

static void signals(void **state) {
  (void)state;
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct heard h = {.loop = open_loop()};
  struct loop_timer *timer;
  assert_int_equal(loop_signals(h.loop, hear, &h), REIN_OK);
  loop_run(h.loop); /* listening alone is no reason to run */
  assert_int_equal(loop_timer_new(h.loop, stop, h.loop, &timer), REIN_OK);
  loop_timer_set(timer, loop_now(h.loop) + 60000);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(raise(numbers[i]), 0);
    loop_run(h.loop);
    assert_int_equal(h.n, i + 1);
    assert_int_equal(h.signals[i], numbers[i]);
  }
  loop_timer_free(timer);
  loop_free(h.loop, 0);
}

/* ---- when nothing more is to be had ---------------------------------------------------------- */

static bool scenario(void *ctx) {
  struct err err = {0};
  struct loop *loop;
  struct loop_timer *timer = NULL;
  (void)ctx;
  if (loop_new(&loop, &err) != REIN_OK) return false;
  struct many m = {.loop = loop};
  bool ok = loop_timer_new(loop, stop, loop, &timer) == REIN_OK;
  ok = loop_work(loop, count_done, NULL, NULL, &m) == REIN_OK && ok;
  ok = loop_post(loop, count_done, &m) == REIN_OK && ok;
  loop_run(loop);
  loop_timer_free(timer);
  loop_free(loop, 10000);
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) >= 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing),           cmocka_unit_test(timers),
      cmocka_unit_test(stopping),          cmocka_unit_test(many_works),
      cmocka_unit_test(all_at_once),       cmocka_unit_test(chains),
      cmocka_unit_test(posts_and_stop),    cmocka_unit_test(stuck_for_good),
      cmocka_unit_test(stuck_for_a_while), cmocka_unit_test(never_begun),
      cmocka_unit_test(signals),           cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
