/* Makes the heap fail on purpose: tests are linked with --wrap=mem_resize, so
 * every allocation of rein passes here. While nothing is asked for, it only
 * counts. Allocations of threads count too.
 *
 *   static bool scenario(void *ctx) { ... return it_went_well; }
 *   assert_true(oom_each(scenario, NULL) > 0);
 *
 * Frees are counted only where --wrap=mem_free is given as well; leaks are
 * found by the leak checker that comes with ASan.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum oom_how {
  OOM_ONCE, /* the n-th allocation alone */
  OOM_ON    /* the n-th and all after it */
};

void oom_count_start(void); /* count from zero, let none fail */
size_t oom_count(void);     /* allocations (and resizes) since then */
/* Count from zero and fail the n-th (from 1). */
void oom_fail_at(size_t n, enum oom_how how);
size_t oom_failed(void); /* how many were refused since then */
void oom_stop(void);     /* none fails from here on */

/* Whether frees are seen, and if so how many pieces are allocated now. */
bool oom_sees_frees(void);
long oom_live(void);

/* Runs the scenario with each allocation failing in turn, once and then from
 * there on, until a run meets no failure; then a last one undisturbed. The
 * scenario returns whether it succeeded, releases what it holds, and asserts
 * for itself that what it sees after a failure is legal. A run in which a
 * failure was met may still succeed (a fallback); one without must. Returns
 * how many failures were tried; 0: a run without failures did not succeed, or
 * pieces were left over. */
size_t oom_each(bool (*scenario)(void *ctx), void *ctx);
