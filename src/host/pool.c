/* Pool threads of a loop: made when work comes, kept while few are idle.
 *
 * Not libuv's pool: that one has four threads for the whole process, sized by
 * an environment variable, and is joined at exit; four tools that hang would
 * stop every run, and keep the process from ending. Its neighbour is loop.c.
 */
#include "host/loop_inside.h"

#include "base/mem.h"

#include <signal.h>
#include <time.h>

#define IDLE_MAX 8 /* more idle threads than that leave: a burst should not stay for good */

void loop_jobs_add(struct loop_jobs *jobs, struct loop_job *job) {
  job->next = NULL;
  if (jobs->last)
    jobs->last->next = job;
  else
    jobs->first = job;
  jobs->last = job;
}

struct loop_job *loop_jobs_take(struct loop_jobs *jobs) {
  struct loop_job *job = jobs->first;
  if (!job) return NULL;
  jobs->first = job->next;
  if (!jobs->first) jobs->last = NULL;
  return job;
}

enum rein_code pool_init(struct loop_pool *pool) {
  pthread_condattr_t attr;
  if (pthread_condattr_init(&attr) != 0) return REIN_MEMORY;
  (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  int bad = pthread_cond_init(&pool->left, &attr);
  if (!bad && pthread_cond_init(&pool->hired, &attr) != 0) {
    (void)pthread_cond_destroy(&pool->left);
    bad = 1;
  }
  (void)pthread_condattr_destroy(&attr);
  return bad ? REIN_MEMORY : REIN_OK;
}

void pool_release(struct loop_pool *pool) {
  (void)pthread_cond_destroy(&pool->hired);
  (void)pthread_cond_destroy(&pool->left);
}

static void job_drop(struct loop_job *job) {
  if (job->drop) job->drop(job->ctx);
  mem_free(job);
}

/* The next job, or NULL when this thread should leave. Called with the lock. */
static struct loop_job *job_wait(struct loop *loop) {
  struct loop_pool *pool = &loop->pool;
  while (!pool->waiting.first && !loop->closed) {
    if (pool->idle >= IDLE_MAX) return NULL;
    pool->idle++;
    (void)pthread_cond_wait(&pool->hired, &loop->lock);
    pool->idle--;
  }
  return loop_jobs_take(&pool->waiting);
}

static void *thread_main(void *arg) {
  struct loop *loop = arg;
  (void)pthread_mutex_lock(&loop->lock);
  struct loop_job *job;
  while ((job = job_wait(loop))) {
    (void)pthread_mutex_unlock(&loop->lock);
    job->work(job->ctx);
    (void)pthread_mutex_lock(&loop->lock);
    if (!loop->closed) {
      loop_jobs_add(&loop->pool.ended, job);
      (void)uv_async_send(&loop->wake);
      continue;
    }
    (void)pthread_mutex_unlock(&loop->lock);
    job_drop(job);
    (void)pthread_mutex_lock(&loop->lock);
  }
  loop->pool.threads--;
  (void)pthread_cond_signal(&loop->pool.left);
  (void)pthread_mutex_unlock(&loop->lock);
  loop_let_go(loop);
  return NULL;
}

/* Called with the lock. */
static bool thread_new(struct loop *loop) {
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) != 0) return false;
  /* Detached: nobody joins a thread that may be stuck in a tool for good. */
  (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  /* Signals are their owner's: they must find the thread that waits for them. */
  sigset_t all, before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool made = pthread_create(&thread, &attr, thread_main, loop) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  (void)pthread_attr_destroy(&attr);
  if (!made) return false;
  loop->pool.threads++;
  loop->holders++;
  return true;
}

static size_t jobs_count(const struct loop_jobs *jobs, size_t enough) {
  size_t n = 0;
  for (const struct loop_job *job = jobs->first; job && n < enough; job = job->next)
    n++;
  return n;
}

enum rein_code pool_add(struct loop *loop, struct loop_job *job) {
  struct loop_pool *pool = &loop->pool;
  enum rein_code code = REIN_OK;
  (void)pthread_mutex_lock(&loop->lock);
  /* A woken thread counts as idle until it has run: compare with what waits. */
  bool busy = jobs_count(&pool->waiting, pool->idle) >= pool->idle;
  if (busy && pool->threads < LOOP_THREADS_MAX && !thread_new(loop) && pool->threads == 0)
    code = REIN_SYSTEM;
  if (code == REIN_OK) {
    loop_jobs_add(&pool->waiting, job);
  }
  (void)pthread_mutex_unlock(&loop->lock);
  /* Behind the lock, which the woken thread wants at once. */
  if (code == REIN_OK) (void)pthread_cond_signal(&pool->hired);
  return code;
}

static struct timespec deadline(int64_t wait_ms) {
  struct timespec at;
  (void)clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_sec += wait_ms / 1000;
  at.tv_nsec += wait_ms % 1000 * 1000000;
  if (at.tv_nsec >= 1000000000) {
    at.tv_sec++;
    at.tv_nsec -= 1000000000;
  }
  return at;
}

void pool_close(struct loop *loop, int64_t grace_ms) {
  struct loop_pool *pool = &loop->pool;
  struct timespec at = deadline(grace_ms > 0 ? grace_ms : 0);
  (void)pthread_mutex_lock(&loop->lock);
  loop->closed = true;
  struct loop_jobs never = pool->waiting;
  pool->waiting = (struct loop_jobs){NULL, NULL};
  (void)pthread_cond_broadcast(&pool->hired);
  int late = 0;
  while (pool->threads > 0 && grace_ms > 0 && !late)
    late = pthread_cond_timedwait(&pool->left, &loop->lock, &at);
  struct loop_jobs ended = pool->ended;
  pool->ended = (struct loop_jobs){NULL, NULL};
  (void)pthread_mutex_unlock(&loop->lock);
  for (struct loop_job *job; (job = loop_jobs_take(&never));)
    job_drop(job);
  for (struct loop_job *job; (job = loop_jobs_take(&ended));)
    job_drop(job);
}
