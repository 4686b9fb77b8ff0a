/* What the wire's tests share: the handed files, and an answer fed in pieces. */
#pragma once

#include "base/buf.h"
#include "wire/attempt.h"
#include "wire/wires.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* A handed file, below REIN_SHARED; where the files are not there at all, the
 * test says "skipped". Release the buffer. */
static inline void shared_read(struct buf *file, const char *path) {
  char whole[1024];
  const char *root = getenv("REIN_SHARED");
  snprintf(whole, sizeof whole, "%s/wire/README.md", root ? root : "../shared");
  FILE *f = fopen(whole, "rb");
  if (!f)
    skip();
  else
    fclose(f);
  snprintf(whole, sizeof whole, "%s/%s", root ? root : "../shared", path);
  f = fopen(whole, "rb");
  if (!f) fail_msg("%s is missing", whole);
  buf_init(file, 64u << 20);
  size_t n = 1;
  while (n > 0) {
    char *room = buf_room(file, 65536);
    assert_non_null(room);
    n = fread(room, 1, 65536, f);
    buf_grown(file, n);
  }
  fclose(f);
}

/* Feeds the bytes of an answer in pieces of that size; 0: whole. Pieces of text
 * are collected (thinking apart) where there is somewhere to put them. */
static inline void play_pieces(struct attempt *a, struct str bytes, size_t size, struct buf *text) {
  struct str piece;
  bool thinking;
  if (size == 0) size = bytes.n ? bytes.n : 1;
  for (size_t at = 0; at < bytes.n; at += size) {
    attempt_bytes(a, str_part(bytes, at, size));
    if (text && attempt_withdrawn(a)) buf_reset(text);
    while (text && attempt_piece(a, &piece, &thinking))
      if (!thinking) buf_put(text, piece);
  }
}

static inline struct attempt *attempt_open_on(const struct wire *wire, int status) {
  struct attempt *a = NULL;
  assert_int_equal(attempt_new(wire, 7, &a), REIN_OK);
  if (status) attempt_status(a, status);
  return a;
}

static inline struct attempt *attempt_open(int status) {
  return attempt_open_on(&wire_anthropic, status);
}

static inline void attempt_close(struct attempt *a, struct buf *text, struct event *event) {
  struct str piece;
  bool thinking;
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 100, 1000000000, event);
  while (text && attempt_piece(a, &piece, &thinking))
    if (!thinking) buf_put(text, piece);
}
