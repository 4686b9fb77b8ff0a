/* A thread that swaps a folder for a link that leads out, over and over, while
 * the test opens or writes below it. */
#pragma once

#include "root.h"

#include <pthread.h>
#include <stdatomic.h>

struct swap {
  char folder[PATH_MAX], link[PATH_MAX], away[PATH_MAX];
  atomic_bool stop;
  atomic_int swaps;
  pthread_t thread;
};

static inline void *swap_main(void *ctx) {
  struct swap *s = ctx;
  while (!atomic_load(&s->stop)) {
    /* What is written meanwhile may have made the folder anew. */
    bool there = rename(s->folder, s->away) == 0 && rename(s->link, s->folder) == 0;
    bool back = rename(s->folder, s->link) == 0;
    (void)rename(s->away, s->folder);
    if (there && back) atomic_fetch_add(&s->swaps, 1);
  }
  return NULL;
}

/* Of `folder` and `folder`-link, both there. */
static inline void swap_start(struct place *p, struct swap *s, const char *folder) {
  PRINT(s->folder, "%s", place_path(p, folder));
  PRINT(s->link, "%s-link", place_path(p, folder));
  PRINT(s->away, "%s-away", place_path(p, folder));
  assert_int_equal(pthread_create(&s->thread, NULL, swap_main, s), 0);
}

static inline void swap_stop(struct swap *s) {
  atomic_store(&s->stop, true);
  pthread_join(s->thread, NULL);
}
