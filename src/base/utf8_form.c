/* Unicode's forms: the same text composed (NFC, as most write it) and taken apart
 * (NFD, as names from macOS come).
 */
#include "base/utf8.h"

#include "base/mem.h"

#include <utf8proc.h>

#define SAME_BYTES_MAX 1024                  /* a name of a file is at most 255 bytes */
#define SAME_POINTS_MAX (4 * SAME_BYTES_MAX) /* no character comes apart into more than 4 */

static utf8proc_ssize_t take_apart(struct str s, utf8proc_int32_t points[SAME_POINTS_MAX]) {
  return utf8proc_decompose((const utf8proc_uint8_t *)s.p, (utf8proc_ssize_t)s.n, points,
                            SAME_POINTS_MAX, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
}

bool utf8_same(struct str a, struct str b) {
  utf8proc_int32_t a_points[SAME_POINTS_MAX], b_points[SAME_POINTS_MAX];
  if (str_eq(a, b)) return true;
  if (!a.n || !b.n || a.n > SAME_BYTES_MAX || b.n > SAME_BYTES_MAX) return false;
  utf8proc_ssize_t a_n = take_apart(a, a_points), b_n = take_apart(b, b_points);
  if (a_n != b_n || a_n <= 0 || a_n > SAME_POINTS_MAX) return false;
  return memcmp(a_points, b_points, (size_t)a_n * sizeof *a_points) == 0;
}

void utf8_compose(struct buf *out, struct str s) {
  utf8proc_int32_t points[SAME_POINTS_MAX + 1]; /* one for the end that is written */
  bool plain = true;
  for (size_t i = 0; i < s.n && plain; i++)
    plain = (unsigned char)s.p[i] < 0x80;
  utf8proc_ssize_t n = plain || s.n > SAME_BYTES_MAX ? -1 : take_apart(s, points);
  if (n > 0 && n <= SAME_POINTS_MAX)
    n = utf8proc_reencode(points, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  buf_put(out, n > 0 ? (struct str){(const char *)points, (size_t)n} : s);
}

void utf8_form(struct buf *out, struct str s, enum utf8_form form) {
  const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)s.p;
  if (s.n == 0 || out->fail) return;
  utf8proc_ssize_t n = utf8proc_decompose(bytes, (utf8proc_ssize_t)s.n, NULL, 0, options);
  /* in place: the points, then their bytes, at most four for each, and an end */
  utf8proc_int32_t *room = n > 0 ? mem_resize(NULL, ((size_t)n + 1) * sizeof *room) : NULL;
  if (n > 0 && room) {
    n = utf8proc_decompose(bytes, (utf8proc_ssize_t)s.n, room, n, options);
    int how = form == UTF8_COMPOSED ? UTF8PROC_STABLE | UTF8PROC_COMPOSE : UTF8PROC_STABLE;
    n = utf8proc_reencode(room, n, (utf8proc_option_t)how);
    buf_put(out, (struct str){(const char *)room, (size_t)n});
  } else {
    out->fail = REIN_MEMORY;
  }
  mem_free(room);
}
