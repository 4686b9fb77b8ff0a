/* What goes out on Responses and Chat Completions: messages, requests, what a
 * provider's row changes, headers, addresses. */
#include "json/json.h"
#include "json/write.h"
#include "talks.h"
#include "wire/quirks.h"

static const struct quirks *row(const char *host) {
  char address[256];
  snprintf(address, sizeof address, "https://%s/v1/x", host);
  return quirks_find(str_of(address));
}

static void check_on(const struct wire *wire, const char *host, const struct message *m, bool drop,
                     const char *want) {
  struct buf b;
  buf_init(&b, 1 << 20);
  bool sent = wire->put_message(&b, m, drop, host ? row(host) : NULL);
  assert_string_equal(buf_z(&b), want ? want : "");
  assert_true(sent == (want != NULL));
  buf_release(&b);
}

/* -- the user -- */

static void test_results_and_words(void **state) {
  (void)state;
  struct block blocks[] = {{.kind = BLOCK_TEXT, .text = STR("note \"1\"")},
                           {.kind = BLOCK_TOOL_RESULT, .id = STR("a.b"), .text = STR("x\ny")},
                           {.kind = BLOCK_TEXT, .text = STR("\xE3\x80\x80 ")},
                           {.kind = BLOCK_TOOL_RESULT, .id = STR("c"), .is_error = true},
                           {.kind = BLOCK_TEXT, .text = STR("two")}};
  struct message all = {ROLE_USER, blocks, 5};
  check_on(&wire_openai, NULL, &all, false,
           "{\"type\":\"function_call_output\",\"call_id\":\"a_b_4ce83a4e\",\"output\":\"x\\ny\"},"
           "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"Error: \"},"
           "{\"type\":\"message\",\"role\":\"user\",\"content\":["
           "{\"type\":\"input_text\",\"text\":\"note \\\"1\\\"\"},"
           "{\"type\":\"input_text\",\"text\":\"two\"}]}");
  check_on(&wire_chat, NULL, &all, false,
           "{\"role\":\"tool\",\"tool_call_id\":\"a_b_4ce83a4e\",\"content\":\"x\\ny\"},"
           "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"Error: \"},"
           "{\"role\":\"user\",\"content\":\"note \\\"1\\\"\\n\\ntwo\"}");
  check_on(&wire_openai, NULL, &(struct message){ROLE_USER, blocks + 2, 1}, false, NULL);
  check_on(&wire_chat, NULL, &(struct message){ROLE_USER, blocks + 2, 1}, false, NULL);
  check_on(&wire_chat, NULL, &(struct message){ROLE_USER, blocks, 0}, false, NULL);
}

/* -- Responses: the model's items -- */

#define REASONING                                                                                  \
  "{\"type\":\"reasoning\",\"id\":\"rs_1\", \"summary\":[],\"encrypted_content\":\"s\"}"
#define MESSAGE                                                                                    \
  "{ \"type\":\"message\",\"id\":\"msg_1\",\"phase\":\"commentary\",\"content\":[{\"type\":"       \
  "\"output_text\",\"text\":\"hm\",\"annotations\":[]}]}"
#define CALL(arguments)                                                                            \
  "{\"id\":\"fc_1\",\"type\":\"function_call\",\"arguments\":\"" arguments                         \
  "\",\"call_id\":\"call_1\",\"name\":\"f\",\"x\":1.0}"

static struct block own(enum block_kind kind, const char *raw) {
  return (struct block){.kind = kind,
                        .raw = str_of(raw),
                        .wire = STR("openai"),
                        .text = STR("hm"),
                        .id = STR("call_1"),
                        .name = STR("f"),
                        .args = STR("{\"a\":1}")};
}

