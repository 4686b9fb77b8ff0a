/* UTF-8: telling well-formed from ill-formed, repairing, joining pieces.
 * Measuring and cutting for readers stands in utf8_cut.c.
 */
#include "base/utf8.h"

#define REPLACEMENT STR("\xEF\xBF\xBD") /* U+FFFD */

static bool between(unsigned char c, unsigned char low, unsigned char high) {
  return c >= low && c <= high;
}

/* What stands at the front: how long a character its first byte announces (0:
 * none), and how many bytes fit (Unicode, table 3-7). */
struct look {
  size_t need, fit;
};

static inline struct look look(const unsigned char *p, size_t n) {
  unsigned char first = p[0];
  unsigned char low = 0x80, high = 0xBF;
  size_t need = 0;
  if (first < 0x80) return (struct look){1, 1};
  if (between(first, 0xC2, 0xDF))
    need = 2;
  else if (between(first, 0xE0, 0xEF))
    need = 3;
  else if (between(first, 0xF0, 0xF4))
    need = 4;
  else
    return (struct look){0, 1};
  if (first == 0xE0)
    low = 0xA0;
  else if (first == 0xED)
    high = 0x9F;
  else if (first == 0xF0)
    low = 0x90;
  else if (first == 0xF4)
    high = 0x8F;
  size_t fit = 1;
  while (fit < need && fit < n && between(p[fit], low, high)) {
    fit++;
    low = 0x80;
    high = 0xBF;
  }
  return (struct look){need, fit};
}

static uint32_t code_point(const unsigned char *p, size_t n) {
  static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t cp = p[0] & mask[n];
  for (size_t i = 1; i < n; i++)
    cp = cp << 6 | (p[i] & 0x3F);
  return cp;
}

size_t utf8_next(struct str s, uint32_t *cp) {
  if (s.n == 0) return 0;
  const unsigned char *p = (const unsigned char *)s.p;
  struct look l = look(p, s.n);
  if (l.fit != l.need) return 0;
  *cp = code_point(p, l.need);
  return l.need;
}

size_t utf8_write(char to[4], uint32_t cp) {
  static const unsigned char mark[] = {0, 0, 0xC0, 0xE0, 0xF0};
  size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
  for (size_t i = n; i-- > 1; cp >>= 6)
    to[i] = (char)(0x80 | (cp & 0x3F));
  to[0] = (char)(mark[n] | cp);
  return n;
}

void utf8_put(struct buf *b, uint32_t cp) {
  char c[4];
  size_t n = utf8_write(c, cp);
  buf_put(b, (struct str){c, n});
}

/* Bytes of ASCII at the front, eight at a time. */
static size_t ascii_run(const char *p, size_t n) {
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, 8);
    if (word & UINT64_C(0x8080808080808080)) break;
  }
  while (i < n && (unsigned char)p[i] < 0x80)
    i++;
  return i;
}

/* Most characters of Korean, Chinese and Japanese: three bytes whose first one
 * leaves the others free. */
static bool is_plain_three(const unsigned char *p, size_t n) {
  return n >= 3 && between(p[0], 0xE1, 0xEC) && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80;
}

size_t utf8_bad(struct str s) {
  size_t i = 0;
  for (;;) {
    i += ascii_run(s.p + i, s.n - i);
    while (i < s.n && (unsigned char)s.p[i] >= 0x80) {
      if (is_plain_three((const unsigned char *)s.p + i, s.n - i)) {
        i += 3;
        continue;
      }
      struct look l = look((const unsigned char *)s.p + i, s.n - i);
      if (l.fit != l.need) return i;
      i += l.need;
    }
    if (i == s.n) return i;
  }
}

bool utf8_valid(struct str s) {
  return s.n == 0 || utf8_bad(s) == s.n;
}

/* Could the n bytes at p, or what they become with more, be half of a surrogate
 * pair in WTF-8: ED, then low..high, then a continuation? */
static bool is_half(const unsigned char *p, size_t n, unsigned char low, unsigned char high) {
  return (n < 1 || p[0] == 0xED) && (n < 2 || between(p[1], low, high)) &&
         (n < 3 || between(p[2], 0x80, 0xBF));
}

static bool is_high(const unsigned char *p, size_t n) {
  return is_half(p, n, 0xA0, 0xAF);
}

