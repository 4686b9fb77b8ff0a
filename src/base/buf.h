/* A growing text buffer with a ceiling that remembers its first failure.
 *
 * Write the whole thing and check once: after a failed append every further
 * one does nothing, and b.fail says why (REIN_MEMORY, or REIN_LIMIT when the
 * ceiling was reached). p is NULL or terminated with a byte that n leaves out.
 *
 *   struct buf b;
 *   buf_init(&b, 64 * 1024);
 *   buf_put(&b, name); buf_c(&b, '='); buf_num(&b, 7);
 *   if (b.fail) ...
 *   buf_release(&b);
 */
#pragma once

#include "base/str.h"

#include <rein.h>
#include <stdarg.h>

struct buf {
  char *p;
  size_t n, cap;
  size_t max; /* ceiling of n */
  enum rein_code fail;
  bool counts; /* n grows, the text itself is not kept: see buf_init_count */
};

void buf_init(struct buf *b, size_t max);
/* A buffer that tells how long a text would be, for whoever only appends. */
void buf_init_count(struct buf *b, size_t max);
void buf_release(struct buf *b); /* of a zeroed or a released one: fine */
void buf_reset(struct buf *b);   /* empty and unfailed, memory kept */
void buf_put(struct buf *b, struct str s);
void buf_c(struct buf *b, char c);
void buf_num(struct buf *b, int64_t v);
#define buf_lit(b, literal) buf_put((b), STR(literal))
/* printf's, for literals; %.*s with (int)s.n, s.p for slices. */
void buf_fmt(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for n more bytes at the end, to be filled and then added with
 * buf_grown; NULL when it failed. */
char *buf_room(struct buf *b, size_t n);
void buf_grown(struct buf *b, size_t n);
/* Cuts back to n bytes, n <= b->n. */
void buf_cut(struct buf *b, size_t n);
static inline struct str buf_str(const struct buf *b) {
  return (struct str){b->p, b->n};
}
/* The text as a terminated string; "" when empty. Borrowed until changed. */
const char *buf_z(const struct buf *b);