static void test_items_go_back(void **state) {
  (void)state;
  struct block blocks[] = {own(BLOCK_THINKING, REASONING), own(BLOCK_TEXT, MESSAGE),
                           own(BLOCK_OPAQUE, "{\"type\":\"web_search_call\" }"),
                           own(BLOCK_TOOL_USE, CALL("{\\u0022a\\\":1}"))};
  struct message all = {ROLE_ASSISTANT, blocks, 4};
  check_on(&wire_openai, NULL, &all, false,
           REASONING "," MESSAGE ",{\"type\":\"web_search_call\" }," CALL("{\\u0022a\\\":1}"));
  /* Without its reasoning an item is refused by its id. */
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, blocks, 2}, true,
           "{\"type\":\"message\",\"phase\":\"commentary\",\"content\":[{\"type\":\"output_text\","
           "\"text\":\"hm\",\"annotations\":[]}]}");
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, blocks + 3, 1}, true,
           "{\"type\":\"function_call\",\"arguments\":\"{\\u0022a\\\":1}\",\"call_id\":\"call_1\","
           "\"name\":\"f\",\"x\":1.0}");
  /* Reasoning with nothing behind it is refused, and no message alone. */
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, blocks, 1}, false, NULL);
  blocks[2] = blocks[0];
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, blocks, 3}, false,
           REASONING "," MESSAGE);
  /* An item that a server gave out twice goes back once. */
  blocks[2] = blocks[1];
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, blocks, 3}, false,
           REASONING "," MESSAGE);
}

static void test_calls_that_changed(void **state) {
  (void)state;
  struct block renamed = own(BLOCK_TOOL_USE, CALL("{\\\"a\\\":1}"));
  struct block bad = renamed, mended = renamed, foreign = renamed, custom = renamed;
  renamed.id = STR("call_1_7");
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &renamed, 1}, false,
           "{\"id\":\"fc_1\",\"type\":\"function_call\",\"arguments\":\"{\\\"a\\\":1}\","
           "\"call_id\":\"call_1_7\",\"name\":\"f\",\"x\":1.0}");
  bad.args = STR("{\"a");
  bad.args_bad = true;
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &bad, 1}, false,
           "{\"id\":\"fc_1\",\"type\":\"function_call\",\"arguments\":"
           "\"{\\\"INVALID_JSON\\\":\\\"{\\\\\\\"a\\\"}\",\"call_id\":\"call_1\",\"name\":\"f\","
           "\"x\":1.0}");
  mended.args = STR("{}");
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &mended, 1}, false,
           "{\"id\":\"fc_1\",\"type\":\"function_call\",\"arguments\":\"{}\",\"call_id\":"
           "\"call_1\",\"name\":\"f\",\"x\":1.0}");
  foreign.wire = STR("chat");
  foreign.name = STR("a b");
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &foreign, 1}, false,
           "{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"a_b\",\"arguments\":"
           "\"{\\\"a\\\":1}\"}");
  custom.raw = STR("{\"type\":\"custom_tool_call\",\"call_id\":\"call_1\",\"name\":\"f\"}");
  custom.args = STR("SELECT");
  custom.args_bad = true;
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &custom, 1}, false,
           "{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"f\",\"arguments\":"
           "\"{\\\"INVALID_JSON\\\":\\\"SELECT\\\"}\"}");
  struct block text = {.kind = BLOCK_TEXT, .text = STR("t")};
  check_on(&wire_openai, NULL, &(struct message){ROLE_ASSISTANT, &text, 1}, false,
           "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"t\"}");
}

static void test_long_ids(void **state) {
  (void)state;
  char id[200];
  memset(id, 'i', sizeof id);
  struct block use = {
      .kind = BLOCK_TOOL_USE, .id = {id, sizeof id}, .name = STR("f"), .args = STR("{}")};
  struct block result = {.kind = BLOCK_TOOL_RESULT, .id = {id, sizeof id}};
  for (size_t w = 1; w < 3; w++) {
    struct buf a, b;
    struct arena arena;
    struct json *call = NULL, *answer = NULL;
    arena_init(&arena, 1 << 20);
    buf_init(&a, 65536);
    buf_init(&b, 65536);
    wires[w]->put_message(&a, &(struct message){ROLE_ASSISTANT, &use, 1}, false, NULL);
    wires[w]->put_message(&b, &(struct message){ROLE_USER, &result, 1}, false, NULL);
    assert_int_equal(json_parse(&arena, buf_str(&a), JSON_STRICT, &call, NULL), REIN_OK);
    assert_int_equal(json_parse(&arena, buf_str(&b), JSON_STRICT, &answer, NULL), REIN_OK);
    bool chat = wires[w] == &wire_chat;
    struct str called = json_text(chat ? json_get(json_at(json_get(call, "tool_calls"), 0), "id")
                                       : json_get(call, "call_id"));
    struct str answered = json_text(json_get(answer, chat ? "tool_call_id" : "call_id"));
    assert_true(called.n == 64 && str_eq(called, answered));
    buf_release(&a);
    buf_release(&b);
    arena_release(&arena);
  }
}

