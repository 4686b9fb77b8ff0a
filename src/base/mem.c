/* The door to the heap, and nothing but the door: it stands in a file of its
 * own so that the linker can put the tests' mem_resize before it.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *mem_resize(void *p, size_t n) {
  assert(n > 0);
  return realloc(p, n);
}

void mem_free(void *p) {
  free(p);
}

void mem_wipe(void *p, size_t n) {
  if (n > 0) explicit_bzero(p, n);
}
