/* Reads names of groups. JavaScript takes any Unicode identifier; this takes
 * letters of the scripts below and refuses others in words, which keeps a
 * table of all letters out of this floor.
 */
#include "regex/parse.h"

static const struct {
  uint32_t from, to;
} letters[] = {
    {'A', 'Z'},         {'a', 'z'},       {0xc0, 0xd6},     /* Latin */
    {0xd8, 0xf6},       {0xf8, 0x2c1},    {0x388, 0x38a},   /* Latin, Greek */
    {0x38e, 0x3a1},     {0x3a3, 0x3f5},   {0x400, 0x481},   /* Greek, Cyrillic */
    {0x48a, 0x52f},     {0x1100, 0x1248}, {0x1e00, 0x1f15}, /* Cyrillic, Jamo, Latin */
    {0x3041, 0x3096},   {0x30a1, 0x30fa}, {0x3131, 0x318e}, /* Kana, Jamo */
    {0x4e00, 0x9fff},   {0xac00, 0xd7a3},                   /* Han, Hangul */
    {0x20000, 0x2a6df},                                     /* Han */
};

static bool is_letter(uint32_t cp) {
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (cp >= letters[i].from && cp <= letters[i].to) return true;
  return false;
}

static bool hex_digit(int32_t c, uint32_t *v) {
  uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                   : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                   : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                          : 16;
  if (digit < 16) *v = *v * 16 + digit;
  return digit < 16;
}

/* \uHHHH or \u{H…}, which names know also without the u flag. */
static bool read_escape(struct parse *p, uint32_t *cp) {
  *cp = 0;
  if (!parse_take(p, '\\') || !parse_take(p, 'u')) return false;
  bool braces = parse_take(p, '{');
  size_t from = p->i, most = braces ? 6 : 4;
  while (p->i - from < most && hex_digit(parse_peek(p, 0), cp))
    p->i++;
  return braces ? p->i > from && parse_take(p, '}') : p->i - from == 4;
}

static bool read_point(struct parse *p, uint32_t *cp) {
  if (parse_peek(p, 0) == '\\') return read_escape(p, cp);
  *cp = (uint32_t)parse_peek(p, 0);
  p->i++;
  return true;
}

/* One code point; surrogates meet here, written or escaped. */
static bool read_character(struct parse *p, uint32_t *cp) {
  if (!read_point(p, cp)) return false;
  int32_t next = parse_peek(p, 0);
  if ((*cp & 0xfffffc00) != 0xd800 || (next != '\\' && (next & 0xfc00) != 0xdc00)) return true;
  uint32_t low;
  if (!read_point(p, &low) || (low & 0xfffffc00) != 0xdc00) return false;
  *cp = 0x10000 + ((*cp & 0x3ff) << 10) + (low & 0x3ff);
  return true;
}

static bool fits(struct parse *p, uint32_t cp, bool first, size_t at) {
  bool digit = cp >= '0' && cp <= '9';
  if (is_letter(cp) || cp == '_' || cp == '$' || (digit && !first)) return true;
  bool other = cp >= 128 && (cp & 0xfffff800) != 0xd800;
  return parse_fail(p, at, other ? T_REGEX_NAME_LETTER : T_REGEX_NAME,
                    tree_source(p->tree, at, p->i));
}

bool parse_name(struct parse *p, struct name *name) {
  const struct tree *t = p->tree;
  size_t start = p->i, end = p->i;
  while (end < t->n && t->units[end] != '>')
    end++;
  if (end == t->n) return parse_fail(p, start, T_REGEX_NAME_OPEN, tree_source(t, start, end));
  uint32_t *cps = arena_array(&p->tree->arena, uint32_t, end - start + 1);
  if (!cps) {
    p->fail = REIN_MEMORY;
    return false;
  }
  size_t n = 0;
  while (!parse_take(p, '>')) {
    size_t at = p->i;
    if (!read_character(p, &cps[n]))
      return parse_fail(p, at, T_REGEX_NAME, tree_source(t, at, at + 1));
    if (!fits(p, cps[n], n == 0, at)) return false;
    n++;
  }
  *name = (struct name){cps, n};
  return n > 0 || parse_fail(p, start, T_REGEX_NAME, STR(">"));
}
