/* Every recorded and made stream of Responses and Chat Completions decodes as
 * expected.jsonl says: whole, in 1-byte and in 7-byte pieces.
 *
 * One recording is four answers in one file, each with its response.created and its
 * response.completed. expected.jsonl has of each place (output_index) what was written
 * there last, over all four: the text of the fourth answer beside the call of the first,
 * with the counts of the fourth; the reasoning and the calls of the second and third are
 * gone. Nobody may read it so: nothing behind an answer's last event counts, a call that
 * was answered would run again, and two would never be. So it is cut into its answers
 * here, each is read as what it is, and what expected.jsonl says is put together from them.
 */
#include "core/record.h"
#include "json/json.h"
#include "rpc/sse.h"
#include "sha256.h"
#include "shared.h"

#define SPLICED "responses-reasoning-encrypted-and-function-calls.sse"

static const struct json *want_of(const struct recording *s, const char *key) {
  return json_get(s->want, key);
}

static struct str want_text(const struct recording *s, const char *key) {
  return json_text(want_of(s, key));
}

static int64_t want_num(const struct json *object, const char *key) {
  int64_t n;
  return json_int(json_get(object, key), &n) ? n : 0;
}

static void says(const struct recording *s, const char *what, bool fine) {
  if (!fine) fail_msg("%.*s in pieces of %zu: %s", (int)s->name.n, s->name.p, s->size, what);
}

static void check_usage(const struct recording *s, const struct usage *u) {
  const struct json *usage = want_of(s, "usage");
  bool chat = s->wire == &wire_chat;
  int64_t input = want_num(usage, chat ? "prompt_tokens" : "input_tokens");
  int64_t output = want_num(usage, chat ? "completion_tokens" : "output_tokens");
  int64_t total = want_num(usage, "total_tokens");
  says(s, "input", usage_prompt(u) == input);
  says(s, "output", u->output == (total - input > output ? total - input : output));
  says(s, "sum", usage_total(u) == (usage->count ? total : 0));
  if (json_get(usage, "prompt_cache_hit_tokens"))
    says(s, "cached", u->cache_read == want_num(usage, "prompt_cache_hit_tokens"));
}

/* A refusal's words are shown, too: they are all there is to read. */
static void check_shown(struct recording *s) {
  const struct json *whole = want_of(s, "text"), *digest = want_of(s, "text_sha256");
  struct buf want;
  char hex[65];
  int64_t length;
  buf_init(&want, 1 << 20);
  sha256_hex(buf_str(&s->text), hex);
  buf_put(&want, json_text(whole));
  buf_put(&want, want_text(s, "refusal"));
  if (whole) says(s, "text", str_eq(buf_str(&want), buf_str(&s->text)));
  if (digest) says(s, "sha256 of the text", str_is(json_text(digest), hex));
  if (json_int(want_of(s, "text_len"), &length))
    says(s, "length of the text", (int64_t)utf8_count(buf_str(&s->text)) == length);
  if (json_int(want_of(s, "reasoning_len"), &length))
    says(s, "length of the reasoning", (int64_t)utf8_count(buf_str(&s->thinking)) == length);
  buf_release(&want);
}

static void check_call(const struct recording *s, const struct json *want, const struct block *b) {
  const struct json *extra = json_get(want, "extra_content");
  struct str id = json_text(json_get(want, "id"));
  if (str_is(id, "(missing)"))
    says(s, "an id is made up", b->id.n > 0);
  else
    says(s, "id of a call", str_eq(id, b->id));
  says(s, "name of a call", str_eq(json_text(json_get(want, "name")), b->name));
  says(s, "arguments", str_eq(json_text(json_get(want, "arguments")), b->args));
  if (!json_is(json_get(want, "valid_json"), JSON_NULL))
    says(s, "verdict on arguments", json_true(json_get(want, "valid_json")) == !b->args_bad);
  if (extra) says(s, "what is kept of a call", str_has(b->raw, extra->source));
}

static const char *type_of(const struct block *b) {
  switch (b->kind) {
  case BLOCK_TEXT: return "message";
  case BLOCK_TOOL_USE:
    return str_has(b->raw, STR("\"custom_tool_call\"")) ? "custom_tool_call" : "function_call";
  case BLOCK_THINKING: return "reasoning";
  case BLOCK_OPAQUE:
  case BLOCK_TOOL_RESULT: break;
  }
  return "";
}

