/* A time for the next request, moved on by each that takes it. */
#include "tools/pace.h"

#include "base/mem.h"

#include <pthread.h>
#include <time.h>

#define LOOK_MS 50

struct pace {
  pthread_mutex_t lock;
  int64_t gap_ms, next_ms;
};

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct pace *pace_new(double per_second) {
  struct pace *pace = mem_zero(sizeof *pace);
  if (!pace) return NULL;
  if (pthread_mutex_init(&pace->lock, NULL) != 0) {
    mem_free(pace);
    return NULL;
  }
  pace->gap_ms = per_second > 0 ? (int64_t)(1000 / per_second) : 0;
  return pace;
}

void pace_free(struct pace *pace) {
  if (!pace) return;
  (void)pthread_mutex_destroy(&pace->lock);
  mem_free(pace);
}

bool pace_sleep(int64_t ms, bool (*cancelled)(void *ctx), void *ctx) {
  int64_t until = now_ms() + ms, left;
  while ((left = until - now_ms()) > 0) {
    if (cancelled(ctx)) return false;
    int64_t piece = left < LOOK_MS ? left : LOOK_MS;
    struct timespec t = {piece / 1000, piece % 1000 * 1000000};
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
  }
  return !cancelled(ctx);
}

bool pace_wait(struct pace *pace, bool (*cancelled)(void *ctx), void *ctx) {
  (void)pthread_mutex_lock(&pace->lock);
  int64_t now = now_ms(), mine = pace->next_ms > now ? pace->next_ms : now;
  pace->next_ms = mine + pace->gap_ms;
  (void)pthread_mutex_unlock(&pace->lock);
  return pace_sleep(mine - now, cancelled, ctx);
}
