/* Measuring text and cutting it where a reader would: between graphemes, as
 * utf8proc knows them. Ill-formed bytes count as one character each.
 */
#include "base/utf8.h"

#include <utf8proc.h>

/* Only so far back is looked for a sure border before a tail: longer clusters
 * exist in attacks, not in languages. */
#define CONTEXT_MAX 256
#define FOLD_POINTS_MAX 32 /* of one character taken apart: 4 canonically, 3 by case of each */

static size_t step(struct str s, size_t at, uint32_t *cp) {
  size_t n = utf8_next(str_part(s, at, 4), cp);
  if (n > 0) return n;
  *cp = 0xFFFD;
  return 1;
}

/* The start of the character that ends at `at`, which must be above 0. */
static size_t step_back(struct str s, size_t at) {
  uint32_t cp;
  for (size_t n = 4; n > 1; n--)
    if (at >= n && utf8_next(str_part(s, at - n, n), &cp) == n) return at - n;
  return at - 1;
}

/* Printable ASCII, most of most texts: one column, and between two of them
 * there is always a border. */
static bool is_plain(uint32_t cp) {
  return cp >= ' ' && cp < 0x7F;
}

size_t utf8_count(struct str s) {
  size_t count = 0;
  for (size_t i = 0; i < s.n; i++)
    count += ((unsigned char)s.p[i] & 0xC0) != 0x80;
  return count;
}

static bool is_border(uint32_t before, uint32_t cp, utf8proc_int32_t *state) {
  if (!is_plain(before) || !is_plain(cp))
    return utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)cp, state);
  *state = 0; /* nothing of what was before counts behind it */
  return true;
}

struct str utf8_head(struct str s, size_t max) {
  if (s.n <= max) return s;
  size_t at = 0, border = 0, count = 0;
  utf8proc_int32_t state = 0;
  uint32_t before = 0, cp = 0;
  while (at < s.n) {
    size_t n = step(s, at, &cp);
    if (at > 0 && is_border(before, cp, &state)) border = at;
    if (count == max) return str_part(s, 0, border > 0 ? border : at);
    count++;
    before = cp;
    at += n;
  }
  return s;
}

/* A place at or before `at` from which the borders can be told for sure:
 * between two ASCII characters that are not CR LF. */
static size_t sure_border(struct str s, size_t at) {
  for (size_t i = 0; at > 0 && i < CONTEXT_MAX; i++, at = step_back(s, at)) {
    unsigned char here = at < s.n ? (unsigned char)s.p[at] : 'a';
    unsigned char left = (unsigned char)s.p[at - 1];
    if (here < 0x80 && left < 0x80 && !(left == '\r' && here == '\n')) return at;
  }
  return at;
}

struct str utf8_tail(struct str s, size_t max) {
  if (s.n <= max) return s;
  size_t from = s.n;
  for (size_t i = 0; i < max && from > 0; i++)
    from = step_back(s, from);
  if (from == 0 || from == s.n) return str_part(s, from, s.n);
  size_t at = sure_border(s, from);
  if (at == from) return str_part(s, from, s.n);
  utf8proc_int32_t state = 0;
  uint32_t before = 0, cp = 0;
  at += step(s, at, &before);
  while (at < s.n) {
    size_t n = step(s, at, &cp);
    bool border =
        utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)cp, &state);
    if (border && at >= from) return str_part(s, at, s.n);
    before = cp;
    at += n;
  }
  return str_part(s, from, s.n);
}

size_t utf8_width(struct str s) {
  size_t width = 0;
  uint32_t cp = 0;
  for (size_t at = 0; at < s.n;) {
    if (is_plain((unsigned char)s.p[at])) {
      width++;
      at++;
      continue;
    }
    at += step(s, at, &cp);
    int columns = utf8proc_charwidth((utf8proc_int32_t)cp);
    /* Vowels and finals of conjoining Hangul stand inside their syllable. */
    bool joins = cp >= 0x1160 && cp <= 0x11FF;
    if (columns > 0 && !joins) width += (size_t)columns;
  }
  return width;
}

void utf8_fold(struct buf *out, struct str one, bool nocase) {
  uint32_t cp;
  int last = 0;
  utf8proc_int32_t points[FOLD_POINTS_MAX];
  utf8proc_ssize_t n = -1;
  int how = UTF8PROC_DECOMPOSE | (nocase ? UTF8PROC_CASEFOLD : 0);
  if (utf8_next(one, &cp) == one.n)
    n = utf8proc_decompose_char((utf8proc_int32_t)cp, points, FOLD_POINTS_MAX,
                                (utf8proc_option_t)how, &last);
  if (n < 0 || n > FOLD_POINTS_MAX) {
    buf_put(out, one);
    return;
  }
  for (utf8proc_ssize_t i = 0; i < n; i++)
    utf8_put(out, (uint32_t)points[i]);
}
