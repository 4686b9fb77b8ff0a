/* What a test of slices and buffers starts with: cmocka, and text compared as
 * text. A test program includes this and its subject.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>

/* Fails showing both, when got is not the bytes of want. */
static inline void check_text(struct str got, struct str want, const char *file, int line) {
  if (str_eq(got, want)) return;
  print_error("got  \"%.*s\" (%zu)\nwant \"%.*s\" (%zu)\n", (int)got.n, got.n ? got.p : "", got.n,
              (int)want.n, want.n ? want.p : "", want.n);
  _fail(file, line);
}
#define assert_text(got, literal) check_text((got), STR(literal), __FILE__, __LINE__)
#define assert_str(got, want) check_text((got), (want), __FILE__, __LINE__)

/* A copy that ends where its memory ends, so that the sanitizer sees a read
 * behind it: the slice of it, and *room for mem_free. */
static inline struct str exact_copy(struct str s, char **room) {
  *room = mem_resize(NULL, s.n + 1);
  assert_non_null(*room);
  if (s.n > 0) memcpy(*room + 1, s.p, s.n);
  return (struct str){*room + 1, s.n};
}
