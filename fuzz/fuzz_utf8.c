/* Any bytes as text: repaired alike whole and in pieces, cut to what was asked,
 * quoted so that it reads back.
 */
#include "base/utf8.h"
#include "json/json.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MUST(what)                                                                                 \
  do {                                                                                             \
    if (!(what)) abort();                                                                          \
  } while (0)

#define BYTES_MAX ((size_t)16 << 20)

/* The first byte says how large the pieces are. */
static void check_join(struct str s, struct str repaired, size_t size) {
  struct buf joined = {.max = BYTES_MAX};
  struct utf8_join j = {0};
  for (size_t at = 0; at < s.n; at += size) {
    utf8_join(&j, &joined, str_part(s, at, size));
    MUST(j.held_n <= 5);
  }
  utf8_join_end(&j, &joined);
  MUST(str_eq(buf_str(&joined), repaired));
  buf_release(&joined);
}

static void check_cuts(struct str s, size_t max) {
  struct str head = utf8_head(s, max), tail = utf8_tail(s, max);
  MUST(str_starts(s, head) && str_ends(s, tail));
  MUST(utf8_valid(head) && utf8_valid(tail));
  MUST(utf8_count(head) <= max && utf8_count(tail) <= max);
  MUST(max == 0 || s.n == 0 || (head.n > 0 && tail.n > 0));
  MUST(utf8_width(head) <= utf8_width(s));
}

static void check_quote(struct str s, struct str repaired) {
  struct buf quoted = {.max = BYTES_MAX};
  struct arena arena;
  struct json *doc = NULL;
  arena_init(&arena, BYTES_MAX);
  json_quote(&quoted, s);
  MUST(json_parse(&arena, buf_str(&quoted), JSON_STRICT, &doc, NULL) == REIN_OK);
  MUST(str_eq(json_text(doc), repaired));
  arena_release(&arena);
  buf_release(&quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n < 2) return 0;
  struct str s = {(const char *)data + 2, n - 2};
  struct buf repaired = {.max = BYTES_MAX}, again = {.max = BYTES_MAX}, shown = {.max = BYTES_MAX};
  utf8_repair(&repaired, s);
  struct str text = buf_str(&repaired);
  MUST(utf8_valid(text));
  MUST(utf8_valid(s) == str_eq(s, text));
  utf8_repair(&again, text);
  MUST(str_eq(text, buf_str(&again)));
  check_join(s, text, data[0] % 9 + 1);
  check_cuts(text, data[1]);
  utf8_head(s, data[1]);
  utf8_tail(s, data[1]);
  check_quote(s, text);
  utf8_show(&shown, s, data[0] & 1);
  MUST(utf8_valid(buf_str(&shown)));
  MUST(str_find_char(buf_str(&shown), '\x1b') == shown.n);
  buf_release(&shown);
  buf_release(&again);
  buf_release(&repaired);
  return 0;
}
