/* Every recorded and made stream of the Messages API decodes as expected.jsonl
 * says: whole, in 1-byte and in 7-byte pieces. */
#include "json/json.h"
#include "rpc/sse.h"
#include "sha256.h"
#include "shared.h"

static const struct json *want_of(const struct recording *s, const char *key) {
  return json_get(s->want, key);
}

static void says(const struct recording *s, const char *what, bool fine) {
  if (!fine) fail_msg("%.*s in pieces of %zu: %s", (int)s->name.n, s->name.p, s->size, what);
}

static void check_count(const struct recording *s, const char *key, int64_t got) {
  int64_t want = 0;
  (void)json_int(json_get(want_of(s, "usage"), key), &want);
  says(s, key, got == want);
}

static void check_usage(const struct recording *s, const struct usage *u) {
  check_count(s, "input_tokens", u->input);
  check_count(s, "output_tokens", u->output);
  check_count(s, "cache_read_input_tokens", u->cache_read);
  check_count(s, "cache_creation_input_tokens", u->cache_write);
}

static void check_shown(const struct recording *s, struct str text) {
  const struct json *whole = want_of(s, "text"), *digest = want_of(s, "text_sha256");
  char hex[65];
  int64_t length;
  sha256_hex(text, hex);
  if (whole) says(s, "text", str_eq(json_text(whole), text));
  if (digest) says(s, "sha256 of the text", str_is(json_text(digest), hex));
  if (json_int(want_of(s, "text_len"), &length))
    says(s, "length of the text", (int64_t)utf8_count(text) == length);
}

static struct str type_of(struct arena *arena, const struct block *b) {
  struct json *doc = NULL;
  switch (b->kind) {
  case BLOCK_TEXT: return STR("text");
  case BLOCK_TOOL_USE: return STR("tool_use");
  case BLOCK_TOOL_RESULT: return STR("tool_result");
  case BLOCK_THINKING:
  case BLOCK_OPAQUE:
    assert_int_equal(json_parse(arena, b->raw, JSON_STRICT, &doc, NULL), REIN_OK);
    return json_text(json_get(doc, "type"));
  }
  return STR_NONE;
}

static void check_call(const struct recording *s, const struct json *want, const struct block *b) {
  says(s, "id of a call", str_eq(json_text(json_get(want, "id")), b->id));
  says(s, "name of a call", str_eq(json_text(json_get(want, "name")), b->name));
  says(s, "arguments", str_eq(json_text(json_get(want, "arguments")), b->args));
  says(s, "verdict on arguments", json_true(json_get(want, "valid_json")) == !b->args_bad);
}

static void check_blocks(const struct recording *s, const struct reply *r) {
  const struct json *type = want_of(s, "block_types")->first, *call = want_of(s, "calls")->first;
  struct arena arena;
  arena_init(&arena, 64u << 20);
  for (size_t i = 0; i < r->count; i++) {
    says(s, "block types", type && str_eq(type->text, type_of(&arena, &r->blocks[i])));
    type = type->next;
    if (r->blocks[i].kind != BLOCK_TOOL_USE) continue;
    says(s, "number of calls", call != NULL);
    check_call(s, call, &r->blocks[i]);
    call = call->next;
  }
  says(s, "blocks are missing", type == NULL && call == NULL);
  arena_release(&arena);
}

static bool is_runnable(const struct reply *r) {
  bool calls = false;
  for (size_t i = 0; i < r->count; i++) {
    calls = calls || r->blocks[i].kind == BLOCK_TOOL_USE;
    if (r->blocks[i].args_bad) return false;
  }
  return calls;
}

/* A stream that is not whole gives no reply: its draft is looked at. */
static void check_broken(const struct recording *s, struct str bytes, const struct fault *f) {
  struct draft *d = NULL;
  struct reply r;
  struct sse sse;
  struct sse_event event;
  assert_int_equal(draft_new(&wire_anthropic, &d), REIN_OK);
  sse_init(&sse);
  sse_feed(&sse, bytes);
  while (sse_next(&sse, &event))
    wire_anthropic.on_event(d, &event);
  assert_int_equal(draft_reply(d, &r, NULL), REIN_OK);
  check_blocks(s, &r);
  says(s, "runnable", !json_true(want_of(s, "runnable")));
  check_usage(s, &f->usage);
  if (json_is(want_of(s, "error"), JSON_STRING)) {
    says(s, "error", str_eq(json_text(want_of(s, "error")), f->type));
    says(s, "class", f->kind == FAULT_OVERLOADED);
  } else {
    says(s, "class", f->kind == FAULT_BROKEN);
  }
  sse_release(&sse);
  draft_free(d);
}

static void check_whole(const struct recording *s, const struct reply *r) {
  says(s, "stop", str_eq(json_text(want_of(s, "stop")), r->stop_word));
  says(s, "model", str_eq(json_text(want_of(s, "model")), r->model));
  says(s, "runnable", json_true(want_of(s, "runnable")) == is_runnable(r));
  says(s, "usage is known", r->usage.known_input && r->usage.known_output);
  check_usage(s, &r->usage);
  check_blocks(s, r);
}

static void check_stream(struct recording *s, struct str bytes) {
  struct attempt *a = attempt_open(200);
  struct event event;
  struct buf text;
  buf_init(&text, 16u << 20);
  play_pieces(a, bytes, s->size, &text);
  attempt_close(a, &text, &event);
  says(s, "complete", json_true(want_of(s, "complete")) == (event.kind == EVENT_REPLY));
  if (event.kind == EVENT_REPLY)
    check_whole(s, event.reply);
  else
    check_broken(s, bytes, event.fault);
  check_shown(s, buf_str(&text));
  buf_release(&text);
  attempt_free(a);
}

static void test_streams(void **state) {
  (void)state;
  assert_true(recordings_each(true, check_stream) >= 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
