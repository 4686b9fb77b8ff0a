/* The growing text buffer. It keeps one byte behind the text for the
 * terminator, and after a failure it keeps the text that was whole.
 */
#include "base/buf.h"

#include "base/mem.h"

#define BUF_FIRST 64 /* the first allocation: most sentences and keys fit */

void buf_init(struct buf *b, size_t max) {
  /* One byte less than everything leaves the terminator's place countable. */
  *b = (struct buf){.max = max < SIZE_MAX / 4 ? max : SIZE_MAX / 4};
}

void buf_init_count(struct buf *b, size_t max) {
  buf_init(b, max);
  b->counts = true;
}

void buf_release(struct buf *b) {
  mem_free(b->p);
  *b = (struct buf){.max = b->max, .counts = b->counts};
}

void buf_reset(struct buf *b) {
  b->n = 0;
  b->fail = REIN_OK;
  if (b->p) b->p[0] = '\0';
}

static bool fits(struct buf *b, size_t n) {
  if (b->fail) return false;
  if (n <= b->max && b->n <= b->max - n) return true;
  b->fail = REIN_LIMIT;
  return false;
}

/* Room for n more bytes and the terminator. */
static bool grow(struct buf *b, size_t n) {
  if (!fits(b, n)) return false;
  size_t need = (b->counts ? 0 : b->n) + n + 1;
  if (need <= b->cap) return true;
  size_t cap = b->cap > 0 ? b->cap * 2 : BUF_FIRST;
  if (cap > b->max + 1) cap = b->max + 1;
  if (cap < need) cap = need;
  char *p = mem_resize(b->p, cap);
  if (!p) {
    b->fail = REIN_MEMORY;
    return false;
  }
  b->p = p;
  b->cap = cap;
  return true;
}

void buf_put(struct buf *b, struct str s) {
  if (s.n == 0 || !(b->counts ? fits(b, s.n) : grow(b, s.n))) return;
  if (b->counts) {
    b->n += s.n;
    return;
  }
  memcpy(b->p + b->n, s.p, s.n);
  buf_grown(b, s.n);
}

void buf_c(struct buf *b, char c) {
  if (b->counts) {
    b->n += fits(b, 1);
    return;
  }
  if (!grow(b, 1)) return;
  b->p[b->n] = c;
  buf_grown(b, 1);
}

void buf_num(struct buf *b, int64_t v) {
  struct num_text room;
  buf_put(b, str_num(&room, v));
}

/* The compiler's own name for vsnprintf, because stdio.h is closed to the pure
 * floors: they format, they never print. */
void buf_fmt(struct buf *b, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = __builtin_vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (n < 0) {
    if (!b->fail) b->fail = REIN_BUG;
    return;
  }
  char *room = buf_room(b, (size_t)n);
  if (!room) return;
  va_start(args, format);
  __builtin_vsnprintf(room, (size_t)n + 1, format, args);
  va_end(args);
  buf_grown(b, (size_t)n);
}

char *buf_room(struct buf *b, size_t n) {
  return grow(b, n) ? b->p + (b->counts ? 0 : b->n) : NULL;
}

void buf_grown(struct buf *b, size_t n) {
  b->n += n;
  if (!b->counts) b->p[b->n] = '\0';
}

void buf_cut(struct buf *b, size_t n) {
  if (n >= b->n) return;
  b->n = n;
  if (!b->counts) b->p[n] = '\0';
}

const char *buf_z(const struct buf *b) {
  return b->p ? b->p : "";
}