static void check_phases(const struct recording *s, const struct reply *r) {
  const struct json *phases = want_of(s, "phases");
  const struct json *phase = phases ? phases->first : NULL;
  for (size_t i = 0; i < r->count && phase; i++) {
    if (r->blocks[i].kind != BLOCK_TEXT) continue;
    says(s, "phase", str_has(r->blocks[i].raw, phase->text));
    phase = phase->next;
  }
  says(s, "phases are missing", !phase);
}

static void check_items(const struct recording *s, const struct reply *r) {
  const struct json *types = want_of(s, "item_types");
  const struct json *type = types ? types->first : NULL;
  int64_t secrets = 0;
  for (size_t i = 0; i < r->count && types; i++, type = type->next) {
    const struct block *b = &r->blocks[i];
    says(s, "types of items", type && str_is(type->text, type_of(b)));
    says(s, "items are kept whole", b->raw.n > 0 && str_is(b->wire, "openai"));
    secrets += b->kind == BLOCK_THINKING && str_has(b->raw, STR("\"encrypted_content\":\""));
  }
  says(s, "items are missing", !type);
  if (types) says(s, "secrets", secrets == want_num(s->want, "reasoning_with_encrypted_content"));
}

static void check_blocks(const struct recording *s, const struct reply *r) {
  const struct json *call = want_of(s, "calls")->first;
  for (size_t i = 0; i < r->count; i++) {
    if (r->blocks[i].kind != BLOCK_TOOL_USE) continue;
    says(s, "number of calls", call != NULL);
    check_call(s, call, &r->blocks[i]);
    call = call->next;
  }
  says(s, "calls are missing", call == NULL);
}

static bool is_runnable(const struct reply *r) {
  bool calls = false;
  for (size_t i = 0; i < r->count; i++) {
    bool custom = str_has(r->blocks[i].raw, STR("\"custom_tool_call\""));
    calls = calls || r->blocks[i].kind == BLOCK_TOOL_USE;
    if (r->blocks[i].args_bad && !custom) return false;
  }
  return calls;
}

/* A stream that is not whole gives no reply: its draft is looked at. */
static void check_broken(const struct recording *s, struct str bytes, const struct fault *f) {
  struct draft *d = NULL;
  struct reply r;
  struct sse sse;
  struct sse_event event;
  assert_int_equal(draft_new(s->wire, &d), REIN_OK);
  sse_init(&sse);
  sse_feed(&sse, bytes);
  while (sse_next(&sse, &event))
    s->wire->on_event(d, &event);
  assert_int_equal(draft_reply(d, &r, NULL), REIN_OK);
  check_blocks(s, &r);
  says(s, "runnable", !json_true(want_of(s, "runnable")));
  check_usage(s, &f->usage);
  if (json_is(want_of(s, "error"), JSON_STRING)) {
    says(s, "error", str_eq(want_text(s, "error"), f->type));
    says(s, "words", f->message.n > 0 && f->kind != FAULT_GARBLED);
  } else {
    says(s, "class", f->kind == FAULT_BROKEN);
  }
  sse_release(&sse);
  draft_free(d);
}

/* What a journal keeps of a reply goes back as the same bytes. */
static void check_record(const struct recording *s, const struct event *event) {
  struct message live = {ROLE_ASSISTANT, event->reply->blocks, event->reply->count};
  struct buf line, one, two;
  struct arena arena;
  struct event kept;
  arena_init(&arena, 64u << 20);
  buf_init(&line, 16u << 20);
  buf_init(&one, 16u << 20);
  buf_init(&two, 16u << 20);
  record_put(&line, event);
  assert_int_equal(record_read(&arena, buf_str(&line), &kept, NULL), REIN_OK);
  struct message again = {ROLE_ASSISTANT, kept.reply->blocks, kept.reply->count};
  (void)s->wire->put_message(&one, &live, false, NULL);
  (void)s->wire->put_message(&two, &again, false, NULL);
  says(s, "bytes of the replayed reply", str_eq(buf_str(&one), buf_str(&two)));
  buf_release(&line);
  buf_release(&one);
  buf_release(&two);
  arena_release(&arena);
}

