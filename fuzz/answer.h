/* An answer on a wire: any bytes, whole and cut, give the same event; a reply's
 * streamed pieces are its text, good arguments are an object, and the message
 * that goes back is JSON that a strict reader takes. The first byte says how to
 * cut, and which status it is. Whoever includes this has defined fuzz_wire. */
#pragma once

#include "base/utf8.h"
#include "json/json.h"
#include "wire/attempt.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void must(bool fine) {
  if (!fine) abort();
}

static void is_sound_json(struct str text) {
  struct arena arena;
  struct json *doc = NULL;
  arena_init(&arena, 256u << 20);
  enum rein_code code = json_parse(&arena, text, JSON_STRICT, &doc, NULL);
  must(code == REIN_OK || code == REIN_LIMIT);
  must(code != REIN_OK || !doc->surrogate);
  arena_release(&arena);
}

/* What goes back to servers of each kind: one value or more, with commas between. */
static void check_message(const struct reply *r, const char *address, bool drop_thinking) {
  struct message m = {ROLE_ASSISTANT, r->blocks, r->count};
  struct str at = str_of(address);
  const struct quirks *quirks = fuzz_wire->find_quirks ? fuzz_wire->find_quirks(at) : NULL;
  struct buf message;
  buf_init(&message, 256u << 20);
  buf_c(&message, '[');
  if (fuzz_wire->put_message(&message, &m, drop_thinking, quirks)) {
    buf_c(&message, ']');
    is_sound_json(buf_str(&message));
  }
  buf_release(&message);
}

static void check_reply(const struct reply *r, struct str shown) {
  struct buf text;
  buf_init(&text, 64u << 20);
  for (size_t i = 0; i < r->count; i++) {
    const struct block *b = &r->blocks[i];
    if (b->kind == BLOCK_TEXT) buf_put(&text, b->text);
    must(b->kind != BLOCK_TOOL_USE || b->id.n);
    must(b->kind != BLOCK_TOOL_USE || utf8_valid(b->args));
    if (b->kind == BLOCK_TOOL_USE && !b->args_bad) is_sound_json(b->args);
  }
  must(utf8_valid(buf_str(&text)) && str_eq(buf_str(&text), shown));
  check_message(r, "", false);
  check_message(r, "https://openrouter.ai/", false);
  check_message(r, "https://api.deepseek.com/", true);
  buf_release(&text);
}

static void note_reply(struct buf *out, const struct reply *r) {
  buf_fmt(out, "%d %lld %lld", r->stop, (long long)r->usage.input, (long long)r->usage.output);
  for (size_t i = 0; i < r->count; i++) {
    const struct block *b = &r->blocks[i];
    buf_fmt(out, "\n%d%d%d", b->kind, b->args_bad, b->cut);
    buf_put(out, b->text);
    buf_put(out, b->id);
    buf_put(out, b->name);
    buf_put(out, b->args);
    buf_put(out, b->raw);
  }
}

static void note_fault(struct buf *out, const struct fault *f) {
  buf_fmt(out, "%d %d %d %d", f->kind, f->began, f->billed, f->streamed_text);
  buf_put(out, f->type);
  buf_c(out, ' ');
  buf_put(out, f->message);
}

static void read_all(struct buf *out, struct str in, size_t piece, int status) {
  struct attempt *a = NULL;
  struct event event;
  struct buf shown;
  struct str text;
  bool thinking;
  must(attempt_new(fuzz_wire, 1, &a) == REIN_OK);
  attempt_status(a, status);
  buf_init(&shown, 64u << 20);
  for (size_t at = 0; at < in.n; at += piece) {
    attempt_bytes(a, str_part(in, at, piece));
    if (attempt_withdrawn(a)) buf_reset(&shown);
    while (attempt_piece(a, &text, &thinking))
      if (!thinking) buf_put(&shown, text);
  }
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  if (attempt_withdrawn(a)) buf_reset(&shown);
  while (attempt_piece(a, &text, &thinking))
    if (!thinking) buf_put(&shown, text);
  if (event.kind == EVENT_REPLY) {
    note_reply(out, event.reply);
    check_reply(event.reply, buf_str(&shown));
  } else {
    must(event.kind == EVENT_FAILED && utf8_valid(event.fault->message));
    note_fault(out, event.fault);
  }
  (void)attempt_raw_error(a);
  buf_release(&shown);
  attempt_free(a);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct buf whole, cut;
  if (size == 0) return 0;
  struct str in = {(const char *)data + 1, size - 1};
  int status = data[0] % 16 == 15 ? 400 : 200;
  size_t pieces[] = {1, 1 + data[0]};
  buf_init(&whole, 256u << 20);
  buf_init(&cut, 256u << 20);
  read_all(&whole, in, in.n ? in.n : 1, status);
  for (size_t i = 0; i < 2; i++) {
    buf_reset(&cut);
    read_all(&cut, in, pieces[i], status);
    must(str_eq(buf_str(&whole), buf_str(&cut)));
  }
  buf_release(&whole);
  buf_release(&cut);
  return 0;
}
