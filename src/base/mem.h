/* The one door to the heap. Every allocation of rein goes through here and can
 * fail; the tests put their own mem_resize before this one and make it fail.
 */
#pragma once

#include <stddef.h>
#include <string.h>

/* New memory (p NULL) or p resized, contents kept; n must not be 0. NULL when
 * there is none: p is then untouched. */
void *mem_resize(void *p, size_t n);
/* n zeroed bytes, or NULL. Inline, so that it too passes the tests' door. */
static inline void *mem_zero(size_t n) {
  void *p = mem_resize(NULL, n);
  return p ? memset(p, 0, n) : NULL;
}
void mem_free(void *p); /* NULL is fine */
/* Overwrites secrets in a way no compiler removes. */
void mem_wipe(void *p, size_t n);
