/* The handed cases that a stream alone can show: S01 S02 S04 S05 S09, M02 M03
 * M07 M08 M09, B01. */
#include "json/json.h"
#include "shared.h"

static struct attempt *played(const char *path, size_t size, struct event *event,
                              struct buf *text) {
  struct buf bytes;
  shared_read(&bytes, path); /* first: it skips where there is nothing */
  struct attempt *a = attempt_open(200);
  play_pieces(a, buf_str(&bytes), size, text);
  attempt_close(a, text, event);
  buf_release(&bytes);
  return a;
}

static struct str reply_text(const struct reply *r) {
  for (size_t i = 0; i < r->count; i++)
    if (r->blocks[i].kind == BLOCK_TEXT) return r->blocks[i].text;
  return STR_NONE;
}

static void test_s01(void **state) {
  (void)state;
  struct buf bytes, want, text;
  struct event event;
  shared_read(&bytes, "cases/S01-utf8-split-in-hangul/stream.sse");
  shared_read(&want, "cases/S01-utf8-split-in-hangul/want.txt");
  buf_init(&text, 1 << 20);
  for (size_t cut = 0; cut <= bytes.n; cut++) {
    struct attempt *a = attempt_open(200);
    buf_reset(&text);
    size_t size = cut < bytes.n ? 0 : 1; /* the last round: byte by byte */
    play_pieces(a, str_part(buf_str(&bytes), 0, cut < bytes.n ? cut : 0), size, &text);
    play_pieces(a, str_part(buf_str(&bytes), cut < bytes.n ? cut : 0, bytes.n), size, &text);
    attempt_close(a, &text, &event);
    assert_int_equal(event.kind, EVENT_REPLY);
    assert_true(str_eq(buf_str(&text), str_trim(buf_str(&want))) ||
                str_eq(buf_str(&text), buf_str(&want)));
    assert_true(str_eq(reply_text(event.reply), buf_str(&text)));
    attempt_free(a);
  }
  buf_release(&text);
  buf_release(&want);
  buf_release(&bytes);
}

static void put_reply(struct buf *out, const struct reply *r) {
  for (size_t i = 0; i < r->count; i++) {
    const struct block *b = &r->blocks[i];
    buf_fmt(out, "%d ", b->kind);
    buf_put(out, b->text);
    buf_put(out, b->id);
    buf_put(out, b->name);
    buf_put(out, b->args);
    buf_put(out, b->raw);
    buf_c(out, '\n');
  }
}

static void test_s02(void **state) {
  static const char *const files[] = {"cases/S02-sse-line-endings/lf.sse",
                                      "cases/S02-sse-line-endings/crlf.sse",
                                      "cases/S02-sse-line-endings/cr.sse"};
  (void)state;
  struct buf bytes, want, got;
  struct event event;
  buf_init(&want, 1 << 20);
  buf_init(&got, 1 << 20);
  for (size_t f = 0; f < 3; f++) {
    shared_read(&bytes, files[f]);
    for (size_t head = 0; head < bytes.n; head++) {
      struct attempt *a = attempt_open(200);
      buf_reset(&got);
      play_pieces(a, str_part(buf_str(&bytes), 0, head), head % 3, NULL);
      play_pieces(a, str_part(buf_str(&bytes), head, bytes.n), head % 3, NULL);
      attempt_close(a, NULL, &event);
      assert_int_equal(event.kind, EVENT_REPLY);
      put_reply(&got, event.reply);
      if (want.n == 0) buf_put(&want, buf_str(&got));
      assert_string_equal(buf_z(&got), buf_z(&want));
      attempt_free(a);
    }
    buf_release(&bytes);
  }
  buf_release(&want);
  buf_release(&got);
}

static void test_s04(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  struct attempt *a =
      played("cases/S04-error-event-after-partial-tool/partial.sse", 0, &event, &text);
  assert_int_equal(event.kind, EVENT_FAILED);
  assert_int_equal(event.fault->kind, FAULT_OVERLOADED);
  assert_true(event.fault->began && event.fault->streamed_text && event.fault->billed);
  assert_true(str_is(event.fault->type, "overloaded_error"));
  attempt_free(a);
  a = played("cases/S04-error-event-after-partial-tool/permanent.sse", 1, &event, NULL);
  assert_int_equal(event.kind, EVENT_FAILED);
  assert_int_equal(event.fault->kind, FAULT_INVALID);
  assert_true(str_is(event.fault->message, "bad") && !event.fault->streamed_text);
  attempt_free(a);
  buf_release(&text);
}

