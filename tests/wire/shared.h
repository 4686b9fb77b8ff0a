/* What the wire's tests share: an answer fed in pieces, and the recorded streams. */
#pragma once

#include "support/shared.h"

#include "json/json.h"
#include "wire/attempt.h"
#include "wire/wires.h"

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

/* A recorded stream in pieces of that size (0: whole), and what it must decode to. */
struct recording {
  const struct json *want;
  const struct wire *wire;
  struct str name;
  size_t size;
  struct buf text, thinking; /* for whoever collects them */
};

static inline const struct wire *recording_wire(const struct json *want) {
  struct str api = json_text(json_get(want, "api"));
  if (str_is(api, "anthropic")) return &wire_anthropic;
  return str_is(api, "chat") ? &wire_chat : &wire_openai;
}

typedef void (*recording_fn)(struct recording *s, struct str bytes);

static inline size_t recording_line(struct str line, bool anthropic, recording_fn check) {
  struct arena arena;
  struct json *doc = NULL;
  struct buf bytes;
  char path[512];
  arena_init(&arena, 64u << 20);
  assert_int_equal(json_parse(&arena, line, JSON_STRICT, &doc, NULL), REIN_OK);
  struct recording s = {
      .want = doc, .wire = recording_wire(doc), .name = json_text(json_get(doc, "file"))};
  bool mine = (s.wire == &wire_anthropic) == anthropic;
  if (mine) {
    snprintf(path, sizeof path, "wire/fixtures/%.*s", (int)s.name.n, s.name.p);
    shared_read(&bytes, path);
    for (s.size = 0; s.size <= 7; s.size += s.size ? 6 : 1)
      check(&s, buf_str(&bytes));
    buf_release(&bytes);
  }
  arena_release(&arena);
  return mine;
}

/* Each stream of expected.jsonl, those of the Messages API or the others: whole,
 * in 1-byte and in 7-byte pieces. Returns how many. */
static inline size_t recordings_each(bool anthropic, recording_fn check) {
  struct buf lines;
  struct str rest, line;
  size_t seen = 0;
  shared_read(&lines, "wire/fixtures/expected.jsonl");
  rest = buf_str(&lines);
  while (str_next(&rest, '\n', &line))
    if (line.n) seen += recording_line(line, anthropic, check);
  buf_release(&lines);
  return seen;
}
