/* Fills a scan's block from a file, UTF-16 turned into UTF-8 on the way. */
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

/* ---- UTF-16 ------------------------------------------------------------------------- */

void scan_go_wide(struct scan *s, bool big) {
  s->wide = big ? SCAN_BIG : SCAN_LITTLE;
  s->wide_left = s->n = s->read = 0;
  s->eof = false;
  if (lseek(s->fd, 2, SEEK_SET) < 0) s->error = errno;
}

static uint32_t unit_at(const struct scan *s, size_t i) {
  unsigned char first = (unsigned char)s->wide_room[i], second = (unsigned char)s->wide_room[i + 1];
  return s->wide == SCAN_BIG ? first * 256u + second : second * 256u + first;
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

static bool read_wide(struct scan *s) {
  if (!s->wide_room && !(s->wide_room = mem_resize(NULL, SCAN_WIDE_ROOM))) return false;
  size_t room = (SCAN_BLOCK - s->n) / 3 * 2; /* two bytes become at most three */
  room = room < SCAN_WIDE_ROOM ? room : SCAN_WIDE_ROOM;
  if (room < 8) return true;
  size_t got = read_some(s, s->wide_room + s->wide_left, room - s->wide_left);
  size_t n = s->wide_left + got, i = 0, took;
  s->eof = got == 0;
  while (i + 2 <= n && (took = narrow_one(s, i, n, s->eof)))
    i += took;
  s->wide_left = n - i;
  memmove(s->wide_room, s->wide_room + i, s->wide_left);
  return true;
}

/* ---- blocks ------------------------------------------------------------------------- */

bool scan_read(struct scan *s) {
  if (s->wide != SCAN_BYTES) return read_wide(s);
  size_t room = SCAN_BLOCK - s->n;
  size_t got = read_some(s, s->block + s->n, room < SCAN_READ ? room : SCAN_READ);
  s->n += got;
  s->eof = got == 0 || (s->size && s->read == s->size);
  return true;
}
