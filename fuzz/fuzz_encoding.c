/* Any bytes as a file: told apart in one way, shown as UTF-8, and what is read in
 * an encoding comes back as the same bytes, whole and from any cut on. */
#include "tools/encoding.c"
#include "tools/kind.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
  do {                                                                                             \
    if (!(what)) abort();                                                                          \
  } while (0)

static void check_back(enum encoding encoding, struct str bytes) {
  struct buf text, back, shown;
  size_t at;
  bool broken = false;
  buf_init(&text, 4u << 20);
  buf_init(&back, 4u << 20);
  buf_init(&shown, 4u << 20);
  enum rein_code code = encoding_read(encoding, bytes, &text, &at);
  MUST(code == REIN_OK || (code == REIN_INPUT && at <= bytes.n));
  MUST(encoding_show(encoding, bytes, &shown, &broken) == REIN_OK);
  MUST(utf8_valid(buf_str(&shown)));
  if (code == REIN_OK) {
    MUST(utf8_valid(buf_str(&text)) && str_eq(buf_str(&text), buf_str(&shown)) && !broken);
    MUST(encoding_write(encoding, buf_str(&text), &back, &at) == REIN_OK);
    MUST(str_eq(buf_str(&back), bytes));
  }
  buf_release(&shown);
  buf_release(&back);
  buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str bytes = {(const char *)data, size};
  if (size > 65536) return 0;
  size_t mark, cut = size ? data[0] % size : 0;
  enum encoding whole = encoding_of(bytes, true, &mark);
  MUST(mark <= size);
  (void)encoding_of(str_part(bytes, 0, cut), false, &mark);
  if (whole == ENCODING_UTF8) {
    (void)encoding_of(bytes, true, &mark);
    MUST(utf8_valid(str_part(bytes, mark, size)));
  }
  for (int e = ENCODING_UTF8; e <= ENCODING_CP949; e++) {
    check_back((enum encoding)e, bytes);
    check_back((enum encoding)e, str_part(bytes, cut, size));
  }
  return 0;
}
