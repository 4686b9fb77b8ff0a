/* What goes out: messages, requests and their cache marks, headers, addresses. */
#include "json/json.h"
#include "talks.h"

#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"

static void check_message(const struct message *m, bool drop, const char *want) {
  struct buf b;
  buf_init(&b, 1 << 20);
  bool sent = wire_anthropic.put_message(&b, m, drop, NULL);
  assert_true(sent == (want != NULL));
  if (want)
    assert_string_equal(buf_z(&b), want);
  else
    assert_int_equal(b.n, 0);
  buf_release(&b);
}

static void test_user_messages(void **state) {
  (void)state;
  struct block blocks[] = {{.kind = BLOCK_TEXT, .text = STR("note \"1\"")},
                           {.kind = BLOCK_TOOL_RESULT, .id = STR("a.b"), .text = STR("x\ny")},
                           {.kind = BLOCK_TEXT, .text = STR("\xE3\x80\x80 ")},
                           {.kind = BLOCK_TOOL_RESULT, .id = STR("c"), .is_error = true}};
  check_message(&(struct message){ROLE_USER, blocks, 4}, false,
                "{\"role\":\"user\",\"content\":["
                "{\"type\":\"tool_result\",\"tool_use_id\":\"a_b_4ce83a4e\",\"content\":\"x\\ny\"},"
                "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"is_error\":true},"
                "{\"type\":\"text\",\"text\":\"note \\\"1\\\"\"}]}");
  check_message(&(struct message){ROLE_USER, blocks + 2, 1}, false, NULL);
  check_message(&(struct message){ROLE_USER, blocks, 0}, false, NULL);
}

static void test_replies(void **state) {
  (void)state;
  struct block blocks[] = {
      {.kind = BLOCK_THINKING, .raw = STR("{ \"x\" }"), .wire = STR("anthropic")},
      {.kind = BLOCK_THINKING, .raw = STR("{\"y\"}"), .wire = STR("openai")},
      {.kind = BLOCK_TEXT, .text = STR("")},
      {.kind = BLOCK_OPAQUE, .raw = STR("{\"o\":1 }"), .wire = STR("anthropic")},
      {.kind = BLOCK_OPAQUE, .raw = STR("{\"p\"}"), .wire = STR("chat")},
      {.kind = BLOCK_TOOL_USE, .id = STR("i"), .name = STR("a b"), .args = STR("{\"n\": -0}")},
      {.kind = BLOCK_TOOL_USE, .id = STR("j"), .args = STR("{\"n"), .args_bad = true}};
  check_message(&(struct message){ROLE_ASSISTANT, blocks, 7}, false,
                "{\"role\":\"assistant\",\"content\":[{ \"x\" },{\"o\":1 },"
                "{\"type\":\"tool_use\",\"id\":\"i\",\"name\":\"a_b\",\"input\":{\"n\": -0}},"
                "{\"type\":\"tool_use\",\"id\":\"j\",\"name\":\"unnamed\","
                "\"input\":{\"INVALID_JSON\":\"{\\\"n\"}}]}");
  check_message(&(struct message){ROLE_ASSISTANT, blocks, 5}, true,
                "{\"role\":\"assistant\",\"content\":[{\"o\":1 }]}");
  check_message(&(struct message){ROLE_ASSISTANT, blocks, 3}, false, NULL);
}

/* A02: no digit of a number is touched on its way from reply to request. */
static void test_numbers_stay(void **state) {
  (void)state;
  struct buf file, out;
  struct arena arena;
  struct json *doc = NULL;
  shared_read(&file, "cases/A02-big-integers-and-numbers/call.json");
  arena_init(&arena, 1 << 20);
  buf_init(&out, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), JSON_STRICT, &doc, NULL), REIN_OK);
  struct str args = json_get(doc, "input")->source;
  struct block b = {.kind = BLOCK_TOOL_USE, .id = STR("a"), .name = STR("n"), .args = args};
  struct message m = {ROLE_ASSISTANT, &b, 1};
  assert_true(wire_anthropic.put_message(&out, &m, false, NULL));
  assert_true(str_has(buf_str(&out), args));
  arena_release(&arena);
  buf_release(&out);
  buf_release(&file);
}

