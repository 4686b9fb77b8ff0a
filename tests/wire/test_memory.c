/* Each allocation fails in turn, once and from then on: through an answer, a
 * request and a script. No leak, a legal state, never a reply that lacks a part. */
#include "support/oom.h"
#include "talks.h"
#include "wire/quirks.h"
#include "wire/script.h"

static const char stream[] =
    "event: message_start\n"
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\",\"usage\":"
    "{\"input_tokens\":5}}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\","
    "\"thinking\":\"\",\"signature\":\"s\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\","
    "\"thinking\":\"hm\"}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\","
    "\"text\":\"\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"안녕\\ud83d\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"\\ude42\"}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":"
    "\"server_tool_use\",\"name\":\"n\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{\\\"q\\\":1}\"}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\","
    "\"name\":\"t\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{\\\"a\\\":[1]}\"}}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":"
    "{\"output_tokens\":9}}\n\n";

static bool is_whole(const struct reply *r) {
  return r->count == 4 && str_has(r->blocks[0].raw, STR("\"thinking\":\"hm\"")) &&
         str_is(r->blocks[1].text, "안녕🙂") && str_has(r->blocks[2].raw, STR("{\"q\":1}")) &&
         str_is(r->blocks[3].args, "{\"a\":[1]}") && r->blocks[3].id.n && !r->blocks[3].args_bad &&
         r->usage.output == 9 && r->stop == STOP_TOOLS;
}

/* Feeds the stream and what `end` adds; a failed allocation is a broken attempt. */
static bool answer(const char *end, bool *reply, enum fault_kind *kind) {
  struct attempt *a = NULL;
  struct event event;
  struct str piece;
  bool thinking;
  if (attempt_new(&wire_anthropic, 7, &a) != REIN_OK) return false;
  attempt_status(a, 200);
  attempt_header(a, STR("request-id"), STR("r"));
  attempt_bytes(a, str_of(stream));
  while (attempt_piece(a, &piece, &thinking))
    assert_true(piece.n > 0);
  attempt_bytes(a, str_of(end));
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  *reply = event.kind == EVENT_REPLY;
  if (*reply)
    assert_true(is_whole(event.reply));
  else
    *kind = event.fault->kind;
  attempt_free(a);
  return true;
}

/* The same on the wires of OpenAI's making. */
static const char responses_stream[] =
    "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"x\"}}\n\n"
    "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":"
    "\"message\"}}\n\n"
    "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"안\"}\n\n"
    "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
    "\"message\",\"content\":[{\"text\":\"안녕🙂\"}]}}\n\n"
    "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":"
    "\"function_call\",\"call_id\":\"c\",\"name\":\"t\",\"arguments\":\"{\\\"a\\\":[1]}\"}}\n\n"
    "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,"
    "\"output_tokens\":9}}}\n\n";
static const char chat_stream[] =
    "data: {\"id\":\"c\",\"model\":\"x\",\"choices\":[{\"delta\":{\"reasoning\":\"hm\","
    "\"reasoning_details\":[{\"text\":\"hm\"}]}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"안녕🙂\",\"tool_calls\":[{\"id\":\"c\","
    "\"function\":{\"name\":\"t\",\"arguments\":\"\\\"{\\\\\\\"a\\\\\\\":[1]}\\\"\"},"
    "\"x\":1}]}}]}\n\n"
    "data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,"
    "\"completion_tokens\":9}}\n\n";

static bool is_sound(const struct reply *r) {
  const struct block *text = &r->blocks[r->count - 2], *call = text + 1;
  return str_is(text->text, "안녕🙂") && str_is(call->args, "{\"a\":[1]}") && call->raw.n &&
         !call->args_bad && r->usage.output == 9;
}

static bool openai_scenario(void *ctx) {
  const struct wire *wire = ctx;
  bool chat = wire == &wire_chat;
  struct attempt *a = NULL;
  struct event event;
  struct buf b;
  if (attempt_new(wire, 7, &a) != REIN_OK) return false;
  attempt_status(a, 200);
  attempt_bytes(a, str_of(chat ? chat_stream : responses_stream));
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  bool well = event.kind == EVENT_REPLY;
  if (!well) assert_int_equal(event.fault->kind, FAULT_BROKEN);
  if (well) {
    struct message m = {ROLE_ASSISTANT, event.reply->blocks, event.reply->count};
    assert_true(is_sound(event.reply));
    buf_init(&b, 1 << 20);
    bool sent = wire->put_message(&b, &m, false, quirks_find(STR("https://openrouter.ai/")));
    well = b.fail == REIN_OK;
    assert_true(well ? sent : b.fail == REIN_MEMORY);
    if (well && chat) assert_true(str_has(buf_str(&b), STR("\"reasoning_details\":[{\"text\"")));
    buf_release(&b);
  }
  attempt_free(a);
  return well;
}

