/* Fills a scan's block from a file, UTF-16 and CP949 turned into UTF-8 on the way. */
#include "tools/scan_inside.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <unistd.h>

/* Reads once; 0: the end, or an error, which is kept. */
static size_t read_some(struct scan *s, char *to, size_t room) {
  for (;;) {
    ssize_t n = read(s->fd, to, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) s->error = errno;
    s->read += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
  }
}

void scan_decode(struct scan *s, enum encoding encoding, size_t from, size_t offset) {
  s->encoding = encoding;
  s->judged = true;
  s->wide_left = 0;
  s->n = from;
  s->read = offset;
  s->eof = false;
  if (lseek(s->fd, (off_t)offset, SEEK_SET) < 0) s->error = errno;
}

/* ---- UTF-16 ------------------------------------------------------------------------- */

static uint32_t unit_at(const struct scan *s, size_t i) {
  unsigned char first = (unsigned char)s->wide_room[i], second = (unsigned char)s->wide_room[i + 1];
  return s->encoding == ENCODING_UTF16BE ? first * 256u + second : second * 256u + first;
}

/* One character at byte i, as UTF-8 into the block; how many bytes it took, 0:
 * the rest of it is not there yet. */
static size_t narrow_one(struct scan *s, size_t i, size_t n, bool last) {
  uint32_t cp = unit_at(s, i);
  size_t took = 2;
  if ((cp & 0xfc00) == 0xd800) {
    if (i + 4 > n && !last) return 0;
    uint32_t low = i + 4 <= n ? unit_at(s, i + 2) : 0;
    took = (low & 0xfc00) == 0xdc00 ? 4 : 2;
    cp = took == 4 ? 0x10000 + ((cp & 0x3ff) << 10) + (low & 0x3ff) : 0xfffd;
  } else if ((cp & 0xfc00) == 0xdc00) {
    cp = 0xfffd;
  }
  s->n += utf8_write(s->block + s->n, cp);
  return took;
}

/* As much of wide_room as there are whole characters; how many bytes that is. */
static size_t narrow(struct scan *s, size_t n, bool last) {
  size_t i = 0, took;
  while (i + 2 <= n && (took = narrow_one(s, i, n, last)))
    i += took;
  return i;
}

/* ---- CP949 -------------------------------------------------------------------------- */

/* The last byte may be the first half of a character, whose other half comes. */
static size_t whole_pairs(const char *p, size_t n, bool last) {
  size_t i = 0;
  while (i + 1 < n)
    i += (unsigned char)p[i] < 0x80 ? 1 : 2;
  return i < n && !last && (unsigned char)p[i] >= 0x80 ? i : n;
}

static size_t from_korean(struct scan *s, size_t n, bool last) {
  bool broken = false;
  size_t whole = whole_pairs(s->wide_room, n, last);
  buf_reset(&s->korean);
  struct str bytes = {s->wide_room, whole};
  enum rein_code code = encoding_show(ENCODING_CP949, bytes, &s->korean, &broken);
  struct str text = buf_str(&s->korean);
  s->decode_fail = code == REIN_MEMORY;
  if (code) s->error = ENOSYS; /* this system has no such conversion */
  if (code) return n;
  if (text.n) memcpy(s->block + s->n, text.p, text.n);
  s->n += text.n;
  return whole;
}

/* ---- both --------------------------------------------------------------------------- */

static bool read_decoded(struct scan *s) {
  if (!s->wide_room && !(s->wide_room = mem_resize(NULL, SCAN_WIDE_ROOM))) return false;
  size_t room = (SCAN_BLOCK - s->n) / 3; /* one byte becomes at most three */
  room = room < SCAN_WIDE_ROOM ? room : SCAN_WIDE_ROOM;
  if (room < 8) return true;
  size_t got = read_some(s, s->wide_room + s->wide_left, room - s->wide_left);
  size_t n = s->wide_left + got;
  s->eof = got == 0;
  size_t used = s->encoding == ENCODING_CP949 ? from_korean(s, n, s->eof) : narrow(s, n, s->eof);
  s->wide_left = n - used;
  memmove(s->wide_room, s->wide_room + used, s->wide_left);
  return !s->decode_fail;
}

/* ---- blocks ------------------------------------------------------------------------- */

bool scan_read(struct scan *s) {
  if (scan_decodes(s)) return read_decoded(s);
  size_t room = SCAN_BLOCK - s->n;
  size_t got = read_some(s, s->block + s->n, room < SCAN_READ ? room : SCAN_READ);
  s->n += got;
  s->eof = got == 0 || (s->size && s->read == s->size);
  return true;
}