static bool is_low(const unsigned char *p, size_t n) {
  return is_half(p, n, 0xB0, 0xBF);
}

static void put_pair(struct buf *out, const unsigned char *p) {
  uint32_t high = code_point(p, 3) - 0xD800, low = code_point(p + 3, 3) - 0xDC00;
  utf8_put(out, 0x10000 + (high << 10) + low);
}

/* Could more bytes change what the ill-formed part at p means? */
static bool is_open(const unsigned char *p, size_t n) {
  if (n >= 2 && is_high(p, n)) return n < 6 && (n < 3 || is_low(p + 3, n - 3));
  if (n == 2 && is_low(p, n)) return true;
  struct look l = look(p, n);
  return l.fit == n && l.fit < l.need;
}

/* Appends what the ill-formed part at p means and returns its bytes; 0 when
 * more bytes might change that and `last` does not say that none will come. */
static size_t repair_part(struct buf *out, const unsigned char *p, size_t n, bool last) {
  if (!last && is_open(p, n)) return 0;
  if (n >= 6 && is_high(p, 3) && is_low(p + 3, 3)) {
    put_pair(out, p);
    return 6;
  }
  buf_put(out, REPLACEMENT);
  bool half = n >= 2 && (is_high(p, n) || is_low(p, n));
  if (half) return n < 3 ? n : 3;
  return look(p, n).fit;
}

size_t utf8_repair_part(struct buf *out, struct str s) {
  return repair_part(out, (const unsigned char *)s.p, s.n, true);
}

/* Appends as much of s as can be decided and returns the bytes used. */
static size_t repair(struct buf *out, struct str s, bool last) {
  size_t i = 0;
  while (i < s.n) {
    struct str rest = str_part(s, i, s.n);
    size_t good = utf8_bad(rest);
    buf_put(out, str_part(rest, 0, good));
    i += good;
    if (i == s.n) break;
    size_t used = repair_part(out, (const unsigned char *)s.p + i, s.n - i, last);
    if (used == 0) break;
    i += used;
  }
  return i;
}

void utf8_repair(struct buf *out, struct str s) {
  repair(out, s, true);
}

static void use_held(struct utf8_join *j, struct buf *out, bool last) {
  size_t used = repair(out, (struct str){j->held, j->held_n}, last);
  j->held_n = (unsigned char)(j->held_n - used);
  memmove(j->held, j->held + used, j->held_n);
}

void utf8_join(struct utf8_join *j, struct buf *out, struct str piece) {
  size_t i = 0;
  while (j->held_n > 0 && i < piece.n) {
    j->held[j->held_n++] = piece.p[i++];
    use_held(j, out, false);
  }
  if (i == piece.n) return;
  struct str rest = str_part(piece, i, piece.n);
  size_t used = repair(out, rest, false);
  j->held_n = (unsigned char)(rest.n - used);
  memcpy(j->held, rest.p + used, j->held_n);
}

void utf8_join_end(struct utf8_join *j, struct buf *out) {
  use_held(j, out, true);
}

/* Controls, and what turns the direction of text around: shown to a person
 * these could make a harmful text look harmless. */
static bool hides(uint32_t cp) {
  return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x61C || cp == 0x200E || cp == 0x200F ||
         (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xFEFF;
}

/* How many bytes at the front are shown as they are: most of most texts. */
static size_t plain_run(struct str s) {
  size_t n = 0;
  while (n < s.n && s.p[n] >= ' ' && s.p[n] < 0x7F)
    n++;
  return n;
}

void utf8_show(struct buf *out, struct str s, bool lines) {
  for (size_t i = 0; i < s.n;) {
    size_t plain = plain_run(str_part(s, i, s.n));
    buf_put(out, str_part(s, i, plain));
    i += plain;
    if (i == s.n) return;
    struct str rest = str_part(s, i, s.n);
    uint32_t cp = 0;
    size_t n = utf8_next(rest, &cp);
    if (n == 0)
      n = utf8_repair_part(out, rest);
    else if (hides(cp) && !(lines && (cp == '\n' || cp == '\t')))
      buf_fmt(out, "\\u{%x}", (unsigned)cp);
    else
      buf_put(out, str_part(rest, 0, n));
    i += n;
  }
}