static void test_tools(void **state) {
  (void)state;
  struct buf b;
  struct tool tools[] = {{.name = STR("b"), .description = STR("d"), .schema = STR("{\"z\": 1}")},
                         {.name = STR("a"), .schema = STR("{}")}};
  buf_init(&b, 4096);
  wire_anthropic.put_tools(&b, tools, 2);
  assert_string_equal(buf_z(&b),
                      "[{\"name\":\"b\",\"description\":\"d\",\"input_schema\":{\"z\": 1}},"
                      "{\"name\":\"a\",\"input_schema\":{}}]");
  buf_reset(&b);
  wire_anthropic.put_tools(&b, tools, 0);
  assert_int_equal(b.n, 0);
  buf_release(&b);
}

static void test_request(void **state) {
  (void)state;
  struct buf b;
  struct str message = STR("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}");
  enum role role = ROLE_USER;
  struct request r = {.model = STR("m\"1"),
                      .messages = &message,
                      .roles = &role,
                      .count = 1,
                      .output_limit = 512,
                      .no_tools = true};
  buf_init(&b, 4096);
  wire_anthropic.put_request(&b, &r);
  assert_string_equal(
      buf_z(&b), "{\"model\":\"m\\\"1\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"hi\"," MARK "}]}],\"max_tokens\":512,\"stream\":true}");
  buf_reset(&b);
  r.system = STR("s");
  r.tools = STR("[{}]");
  wire_anthropic.put_request(&b, &r);
  assert_string_equal(
      buf_z(&b), "{\"model\":\"m\\\"1\",\"tools\":[{}],\"system\":[{\"type\":\"text\",\"text\":"
                 "\"s\"," MARK "}],\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"hi\"," MARK "}]}],\"max_tokens\":512,\"stream\":true,"
                 "\"tool_choice\":{\"type\":\"none\"}}");
  buf_release(&b);
}

/* -- marks -- */

static size_t marks_of(const struct json *block) {
  const struct json *mark = json_get(block, "cache_control");
  if (!mark) return 0;
  struct str type = json_text(json_get(block, "type"));
  assert_true(str_is(type, "text") || str_is(type, "tool_use") || str_is(type, "tool_result"));
  assert_true(str_is(json_text(json_get(mark, "type")), "ephemeral"));
  return 1;
}

/* At most four; one on the last block of each of the two newest user messages;
 * none on a block that may not carry one. */
static void check_marks(struct str body) {
  struct arena arena;
  struct json *doc = NULL;
  size_t marks = 0, users = 0, seen_users = 0;
  arena_init(&arena, 16u << 20);
  assert_int_equal(json_parse(&arena, body, JSON_STRICT, &doc, NULL), REIN_OK);
  assert_null(json_find_twin(doc));
  marks += marks_of(json_at(json_get(doc, "system"), 0));
  const struct json *messages = json_get(doc, "messages");
  for (const struct json *m = messages->first; m; m = m->next)
    users += str_is(json_text(json_get(m, "role")), "user");
  for (const struct json *m = messages->first; m; m = m->next) {
    bool user = str_is(json_text(json_get(m, "role")), "user");
    seen_users += user;
    for (const struct json *b = json_get(m, "content")->first; b; b = b->next) {
      size_t mark = marks_of(b);
      bool last = user && !b->next && seen_users + 2 > users;
      if (last) assert_int_equal(mark, 1);
      marks += mark;
    }
  }
  assert_true(marks >= 2 && marks <= 4);
  arena_release(&arena);
}

static void without_marks(struct buf *out, struct str body) {
  struct str mark = STR("," MARK);
  while (body.n) {
    size_t at = str_find(body, mark);
    buf_put(out, str_part(body, 0, at));
    body = str_part(body, at + mark.n, body.n);
  }
}

/* Marks left out, a request begins with the last one's bytes up to the end of
 * its messages. */
static void check_prefix(struct buf *last, struct str body) {
  struct buf bare;
  buf_init(&bare, 4u << 20);
  without_marks(&bare, body);
  struct str end = STR("],\"max_tokens\":");
  size_t until = 0;
  for (size_t at = 0; at < bare.n; at++)
    if (str_starts(str_part(buf_str(&bare), at, bare.n), end)) until = at;
  assert_true(until > 0);
  assert_true(str_starts(buf_str(&bare), buf_str(last)));
  buf_reset(last);
  buf_put(last, str_part(buf_str(&bare), 0, until));
  buf_release(&bare);
}

/* For test_history.py, which has the handed checker read the bodies. */
static void keep_body(struct str body, uint64_t seed, int turn) {
  char path[512];
  const char *folder = getenv("REIN_BODIES");
  if (!folder || seed > 20) return;
  snprintf(path, sizeof path, "%s/%d-%d.json", folder, (int)seed, turn);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(body.p, 1, body.n, f), body.n);
  fclose(f);
}

