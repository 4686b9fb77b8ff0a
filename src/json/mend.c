/* Mending source text that goes on as it was written: only what no peer takes,
 * escapes of surrogates without their other half and bytes that are not UTF-8,
 * is replaced. The text need not be JSON: it may be cut or wrong.
 */
#include "json/inside.h"

#include "base/utf8.h"

/* Bytes of the escape at p, which is a backslash: a whole \uXXXX, a pair of
 * such, or a backslash and the character it stands before. *lone: it is half
 * of a pair alone. */
static size_t escape_size(struct str s, bool *lone) {
  *lone = false;
  if (s.n < 2 || (unsigned char)s.p[1] >= 0x80) return 1;
  int32_t unit = s.p[1] == 'u' ? json_hex4(s.p + 2, s.n - 2) : -1;
  if (unit < 0) return 2;
  if (json_is_high(unit) && s.n >= 8 && s.p[6] == '\\' && s.p[7] == 'u' &&
      json_is_low(json_hex4(s.p + 8, s.n - 8)))
    return 12;
  *lone = json_is_high(unit) || json_is_low(unit);
  return 6;
}

void json_mend(struct buf *out, struct str text) {
  while (text.n > 0) {
    size_t run = str_find_char(text, '\\');
    utf8_repair(out, str_part(text, 0, run));
    text = str_part(text, run, text.n);
    if (text.n == 0) break;
    bool lone;
    size_t n = escape_size(text, &lone);
    buf_put(out, lone ? STR("\\ufffd") : str_part(text, 0, n));
    text = str_part(text, n, text.n);
  }
}