static bool reply_scenario(void *ctx) {
  bool reply = false;
  enum fault_kind kind = FAULT_BROKEN;
  (void)ctx;
  if (!answer("data: {\"type\":\"message_stop\"}\n\n", &reply, &kind)) return false;
  if (!reply) assert_int_equal(kind, FAULT_BROKEN);
  return reply;
}

static bool error_scenario(void *ctx) {
  bool reply = false;
  enum fault_kind kind = FAULT_BROKEN;
  (void)ctx;
  if (!answer(
          "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"m\"}}"
          "\n\n",
          &reply, &kind))
    return false;
  return !reply && kind == FAULT_OVERLOADED;
}

static bool status_scenario(void *ctx) {
  struct attempt *a = NULL;
  struct event event;
  (void)ctx;
  if (attempt_new(&wire_anthropic, 7, &a) != REIN_OK) return false;
  attempt_status(a, 400);
  attempt_bytes(a, STR("{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too "
                       "long: 1\"}}"));
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  assert_true(event.kind == EVENT_FAILED && !event.fault->billed);
  bool well = event.fault->kind == FAULT_CONTEXT && event.fault->message.n > 0;
  attempt_free(a);
  return well;
}

static bool request_scenario(void *ctx) {
  const struct talk_test *t = ctx;
  struct buf b;
  struct request r = {.model = STR("m"),
                      .system = STR("s"),
                      .tools = t->tools,
                      .messages = t->messages,
                      .roles = t->roles,
                      .count = t->count,
                      .output_limit = 512};
  struct block blocks[] = {
      {.kind = BLOCK_TOOL_USE, .id = STR("a.b"), .args = STR("{"), .args_bad = true},
      {.kind = BLOCK_TEXT, .text = STR("t")}};
  struct block results[] = {{.kind = BLOCK_TOOL_RESULT, .id = STR("a.b"), .text = STR("x")},
                            {.kind = BLOCK_TEXT, .text = STR("t")}};
  buf_init(&b, 1 << 20);
  t->wire->put_request(&b, &r);
  t->wire->put_headers(&b, STR("k"));
  (void)t->wire->put_message(&b, &(struct message){ROLE_ASSISTANT, blocks, 2}, false, NULL);
  (void)t->wire->put_message(&b, &(struct message){ROLE_USER, results, 2}, false, NULL);
  bool well = b.fail == REIN_OK;
  assert_true(well || b.fail == REIN_MEMORY);
  buf_release(&b);
  return well;
}

static bool script_scenario(void *ctx) {
  struct script *s = NULL;
  struct script_answer a = {0};
  struct err err = {0};
  enum rein_code code = script_new(
      STR("{\"replies\":[{\"thinking\":\"h\",\"text\":\"{{result 1 /a}} {{words}}\",\"calls\":[{"
          "\"name\":\"n\",\"input\":{\"b\":[\"{{words}}\"]}}]}]}"),
      &s, &err);
  if (code != REIN_OK) {
    assert_int_equal(code, REIN_MEMORY);
    assert_null(s);
    return false;
  }
  code = script_answer(s, str_of(ctx),
                       STR("{\"messages\":[{\"role\":\"user\",\"content\":\"w\"}],\"input\":"
                           "\"w\"}"),
                       &a, &err);
  bool well = code == REIN_OK;
  assert_true(well || code == REIN_MEMORY);
  if (well) assert_true(a.status == 200 && str_has(buf_str(&a.body), STR("_script_1_1")));
  buf_release(&a.body);
  buf_release(&a.headers);
  script_free(s);
  return well;
}

static void test_answers(void **state) {
  (void)state;
  assert_true(oom_each(reply_scenario, NULL) > 0);
  assert_true(oom_each(error_scenario, NULL) > 0);
  assert_true(oom_each(status_scenario, NULL) > 0);
  assert_true(oom_each(openai_scenario, (void *)&wire_openai) > 0);
  assert_true(oom_each(openai_scenario, (void *)&wire_chat) > 0);
}

static void test_requests(void **state) {
  (void)state;
  for (size_t w = 0; wires[w]; w++) {
    struct talk_test t;
    talk_start_on(&t, wires[w], 3);
    for (int i = 0; i < 5; i++)
      talk_turn(&t, 30);
    assert_true(oom_each(request_scenario, &t) > 0);
    arena_release(&t.arena);
  }
}

static void test_scripts(void **state) {
  (void)state;
  assert_true(oom_each(script_scenario, (void *)"/v1/messages") > 0);
  assert_true(oom_each(script_scenario, (void *)"/v1/responses") > 0);
  assert_true(oom_each(script_scenario, (void *)"/v1/chat/completions") > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_answers),
      cmocka_unit_test(test_requests),
      cmocka_unit_test(test_scripts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