/* -- Chat: the model's words and calls, by provider -- */

#define CALLS_OF(extra)                                                                            \
  "\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"f\","         \
  "\"arguments\":\"{\\\"a\\\":1}\"}" extra "}]}"

static void test_chat_replies(void **state) {
  (void)state;
  struct block blocks[] = {
      {.kind = BLOCK_THINKING, .raw = STR("{\"reasoning_content\":\"why\"}"), .wire = STR("chat")},
      {.kind = BLOCK_TOOL_USE,
       .id = STR("call_1"),
       .name = STR("f"),
       .args = STR("{\"a\":1}"),
       .raw = STR("{\"extra_content\":{\"s\":1.0}}"),
       .wire = STR("chat")},
      {.kind = BLOCK_TEXT, .text = STR("hi")}};
  struct message calls = {ROLE_ASSISTANT, blocks, 2}, all = {ROLE_ASSISTANT, blocks, 3};
  const char *extra =
      "{\"role\":\"assistant\",\"content\":\"\"," CALLS_OF(",\"extra_content\":{\"s\":1.0}");
  check_on(&wire_chat, NULL, &calls, false, extra);
  check_on(&wire_chat, "generativelanguage.googleapis.com", &calls, false, extra);
  check_on(&wire_chat, "api.groq.com", &calls, false,
           "{\"role\":\"assistant\",\"content\":\"\"," CALLS_OF(""));
  check_on(&wire_chat, "API.openai.com:443", &calls, false,
           "{\"role\":\"assistant\",\"content\":null," CALLS_OF(",\"extra_content\":{\"s\":1.0}"));
  check_on(
      &wire_chat, "x.openai.azure.com", &all, false,
      "{\"role\":\"assistant\",\"content\":\"hi\"," CALLS_OF(",\"extra_content\":{\"s\":1.0}"));
  check_on(&wire_chat, "api.deepseek.com", &calls, false,
           "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"why\"," CALLS_OF(
               ",\"extra_content\":{\"s\":1.0}"));
  check_on(&wire_chat, "api.deepseek.com", &(struct message){ROLE_ASSISTANT, blocks + 2, 1}, false,
           "{\"role\":\"assistant\",\"content\":\"hi\",\"reasoning_content\":\"\"}");
  check_on(&wire_chat, "api.deepseek.com", &(struct message){ROLE_ASSISTANT, blocks, 1}, false,
           NULL);
  blocks[1].args_bad = true;
  check_on(&wire_chat, NULL, &(struct message){ROLE_ASSISTANT, blocks + 1, 1}, false,
           "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"call_1\",\"type\":"
           "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"INVALID_JSON\\\":"
           "\\\"{\\\\\\\"a\\\\\\\":1}\\\"}\"},\"extra_content\":{\"s\":1.0}}]}");
}

static void test_nine_letters(void **state) {
  (void)state;
  static const char *const ids[] = {"call_1", "call_2", "gSIMJiOkT", "gSIMJiOk_", ""};
  struct str sent[5];
  struct arena arena;
  arena_init(&arena, 1 << 20);
  for (size_t i = 0; i < 5; i++) {
    struct buf b;
    struct json *doc = NULL;
    struct block result = {.kind = BLOCK_TOOL_RESULT, .id = str_of(ids[i]), .text = STR("r")};
    buf_init(&b, 65536);
    wire_chat.put_message(&b, &(struct message){ROLE_USER, &result, 1}, false,
                          row("api.mistral.ai"));
    struct str text;
    assert_true(arena_str(&arena, buf_str(&b), &text));
    assert_int_equal(json_parse(&arena, text, JSON_STRICT, &doc, NULL), REIN_OK);
    sent[i] = json_text(json_get(doc, "tool_call_id"));
    assert_int_equal(sent[i].n, 9);
    for (size_t k = 0; k < 9; k++)
      assert_true(strchr("_-.", sent[i].p[k]) == NULL);
    for (size_t k = 0; k < i; k++)
      assert_false(str_eq(sent[k], sent[i]));
    buf_release(&b);
  }
  assert_true(str_is(sent[2], "gSIMJiOkT"));
  arena_release(&arena);
}