static void check_whole(const struct recording *s, const struct reply *r) {
  says(s, "stop", str_eq(want_text(s, "stop"), r->stop_word));
  says(s, "refusal", (want_text(s, "refusal").n > 0) == (r->stop == STOP_REFUSAL));
  says(s, "runnable", json_true(want_of(s, "runnable")) == is_runnable(r));
  says(s, "usage is known", r->usage.known_input == (want_of(s, "usage")->count > 0));
  check_usage(s, &r->usage);
  check_items(s, r);
  check_phases(s, r);
  check_blocks(s, r);
}

static void play(struct recording *s, struct attempt *a, struct str bytes, struct event *event) {
  struct str piece;
  bool thinking;
  for (size_t at = 0, n = s->size ? s->size : bytes.n; at < bytes.n || n == 0; at += n) {
    if (n) attempt_bytes(a, str_part(bytes, at, n));
    if (attempt_withdrawn(a)) { /* recordings that lack pieces of their text */
      buf_reset(&s->text);
      buf_reset(&s->thinking);
    }
    while (attempt_piece(a, &piece, &thinking))
      buf_put(thinking ? &s->thinking : &s->text, piece);
  }
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 100, 1000000000, event);
  while (attempt_piece(a, &piece, &thinking))
    buf_put(thinking ? &s->thinking : &s->text, piece);
}

static void check_stream(struct recording *s, struct str bytes) {
  struct attempt *a = attempt_open_on(s->wire, 200);
  struct event event;
  buf_init(&s->text, 16u << 20);
  buf_init(&s->thinking, 16u << 20);
  play(s, a, bytes, &event);
  says(s, "complete", json_true(want_of(s, "complete")) == (event.kind == EVENT_REPLY));
  if (event.kind == EVENT_REPLY) {
    check_whole(s, event.reply);
    check_record(s, &event);
  } else {
    check_broken(s, bytes, event.fault);
  }
  check_shown(s);
  buf_release(&s->text);
  buf_release(&s->thinking);
  attempt_free(a);
}

/* What the four answers give when each place keeps what was written there last. */
static void check_overlay(const struct recording *s, const char *const types[2],
                          const size_t from[2]) {
  const struct json *wanted = want_of(s, "item_types");
  says(s, "two places", wanted->count == 2 && want_of(s, "calls")->count == 1);
  says(s, "first place", str_is(json_at(wanted, 0)->text, types[0]) && from[0] == 3);
  says(s, "second place", str_is(json_at(wanted, 1)->text, types[1]) && from[1] == 0);
  says(s, "reasoning is gone", want_num(s->want, "reasoning_with_encrypted_content") == 0);
  says(s, "stop", str_is(want_text(s, "stop"), "completed") && json_true(want_of(s, "runnable")));
}

/* The four answers: reasoning and a call, a call, a call, a text. */
static void check_spliced(struct recording *s, struct str bytes) {
  static const size_t blocks[] = {2, 1, 1, 1};
  const char *types[2] = {NULL, NULL};
  size_t from[2] = {0, 0};
  struct str start = STR("event: response.created\n");
  for (size_t n = 0; n < 4; n++) {
    size_t end = start.n + str_find(str_part(bytes, start.n, bytes.n), start);
    struct attempt *a = attempt_open_on(s->wire, 200);
    struct event event;
    buf_init(&s->text, 1 << 20);
    buf_init(&s->thinking, 1 << 20);
    /* The first is fed with all that follows it: that does not count. */
    play(s, a, n ? str_part(bytes, 0, end) : bytes, &event);
    says(s, "an answer is whole", event.kind == EVENT_REPLY && event.reply->count == blocks[n]);
    says(s, "its own reply", str_is(event.reply->stop_word, "completed"));
    for (size_t i = 0; i < event.reply->count; i++) {
      types[i] = type_of(&event.reply->blocks[i]);
      from[i] = n;
    }
    if (n == 0) check_call(s, want_of(s, "calls")->first, &event.reply->blocks[1]);
    if (n == 3) says(s, "text", str_eq(want_text(s, "text"), buf_str(&s->text)));
    if (n == 3) check_usage(s, &event.reply->usage);
    bytes = str_part(bytes, end, bytes.n);
    buf_release(&s->text);
    buf_release(&s->thinking);
    attempt_free(a);
  }
  says(s, "four answers", bytes.n == 0);
  check_overlay(s, types, from);
}

static void check_any(struct recording *s, struct str bytes) {
  if (str_is(s->name, SPLICED))
    check_spliced(s, bytes);
  else
    check_stream(s, bytes);
}

static void test_streams(void **state) {
  (void)state;
  assert_true(recordings_each(false, check_any) >= 51);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