static void test_s05(void **state) {
  (void)state;
  struct event event;
  struct attempt *a = played("cases/S05-eof-before-terminator/cut-anthropic.sse", 0, &event, NULL);
  assert_int_equal(event.kind, EVENT_FAILED);
  assert_int_equal(event.fault->kind, FAULT_BROKEN);
  assert_true(event.fault->billed && event.fault->usage.known_input);
  attempt_free(a);
}

/* A stream cut at any byte is broken, or whole with nothing missing. */
static void test_s05_everywhere(void **state) {
  (void)state;
  struct buf bytes;
  struct event event;
  shared_read(&bytes, "wire/fixtures/syn-anthropic-parallel-tools.sse");
  size_t whole_from = str_find(buf_str(&bytes), STR("event: message_delta"));
  for (size_t cut = 0; cut < bytes.n; cut++) {
    struct attempt *a = attempt_open(200);
    play_pieces(a, str_part(buf_str(&bytes), 0, cut), 0, NULL);
    attempt_close(a, NULL, &event);
    if (event.kind == EVENT_FAILED) {
      assert_int_equal(event.fault->kind, FAULT_BROKEN);
    } else {
      assert_true(cut > whole_from && event.reply->count == 5);
      assert_int_equal(event.reply->stop, STOP_TOOLS);
    }
    attempt_free(a);
  }
  buf_release(&bytes);
}

static void test_s09(void **state) {
  static const char *const files[] = {
      "cases/S09-no-argument-tool-empty-string/anthropic-empty-delta.sse",
      "cases/S09-no-argument-tool-empty-string/anthropic-no-delta.sse"};
  (void)state;
  struct event event;
  for (size_t f = 0; f < 2; f++)
    for (size_t size = 0; size < 3; size++) {
      struct attempt *a = played(files[f], size, &event, NULL);
      const struct block *b = &event.reply->blocks[event.reply->count - 1];
      assert_int_equal(b->kind, BLOCK_TOOL_USE);
      assert_true(str_is(b->args, "{}") && !b->args_bad && str_is(b->name, "get_time"));
      attempt_free(a);
    }
}

static void test_m02(void **state) {
  static const struct {
    const char *path;
    size_t blocks;
  } rows[] = {{"cases/M02-empty-text-blocks/empty-then-tool.sse", 1},
              {"cases/M02-empty-text-blocks/blank-then-tool.sse", 1},
              {"cases/M02-empty-text-blocks/nothing-at-all.sse", 0},
              {"cases/M02-empty-text-blocks/only-blank.sse", 0}};
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  for (size_t i = 0; i < 4; i++) {
    struct attempt *a = played(rows[i].path, 0, &event, &text);
    assert_int_equal(event.kind, EVENT_REPLY);
    assert_int_equal(event.reply->count, rows[i].blocks);
    assert_int_equal(text.n, 0);
    attempt_free(a);
  }
  buf_release(&text);
}

/* The message that goes back holds the blocks of want.json, one for one. */
static void test_m03(void **state) {
  (void)state;
  struct event event;
  struct buf want, out;
  struct arena arena;
  struct json *doc = NULL, *sent = NULL;
  arena_init(&arena, 1 << 20);
  buf_init(&out, 1 << 20);
  shared_read(&want, "cases/M03-thinking-signature-kept/want.json");
  struct attempt *a = played("cases/M03-thinking-signature-kept/stream.sse", 1, &event, NULL);
  struct message m = {ROLE_ASSISTANT, event.reply->blocks, event.reply->count};
  assert_true(wire_anthropic.put_message(&out, &m, false, NULL));
  assert_int_equal(json_parse(&arena, buf_str(&want), JSON_STRICT, &doc, NULL), REIN_OK);
  assert_int_equal(json_parse(&arena, buf_str(&out), JSON_STRICT, &sent, NULL), REIN_OK);
  const struct json *content = json_get(sent, "content");
  assert_int_equal(content->count, doc->count);
  for (size_t i = 0; i < doc->count; i++) {
    struct buf one, two;
    buf_init(&one, 65536);
    buf_init(&two, 65536);
    json_canon(&one, json_at(content, i), false);
    json_canon(&two, json_at(doc, i), false);
    assert_string_equal(buf_z(&one), buf_z(&two));
    buf_release(&one);
    buf_release(&two);
  }
  buf_reset(&out);
  assert_true(wire_anthropic.put_message(&out, &m, true, NULL));
  assert_false(str_has(buf_str(&out), STR("thinking")));
  attempt_free(a);
  buf_release(&want);
  buf_release(&out);
  arena_release(&arena);
}