/* Pieces of reasoning that stand apart only because they were streamed are one. */
static void test_details(void **state) {
  (void)state;
  struct block blocks[] = {
      {.kind = BLOCK_THINKING,
       .wire = STR("chat"),
       .raw = STR("{\"reasoning_details\":["
                  "{\"type\":\"reasoning.text\",\"text\":\"a\",\"signature\":\"\",\"index\":0},"
                  "{\"type\":\"reasoning.text\",\"text\":\"b\",\"index\":0},"
                  "{\"type\":\"reasoning.text\",\"signature\":\"s\",\"index\":0},"
                  "{\"type\":\"reasoning.text\",\"text\":\"c\",\"index\":5},"
                  "{\"type\":\"reasoning.encrypted\",\"data\":\"d\",\"index\":1}],"
                  "\"reasoning\":\"ab\"}")},
      {.kind = BLOCK_TEXT, .text = STR("t")}};
  struct message m = {ROLE_ASSISTANT, blocks, 2};
  check_on(&wire_chat, "openrouter.ai", &m, false,
           "{\"role\":\"assistant\",\"content\":\"t\",\"reasoning_details\":["
           "{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"ab\",\"signature\":\"s\"},"
           "{\"type\":\"reasoning.text\",\"index\":5,\"text\":\"c\"},"
           "{\"type\":\"reasoning.encrypted\",\"index\":1,\"data\":\"d\"}]}");
  check_on(&wire_chat, "openrouter.ai", &m, true, "{\"role\":\"assistant\",\"content\":\"t\"}");
  blocks[0].raw = STR("{\"reasoning\":\"ab\"}");
  check_on(&wire_chat, "openrouter.ai", &m, false,
           "{\"role\":\"assistant\",\"content\":\"t\",\"reasoning\":\"ab\"}");
  check_on(&wire_chat, NULL, &m, false, "{\"role\":\"assistant\",\"content\":\"t\"}");
}

/* A02: no digit of a number is touched on its way from reply to request. */
static void test_numbers_stay(void **state) {
  (void)state;
  struct buf file, out, quoted;
  struct arena arena;
  struct json *doc = NULL;
  shared_read(&file, "cases/A02-big-integers-and-numbers/call.json");
  arena_init(&arena, 1 << 20);
  buf_init(&out, 1 << 20);
  buf_init(&quoted, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), JSON_STRICT, &doc, NULL), REIN_OK);
  struct str args = json_get(doc, "input")->source;
  struct block b = {.kind = BLOCK_TOOL_USE, .id = STR("a"), .name = STR("n"), .args = args};
  json_quote(&quoted, args);
  for (size_t w = 1; w < 3; w++) {
    buf_reset(&out);
    assert_true(wires[w]->put_message(&out, &(struct message){ROLE_ASSISTANT, &b, 1}, false, NULL));
    assert_true(str_has(buf_str(&out), buf_str(&quoted)));
  }
  arena_release(&arena);
  buf_release(&out);
  buf_release(&quoted);
  buf_release(&file);
}

/* -- requests -- */

static void check_request(const struct wire *wire, const char *host, struct request *r,
                          const char *want) {
  struct buf b;
  buf_init(&b, 65536);
  r->quirks = host ? row(host) : NULL;
  wire->put_request(&b, r);
  assert_string_equal(buf_z(&b), want);
  buf_release(&b);
}

