/* The heap that fails on purpose. It stands before src/base/mem.c by way of the
 * linker; how many tries a scenario needs is found by trying.
 */
#include "support/oom.h"

#include <stdatomic.h>
#include <stdio.h>

void *__real_mem_resize(void *p, size_t n);
void *__wrap_mem_resize(void *p, size_t n);
void __real_mem_free(void *p) __attribute__((weak));
void __wrap_mem_free(void *p);

#define OOM_TRIES_MAX 100000 /* a scenario that needs more never ends */

static atomic_size_t count, failed, fail_at; /* fail_at 0: none */
static atomic_bool on;
static atomic_long live;

static bool refuse(void) {
  size_t n = atomic_fetch_add(&count, 1) + 1;
  size_t at = atomic_load(&fail_at);
  if (at == 0 || n < at || (n > at && !atomic_load(&on))) return false;
  atomic_fetch_add(&failed, 1);
  return true;
}

void *__wrap_mem_resize(void *p, size_t n) {
  if (refuse()) return NULL;
  void *made = __real_mem_resize(p, n);
  if (made && !p) atomic_fetch_add(&live, 1);
  return made;
}

void __wrap_mem_free(void *p) {
  if (p) atomic_fetch_sub(&live, 1);
  __real_mem_free(p);
}

void oom_fail_at(size_t n, enum oom_how how) {
  atomic_store(&fail_at, 0);
  atomic_store(&count, 0);
  atomic_store(&failed, 0);
  atomic_store(&on, how == OOM_ON);
  atomic_store(&fail_at, n);
}

void oom_count_start(void) {
  oom_fail_at(0, OOM_ONCE);
}

void oom_stop(void) {
  atomic_store(&fail_at, 0);
}

size_t oom_count(void) {
  return atomic_load(&count);
}

size_t oom_failed(void) {
  return atomic_load(&failed);
}

bool oom_sees_frees(void) {
  return __real_mem_free != NULL;
}

long oom_live(void) {
  return atomic_load(&live);
}

static bool leaves_none(long before, const char *when, size_t n) {
  if (!oom_sees_frees() || oom_live() == before) return true;
  fprintf(stderr, "oom: %ld pieces left over after %s %zu\n", oom_live() - before, when, n);
  return false;
}

/* Tries with one way of failing; false when a run was not as it must be. */
static bool each(bool (*scenario)(void *ctx), void *ctx, enum oom_how how, size_t *tried) {
  for (size_t n = 1; n < OOM_TRIES_MAX; n++) {
    long before = oom_live();
    oom_fail_at(n, how);
    bool well = scenario(ctx);
    bool met = oom_failed() > 0;
    oom_stop();
    if (!leaves_none(before, how == OOM_ON ? "failing from" : "failing", n)) return false;
    if (!met) {
      if (!well) fprintf(stderr, "oom: the scenario fails although no allocation did\n");
      return well;
    }
    ++*tried;
  }
  fprintf(stderr, "oom: the scenario meets more than %d failures\n", OOM_TRIES_MAX);
  return false;
}

size_t oom_each(bool (*scenario)(void *ctx), void *ctx) {
  size_t tried = 0;
  bool well = each(scenario, ctx, OOM_ONCE, &tried) && each(scenario, ctx, OOM_ON, &tried);
  return well ? tried : 0;
}
