/* What the files of src/json share with each other and nobody else.
 */
#pragma once

#include "json/json.h"
#include "json/number.h"

/* Bytes at the front of a string's inside that mean themselves: everything up
 * to a quote, a backslash, a control, or the end. Eight at a time: each term
 * below sets the top bit of the bytes it looks for (and, by the borrow, perhaps
 * of later ones, which is why only the first one counts). */
static inline size_t json_plain_run(const char *p, size_t n) {
  const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
  size_t i = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (; n - i >= 8; i += 8) {
    uint64_t word;
    memcpy(&word, p + i, 8);
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
    uint64_t hits =
        (((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((word - ones * 0x20) & ~word)) &
        tops;
    if (hits) return i + (size_t)__builtin_ctzll(hits) / 8;
  }
#endif
  while (i < n && (unsigned char)p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')
    i++;
  return i;
}

/* The value of four hexadecimal digits at p; -1 when there are none. */
int32_t json_hex4(const char *p, size_t n);
static inline bool json_is_high(int32_t unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
static inline bool json_is_low(int32_t unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

/* The members of an object sorted by key, twins in their order, as an array of
 * object->count pointers for mem_free; NULL when there is no memory, or no
 * member. */
const struct json **json_sorted(const struct json *object);

void json_canon_number(struct buf *out, struct str number);