static void test_requests(void **state) {
  (void)state;
  struct str messages[] = {STR("{\"a\":1},{\"b\":2}"), STR(""), STR("{\"c\":3}")};
  enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_USER};
  struct request r = {.model = STR("m\"1"),
                      .messages = messages,
                      .roles = roles,
                      .count = 3,
                      .output_limit = 512,
                      .no_tools = true};
  check_request(&wire_openai, NULL, &r,
                "{\"model\":\"m\\\"1\",\"input\":[{\"a\":1},{\"b\":2},{\"c\":3}],"
                "\"max_output_tokens\":512,\"store\":false,\"include\":["
                "\"reasoning.encrypted_content\"],\"stream\":true}");
  check_request(&wire_chat, NULL, &r,
                "{\"model\":\"m\\\"1\",\"messages\":[{\"a\":1},{\"b\":2},{\"c\":3}],"
                "\"max_tokens\":512,\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
  r.system = STR("s");
  r.tools = STR("[{}]");
  r.output_limit = 3;
  check_request(&wire_openai, "api.openai.com", &r,
                "{\"model\":\"m\\\"1\",\"tools\":[{}],\"instructions\":\"s\",\"input\":[{\"a\":1},"
                "{\"b\":2},{\"c\":3}],\"max_output_tokens\":16,\"store\":false,\"include\":["
                "\"reasoning.encrypted_content\"],\"stream\":true,\"stream_options\":{"
                "\"include_obfuscation\":false},\"tool_choice\":\"none\"}");
  check_request(&wire_chat, "api.openai.com", &r,
                "{\"model\":\"m\\\"1\",\"tools\":[{}],\"messages\":[{\"role\":\"system\","
                "\"content\":\"s\"},{\"a\":1},{\"b\":2},{\"c\":3}],\"max_completion_tokens\":3,"
                "\"stream\":true,\"stream_options\":{\"include_usage\":true,"
                "\"include_obfuscation\":false},\"tool_choice\":\"none\"}");
  r.no_tools = false;
  check_request(&wire_chat, "api.mistral.ai", &r,
                "{\"model\":\"m\\\"1\",\"tools\":[{}],\"messages\":[{\"role\":\"system\","
                "\"content\":\"s\"},{\"a\":1},{\"b\":2},{\"c\":3}],\"max_tokens\":3,"
                "\"stream\":true}");
}

static void test_tools(void **state) {
  (void)state;
  struct buf b;
  struct tool tools[] = {{.name = STR("b"), .description = STR("d"), .schema = STR("{\"z\": 1}")},
                         {.name = STR("a"), .schema = STR("{}")}};
  buf_init(&b, 4096);
  wire_openai.put_tools(&b, tools, 2);
  assert_string_equal(buf_z(&b),
                      "[{\"type\":\"function\",\"name\":\"b\",\"description\":\"d\","
                      "\"parameters\":{\"z\": 1},\"strict\":false},{\"type\":"
                      "\"function\",\"name\":\"a\",\"parameters\":{},\"strict\":false}]");
  buf_reset(&b);
  wire_chat.put_tools(&b, tools, 2);
  assert_string_equal(buf_z(&b),
                      "[{\"type\":\"function\",\"function\":{\"name\":\"b\",\"description\":\"d\","
                      "\"parameters\":{\"z\": 1}}},{\"type\":\"function\",\"function\":{\"name\":"
                      "\"a\",\"parameters\":{}}}]");
  buf_reset(&b);
  wire_openai.put_tools(&b, tools, 0);
  wire_chat.put_tools(&b, tools, 0);
  assert_int_equal(b.n, 0);
  buf_release(&b);
}

/* -- the prefix -- */

/* A request begins with the last one's bytes up to the end of its messages. */
static void check_prefix(struct buf *last, struct str body, const char *end) {
  size_t until = 0;
  for (size_t at = 0; at < body.n; at++)
    if (str_starts(str_part(body, at, body.n), str_of(end))) until = at;
  assert_true(until > 0);
  assert_true(str_starts(body, buf_str(last)));
  buf_reset(last);
  buf_put(last, str_part(body, 0, until));
}

static void check_json(struct str body) {
  struct arena arena;
  struct json *doc = NULL;
  arena_init(&arena, 16u << 20);
  assert_int_equal(json_parse(&arena, body, JSON_STRICT, &doc, NULL), REIN_OK);
  assert_null(json_find_twin(doc));
  arena_release(&arena);
}

/* For test_history.py, which has the handed checker read the bodies. */
static void keep_body(const struct wire *wire, const char *host, struct str body, uint64_t seed,
                      int turn) {
  char path[512];
  const char *folder = getenv("REIN_BODIES");
  if (!folder || seed > 10) return;
  snprintf(path, sizeof path, "%s/%s-%s-%d-%d.json", folder, wire->name, host, (int)seed, turn);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(body.p, 1, body.n, f), body.n);
  fclose(f);
}

