/* Arenas: blocks that double in size, handed out from the front and freed
 * together. A piece that is large beside its block gets a block of its own,
 * so that the rest of the current one is not lost.
 */
#include "base/arena.h"

#include "base/mem.h"

#include <assert.h>

struct arena_block {
  struct arena_block *below;
  size_t used, size; /* bytes behind the header */
  _Alignas(max_align_t) char bytes[];
};

/* A short document and its nodes. With its header below 1,032 bytes, which malloc
 * keeps at hand per thread: a stream makes an arena per event, a machine several. */
#define ARENA_BLOCK_FIRST 976
#define ARENA_BLOCK_MAX (256 * 1024) /* doubling ends: a half empty one costs little */

void arena_init(struct arena *a, size_t max) {
  *a = (struct arena){.max = max};
}

void arena_release(struct arena *a) {
  for (struct arena_block *block = a->top; block;) {
    struct arena_block *below = block->below;
    mem_free(block);
    block = below;
  }
  *a = (struct arena){.max = a->max};
}

/* A block for n bytes, or more if the ceiling leaves room; NULL as in the header. */
static struct arena_block *new_block(struct arena *a, size_t n, size_t wish) {
  size_t left = a->max - a->used;
  if (left < sizeof(struct arena_block) || n > left - sizeof(struct arena_block)) {
    a->full = true;
    return NULL;
  }
  size_t size = left - sizeof(struct arena_block);
  if (size > wish) size = wish > n ? wish : n;
  struct arena_block *block = mem_resize(NULL, sizeof *block + size);
  a->full = false;
  if (!block) return NULL;
  *block = (struct arena_block){.size = size};
  a->used += sizeof *block + size;
  return block;
}

static struct arena_block *block_for(struct arena *a, size_t n) {
  struct arena_block *top = a->top;
  if (top && n <= top->size - top->used) return top;
  size_t wish = top ? top->size * 2 : ARENA_BLOCK_FIRST;
  if (wish > ARENA_BLOCK_MAX) wish = ARENA_BLOCK_MAX;
  bool alone = top && n > wish / 4;
  struct arena_block *block = new_block(a, n, alone ? n : wish);
  if (!block) return NULL;
  if (alone) {
    block->below = top->below;
    top->below = block;
  } else {
    block->below = top;
    a->top = block;
  }
  return block;
}

void *arena_alloc(struct arena *a, size_t n) {
  const size_t unit = _Alignof(max_align_t);
  if (n > SIZE_MAX - unit) {
    a->full = true;
    return NULL;
  }
  n = n > 0 ? (n + unit - 1) / unit * unit : unit;
  struct arena_block *block = block_for(a, n);
  if (!block) return NULL;
  assert(block->used + n <= block->size);
  void *p = block->bytes + block->used;
  block->used += n;
  return memset(p, 0, n);
}

void *arena_alloc_array(struct arena *a, size_t size, size_t n) {
  size_t all;
  if (__builtin_mul_overflow(size, n, &all)) {
    a->full = true;
    return NULL;
  }
  return arena_alloc(a, all);
}

bool arena_str(struct arena *a, struct str s, struct str *copy) {
  if (s.n == SIZE_MAX) {
    a->full = true;
    return false;
  }
  char *p = arena_alloc(a, s.n + 1);
  if (!p) return false;
  if (s.n > 0) memcpy(p, s.p, s.n);
  *copy = (struct str){p, s.n};
  return true;
}
