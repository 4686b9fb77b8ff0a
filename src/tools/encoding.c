/* Telling encodings apart, and converting through iconv. */
#include "tools/encoding.h"

#include "base/utf8.h"
#include "tools/kind.h"

#include <errno.h>
#include <iconv.h>

#define STEP 65536u        /* of output at once */
#define UTF16_LEAST 4      /* units: fewer tell nothing */
#define UTF16_ASCII_PART 4 /* one unit in so many must be ASCII, without a mark */

struct names {
  enum encoding encoding;
  const char *shown, *iconv;
  const char *given[6];
};

static const struct names names[] = {
    {ENCODING_UTF8, "UTF-8", "UTF-8", {"utf8", NULL}},
    {ENCODING_UTF16LE, "UTF-16LE", "UTF-16LE", {"utf16le", NULL}},
    {ENCODING_UTF16BE, "UTF-16BE", "UTF-16BE", {"utf16be", NULL}},
    {ENCODING_CP949,
     "CP949",
     "UHC",
     {"cp949", "euckr", "uhc", "ms949", "windows949", "ksc56011987"}},
};
#define NAMES (sizeof names / sizeof *names)

static bool is_name(struct str name, const char *plain) {
  char room[16];
  size_t n = 0;
  for (size_t i = 0; i < name.n; i++) {
    if (name.p[i] == '-' || name.p[i] == '_') continue;
    if (n == sizeof room) return false;
    room[n++] = name.p[i];
  }
  return str_eq_nocase((struct str){room, n}, str_of(plain));
}

bool encoding_named(struct str name, enum encoding *encoding) {
  for (size_t i = 0; i < NAMES; i++)
    for (size_t k = 0; k < 6 && names[i].given[k]; k++)
      if (is_name(name, names[i].given[k])) {
        *encoding = names[i].encoding;
        return true;
      }
  return false;
}

struct str encoding_name(enum encoding encoding) {
  for (size_t i = 0; i < NAMES; i++)
    if (names[i].encoding == encoding) return str_of(names[i].shown);
  return STR("?");
}

static const char *iconv_name(enum encoding encoding) {
  for (size_t i = 0; i < NAMES; i++)
    if (names[i].encoding == encoding) return names[i].iconv;
  return NULL;
}

/* ---- telling ------------------------------------------------------------ */

/* Text in UTF-16 without a mark: its ASCII has zero bytes on one side alone, and
 * nothing in it is a control. */
static bool is_utf16(struct str bytes, bool big) {
  size_t units = bytes.n / 2, ascii = 0;
  if (units < UTF16_LEAST) return false;
  for (size_t i = 0; i + 1 < bytes.n; i += 2) {
    unsigned char high = (unsigned char)bytes.p[big ? i : i + 1];
    unsigned char low = (unsigned char)bytes.p[big ? i + 1 : i];
    if (high) continue;
    if (low < 0x20 && !memchr("\t\n\f\r", low, 4)) return false;
    if (low == 0x7f || low == 0) return false;
    ascii += low < 0x7f;
  }
  return ascii >= units / UTF16_ASCII_PART && ascii > 0;
}

enum pair { PAIR_NONE, PAIR_RARE, PAIR_COMMON };

/* Common is the KS X 1001 area, in which nearly all Korean text lies: lower second
 * bytes are rare syllables, and common in other encodings. */
static enum pair pair_of(unsigned char lead, unsigned char trail) {
  if (lead < 0x81 || lead == 0xff || trail == 0xff) return PAIR_NONE;
  if (trail >= 0xa1) return PAIR_COMMON;
  bool low = (trail >= 0x41 && trail <= 0x5a) || (trail >= 0x61 && trail <= 0x7a) || trail >= 0x81;
  return low && lead <= 0xc6 ? PAIR_RARE : PAIR_NONE;
}

static bool is_korean(struct str bytes, bool whole) {
  size_t pairs = 0, common = 0;
  const unsigned char *p = (const unsigned char *)bytes.p;
  for (size_t i = 0; i < bytes.n; i++) {
    if (p[i] < 0x80) continue;
    if (i + 1 == bytes.n) return !whole && pairs > 0;
    enum pair pair = pair_of(p[i], p[i + 1]);
    if (pair == PAIR_NONE) return false;
    common += pair == PAIR_COMMON;
    pairs++;
    i++;
  }
  return pairs > 0 && common >= pairs - pairs / 4;
}

/* UTF-8 whose last character may be cut off. */
static bool is_utf8(struct str bytes, bool whole) {
  size_t bad = utf8_bad(bytes);
  if (bad == bytes.n) return true;
  if (whole || bytes.n - bad > 3) return false;
  unsigned char c = (unsigned char)bytes.p[bad];
  size_t wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
  return wanted > bytes.n - bad;
}

