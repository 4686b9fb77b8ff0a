/* Memory by lifetime: many small things that die at once.
 *
 *   struct arena a;
 *   arena_init(&a, 1 << 20);
 *   struct node *n = arena_new(&a, struct node);
 *   if (!n) return REIN_MEMORY;
 *   arena_release(&a);
 */
#pragma once

#include "base/str.h"

struct arena_block;

struct arena {
  struct arena_block *top;
  size_t used; /* bytes asked of the heap */
  size_t max;  /* ceiling of `used` */
  bool full;   /* the ceiling, not the heap, refused an allocation */
};

void arena_init(struct arena *a, size_t max);
void arena_release(struct arena *a); /* a zeroed one is fine */
/* n zeroed bytes, aligned for anything; NULL: no memory, or over the ceiling. */
void *arena_alloc(struct arena *a, size_t n);
#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc_array((a), sizeof(type), (n)))
void *arena_alloc_array(struct arena *a, size_t size, size_t n);
/* A copy of s, terminated; false when there is no memory. */
bool arena_str(struct arena *a, struct str s, struct str *copy);