static void test_m07(void **state) {
  static const struct {
    const char *path;
    enum stop stop;
    const char *word;
    size_t calls;
  } rows[] = {{"cases/M07-stop-reasons/refusal.sse", STOP_REFUSAL, "refusal", 0},
              {"cases/M07-stop-reasons/pause.sse", STOP_PAUSE, "pause_turn", 0},
              {"cases/M07-stop-reasons/max.sse", STOP_LENGTH, "max_tokens", 0},
              {"cases/M07-stop-reasons/unknown.sse", STOP_UNKNOWN, "solar_flare", 0},
              {"cases/M07-stop-reasons/call-but-end_turn.sse", STOP_END, "end_turn", 1},
              {"cases/M07-stop-reasons/reason-but-no-call.sse", STOP_TOOLS, "tool_use", 0},
              {"cases/M07-stop-reasons/ok.sse", STOP_END, "end_turn", 0}};
  (void)state;
  struct event event;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct attempt *a = played(rows[i].path, 0, &event, NULL);
    size_t calls = 0;
    assert_int_equal(event.kind, EVENT_REPLY);
    assert_int_equal(event.reply->stop, rows[i].stop);
    assert_true(str_is(event.reply->stop_word, rows[i].word));
    for (size_t k = 0; k < event.reply->count; k++)
      calls += event.reply->blocks[k].kind == BLOCK_TOOL_USE;
    assert_int_equal(calls, rows[i].calls);
    attempt_free(a);
  }
}

static void test_m08(void **state) {
  (void)state;
  struct event event;
  struct attempt *a = played("cases/M08-truncated-tool-json/cut.sse", 0, &event, NULL);
  const struct block *b = event.reply->blocks;
  assert_true(event.reply->stop == STOP_LENGTH && b->args_bad && b->cut);
  assert_true(str_starts(b->args, STR("{\"path\":\"보고서.md\"")));
  attempt_free(a);
  a = played("cases/M08-truncated-tool-json/cut-escape.sse", 1, &event, NULL);
  b = event.reply->blocks;
  assert_true(b->args_bad && b->cut && !str_has(b->args, STR("\\ud83d")));
  attempt_free(a);
  a = played("cases/M08-truncated-tool-json/missing-field.sse", 0, &event, NULL);
  assert_false(event.reply->blocks->args_bad);
  attempt_free(a);
}

static void test_m09(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  for (size_t size = 0; size < 4; size++) {
    struct attempt *a = played("cases/M09-lone-surrogates/raw-text-delta.sse", size, &event, &text);
    assert_true(str_is(reply_text(event.reply), "🙂 \xEF\xBF\xBD"));
    assert_true(str_eq(reply_text(event.reply), buf_str(&text)));
    buf_reset(&text);
    attempt_free(a);
    a = played("cases/M09-lone-surrogates/split-pair.sse", size, &event, NULL);
    assert_true(str_has(event.reply->blocks->args, STR("\\ud83d\\ude42")));
    assert_false(event.reply->blocks->args_bad);
    attempt_free(a);
    a = played("cases/M09-lone-surrogates/args.sse", size, &event, NULL);
    assert_true(str_has(event.reply->blocks->args, STR("안녕\\ufffd 끝 \\ufffd")));
    attempt_free(a);
  }
  buf_release(&text);
}

static void test_b01(void **state) {
  (void)state;
  struct buf rows;
  struct str rest, row, file, field;
  struct event event;
  shared_read(&rows, "cases/B01-usage-is-cumulative/want.tsv");
  rest = buf_str(&rows);
  assert_true(str_next(&rest, '\n', &row));
  while (str_next(&rest, '\n', &row)) {
    int64_t want[4] = {0};
    char path[256];
    if (!str_next(&row, '\t', &file) || file.n == 0) continue;
    for (int i = 0; i < 4; i++)
      assert_true(str_next(&row, '\t', &field) && str_to_num(str_trim(field), &want[i]));
    snprintf(path, sizeof path, "cases/B01-usage-is-cumulative/%.*s", (int)file.n, file.p);
    struct attempt *a = played(path, 0, &event, NULL);
    const struct usage *u = &event.reply->usage;
    assert_int_equal(u->input, want[0]);
    assert_int_equal(u->cache_write, want[1]);
    assert_int_equal(u->cache_read, want[2]);
    assert_int_equal(u->output, want[3]);
    attempt_free(a);
  }
  buf_release(&rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_s01),
      cmocka_unit_test(test_s02),
      cmocka_unit_test(test_s04),
      cmocka_unit_test(test_s05),
      cmocka_unit_test(test_s05_everywhere),
      cmocka_unit_test(test_s09),
      cmocka_unit_test(test_m02),
      cmocka_unit_test(test_m03),
      cmocka_unit_test(test_m07),
      cmocka_unit_test(test_m08),
      cmocka_unit_test(test_m09),
      cmocka_unit_test(test_b01),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