/* Of bytes without a mark that hold a zero byte. */
static enum encoding with_zeroes(struct str bytes, bool whole) {
  if (whole && bytes.n % 2) return ENCODING_BINARY;
  if (is_utf16(bytes, false)) return ENCODING_UTF16LE;
  return is_utf16(bytes, true) ? ENCODING_UTF16BE : ENCODING_BINARY;
}

static enum encoding with_mark(struct str bytes, size_t *mark) {
  *mark = 2;
  if (str_starts(bytes, STR("\xfe\xff"))) return ENCODING_UTF16BE;
  if (str_starts(bytes, STR("\xff\xfe")) && !str_starts(bytes, STR("\xff\xfe\0\0")))
    return ENCODING_UTF16LE;
  *mark = str_starts(bytes, STR("\xef\xbb\xbf")) ? 3 : 0;
  return ENCODING_UTF8;
}

enum encoding encoding_of(struct str bytes, bool whole, size_t *mark) {
  enum encoding marked = with_mark(bytes, mark);
  if (marked != ENCODING_UTF8) return marked;
  if (str_has(bytes, (struct str){"", 1})) {
    *mark = 0;
    return with_zeroes(bytes, whole);
  }
  if (kind_of(bytes) != T_NONE) return ENCODING_BINARY;
  if (is_utf8(str_part(bytes, *mark, bytes.n), whole)) return ENCODING_UTF8;
  *mark = 0;
  return is_korean(bytes, whole) ? ENCODING_CP949 : ENCODING_OTHER;
}

/* ---- converting --------------------------------------------------------- */

/* Appends all of `in`; stops at what cannot be converted, *at in `in`. */
static enum rein_code convert(const char *from, const char *to, struct str in, struct buf *out,
                              size_t *at) {
  iconv_t cd = iconv_open(to, from);
  if (cd == (iconv_t)-1) return errno == ENOMEM ? REIN_MEMORY : REIN_SYSTEM;
  char *p = (char *)(uintptr_t)in.p;
  size_t left = in.n;
  enum rein_code code = REIN_OK;
  while (left && code == REIN_OK) {
    size_t space = left < STEP ? left + 16 : STEP;
    char *room = buf_room(out, space), *to_p = room;
    if (!room) {
      code = out->fail;
      break;
    }
    size_t done = iconv(cd, &p, &left, &to_p, &space);
    int error = errno;
    buf_grown(out, (size_t)(to_p - room));
    if (done == (size_t)-1 && error != E2BIG) code = REIN_INPUT;
    if (done != (size_t)-1 && done > 0) code = REIN_INPUT; /* something was only likened */
  }
  (void)iconv_close(cd);
  *at = in.n - left;
  return code;
}

enum rein_code encoding_write(enum encoding encoding, struct str text, struct buf *bytes,
                              size_t *at) {
  const char *to = iconv_name(encoding);
  *at = 0;
  if (!to) return REIN_INPUT;
  if (encoding != ENCODING_UTF8) return convert("UTF-8", to, text, bytes, at);
  buf_put(bytes, text);
  return bytes->fail;
}

enum rein_code encoding_read(enum encoding encoding, struct str bytes, struct buf *text,
                             size_t *at) {
  const char *from = iconv_name(encoding);
  size_t begin = text->n, back_at;
  *at = 0;
  if (!from) return REIN_INPUT;
  if (encoding == ENCODING_UTF8) {
    *at = utf8_bad(bytes);
    buf_put(text, bytes);
    return *at < bytes.n ? REIN_INPUT : text->fail;
  }
  enum rein_code code = convert(from, "UTF-8", bytes, text, at);
  if (code != REIN_OK) return code;
  struct buf back;
  buf_init(&back, bytes.n + STEP + 16);
  code = encoding_write(encoding, str_part(buf_str(text), begin, text->n), &back, &back_at);
  struct str again = buf_str(&back);
  if (code == REIN_OK && !str_eq(again, bytes)) {
    code = REIN_INPUT;
    for (*at = 0; *at < again.n && *at < bytes.n && again.p[*at] == bytes.p[*at];)
      ++*at;
  }
  buf_release(&back);
  return code;
}

enum rein_code encoding_show(enum encoding encoding, struct str bytes, struct buf *text,
                             bool *broken) {
  const char *from = iconv_name(encoding);
  if (!from || encoding == ENCODING_UTF8) {
    *broken |= !utf8_valid(bytes);
    utf8_repair(text, bytes);
    return text->fail;
  }
  size_t unit = encoding == ENCODING_CP949 ? 1 : 2;
  while (bytes.n) {
    size_t at;
    enum rein_code code = convert(from, "UTF-8", bytes, text, &at);
    if (code != REIN_INPUT) return code;
    *broken = true;
    buf_lit(text, "\xef\xbf\xbd");
    bytes = str_part(bytes, at + unit, bytes.n);
  }
  return text->fail;
}
