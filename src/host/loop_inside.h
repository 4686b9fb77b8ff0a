/* The inside of a loop, shared by loop.c (the loop's thread) and pool.c (its
 * pool threads), and by modules whose memory must outlive the loop's owner.
 *
 * A loop's memory is counted: one for the owner, one for each pool thread. So
 * a thread whose work is stuck never meets freed memory, however late it ends.
 */
#pragma once

#include "host/loop.h"

#include <pthread.h>
#include <uv.h>

#define LOOP_SIGNALS 3

struct loop_job {
  struct loop_job *next;
  loop_fn work; /* of a post: what to run on the loop's thread */
  loop_fn done, drop;
  void *ctx;
};

struct loop_jobs {
  struct loop_job *first, *last;
};

/* Memory released with the last holder of the loop; first member of its owner. */
struct loop_kept {
  struct loop_kept *next;
  void (*release)(struct loop_kept *self);
};

struct loop_pool {
  struct loop_jobs waiting, ended;
  pthread_cond_t hired; /* work came, or the loop closes */
  pthread_cond_t left;  /* a thread left */
  size_t threads, idle;
};

struct loop {
  uv_loop_t uv;
  uv_async_t wake;
  uv_signal_t signals[LOOP_SIGNALS];
  size_t signals_n;
  loop_signal_fn signal_fn;
  void *signal_ctx;
  size_t outstanding; /* work whose `done` is still to come; the loop's thread alone */
  bool stopped;
  pthread_mutex_t lock; /* guards all below */
  struct loop_pool pool;
  struct loop_jobs posts;
  struct loop_kept *kept;
  size_t holders;
  bool closed;
};

void loop_jobs_add(struct loop_jobs *jobs, struct loop_job *job);
struct loop_job *loop_jobs_take(struct loop_jobs *jobs); /* NULL: empty */
/* Takes the lock, gives up one hold and frees the loop with the last. */
void loop_let_go(struct loop *loop);
/* Releases `kept` with the loop's memory; until then pool threads may hold it. */
void loop_keep(struct loop *loop, struct loop_kept *kept);

enum rein_code pool_init(struct loop_pool *pool);
void pool_release(struct loop_pool *pool);
/* Hands the job to a thread; takes it only on REIN_OK. */
enum rein_code pool_add(struct loop *loop, struct loop_job *job);
/* Drops what never began and waits until all threads left, at most grace_ms. */
void pool_close(struct loop *loop, int64_t grace_ms);
