/* A text and what is searched in it (the first line of the input): every place is
 * one, in order, and what stands between the places is kept byte for byte. */
#include "tools/splice.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
  do {                                                                                             \
    if (!(what)) abort();                                                                          \
  } while (0)
#define MOST 64

/* Equal, where an LF of `old` may be a CRLF of the text. */
static bool matches(struct str part, struct str old) {
  bool loose = str_find_char(old, '\r') == old.n;
  size_t i = 0;
  for (size_t k = 0; k < old.n; k++, i++) {
    if (loose && old.p[k] == '\n' && i + 1 < part.n && part.p[i] == '\r') i++;
    if (i >= part.n || part.p[i] != old.p[k]) return false;
  }
  return i == part.n;
}

static void check_kept(struct str text, const struct spots *spots, struct str new) {
  struct buf made, one;
  buf_init(&made, 64u << 20);
  buf_init(&one, 1u << 20);
  splice(&made, text, spots, new);
  MUST(!made.fail);
  struct str left = buf_str(&made);
  size_t from = 0;
  for (size_t i = 0; i <= spots->count; i++) {
    bool last = i == spots->count;
    size_t to = last ? text.n : spots->list[i].at;
    struct str kept = str_part(text, from, to - from);
    MUST(str_starts(left, kept));
    left = str_part(left, kept.n, left.n);
    if (last) break;
    buf_reset(&one);
    splice_new(&one, text, &spots->list[i], new);
    MUST(str_starts(left, buf_str(&one)));
    left = str_part(left, one.n, left.n);
    from = to + spots->list[i].n;
  }
  MUST(left.n == 0);
  buf_release(&one);
  buf_release(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str all = {(const char *)data, size}, old, text;
  struct spots spots;
  if (size > 65536 || !str_split(all, '\0', &old, &text) || !old.n) return 0;
  MUST(spots_find(text, old, MOST, &spots) == REIN_OK);
  size_t before = 0;
  for (size_t i = 0; i < spots.count; i++) {
    const struct spot *spot = &spots.list[i];
    MUST(i == 0 || spot->at > before);
    MUST(spot->at + spot->n <= text.n);
    MUST(matches(str_part(text, spot->at, spot->n), old));
    before = spot->at;
  }
  if (!spots.overlap) {
    check_kept(text, &spots, STR("new\nlines"));
    check_kept(text, &spots, old);
  }
  spots_release(&spots);
  return 0;
}
