/* The loop: timers, work on pool threads, wake-ups and signals, on libuv.
 *
 * One thread owns a loop. Callbacks run on it, from loop_run alone, and may
 * start new things but not run the loop. Times are milliseconds of the
 * monotonic clock that loop_now gives.
 *
 *   loop_new(&loop, &err);
 *   loop_work(loop, count_words, show_words, NULL, text);
 *   loop_run(loop);        // returns when nothing is left
 *   loop_free(loop, 1000);
 */
#pragma once

#include "base/err.h"

struct loop;
struct uv_loop_s;

#define LOOP_THREADS_MAX 256 /* work beyond it queues; a tool that waits costs one thread */

enum rein_code loop_new(struct loop **loop, struct err *err) REIN_CHECKED;
/* Everything made on the loop is freed before (timers, http). Waits for work on
 * pool threads that was told to stop, at most grace_ms, then frees all; work
 * that still runs then keeps its memory until it ends. No `done` is called
 * here: see `drop` of loop_work. */
void loop_free(struct loop *loop, int64_t grace_ms);
struct uv_loop_s *loop_uv(struct loop *loop);
int64_t loop_now(struct loop *loop); /* a fresh reading */
/* Runs until loop_stop, or until nothing is left to wait for. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

typedef void (*loop_fn)(void *ctx);

/* A timer, made switched off. It fires once, never before `at_ms`; `at_ms` in
 * the past fires at the next round; INT64_MAX switches it off. While it is set
 * the loop runs. May be set and freed from its own fn; NULL is freed fine. */
struct loop_timer;
enum rein_code loop_timer_new(struct loop *loop, loop_fn fn, void *ctx, struct loop_timer **timer);
void loop_timer_set(struct loop_timer *timer, int64_t at_ms);
void loop_timer_free(struct loop_timer *timer);

/* `work` on a pool thread, then `done` on the loop's thread. Cannot be taken
 * back once it began: give it a flag. When the loop is freed before `done` could
 * run, `drop` (may be NULL) is called in its place, once the work has ended (or
 * will never start), on the freeing or on the pool thread: it frees ctx and
 * touches nothing else. */
enum rein_code loop_work(struct loop *loop, loop_fn work, loop_fn done, loop_fn drop, void *ctx)
    REIN_CHECKED;

/* From any thread: run fn on the loop's thread soon. The only function here
 * that may be called from elsewhere; from the work of a loop that was freed
 * meanwhile it gives REIN_CANCELLED. What was posted and not run when the loop
 * is freed is forgotten. */
enum rein_code loop_post(struct loop *loop, loop_fn fn, void *ctx) REIN_CHECKED;

/* Calls fn(ctx, signum) on the loop's thread for SIGINT, SIGTERM, SIGHUP. For
 * programs; the library does not call it. Does not keep the loop running. */
typedef void (*loop_signal_fn)(void *ctx, int signum);
enum rein_code loop_signals(struct loop *loop, loop_signal_fn fn, void *ctx) REIN_CHECKED;
