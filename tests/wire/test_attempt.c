/* Answers that are no reply: their class, words and waits. */
#include "json/json.h"
#include "shared.h"
#include "wire/http_date.h"

#define NOW 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */

struct answer {
  int status;
  const char *headers; /* "name: value\n" */
  const char *body;
  enum attempt_end end;
};

static struct attempt *answered(const struct answer *answer, struct event *event) {
  struct attempt *a = attempt_open(answer->status);
  struct str rest = str_of(answer->headers), line, name, value;
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &name, &value)) attempt_header(a, name, value);
  if (answer->body) attempt_bytes(a, str_of(answer->body));
  attempt_end(a, answer->end, STR_NONE, 5, NOW, event);
  assert_int_equal(event->id, 7);
  assert_int_equal(event->at_ms, 5);
  return a;
}

static void check_class(int status, const char *body, enum fault_kind kind) {
  struct event event;
  struct answer answer = {.status = status, .headers = "", .body = body};
  struct attempt *a = answered(&answer, &event);
  assert_int_equal(event.kind, EVENT_FAILED);
  if (event.fault->kind != kind)
    fail_msg("status %d, %s: class %d, not %d", status, body, event.fault->kind, kind);
  assert_true(event.fault->message.n > 0 && event.fault->status == status);
  assert_true(event.fault->billed == (status < 300));
  attempt_free(a);
}

static void test_statuses(void **state) {
  static const struct {
    int status;
    enum fault_kind kind;
  } rows[] = {{301, FAULT_INVALID},    {400, FAULT_INVALID},    {401, FAULT_AUTH},
              {402, FAULT_QUOTA},      {403, FAULT_AUTH},       {404, FAULT_INVALID},
              {408, FAULT_OVERLOADED}, {409, FAULT_OVERLOADED}, {413, FAULT_INVALID},
              {422, FAULT_INVALID},    {425, FAULT_OVERLOADED}, {429, FAULT_OVERLOADED},
              {500, FAULT_OVERLOADED}, {502, FAULT_OVERLOADED}, {503, FAULT_OVERLOADED},
              {504, FAULT_OVERLOADED}, {520, FAULT_OVERLOADED}, {529, FAULT_OVERLOADED}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    check_class(rows[i].status, "", rows[i].kind);
    check_class(rows[i].status, "<html>\n<body>no</body></html>", rows[i].kind);
    check_class(rows[i].status, "{\"type\":\"error\",\"error\":{\"message\":\"no\"}}",
                rows[i].kind);
  }
}

static void test_words(void **state) {
  (void)state;
  check_class(400, "{\"error\":{\"message\":\"Your credit balance is too low to …\"}}",
              FAULT_QUOTA);
  check_class(400, "{\"error\":{\"message\":\"input tokens\"}}", FAULT_INVALID);
  check_class(400, "{\"error\":{\"message\":\"Prompt is too long: 9 tokens > 8\"}}", FAULT_CONTEXT);
  check_class(400,
              "{\"error\":{\"message\":\"`thinking` or `redacted_thinking` blocks in the latest "
              "assistant message cannot be modified\"}}",
              FAULT_BOUND);
  check_class(400, "{\"error\":{\"message\":\"tools.3.custom.input_schema: no\"}}", FAULT_SCHEMA);
  check_class(429, "{\"error\":{\"type\":\"insufficient_quota\",\"message\":\"no\"}}", FAULT_QUOTA);
  check_class(429, "{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"no\"}}",
              FAULT_OVERLOADED);
  check_class(429, "{\"error\":{\"message\":\"no\",\"details\":{\"error_code\":\"ramp\"}}}",
              FAULT_QUOTA);
  check_class(200,
              "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}",
              FAULT_OVERLOADED);
  check_class(200, "{\"error\":\"model is loading\"}", FAULT_BROKEN);
  check_class(200, "{\"type\":\"message\",\"content\":[]}", FAULT_GARBLED);
  check_class(200, "<html>sign in</html>", FAULT_GARBLED);
  check_class(200, "upstream connect error", FAULT_GARBLED);
  check_class(200, "event: x\ndata: {broken\n\n", FAULT_GARBLED);
  check_class(200, "event: x\ndata: 17\n\n", FAULT_GARBLED);
  check_class(200, "", FAULT_BROKEN);
  check_class(200, "event: ping\ndata: {\"type\":\"ping\"}\n\n", FAULT_BROKEN);
  check_class(200, "data: [DONE]\n\n", FAULT_BROKEN);
  check_class(200, "data: {\"error\":{\"message\":\"m\",\"type\":\"authentication_error\"}}\n\n",
              FAULT_AUTH);
}

