/* What servers refuse in a request: which refusals are repaired, into which bytes, and
 * which are not. What the machine makes of it: tests/core/test_valves.c. */
#include "shared.h"
#include "wire/quirks.h"
#include "wire/refused.h"

/* The change that an answer of these bytes asks for. */
static enum rewrite asked(const struct wire *wire, int status, const char *body) {
  struct event event;
  struct attempt *a = attempt_open_on(wire, status);
  attempt_bytes(a, str_of(body));
  attempt_close(a, NULL, &event);
  if (event.kind != EVENT_FAILED) fail_msg("no fault: %s", body);
  enum rewrite repair = event.fault->repair;
  attempt_free(a);
  return repair;
}

struct row {
  const struct wire *wire;
  int status;
  const char *body;
  enum rewrite repair;
};

static void check(const struct row *r) {
  enum rewrite repair = asked(r->wire, r->status, r->body);
  if (repair != r->repair)
    fail_msg("%s, not %s: %s", rewrite_word(repair), rewrite_word(r->repair), r->body);
}

#define SAYS(message) "{\"error\":{\"message\":\"" message "\",\"type\":\"invalid_request_error\"}}"
#define BLAMES(param)                                                                              \
  "{\"error\":{\"message\":\"Unsupported parameter.\",\"param\":\"" param                          \
  "\",\"code\":\"unsupported_parameter\"}}"

static const struct row on_table[] = {
    {&wire_chat, 400,
     "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' is not supported with this "
     "model. Use 'max_completion_tokens' instead.\",\"type\":\"invalid_request_error\","
     "\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\"}}",
     REWRITE_NEW_LIMIT},
    {&wire_chat, 400,
     SAYS("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
          "'max_completion_tokens' instead."),
     REWRITE_NEW_LIMIT},
    {&wire_chat, 400, SAYS("Unrecognized request argument supplied: max_completion_tokens"),
     REWRITE_OLD_LIMIT},
    {&wire_chat, 400, SAYS("Unrecognized request argument supplied: stream_options"),
     REWRITE_NO_USAGE_ASKED},
    {&wire_chat, 400, BLAMES("stream_options"), REWRITE_NO_USAGE_ASKED},
    {&wire_chat, 400, BLAMES("stream_options.include_usage"), REWRITE_NO_USAGE_ASKED},
    {&wire_chat, 400, BLAMES("stream_options.include_obfuscation"), REWRITE_NO_PADDING},
    {&wire_chat, 400, SAYS("Unknown parameter: 'stream_options.include_obfuscation'."),
     REWRITE_NO_PADDING},
    {&wire_chat, 422,
     "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"],\"msg\":"
     "\"Extra inputs are not permitted\",\"input\":{\"include_usage\":true}}]}",
     REWRITE_NO_USAGE_ASKED},
    {&wire_chat, 422,
     "{\"object\":\"error\",\"message\":{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":"
     "[\"body\",\"messages\",2,\"assistant\",\"reasoning_content\"],\"msg\":\"Extra inputs are "
     "not permitted\"}]},\"type\":\"invalid_request_error\",\"param\":null,\"code\":null}",
     REWRITE_NO_ECHO},
    {&wire_chat, 400,
     SAYS("'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : "
          "property 'reasoning_content' is unsupported)]"),
     REWRITE_NO_ECHO},
    {&wire_chat, 400, SAYS("'messages.1' : property 'reasoning_details' is unsupported"),
     REWRITE_NO_ECHO},
    {&wire_chat, 400,
     SAYS("Missing `reasoning_content` field in the assistant message at message index 2."),
     REWRITE_ECHO},
    {&wire_chat, 400,
     SAYS("The `reasoning_content` in the thinking mode must be passed back to the API."),
     REWRITE_ECHO},
    {&wire_chat, 400, SAYS("messages.1.tool_calls.0.extra_content: Extra inputs are not permitted"),
     REWRITE_PLAIN_CALLS},
    {&wire_chat, 400,
     "{\"object\":\"error\",\"message\":\"Tool call id was turn1_0 but must be a-z, A-Z, 0-9, "
     "with a length of 9.\",\"type\":\"invalid_function_call\",\"code\":\"3280\"}",
     REWRITE_IDS_OF_9},
    {&wire_chat, 400, SAYS("'tool_choice' is not supported by this model"), REWRITE_NO_TOOL_CHOICE},
    {&wire_openai, 400, SAYS("Encrypted content is not supported with this model."),
     REWRITE_NO_INCLUDE},
    {&wire_openai, 400, BLAMES("include"), REWRITE_NO_INCLUDE},
    {&wire_openai, 400, SAYS("Unknown parameter: 'include'."), REWRITE_NO_INCLUDE},
    {&wire_chat, 400, SAYS("messages.1.reasoning: Extra inputs are not permitted"),
     REWRITE_NO_ECHO},
    {&wire_openai, 400, BLAMES("stream_options"), REWRITE_NO_PADDING},
    {&wire_anthropic, 400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
     "\"messages.0.content.0.text.cache_control: Extra inputs are not permitted\"}}",
     REWRITE_NO_MARKS},
    /* an error in the stream itself, or with status 200 */
    {&wire_chat, 200,
     "data: {\"error\":{\"message\":\"stream_options is not supported\",\"type\":"
     "\"invalid_request_error\"}}\n\n",
     REWRITE_NO_USAGE_ASKED},
    {&wire_chat, 200, SAYS("stream_options is not supported"), REWRITE_NO_USAGE_ASKED},
};

