/* Streams as no server should send them: what counts of them, and what a fault
 * says. The Messages API; each row is one thing that went wrong. */
#include "rpc/sse.h"
#include "shared.h"

/* A whole answer, events in short: "K {json members}" lines become events. */
struct stream {
  struct buf bytes;
  struct attempt *a;
  struct event event;
};

static void put(struct stream *s, const char *kind, const char *members) {
  buf_fmt(&s->bytes, "event: %s\ndata: {\"type\":\"%s\"%s%s}\n\n", kind, kind, *members ? "," : "",
          members);
}

static void start(struct stream *s, const char *id) {
  *s = (struct stream){0};
  buf_init(&s->bytes, 64u << 20);
  buf_fmt(&s->bytes,
          "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{%s%s%s\"usage\":{"
          "\"input_tokens\":10,\"output_tokens\":1}}}\n\n",
          *id ? "\"id\":\"" : "", id, *id ? "\"," : "");
}

static void again(struct stream *s, const char *id) {
  struct stream other;
  start(&other, id);
  buf_put(&s->bytes, buf_str(&other.bytes));
  buf_release(&other.bytes);
}

static void open_call(struct stream *s, const char *place, const char *id) {
  char members[256];
  snprintf(
      members, sizeof members,
      "%s\"content_block\":{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"read\",\"input\":{}}",
      place, id);
  put(s, "content_block_start", members);
}

static void add(struct stream *s, const char *place, const char *delta, const char *text) {
  char members[512];
  bool args = !strcmp(delta, "input_json");
  snprintf(members, sizeof members, "%s\"delta\":{\"type\":\"%s_delta\",\"%s\":\"%s\"}", place,
           delta, args ? "partial_json" : delta, text);
  put(s, "content_block_delta", members);
}