/* Arguments for a call that nobody opened are garbage, not nothing. */
static void test_stray_arguments(void **state) {
  (void)state;
  check_class(200,
              "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":"
              "\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n",
              FAULT_GARBLED);
}

static void check_wait(const char *headers, int64_t ms) {
  struct event event;
  struct answer answer = {.status = 429, .headers = headers, .body = "{}"};
  struct attempt *a = answered(&answer, &event);
  if (event.fault->retry_after_ms != ms)
    fail_msg("%s gives %lld", headers, (long long)event.fault->retry_after_ms);
  attempt_free(a);
}

/* What is no number is no wait; the plain back-off stays. */
static void test_odd_waits(void **state) {
  static const char *const none[] = {"+5",  "1e3",      "0x10", "0.0001", "1.5s", "5, 6",
                                     "NaN", "Infinity", "-0.5", "1,5",    ".",    "\xEF\xBC\x95"};
  char line[64];
  (void)state;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    snprintf(line, sizeof line, "retry-after: %s\n", none[i]);
    check_wait(line, -1);
    snprintf(line, sizeof line, "retry-after-ms: %s\nretry-after: 9\n", none[i]);
    check_wait(line, 9000);
  }
  check_wait("retry-after:  007 \n", 7000);
  check_wait("RETRY-AFTER: 0.25\n", 250);
  check_wait("retry-after: 1.9999999999999999999\n", 1999);
  check_wait("retry-after-ms: 0\nretry-after: 9\n", 9000);
  check_wait("retry-after-ms: 99999999999999999999.5\n", INT32_MAX);
}

static void test_waits(void **state) {
  (void)state;
  check_wait("", -1);
  check_wait("retry-after: 17\n", 17000);
  check_wait("Retry-After: 1.5\n", 1500);
  check_wait("retry-after: 0\n", -1);
  check_wait("retry-after: -3\n", -1);
  check_wait("retry-after: soon\n", -1);
  check_wait("retry-after: 99999999999999999999\n", INT32_MAX);
  check_wait("retry-after-ms: 1870.7\nretry-after: 9\n", 1870);
  check_wait("retry-after-ms: x\nretry-after: 9\n", 9000);
  check_wait("retry-after: Sun, 06 Nov 1994 08:50:37 GMT\n", 60000);
  check_wait("retry-after: Sunday, 06-Nov-94 08:49:47 GMT\n", 10000);
  check_wait("retry-after: Sun Nov  6 08:49:38 1994\n", 1000);
  check_wait("retry-after: Sun, 06 Nov 1994 08:49:37 GMT\n", -1); /* now is no wait */
  check_wait("retry-after: Sun, 06 Nov 2094 08:49:37 GMT\n", INT32_MAX);
}