static void test_on_the_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof on_table / sizeof *on_table; i++)
    check(&on_table[i]);
}

/* Never for anything else: the same words of another member, another wire, another class. */
static void test_not_on_the_table(void **state) {
  static const struct row rows[] = {
      {&wire_chat, 400, SAYS("Unsupported parameter: 'temperature' is not supported"), 0},
      {&wire_chat, 400, SAYS("Unsupported parameter: 'model' is not supported"), 0},
      {&wire_chat, 400, SAYS("max_tokens is too large: 99999. This model allows 4096"), 0},
      {&wire_chat, 400, SAYS("stream_options must be an object"), 0},
      {&wire_chat, 400, SAYS("Unknown parameter: 'my_stream_options'."), 0},
      {&wire_chat, 400, SAYS("Unknown parameter: 'max_tokens_to_sample'."), 0},
      {&wire_chat, 400,
       SAYS("Function tools with reasoning_effort are not supported for gpt-5.6-luna in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set "
            "reasoning_effort to 'none'."),
       0},
      {&wire_chat, 400, SAYS("maximum context length is 8192; max_tokens is not supported"), 0},
      {&wire_chat, 429, SAYS("stream_options is not supported"), 0},
      {&wire_chat, 401, SAYS("stream_options is not supported"), 0},
      {&wire_chat, 500, SAYS("stream_options is not supported"), 0},
      {&wire_chat, 400, "<html>stream options</html>", 0},
      {&wire_chat, 400, "", 0},
      {&wire_openai, 400, BLAMES("max_output_tokens"), 0},
      {&wire_openai, 400, BLAMES("store"), 0},
      {&wire_openai, 400, SAYS("Please include what is not supported"), 0},
      {&wire_chat, 400, SAYS("reasoning is not supported by this model"), 0},
      {&wire_anthropic, 400, SAYS("stream_options: Extra inputs are not permitted"), 0},
      {&wire_anthropic, 400, SAYS("max_tokens: not supported"), 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check(&rows[i]);
}

/* The handed bodies, each with what is done about it. */
static void test_handed(void **state) {
  static const struct {
    const char *name;
    enum rewrite repair;
  } rows[] = {{"deepseek_400_reasoning", REWRITE_ECHO},
              {"groq_400_reasoning", REWRITE_NO_ECHO},
              {"mistral_400_id", REWRITE_IDS_OF_9}};
  struct buf lines, body;
  (void)state;
  shared_read(&body, "wire/fixtures/chat-error-max_tokens-unsupported.json");
  assert_int_equal(asked(&wire_chat, 400, buf_z(&body)), REWRITE_NEW_LIMIT);
  buf_release(&body);
  shared_read(&body, "wire/fixtures/responses-error-temperature-unsupported.json");
  assert_int_equal(asked(&wire_openai, 400, buf_z(&body)), REWRITE_NONE); /* never sent */
  buf_release(&body);
  shared_read(&lines, "wire/fixtures/syn-error-bodies.jsonl");
  struct str rest = buf_str(&lines), line;
  while (str_next(&rest, '\n', &line)) {
    struct arena arena;
    struct json *doc = NULL;
    enum rewrite want = REWRITE_NONE;
    if (line.n == 0) continue;
    arena_init(&arena, 1 << 20);
    buf_init(&body, 1 << 16);
    assert_int_equal(json_parse(&arena, line, JSON_STRICT, &doc, NULL), REIN_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
      if (str_is(json_text(json_get(doc, "name")), rows[i].name)) want = rows[i].repair;
    if (json_get(doc, "body")) buf_put(&body, json_get(doc, "body")->source);
    assert_int_equal(asked(&wire_chat, 400, buf_z(&body)), want);
    buf_release(&body);
    arena_release(&arena);
  }
  buf_release(&lines);
}

/* -- into which bytes -- */

static void put_all(struct buf *out, const struct wire *wire, const struct quirks *quirks) {
  const struct block said[] = {
      {.kind = BLOCK_THINKING, .raw = STR("{\"reasoning_content\":\"hm\"}"), .wire = STR("chat")},
      {.kind = BLOCK_TOOL_USE,
       .id = STR("call_long_1"),
       .name = STR("f"),
       .args = STR("{}"),
       .raw = STR("{\"extra_content\":{\"s\":1}}"),
       .wire = STR("chat")}};
  const struct block result = {
      .kind = BLOCK_TOOL_RESULT, .id = STR("call_long_1"), .text = STR("done")};
  const struct message messages[] = {
      {ROLE_USER, &(struct block){.kind = BLOCK_TEXT, .text = STR("go")}, 1},
      {ROLE_ASSISTANT, said, 2},
      {ROLE_USER, &result, 1}};
  struct buf made[3];
  struct str bytes[3];
  enum role roles[3];
  for (size_t i = 0; i < 3; i++) {
    buf_init(&made[i], 1 << 16);
    (void)wire->put_message(&made[i], &messages[i], false, quirks);
    bytes[i] = buf_str(&made[i]);
    roles[i] = messages[i].role;
  }
  buf_reset(out);
  wire->put_request(out, &(struct request){.model = STR("m"),
                                           .system = STR("s"),
                                           .tools = STR("[]"),
                                           .messages = bytes,
                                           .roles = roles,
                                           .count = 3,
                                           .output_limit = 1000,
                                           .no_tools = true,
                                           .quirks = quirks});
  for (size_t i = 0; i < 3; i++)
    buf_release(&made[i]);
}

static void test_bytes(void **state) {
  static const struct {
    const struct wire *wire;
    const char *server;
    enum rewrite repair;
    const char *gone, *came;
  } rows[] = {
      {&wire_chat, "plain", REWRITE_NO_USAGE_ASKED, "\"stream_options\"", NULL},
      {&wire_chat, "openai", REWRITE_NO_PADDING, "include_obfuscation", "include_usage"},
      {&wire_chat, "plain", REWRITE_NEW_LIMIT, "\"max_tokens\"", "\"max_completion_tokens\":1000"},
      {&wire_chat, "openai", REWRITE_OLD_LIMIT, "max_completion_tokens", "\"max_tokens\":1000"},
      {&wire_chat, "plain", REWRITE_ECHO, NULL, "\"reasoning_content\":\"hm\""},
      {&wire_chat, "deepseek", REWRITE_NO_ECHO, "reasoning", NULL},
      {&wire_chat, "plain", REWRITE_PLAIN_CALLS, "extra_content", "\"f\""},
      {&wire_chat, "plain", REWRITE_IDS_OF_9, "call_long_1", "tool_call_id"},
      {&wire_chat, "plain", REWRITE_NO_TOOL_CHOICE, "tool_choice", "\"tools\""},
      {&wire_openai, "openai", REWRITE_NO_PADDING, "stream_options", "\"stream\":true"},
      {&wire_openai, "plain", REWRITE_NO_INCLUDE, "\"include\"", "\"store\":false"},
      {&wire_openai, "plain", REWRITE_NO_TOOL_CHOICE, "tool_choice", "\"tools\""},
      {&wire_anthropic, "anthropic", REWRITE_NO_MARKS, "cache_control", "\"system\""},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct quirks *quirks = rows[i].wire->find_quirks(str_of(rows[i].server)),
                        *before = quirks;
    struct arena arena;
    struct buf body;
    arena_init(&arena, 4096);
    buf_init(&body, 1 << 16);
    put_all(&body, rows[i].wire, quirks);
    if (rows[i].gone) assert_true(str_has(buf_str(&body), str_of(rows[i].gone)));
    assert_true(rows[i].wire->repair(&arena, rows[i].repair, &quirks));
    assert_ptr_not_equal(quirks, before);
    put_all(&body, rows[i].wire, quirks);
    if (rows[i].gone && str_has(buf_str(&body), str_of(rows[i].gone)))
      fail_msg("%s stays: %s", rows[i].gone, buf_z(&body));
    if (rows[i].came && !str_has(buf_str(&body), str_of(rows[i].came)))
      fail_msg("%s is missing: %s", rows[i].came, buf_z(&body));
    before = quirks; /* what is so already is not changed again */
    assert_true(rows[i].wire->repair(&arena, rows[i].repair, &quirks));
    assert_ptr_equal(quirks, before);
    buf_release(&body);
    arena_release(&arena);
  }
}

/* Each has a sentence in both languages, and a word of its own for the journal. */
static void test_words(void **state) {
  (void)state;
  for (int i = 0; i < REWRITE_COUNT; i++) {
    struct buf en, ko;
    buf_init(&en, 1024);
    buf_init(&ko, 1024);
    rewrite_put(&en, REIN_ENGLISH, (enum rewrite)i);
    rewrite_put(&ko, REIN_KOREAN, (enum rewrite)i);
    assert_true(en.n > 0 && ko.n > 0 && !str_eq(buf_str(&en), buf_str(&ko)));
    for (int k = 0; k < i; k++)
      assert_string_not_equal(rewrite_word((enum rewrite)i), rewrite_word((enum rewrite)k));
    buf_release(&en);
    buf_release(&ko);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_on_the_table), cmocka_unit_test(test_not_on_the_table),
      cmocka_unit_test(test_handed),       cmocka_unit_test(test_bytes),
      cmocka_unit_test(test_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
