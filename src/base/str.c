/* Looking at and cutting slices. Text that is built is buf's business, and
 * characters beyond ASCII are utf8's.
 */
#include "base/str.h"

int str_cmp(struct str a, struct str b) {
  size_t n = a.n < b.n ? a.n : b.n;
  int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
  if (order != 0) return order;
  return (a.n > b.n) - (a.n < b.n);
}

bool str_ends(struct str s, struct str suffix) {
  return s.n >= suffix.n && str_eq(str_part(s, s.n - suffix.n, suffix.n), suffix);
}

size_t str_find_char(struct str s, char c) {
  const char *found = s.n > 0 ? memchr(s.p, c, s.n) : NULL;
  return found ? (size_t)(found - s.p) : s.n;
}

size_t str_find(struct str s, struct str needle) {
  if (needle.n == 0) return 0;
  const char *found = s.n > 0 ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
  return found ? (size_t)(found - s.p) : s.n;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s) {
  size_t from = 0;
  while (from < s.n && is_blank(s.p[from]))
    from++;
  size_t to = s.n;
  while (to > from && is_blank(s.p[to - 1]))
    to--;
  return str_part(s, from, to - from);
}

bool str_blank(struct str s) {
  return str_trim(s).n == 0;
}

static void cut_at(struct str s, size_t at, struct str *before, struct str *after) {
  *before = str_part(s, 0, at);
  *after = str_part(s, at + 1, s.n);
}

bool str_split(struct str s, char c, struct str *before, struct str *after) {
  size_t at = str_find_char(s, c);
  if (at == s.n) return false;
  cut_at(s, at, before, after);
  return true;
}

bool str_split_last(struct str s, char c, struct str *before, struct str *after) {
  const char *found = s.n > 0 ? memrchr(s.p, c, s.n) : NULL;
  if (!found) return false;
  cut_at(s, (size_t)(found - s.p), before, after);
  return true;
}

bool str_next(struct str *rest, char sep, struct str *piece) {
  if (rest->n == 0) return false;
  struct str all = *rest;
  cut_at(all, str_find_char(all, sep), piece, rest);
  return true;
}

static unsigned char lower(char c) {
  return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool str_eq_nocase(struct str a, struct str b) {
  if (a.n != b.n) return false;
  for (size_t i = 0; i < a.n; i++)
    if (lower(a.p[i]) != lower(b.p[i])) return false;
  return true;
}

struct str str_num(struct num_text *room, int64_t v) {
  char *end = room->s + sizeof room->s;
  char *p = end;
  uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do {
    *--p = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (v < 0) *--p = '-';
  return (struct str){p, (size_t)(end - p)};
}

/* One digit more at the end of *v, which is counted downwards, since INT64_MIN
 * has no positive twin; false on overflow or another character. */
static bool add_digit(int64_t *v, char c) {
  return c >= '0' && c <= '9' && !__builtin_mul_overflow(*v, 10, v) &&
         !__builtin_sub_overflow(*v, c - '0', v);
}

bool str_to_num(struct str s, int64_t *out) {
  bool minus = s.n > 0 && s.p[0] == '-';
  size_t i = minus ? 1 : 0;
  if (i == s.n) return false;
  int64_t v = 0;
  while (i < s.n && add_digit(&v, s.p[i]))
    i++;
  if (i < s.n || (!minus && v == INT64_MIN)) return false;
  *out = minus ? v : -v;
  return true;
}