static void test_dates(void **state) {
  static const struct {
    const char *text;
    int64_t seconds; /* -1: no date */
  } rows[] = {{"Thu, 01 Jan 1970 00:00:00 GMT", 0},
              {"Tue, 29 Feb 2000 12:00:00 GMT", 951825600},
              {"Mon, 30 Nov 2026 23:59:59 GMT", 1796083199},
              {"Wednesday, 01-Jan-20 00:00:00 GMT", 1577836800},
              {"Friday, 01-Jan-99 00:00:00 GMT", 915148800},
              {"Sat Feb 28 23:59:60 2009", 951825600 + 284083200},
              {"Mon, 32 Nov 2026 23:59:59 GMT", -1},
              {"Mon, 30 Nox 2026 23:59:59 GMT", -1},
              {"Mon, 30 Nov 2026 24:59:59 GMT", -1},
              {"Mon, 30 Nov 2026 23:59:59 KST", -1},
              {"Mon, 30 Nov 2026 23:59:59 GMT and on", -1},
              {"Sun Nov  6 08:49:38 1994 ", -1},
              {"Mon", -1},
              {"", -1},
              {",", -1}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t seconds = -1;
    bool fine = http_date(str_of(rows[i].text), NOW, &seconds);
    if (i == 5) { /* a leap second is the next minute's first */
      assert_true(fine && seconds % 60 == 0);
      continue;
    }
    assert_true(fine == (rows[i].seconds >= 0));
    if (fine) assert_int_equal(seconds, rows[i].seconds);
    /* Any beginning of it is no date and reads nothing behind it. */
    for (size_t n = 0; n < strlen(rows[i].text); n++) {
      char *cut = malloc(n ? n : 1);
      assert_non_null(cut);
      memcpy(cut, rows[i].text, n);
      assert_false(http_date((struct str){cut, n}, NOW, &seconds) && rows[i].seconds >= 0);
      free(cut);
    }
  }
}

static void test_headers(void **state) {
  (void)state;
  struct event event;
  struct answer answer = {.status = 500,
                          .headers = "X-Should-Retry: false\nrequest-id:  req_1 \n",
                          .body = "{\"error\":{\"message\":\"m\",\"type\":\"api_error\"}}"};
  struct attempt *a = answered(&answer, &event);
  assert_int_equal(event.fault->should_retry, 0);
  assert_true(str_is(event.fault->request_id, "req_1") && str_is(event.fault->message, "m"));
  assert_true(str_is(event.fault->type, "api_error"));
  assert_true(str_is(attempt_raw_error(a), answer.body));
  attempt_free(a);
  answer.headers = "x-should-retry: true\n";
  answer.body = "{\"error\":{\"message\":\"m\"},\"request_id\":\"req_2\"}";
  a = answered(&answer, &event);
  assert_int_equal(event.fault->should_retry, 1);
  assert_true(str_is(event.fault->request_id, "req_2"));
  attempt_free(a);
}

static void test_quotes(void **state) {
  (void)state;
  struct event event;
  struct answer answer = {.status = 413, .headers = "", .body = "<html>\n <b>too\x1b[31m big</b>"};
  struct attempt *a = answered(&answer, &event);
  assert_true(str_is(event.fault->message, "<html> <b>too\\u{1b}[31m big</b>"));
  attempt_free(a);
  char page[100000];
  memset(page, 'x', sizeof page);
  page[sizeof page - 1] = '\0';
  answer.body = page;
  a = answered(&answer, &event);
  assert_true(event.fault->message.n < 700 && str_ends(event.fault->message, STR("…")));
  assert_int_equal(attempt_raw_error(a).n, 65536);
  attempt_free(a);
}

static void test_ends(void **state) {
  static const struct {
    enum attempt_end end;
    int status;
    enum fault_kind kind;
    bool billed;
  } rows[] = {
      {ATTEMPT_CONNECT, 0, FAULT_CONNECT, false},  {ATTEMPT_BROKEN, 0, FAULT_BROKEN, true},
      {ATTEMPT_BROKEN, 200, FAULT_BROKEN, true},   {ATTEMPT_STALLED, 0, FAULT_STALLED, true},
      {ATTEMPT_STALLED, 200, FAULT_STALLED, true}, {ATTEMPT_BROKEN, 503, FAULT_OVERLOADED, false}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct event event;
    struct answer answer = {.status = rows[i].status, .headers = "", .end = rows[i].end};
    struct attempt *a = answered(&answer, &event);
    assert_int_equal(event.fault->kind, rows[i].kind);
    assert_true(event.fault->billed == rows[i].billed && !event.fault->began);
    attempt_free(a);
  }
}