static void test_prefix_and_marks(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    struct talk_test t;
    struct buf last, body;
    buf_init(&last, 4u << 20);
    buf_init(&body, 4u << 20);
    talk_start(&t, seed);
    for (int turn = 0; turn < 12; turn++) {
      talk_turn(&t, turn % 3 == 2 ? TALK_BLOCKS - 1 : 4);
      buf_reset(&body);
      talk_request(&t, &body, turn % 5 == 4);
      check_marks(buf_str(&body));
      check_prefix(&last, buf_str(&body));
      keep_body(buf_str(&body), seed, turn);
    }
    buf_release(&last);
    buf_release(&body);
    arena_release(&t.arena);
  }
}

/* One mark in the middle exactly where a turn adds more than 18 blocks. */
static void check_middle(size_t calls, size_t marks) {
  struct talk_test t;
  struct buf body;
  struct block said[TALK_BLOCKS] = {0}, results[TALK_BLOCKS] = {0};
  struct num_text rooms[TALK_BLOCKS];
  talk_start(&t, 1);
  for (size_t i = 0; i < calls; i++) {
    struct str id = str_num(&rooms[i], (int64_t)i);
    said[i] = (struct block){.kind = BLOCK_TOOL_USE, .id = id, .name = STR("n"), .args = STR("{}")};
    results[i] = (struct block){.kind = BLOCK_TOOL_RESULT, .id = id, .text = STR("r")};
  }
  talk_add(&t, ROLE_ASSISTANT, said, calls);
  talk_add(&t, ROLE_USER, results, calls);
  buf_init(&body, 4u << 20);
  talk_request(&t, &body, false);
  size_t seen = 0;
  for (struct str rest = buf_str(&body); str_has(rest, STR(MARK)); seen++)
    rest = str_part(rest, str_find(rest, STR(MARK)) + 1, rest.n);
  assert_int_equal(seen, marks);
  buf_release(&body);
  arena_release(&t.arena);
}

static void test_middle_mark(void **state) {
  (void)state;
  check_middle(1, 3);
  check_middle(9, 3); /* 18 blocks */
  check_middle(10, 4);
  check_middle(30, 4);
}

/* -- headers and addresses -- */

static void check_headers(struct str key, const char *line) {
  struct buf b;
  buf_init(&b, 4096);
  wire_anthropic.put_headers(&b, key);
  assert_true(str_has(buf_str(&b), STR("anthropic-version: 2023-06-01\n")));
  assert_true(str_has(buf_str(&b), STR("accept: text/event-stream\n")));
  if (line)
    assert_true(str_has(buf_str(&b), str_of(line)));
  else
    assert_false(str_has(buf_str(&b), STR("x-api-key")));
  buf_release(&b);
}

static void test_headers(void **state) {
  (void)state;
  check_headers(STR("k-1"), "x-api-key: k-1\n");
  check_headers(STR(" k-1\r\n"), "x-api-key: k-1\n");
  check_headers(STR(""), NULL);
  check_headers(STR("k\r\nhost: other"), NULL);
  check_headers(STR("k\0x"), NULL);
}

static void test_addresses(void **state) {
  static const struct {
    const char *base, *url;
  } rows[] = {{"", "https://api.anthropic.com/v1/messages"},
              {"http://h:1", "http://h:1/v1/messages"},
              {"http://h:1/", "http://h:1/v1/messages"},
              {"http://h/v1", "http://h/v1/messages"},
              {"http://h/a/v1//", "http://h/a/v1/messages"},
              {"http://h/v1/messages", "http://h/v1/messages"},
              {"http://h/v11", "http://h/v11/v1/messages"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct buf b;
    buf_init(&b, 4096);
    wire_url(&b, &wire_anthropic, str_of(rows[i].base));
    assert_string_equal(buf_z(&b), rows[i].url);
    buf_release(&b);
  }
  assert_ptr_equal(wire_by_name(STR("anthropic")), &wire_anthropic);
  assert_null(wire_by_name(STR("anthropi")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_user_messages), cmocka_unit_test(test_replies),
      cmocka_unit_test(test_numbers_stay),  cmocka_unit_test(test_tools),
      cmocka_unit_test(test_request),       cmocka_unit_test(test_prefix_and_marks),
      cmocka_unit_test(test_middle_mark),   cmocka_unit_test(test_headers),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
