/* The loop on libuv: its life, timers, posts and signals, seen from the thread
 * that owns it. Pool threads are pool.c's; sockets are http.c's.
 */
#include "host/loop_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOP_DESCRIPTORS 6 /* of a loop: epoll, two pipes for signals, its wake */

struct loop_timer {
  uv_timer_t uv;
  loop_fn fn;
  void *ctx;
};

static void drain(uv_async_t *wake);

/* What libuv's codes mean in words: they are negated errno values. */
static struct str words_of(int uv_code) {
  const char *words = strerrordesc_np(-uv_code);
  return str_of(words ? words : uv_strerror(uv_code));
}

/* libuv ends the process where it finds no descriptor for its signal pipe. Zero,
 * or the negated errno. */
static int descriptors_left(void) {
  int fds[LOOP_DESCRIPTORS], n = 0, bad = 0;
  while (!bad && n < LOOP_DESCRIPTORS) {
    fds[n] = eventfd(0, EFD_CLOEXEC);
    bad = fds[n] < 0 ? -errno : 0;
    n += !bad;
  }
  while (n > 0)
    (void)close(fds[--n]);
  return bad;
}

static enum rein_code loop_init(struct loop *loop, struct err *err) {
  if (pool_init(&loop->pool) != REIN_OK) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  int bad = descriptors_left();
  if (!bad) bad = uv_loop_init(&loop->uv);
  if (bad) goto out_pool;
  bad = uv_async_init(&loop->uv, &loop->wake, drain);
  if (bad) goto out_loop;
  /* Waiting to be woken is no reason to run; outstanding work is. */
  uv_unref((uv_handle_t *)&loop->wake);
  loop->wake.data = loop;
  loop->holders = 1;
  return REIN_OK;
out_loop:
  (void)uv_loop_close(&loop->uv);
out_pool:
  pool_release(&loop->pool);
  return ERR(err, REIN_SYSTEM, T_HOST_LOOP, words_of(bad));
}

enum rein_code loop_new(struct loop **loop, struct err *err) {
  struct loop *l = mem_zero(sizeof *l);
  if (!l) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  if (pthread_mutex_init(&l->lock, NULL) != 0) {
    mem_free(l);
    return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  }
  enum rein_code code = loop_init(l, err);
  if (code == REIN_OK) {
    *loop = l;
    return REIN_OK;
  }
  (void)pthread_mutex_destroy(&l->lock);
  mem_free(l);
  return code;
}

void loop_let_go(struct loop *loop) {
  (void)pthread_mutex_lock(&loop->lock);
  size_t holders = --loop->holders;
  (void)pthread_mutex_unlock(&loop->lock);
  if (holders > 0) return;
  for (struct loop_kept *kept = loop->kept, *next; kept; kept = next) {
    next = kept->next;
    kept->release(kept);
  }
  pool_release(&loop->pool);
  (void)pthread_mutex_destroy(&loop->lock);
  mem_free(loop);
}

void loop_keep(struct loop *loop, struct loop_kept *kept) {
  (void)pthread_mutex_lock(&loop->lock);
  kept->next = loop->kept;
  loop->kept = kept;
  (void)pthread_mutex_unlock(&loop->lock);
}

void loop_free(struct loop *loop, int64_t grace_ms) {
  if (!loop) return;
  pool_close(loop, grace_ms);
  (void)pthread_mutex_lock(&loop->lock);
  struct loop_jobs posts = loop->posts;
  loop->posts = (struct loop_jobs){NULL, NULL};
  (void)pthread_mutex_unlock(&loop->lock);
  for (struct loop_job *job; (job = loop_jobs_take(&posts));)
    mem_free(job);
  uv_close((uv_handle_t *)&loop->wake, NULL);
  for (size_t i = 0; i < loop->signals_n; i++)
    uv_close((uv_handle_t *)&loop->signals[i], NULL);
  (void)uv_run(&loop->uv, UV_RUN_NOWAIT);
  int busy = uv_loop_close(&loop->uv);
  assert(!busy && "a timer or an http outlives its loop");
  (void)busy;
  loop_let_go(loop);
}

struct uv_loop_s *loop_uv(struct loop *loop) {
  return &loop->uv;
}

int64_t loop_now(struct loop *loop) {
  (void)loop;
  return (int64_t)(uv_hrtime() / 1000000);
}