static const char head[] =
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":"
    "{\"input_tokens\":5}}}\n\n";

static void test_moves(void **state) {
  (void)state;
  struct event event;
  struct attempt *a = attempt_open(200);
  assert_false(attempt_moved(a));
  attempt_bytes(a, STR(": hello\n\ndata: {\"type\":\"ping\"}\n\n"));
  assert_false(attempt_moved(a));
  attempt_bytes(a, str_of(head));
  assert_true(attempt_moved(a));
  assert_false(attempt_moved(a));
  attempt_bytes(a, STR("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                       "\"text_delta\",\"text\":\"\"}}\n\n"));
  assert_true(attempt_moved(a)); /* it opened the block */
  attempt_bytes(a, STR("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                       "\"text_delta\",\"text\":\"\"}}\n\n"));
  assert_false(attempt_moved(a));
  attempt_end(a, ATTEMPT_STALLED, STR("slow"), 1, 1, &event);
  assert_true(event.fault->began && event.fault->usage.input == 5 &&
              event.fault->usage.known_input && !event.fault->usage.known_output);
  assert_true(str_has(event.fault->message, STR("slow")));
  attempt_free(a);
}

/* After the last event, of either kind, nothing counts. */
static void test_over(void **state) {
  (void)state;
  struct event event;
  struct attempt *a = attempt_open(200);
  attempt_bytes(a, str_of(head));
  attempt_bytes(a, STR("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}"
                       "\n\n"));
  assert_false(attempt_over(a));
  attempt_bytes(a, STR("data: {\"type\":\"message_stop\"}\n\ndata: {\"type\":\"error\"}\n\n"));
  assert_true(attempt_over(a));
  attempt_bytes(a, STR("data: {garbage\n\n"));
  attempt_end(a, ATTEMPT_BROKEN, STR("reset"), 1, 1, &event);
  assert_int_equal(event.kind, EVENT_REPLY);
  assert_int_equal(attempt_raw_error(a).n, 0);
  attempt_free(a);
  a = attempt_open(200);
  attempt_bytes(a, STR("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                       "\"message\":\"busy\"}}\n\n"));
  assert_true(attempt_over(a));
  attempt_bytes(a, str_of(head));
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  assert_true(event.kind == EVENT_FAILED && !event.fault->began);
  assert_true(str_has(attempt_raw_error(a), STR("overloaded_error")));
  attempt_free(a);
}

/* What a stream ends with that had its stop reason and not its last event. */
static int end_after_stop(const struct wire *wire, struct str bytes, enum attempt_end ending) {
  struct event event;
  struct attempt *a = attempt_open_on(wire, 200);
  attempt_bytes(a, bytes);
  attempt_end(a, ending, STR_NONE, 1, 1, &event);
  int kind = (int)event.kind;
  attempt_free(a);
  return kind;
}

/* Chat servers often leave [DONE] out; on the other wires it was cut off. */
static void test_stop_without_last_event(void **state) {
  struct str chat = STR("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},"
                        "\"finish_reason\":\"stop\"}]}\n\n");
  struct buf messages;
  (void)state;
  buf_init(&messages, 65536);
  buf_put(&messages, str_of(head));
  buf_lit(&messages, "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
                     "\"end_turn\"}}\n\n");
  struct str whole = buf_str(&messages);
  assert_int_equal(end_after_stop(&wire_chat, chat, ATTEMPT_CLOSED), EVENT_REPLY);
  assert_int_equal(end_after_stop(&wire_chat, chat, ATTEMPT_BROKEN), EVENT_FAILED);
  assert_int_equal(end_after_stop(&wire_anthropic, whole, ATTEMPT_CLOSED), EVENT_FAILED);
  assert_int_equal(end_after_stop(&wire_anthropic, whole, ATTEMPT_BROKEN), EVENT_FAILED);
  buf_release(&messages);
}