static void text(struct stream *s, const char *words) {
  put(s, "content_block_start", "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
  add(s, "\"index\":0,", "text", words);
}

static void stop(struct stream *s, const char *word, const char *usage) {
  char members[256];
  snprintf(members, sizeof members, "\"delta\":{\"stop_reason\":\"%s\"}%s", word, usage);
  put(s, "message_delta", members);
  put(s, "message_stop", "");
}

/* Plays it whole; the event is in s->event. */
static const struct reply *play(struct stream *s) {
  s->a = attempt_open(200);
  play_pieces(s->a, buf_str(&s->bytes), 0, NULL);
  attempt_end(s->a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &s->event);
  return s->event.kind == EVENT_REPLY ? s->event.reply : NULL;
}

static void done(struct stream *s) {
  attempt_free(s->a);
  buf_release(&s->bytes);
}

/* -- blocks at one place -- */

#define A "{\\\"path\\\":\\\"a\\\"}"
#define B "{\\\"path\\\":\\\"b\\\"}"

/* Two calls whose index is missing, or the same, and no end in between. */
static void test_calls_at_one_place(void **state) {
  (void)state;
  for (const char *const *place = (const char *const[]){"", "\"index\":0,", NULL}; *place;
       place++) {
    struct stream s;
    start(&s, "m");
    open_call(&s, *place, "one");
    add(&s, *place, "input_json", A);
    open_call(&s, *place, "two");
    add(&s, *place, "input_json", B);
    stop(&s, "tool_use", "");
    const struct reply *r = play(&s);
    assert_true(r && r->count == 2);
    assert_true(str_is(r->blocks[0].args, "{\"path\":\"a\"}") && str_is(r->blocks[0].id, "one"));
    assert_true(str_is(r->blocks[1].args, "{\"path\":\"b\"}") && str_is(r->blocks[1].id, "two"));
    done(&s);
  }
}

static void test_call_behind_open_text(void **state) {
  (void)state;
  struct stream s;
  start(&s, "m");
  text(&s, "hi");
  open_call(&s, "\"index\":0,", "one");
  add(&s, "\"index\":0,", "input_json", A);
  stop(&s, "tool_use", "");
  const struct reply *r = play(&s);
  assert_true(r && r->count == 2 && str_is(r->blocks[0].text, "hi"));
  assert_true(r->blocks[1].kind == BLOCK_TOOL_USE && !r->blocks[1].args_bad);
  done(&s);
}

static void test_doubled_start_is_a_slip(void **state) {
  (void)state;
  struct stream s;
  start(&s, "m");
  again(&s, "m");
  open_call(&s, "\"index\":0,", "one");
  open_call(&s, "\"index\":0,", "one");
  add(&s, "\"index\":0,", "input_json", A);
  stop(&s, "tool_use", "");
  const struct reply *r = play(&s);
  assert_true(r && r->count == 1 && str_is(r->blocks[0].args, "{\"path\":\"a\"}"));
  done(&s);
}

/* Arguments whose call got lost must not get lost, too. */
static void test_arguments_in_a_text(void **state) {
  (void)state;
  struct stream s;
  start(&s, "m");
  text(&s, "hi");
  add(&s, "\"index\":0,", "input_json", A);
  stop(&s, "tool_use", "");
  assert_null(play(&s));
  assert_int_equal(s.event.fault->kind, FAULT_GARBLED);
  done(&s);
}

/* What stands where the arguments should is never replaced by nothing. */
static void test_arguments_of_another_kind(void **state) {
  (void)state;
  static const struct {
    const char *input, *piece;
    bool bad;
  } rows[] = {{"[1]", "\"\"", true},      {"\"{}\"", "\"\"", true}, {"7", "\"\"", true},
              {"null", "\"\"", false},    {"\" \"", "null", false}, {"{}", "null", false},
              {"{}", "{\"a\":1}", false}, {"{}", "[1]", true},      {"[1]", "\"{}\"", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct stream s;
    start(&s, "m");
    buf_fmt(&s.bytes,
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
            "\"tool_use\",\"id\":\"a\",\"name\":\"read\",\"input\":%s}}\n\n"
            "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
            "\"input_json_delta\",\"partial_json\":%s}}\n\n",
            rows[i].input, rows[i].piece);
    put(&s, "content_block_stop", "\"index\":0");
    stop(&s, "tool_use", "");
    const struct reply *r = play(&s);
    assert_true(r && r->count == 1);
    if (r->blocks[0].args_bad != rows[i].bad) fail_msg("row %zu", i);
    done(&s);
  }
}

static void test_endless_stop_reason(void **state) {
  (void)state;
  struct stream s;
  char word[200] = {0};
  memset(word, 'x', sizeof word - 1);
  start(&s, "m");
  text(&s, "hi");
  stop(&s, word, "");
  const struct reply *r = play(&s);
  assert_true(r && r->stop == STOP_UNKNOWN && r->stop_word.n == DRAFT_WORD_POINTS_MAX);
  done(&s);
}

/* -- another message in the same stream -- */

static void test_second_message_without_names(void **state) {
  (void)state;
  struct stream s;
  start(&s, "");
  again(&s, "");
  text(&s, "old");
  again(&s, "");
  text(&s, "new");
  stop(&s, "end_turn", "");
  const struct reply *r = play(&s);
  assert_true(r && r->count == 1 && str_is(r->blocks[0].text, "new"));
  done(&s);
}

static void test_endless_messages(void **state) {
  (void)state;
  struct stream s;
  start(&s, "a");
  for (int i = 0; i < 2 * DRAFT_RESTARTS_MAX; i++)
    again(&s, i % 2 ? "a" : "b");
  stop(&s, "end_turn", "");
  assert_null(play(&s));
  assert_int_equal(s.event.fault->kind, FAULT_GARBLED);
  assert_true(str_has(s.event.fault->message, STR("8 times")));
  done(&s);
}

/* -- what keeps the idle limit away -- */

static void test_what_says_nothing_new_moves_nothing(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"message_delta", "\"delta\":{\"stop_reason\":\"end_turn\"}"},
      {"content_block_delta",
       "\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"\"}"},
      {"content_block_delta",
       "\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"S\"}"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct stream s;
    start(&s, "m");
    put(&s, "content_block_start",
        "\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}");
    put(&s, rows[i][0], rows[i][1]);
    struct attempt *a = attempt_open(200);
    attempt_bytes(a, buf_str(&s.bytes));
    assert_true(attempt_moved(a));
    buf_reset(&s.bytes);
    put(&s, rows[i][0], rows[i][1]);
    attempt_bytes(a, buf_str(&s.bytes));
    assert_false(attempt_moved(a));
    s.a = a;
    done(&s);
  }
}

/* -- events that nobody knows -- */

static void test_foreign_events(void **state) {
  (void)state;
  static const char *const rows[] = {"event: heartbeat\ndata: 2026-01-01T00:00\n\n",
                                     "event: ping\ndata: pong\n\n",
                                     "event: message\ndata: <hello>\n\n"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct stream s;
    start(&s, "m");
    buf_put(&s.bytes, str_of(rows[i]));
    text(&s, "hi");
    stop(&s, "end_turn", "");
    const struct reply *r = play(&s);
    assert_true(r && str_is(r->blocks[0].text, "hi"));
    done(&s);
  }
  struct stream s; /* a piece of the message may hide in it */
  start(&s, "m");
  buf_put(&s.bytes, STR("event: message\ndata: {\"type\":\"content_block_del\n\n"));
  stop(&s, "end_turn", "");
  assert_null(play(&s));
  done(&s);
}

/* -- calls that a limit cut -- */

static void test_cut_before_its_arguments(void **state) {
  (void)state;
  for (const char *const *word =
           (const char *const[]){"max_tokens", "model_context_window_exceeded", NULL};
       *word; word++) {
    for (int blank = 0; blank < 2; blank++) {
      struct stream s;
      start(&s, "m");
      open_call(&s, "\"index\":0,", "one");
      put(&s, "content_block_stop", "\"index\":0");
      if (blank)
        put(&s, "content_block_start",
            "\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}");
      stop(&s, *word, "");
      const struct reply *r = play(&s);
      assert_true(r && r->count == 1 && r->blocks[0].args_bad && r->blocks[0].cut);
      done(&s);
    }
  }
}

/* -- usage -- */

/* The start counts a token or none: without the end's count nothing is known. */
static void test_usage_without_its_end(void **state) {
  (void)state;
  for (int counted = 0; counted < 2; counted++) {
    struct stream s;
    start(&s, "m");
    text(&s, "hi");
    stop(&s, "end_turn", counted ? ",\"usage\":{\"output_tokens\":7}" : "");
    const struct reply *r = play(&s);
    assert_true(r && r->usage.known_input && r->usage.known_output == (counted == 1));
    assert_int_equal(r->usage.output, counted ? 7 : 1);
    done(&s);
  }
}

/* -- connections that need not be waited for -- */

static void test_over(void **state) {
  (void)state;
  struct buf junk;
  buf_init(&junk, 32u << 20);
  while (junk.n <= SSE_LINE_MAX)
    buf_lit(&junk, "data: 0123456789");
  struct attempt *a = attempt_open(200);
  attempt_bytes(a, buf_str(&junk));
  assert_true(attempt_over(a)); /* a line without an end */
  attempt_free(a);
  a = attempt_open(500);
  attempt_bytes(a, str_part(buf_str(&junk), 0, 1000));
  assert_false(attempt_over(a));
  attempt_bytes(a, str_part(buf_str(&junk), 0, 1u << 20));
  assert_true(attempt_over(a)); /* a page without an end */
  attempt_free(a);
  buf_release(&junk);
}

/* -- what a fault says -- */

static struct str said(struct attempt **a, int status, const char *headers, const char *body,
                       enum rein_lang lang) {
  static struct event event;
  struct str rest = str_of(headers), line, name, value;
  *a = attempt_open(status);
  attempt_speak(*a, lang);
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &name, &value)) attempt_header(*a, name, value);
  attempt_bytes(*a, str_of(body));
  attempt_end(*a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  assert_int_equal(event.kind, EVENT_FAILED);
  return event.fault->message;
}