/* Posts go first: what a work posted comes before its own end. */
static void drain(uv_async_t *wake) {
  struct loop *loop = wake->data;
  (void)pthread_mutex_lock(&loop->lock);
  struct loop_jobs posts = loop->posts, ended = loop->pool.ended;
  loop->posts = loop->pool.ended = (struct loop_jobs){NULL, NULL};
  (void)pthread_mutex_unlock(&loop->lock);
  for (struct loop_job *job; (job = loop_jobs_take(&posts));) {
    job->work(job->ctx);
    mem_free(job);
  }
  for (struct loop_job *job; (job = loop_jobs_take(&ended));) {
    if (--loop->outstanding == 0) uv_unref((uv_handle_t *)&loop->wake);
    if (job->done) job->done(job->ctx);
    mem_free(job);
  }
}

static bool posted(struct loop *loop) {
  (void)pthread_mutex_lock(&loop->lock);
  bool any = loop->posts.first != NULL;
  (void)pthread_mutex_unlock(&loop->lock);
  return any;
}

void loop_run(struct loop *loop) {
  loop->stopped = false;
  do {
    drain(&loop->wake);
    /* After uv_stop it returns at once, and forgets the stop. */
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
  } while (!loop->stopped && posted(loop));
}

void loop_stop(struct loop *loop) {
  loop->stopped = true;
  uv_stop(&loop->uv);
}

enum rein_code loop_work(struct loop *loop, loop_fn work, loop_fn done, loop_fn drop, void *ctx) {
  struct loop_job *job = mem_zero(sizeof *job);
  if (!job) return REIN_MEMORY;
  *job = (struct loop_job){.work = work, .done = done, .drop = drop, .ctx = ctx};
  enum rein_code code = pool_add(loop, job);
  if (code != REIN_OK) {
    mem_free(job);
    return code;
  }
  if (loop->outstanding++ == 0) uv_ref((uv_handle_t *)&loop->wake);
  return REIN_OK;
}

enum rein_code loop_post(struct loop *loop, loop_fn fn, void *ctx) {
  struct loop_job *job = mem_zero(sizeof *job);
  if (!job) return REIN_MEMORY;
  *job = (struct loop_job){.work = fn, .ctx = ctx};
  (void)pthread_mutex_lock(&loop->lock);
  bool closed = loop->closed;
  if (!closed) {
    loop_jobs_add(&loop->posts, job);
    (void)uv_async_send(&loop->wake);
  }
  (void)pthread_mutex_unlock(&loop->lock);
  if (closed) mem_free(job);
  return closed ? REIN_CANCELLED : REIN_OK;
}

/* ---- Timers -------------------------------------------------------------- */

static void timer_fires(uv_timer_t *uv) {
  struct loop_timer *timer = uv->data;
  timer->fn(timer->ctx);
}

enum rein_code loop_timer_new(struct loop *loop, loop_fn fn, void *ctx, struct loop_timer **timer) {
  struct loop_timer *t = mem_zero(sizeof *t);
  if (!t) return REIN_MEMORY;
  (void)uv_timer_init(&loop->uv, &t->uv); /* cannot fail */
  t->uv.data = t;
  t->fn = fn;
  t->ctx = ctx;
  *timer = t;
  return REIN_OK;
}

void loop_timer_set(struct loop_timer *timer, int64_t at_ms) {
  (void)uv_timer_stop(&timer->uv);
  if (at_ms == INT64_MAX) return;
  uv_loop_t *uv = timer->uv.loop;
  /* The loop's cached time may be old; counting from it would fire early. */
  uv_update_time(uv);
  int64_t now = (int64_t)uv_now(uv);
  uint64_t wait_ms = at_ms > now ? (uint64_t)at_ms - (uint64_t)now : 0;
  (void)uv_timer_start(&timer->uv, timer_fires, wait_ms, 0);
}

static void timer_closed(uv_handle_t *uv) {
  mem_free(uv->data);
}

void loop_timer_free(struct loop_timer *timer) {
  if (!timer) return;
  uv_close((uv_handle_t *)&timer->uv, timer_closed);
}

/* ---- Signals -------------------------------------------------------------- */

static void signal_came(uv_signal_t *uv, int signum) {
  struct loop *loop = uv->data;
  loop->signal_fn(loop->signal_ctx, signum);
}

enum rein_code loop_signals(struct loop *loop, loop_signal_fn fn, void *ctx) {
  static const int numbers[LOOP_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
  assert(fn && !loop->signal_fn);
  loop->signal_fn = fn;
  loop->signal_ctx = ctx;
  int bad = 0;
  for (size_t i = 0; !bad && i < LOOP_SIGNALS; i++) {
    uv_signal_t *uv = &loop->signals[i];
    bad = uv_signal_init(&loop->uv, uv);
    if (bad) break;
    loop->signals_n++;
    uv->data = loop;
    bad = uv_signal_start(uv, signal_came, numbers[i]);
    uv_unref((uv_handle_t *)uv);
  }
  return bad ? REIN_SYSTEM : REIN_OK;
}