static void test_withdrawn(void **state) {
  (void)state;
  struct str piece;
  bool thinking;
  struct attempt *a = attempt_open(200);
  attempt_bytes(a, str_of(head));
  attempt_bytes(a, STR("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                       "\"text_delta\",\"text\":\"old\"}}\n\n"));
  assert_true(attempt_piece(a, &piece, &thinking) && str_is(piece, "old") && !thinking);
  assert_false(attempt_withdrawn(a));
  attempt_bytes(a, STR("data: {\"type\":\"message_start\",\"message\":{\"id\":\"n\"}}\n\n"));
  assert_true(attempt_withdrawn(a));
  assert_false(attempt_withdrawn(a));
  assert_false(attempt_piece(a, &piece, &thinking));
  attempt_free(a);
}

static void test_error_bodies(void **state) {
  static const struct {
    const char *name;
    enum fault_kind kind;
    int64_t wait;
  } rows[] = {{"anthropic_400_overflow", FAULT_CONTEXT, -1},
              {"anthropic_400_strict", FAULT_SCHEMA, -1},
              {"anthropic_400_bound_thinking", FAULT_BOUND, -1},
              {"anthropic_429", FAULT_OVERLOADED, 17000},
              {"anthropic_429_spend", FAULT_QUOTA, -1},
              {"anthropic_529", FAULT_OVERLOADED, -1},
              {"openai_400_schema", FAULT_SCHEMA, -1},
              {"openai_400_tools_128", FAULT_INVALID, -1},
              {"openai_429_quota", FAULT_QUOTA, -1},
              {"openai_429_rate", FAULT_OVERLOADED, 1870},
              {"llamacpp_400_ctx", FAULT_CONTEXT, -1},
              {"llamacpp_400_grammar", FAULT_SCHEMA, -1},
              {"openrouter_402", FAULT_QUOTA, -1},
              {"edge_413_html", FAULT_INVALID, -1}};
  (void)state;
  struct buf lines;
  struct str rest, line;
  size_t seen = 0;
  shared_read(&lines, "wire/fixtures/syn-error-bodies.jsonl");
  rest = buf_str(&lines);
  while (str_next(&rest, '\n', &line)) {
    struct arena arena;
    struct json *doc = NULL;
    struct event event;
    int64_t status = 0;
    if (line.n == 0) continue;
    arena_init(&arena, 1 << 20);
    assert_int_equal(json_parse(&arena, line, JSON_STRICT, &doc, NULL), REIN_OK);
    assert_true(json_int(json_get(doc, "status"), &status));
    struct attempt *a = attempt_open((int)status);
    const struct json *headers = json_get(doc, "headers"), *body = json_get(doc, "body");
    for (const struct json *m = headers ? headers->first : NULL; m; m = m->next)
      attempt_header(a, m->key, m->text);
    attempt_bytes(a, body ? body->source : json_text(json_get(doc, "body_text")));
    attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, NOW, &event);
    assert_true(event.kind == EVENT_FAILED && event.fault->message.n && !event.fault->billed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      if (!str_is(json_text(json_get(doc, "name")), rows[i].name)) continue;
      if (event.fault->kind != rows[i].kind) fail_msg("%s: %d", rows[i].name, event.fault->kind);
      assert_int_equal(event.fault->retry_after_ms, rows[i].wait);
      seen++;
    }
    attempt_free(a);
    arena_release(&arena);
  }
  assert_int_equal(seen, sizeof rows / sizeof *rows);
  buf_release(&lines);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_statuses),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_stray_arguments),
      cmocka_unit_test(test_odd_waits),
      cmocka_unit_test(test_waits),
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_headers),
      cmocka_unit_test(test_quotes),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_over),
      cmocka_unit_test(test_stop_without_last_event),
      cmocka_unit_test(test_withdrawn),
      cmocka_unit_test(test_error_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