static void test_sentences(void **state) {
  (void)state;
  static const struct {
    int status;
    const char *headers, *body, *english, *korean;
  } rows[] = {
      {200, "", "", "status 200 and no words", "상태 200"},
      {204, "", "", "status 204 and no words", "상태 204"},
      {200, "", "<html>", "not with an event stream: <html>", "이벤트 스트림이 아닙니다: <html>"},
      {200, "", "data: {\"type\":\"ping\"}\n\n", "before the reply's last event", "마지막 이벤트"},
      {200, "", "data: {\n\ndata: {}\n\n", "is not JSON: {", "JSON이 아닙니다: {"},
      {200, "", "data: {\"type\":\"error\",\"error\":{}}\n\n", "no reason was given", "이유를"},
      {307, "Location: https://b.example/v1\n", "", "sends on to https://b.example/v1",
       "--base-url"},
      {302, "location: a\x1b[2J\n", "<html>", "\\u{1b}[2J", "\\u{1b}[2J"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int korean = 0; korean < 2; korean++) {
      struct attempt *a;
      struct str words = said(&a, rows[i].status, rows[i].headers, rows[i].body,
                              korean ? REIN_KOREAN : REIN_ENGLISH);
      if (!str_has(words, str_of(korean ? rows[i].korean : rows[i].english)))
        fail_msg("row %zu says: %.*s", i, (int)words.n, words.p);
      attempt_free(a);
    }
  }
}

/* The header is about an error status; in a stream it says nothing. */
static void test_should_retry_only_with_a_status(void **state) {
  (void)state;
  for (int status = 200; status <= 500; status += 300) {
    struct event event;
    struct attempt *a = attempt_open(status);
    attempt_header(a, STR("x-should-retry"), STR("false"));
    attempt_end(a, ATTEMPT_BROKEN, STR_NONE, 1, 1, &event);
    assert_int_equal(event.fault->should_retry, status == 200 ? -1 : 0);
    attempt_free(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_at_one_place),
      cmocka_unit_test(test_call_behind_open_text),
      cmocka_unit_test(test_doubled_start_is_a_slip),
      cmocka_unit_test(test_arguments_in_a_text),
      cmocka_unit_test(test_arguments_of_another_kind),
      cmocka_unit_test(test_endless_stop_reason),
      cmocka_unit_test(test_second_message_without_names),
      cmocka_unit_test(test_endless_messages),
      cmocka_unit_test(test_what_says_nothing_new_moves_nothing),
      cmocka_unit_test(test_foreign_events),
      cmocka_unit_test(test_cut_before_its_arguments),
      cmocka_unit_test(test_usage_without_its_end),
      cmocka_unit_test(test_over),
      cmocka_unit_test(test_sentences),
      cmocka_unit_test(test_should_retry_only_with_a_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