static void play_talk(const struct wire *wire, const char *host, const char *end, uint64_t seed) {
  struct talk_test t;
  struct buf last, body;
  buf_init(&last, 4u << 20);
  buf_init(&body, 4u << 20);
  talk_start_on(&t, wire, seed);
  t.quirks = row(host);
  for (int turn = 0; turn < 12; turn++) {
    talk_turn(&t, turn % 3 == 2 ? TALK_BLOCKS - 1 : 4);
    buf_reset(&body);
    talk_request(&t, &body, turn % 5 == 4);
    check_json(buf_str(&body));
    check_prefix(&last, buf_str(&body), end);
    keep_body(wire, host, buf_str(&body), seed, turn);
  }
  buf_release(&last);
  buf_release(&body);
  arena_release(&t.arena);
}

static void test_prefix(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    play_talk(&wire_openai, "api.openai.com", "],\"max_output_tokens\":", seed);
    play_talk(&wire_chat, "localhost", "],\"max_tokens\":", seed);
    play_talk(&wire_chat, "api.openai.com", "],\"max_completion_tokens\":", seed);
    play_talk(&wire_chat, "api.deepseek.com", "],\"max_tokens\":", seed);
    play_talk(&wire_chat, "api.mistral.ai", "],\"max_tokens\":", seed);
  }
}

/* -- headers, addresses, rows -- */

static void test_headers(void **state) {
  static const struct {
    const char *key, *line;
  } rows[] = {{"k-1", "authorization: Bearer k-1\n"},
              {" k-1\r\n", "authorization: Bearer k-1\n"},
              {"", NULL},
              {"k\r\nhost: other", NULL}};
  (void)state;
  for (size_t i = 0; i < 4; i++)
    for (size_t w = 1; w < 3; w++) {
      struct buf b;
      buf_init(&b, 4096);
      wires[w]->put_headers(&b, str_of(rows[i].key));
      assert_true(str_has(buf_str(&b), STR("accept: text/event-stream\n")));
      if (rows[i].line)
        assert_true(str_has(buf_str(&b), str_of(rows[i].line)));
      else
        assert_false(str_has(buf_str(&b), STR("authorization")));
      buf_release(&b);
    }
}

static void test_addresses(void **state) {
  static const struct {
    const char *base, *chat;
  } rows[] = {{"", "https://api.openai.com/v1/chat/completions"},
              {"http://h:1/v1", "http://h:1/v1/chat/completions"},
              {"http://h:1/v1/", "http://h:1/v1/chat/completions"},
              {"http://h/v1beta/openai", "http://h/v1beta/openai/chat/completions"},
              {"http://h/v1/chat/completions", "http://h/v1/chat/completions"}};
  (void)state;
  struct buf b;
  buf_init(&b, 4096);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    buf_reset(&b);
    wire_url(&b, &wire_chat, str_of(rows[i].base));
    assert_string_equal(buf_z(&b), rows[i].chat);
  }
  buf_reset(&b);
  wire_url(&b, &wire_openai, STR("http://h/v1"));
  assert_string_equal(buf_z(&b), "http://h/v1/responses");
  assert_ptr_equal(wire_by_name(STR("openai")), &wire_openai);
  assert_ptr_equal(wire_by_name(STR("chat")), &wire_chat);
  for (size_t w = 0; w < 3; w++)
    assert_true(wires[w]->overhead_tokens >= 1024);
  buf_release(&b);
}

static void test_rows(void **state) {
  (void)state;
  const struct quirks *others = quirks_find(STR("http://127.0.0.1:8080/v1"));
  assert_true(!others->ids_of_9 && !others->new_limit && others->echo == ECHO_NONE);
  assert_ptr_equal(quirks_find(STR_NONE), others);
  assert_ptr_equal(quirks_find(STR("offline")), others);
  assert_ptr_equal(quirks_find(STR("https://evil.test/api.openai.com")), others);
  assert_ptr_equal(quirks_find(STR("https://.openai.azure.com/")), others);
  assert_ptr_equal(quirks_find(STR("https://openai.azure.com/")), others);
  assert_true(row("a.openai.azure.com")->new_limit && row("api.mistral.ai")->ids_of_9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results_and_words),
      cmocka_unit_test(test_items_go_back),
      cmocka_unit_test(test_calls_that_changed),
      cmocka_unit_test(test_long_ids),
      cmocka_unit_test(test_chat_replies),
      cmocka_unit_test(test_nine_letters),
      cmocka_unit_test(test_details),
      cmocka_unit_test(test_numbers_stay),
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_tools),
      cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_headers),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
