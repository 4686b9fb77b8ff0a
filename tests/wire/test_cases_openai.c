/* The handed cases of Responses and Chat Completions that a stream alone can
 * show: S05 S07 S09 S11 M08 B02; and what no handed stream has: refusals, finish
 * reasons, odd calls, errors of all shapes. */
#include "json/json.h"
#include "json/write.h"
#include "shared.h"

static struct attempt *fed(const struct wire *wire, struct str bytes, size_t size,
                           struct event *event, struct buf *text) {
  struct attempt *a = attempt_open_on(wire, 200);
  play_pieces(a, bytes, size, text);
  attempt_close(a, text, event);
  return a;
}

static struct attempt *played(const struct wire *wire, const char *path, size_t size,
                              struct event *event) {
  struct buf bytes;
  shared_read(&bytes, path);
  struct attempt *a = fed(wire, buf_str(&bytes), size, event, NULL);
  buf_release(&bytes);
  return a;
}

/* -- the handed cases -- */

static void test_s05(void **state) {
  (void)state;
  struct event event;
  struct attempt *a =
      played(&wire_openai, "cases/S05-eof-before-terminator/cut-responses.sse", 0, &event);
  assert_true(event.kind == EVENT_FAILED && event.fault->kind == FAULT_BROKEN);
  assert_true(event.fault->began && event.fault->billed);
  attempt_free(a);
  a = played(&wire_chat, "cases/S05-eof-before-terminator/cut-chat.sse", 1, &event);
  assert_true(event.kind == EVENT_FAILED && event.fault->kind == FAULT_BROKEN);
  attempt_free(a);
  a = played(&wire_chat, "cases/S05-eof-before-terminator/chat-nodone.sse", 7, &event);
  assert_true(event.kind == EVENT_REPLY && event.reply->stop == STOP_END);
  assert_true(str_is(event.reply->blocks->text, "완료"));
  attempt_free(a);
}

/* A stream cut at any byte is broken, or whole with nothing missing. */
static void cut_everywhere(const struct wire *wire, const char *path, const char *end,
                           size_t blocks) {
  struct buf bytes;
  struct event event;
  shared_read(&bytes, path);
  size_t whole_from = str_find(buf_str(&bytes), str_of(end));
  assert_true(whole_from < bytes.n);
  for (size_t cut = 0; cut < bytes.n; cut++) {
    struct attempt *a = fed(wire, str_part(buf_str(&bytes), 0, cut), 0, &event, NULL);
    if (event.kind == EVENT_FAILED)
      assert_int_equal(event.fault->kind, FAULT_BROKEN);
    else
      assert_true(cut > whole_from && event.reply->count == blocks);
    attempt_free(a);
  }
  buf_release(&bytes);
}

static void test_s05_everywhere(void **state) {
  (void)state;
  cut_everywhere(&wire_openai, "wire/fixtures/syn-responses-parallel-function-calls.sse",
                 "event: response.completed", 3);
  cut_everywhere(&wire_chat, "wire/fixtures/syn-chat-ollama-index0-parallel.sse",
                 "\"finish_reason\":\"tool_calls\"", 3);
}

static void check_calls(const struct reply *r, const struct json *want) {
  struct arena arena;
  arena_init(&arena, 1 << 20);
  assert_int_equal(r->count, want->count);
  for (size_t i = 0; i < r->count; i++) {
    const struct block *b = &r->blocks[i];
    const struct json *call = json_at(want, i);
    struct json *args = NULL;
    struct buf one, two;
    buf_init(&one, 65536);
    buf_init(&two, 65536);
    assert_true(b->kind == BLOCK_TOOL_USE && str_eq(b->id, json_text(json_get(call, "id"))));
    assert_true(str_eq(b->name, json_text(json_get(call, "name"))) && !b->args_bad);
    assert_int_equal(json_parse(&arena, b->args, JSON_STRICT, &args, NULL), REIN_OK);
    json_canon(&one, args, false);
    json_canon(&two, json_get(call, "arguments"), false);
    assert_string_equal(buf_z(&one), buf_z(&two));
    buf_release(&one);
    buf_release(&two);
  }
  arena_release(&arena);
}

static void test_s07(void **state) {
  static const char *const files[] = {"same-index", "no-index", "interleaved", "null-fields"};
  (void)state;
  struct buf want;
  struct arena arena;
  struct json *doc = NULL;
  struct event event;
  shared_read(&want, "cases/S07-parallel-calls-index-trouble/want.json");
  arena_init(&arena, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&want), JSON_STRICT, &doc, NULL), REIN_OK);
  for (size_t f = 0; f < 4; f++)
    for (size_t size = 0; size < 3; size++) {
      char path[256];
      snprintf(path, sizeof path, "cases/S07-parallel-calls-index-trouble/%s.sse", files[f]);
      struct attempt *a = played(&wire_chat, path, size, &event);
      assert_true(event.kind == EVENT_REPLY && event.reply->stop == STOP_TOOLS);
      check_calls(event.reply, doc);
      attempt_free(a);
    }
  arena_release(&arena);
  buf_release(&want);
}

static void test_s09(void **state) {
  static const char *const files[] = {"cases/S09-no-argument-tool-empty-string/chat-empty.sse",
                                      "cases/S09-no-argument-tool-empty-string/chat-space.sse"};
  (void)state;
  struct event event;
  for (size_t f = 0; f < 2; f++) {
    struct attempt *a = played(&wire_chat, files[f], f, &event);
    const struct block *b = event.reply->blocks;
    assert_true(b->kind == BLOCK_TOOL_USE && str_is(b->args, "{}") && !b->args_bad);
    attempt_free(a);
  }
}

static void test_s11(void **state) {
  (void)state;
  struct event event;
  struct attempt *a =
      played(&wire_openai, "cases/S11-responses-terminal-events/error.sse", 0, &event);
  assert_true(event.kind == EVENT_FAILED && event.fault->kind == FAULT_OVERLOADED);
  assert_true(str_is(event.fault->type, "server_is_overloaded") && attempt_over(a));
  attempt_free(a);
  a = played(&wire_openai, "cases/S11-responses-terminal-events/failed.sse", 1, &event);
  assert_true(event.kind == EVENT_FAILED && event.fault->kind == FAULT_OVERLOADED);
  assert_true(str_is(event.fault->message, "내부 오류") && attempt_over(a));
  attempt_free(a);
  a = played(&wire_openai, "cases/S11-responses-terminal-events/incomplete.sse", 7, &event);
  assert_true(event.kind == EVENT_REPLY && event.reply->stop == STOP_LENGTH);
  assert_true(event.reply->count == 1 && event.reply->blocks->cut && attempt_over(a));
  assert_true(event.reply->usage.input == 5 && event.reply->usage.output == 9);
  attempt_free(a);
}

static void test_m08(void **state) {
  (void)state;
  struct event event;
  struct attempt *a = played(&wire_chat, "cases/M08-truncated-tool-json/lying.sse", 0, &event);
  assert_true(event.reply->stop == STOP_TOOLS && event.reply->blocks->args_bad);
  assert_true(str_is(event.reply->blocks->args, "{\"path\":\"보고서.md\",\"content\":\"가나"));
  attempt_free(a);
}

/* The price of a row by the counts that were read; the table's prices are per
 * million. */
static int64_t cost_of(const struct usage *u, const struct json *price) {
  static const char *const keys[] = {"input", "cache_read", "cache_write", "output"};
  const int64_t counts[] = {u->input, u->cache_read, u->cache_write, u->output};
  int64_t sum = 0, each;
  for (size_t i = 0; i < 4; i++) {
    assert_true(json_int(json_get(price, keys[i]), &each));
    sum += counts[i] * each;
  }
  return sum / 1000000;
}

static void check_cost(const struct json *row, const struct json *price) {
  bool chat = str_is(json_text(json_get(row, "api")), "openai");
  struct str usage = json_get(row, "usage")->source;
  struct event event;
  struct buf b;
  int64_t want;
  buf_init(&b, 65536);
  buf_put(&b, chat ? STR("data: {\"choices\":[{\"finish_reason\":\"stop\"}],\"usage\":")
                   : STR("data: {\"type\":\"response.completed\",\"response\":{\"usage\":"));
  for (size_t i = 0; i < usage.n; i++) /* on one line */
    buf_c(&b, usage.p[i] == '\n' ? ' ' : usage.p[i]);
  buf_put(&b, chat ? STR("}\n\n") : STR("}}\n\n"));
  struct attempt *a = fed(chat ? &wire_chat : &wire_openai, buf_str(&b), 0, &event, NULL);
  assert_int_equal(event.kind, EVENT_REPLY);
  assert_true(json_int(json_get(row, "want_micro"), &want));
  assert_int_equal(cost_of(&event.reply->usage, price), want);
  attempt_free(a);
  buf_release(&b);
}

static void test_b02(void **state) {
  (void)state;
  struct buf file;
  struct arena arena;
  struct json *doc = NULL;
  size_t seen = 0;
  shared_read(&file, "cases/B02-cache-tokens-in-cost/rows.json");
  arena_init(&arena, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), JSON_STRICT, &doc, NULL), REIN_OK);
  for (const struct json *row = json_get(doc, "rows")->first; row; row = row->next) {
    if (str_is(json_text(json_get(row, "api")), "anthropic")) continue;
    check_cost(row, json_get(doc, "price_per_mtok_micro"));
    seen++;
  }
  assert_int_equal(seen, 3);
  arena_release(&arena);
  buf_release(&file);
}

/* -- Chat: odd calls -- */

#define ENTRY(members) "data: {\"choices\":[{\"delta\":{\"tool_calls\":[" members "]}}]}\n\n"
#define FINISH(word) "data: {\"choices\":[{\"finish_reason\":\"" word "\"}]}\n\n"

/* The calls as "id name args bad cut;". */
static void check_chat(const char *stream, const char *want) {
  for (size_t size = 0; size < 3; size++) {
    struct event event;
    struct buf got;
    struct attempt *a = fed(&wire_chat, str_of(stream), size, &event, NULL);
    buf_init(&got, 65536);
    if (event.kind != EVENT_REPLY) fail_msg("no reply: %s", stream);
    for (size_t i = 0; i < event.reply->count; i++) {
      const struct block *b = &event.reply->blocks[i];
      if (b->kind != BLOCK_TOOL_USE) continue;
      buf_fmt(&got, "%.*s %.*s %.*s%s%s;", (int)b->id.n, b->id.p, (int)b->name.n, b->name.p,
              (int)b->args.n, b->args.p, b->args_bad ? " bad" : "", b->cut ? " cut" : "");
    }
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
    attempt_free(a);
  }
}

static void test_entries(void **state) {
  (void)state;
  /* an id that changes under the same index and without a name is the same call */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
                 ENTRY("{\"index\":0,\"id\":\"b\",\"function\":{\"arguments\":\"}\"}}")
                     FINISH("stop"),
             "a f {};");
  /* a new id with a name under the same index is a new call, whatever the old one has */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}")
                 ENTRY("{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"f\"}}") FINISH("stop"),
             "a f {};b f {};");
  /* no index: by its id, not to the last call */
  check_chat(ENTRY("{\"id\":\"a\",\"function\":{\"name\":\"f\"}},{\"id\":\"b\",\"function\":{"
                   "\"name\":\"g\"}}")
                 ENTRY("{\"id\":\"a\",\"function\":{\"arguments\":\"{\\\"x\\\":1}\"}}")
                     FINISH("tool_calls"),
             "a f {\"x\":1};b g {};");
  /* index reused without ids: whole arguments end a call */
  check_chat(ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                 ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}")
                     FINISH("stop"),
             "call_a9b5e89b_0 f {};call_a9b5e89b_1 f {};");
  /* a name said in every delta is one name */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
                 ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\\\"x\\\":{}\"}}")
                     ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"}\"}}")
                         ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")
                             FINISH("stop"),
             "a f {\"x\":{}};");
  /* twin ids are told apart; an entry that never gets a name is no call */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}},{\"index\":1,\"id\":"
                   "\"a\",\"function\":{\"name\":\"g\"}},{\"index\":2,\"id\":\"x\"},null,7")
                 FINISH("stop"),
             "a f {};a_1 g {};");
  /* arguments in a string of their own, and what they are not */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\\\"{"
                   "\\\\\\\"x\\\\\\\":1}\\\"\"}},{\"index\":1,\"id\":\"b\",\"function\":{\"name\":"
                   "\"f\",\"arguments\":\"\\\"x\\\"\"}}") FINISH("stop"),
             "a f {\"x\":1};b f \"x\" bad;");
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}{"
                   "\\\"a\\\":1}\"}}") FINISH("stop"),
             "a f {}{\"a\":1} bad;");
  /* the output limit: no blank arguments are {} */
  check_chat(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}")
                 ENTRY("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":{}}}")
                     FINISH("length"),
             "a f  bad cut;b g {};");
  /* numbers that no server gives are no place of ours */
  check_chat(
      "data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"tool_calls\":[{\"index\":"
      "-9223372036854775808,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}}]}\n\n" FINISH("stop"),
      "a f {};");
  /* a message in place of a delta, and numbers of another server's taste */
  check_chat(
      "data: {\"choices\":[{\"message\":{\"tool_calls\":[{\"index\":-3,\"id\":\"a\","
      "\"function\":{\"name\":\"f\",\"arguments\":null}}]},\"finish_reason\":\"stop\"}]}\n\n",
      "a f {};");
}

static void test_extra_members(void **state) {
  (void)state;
  struct event event;
  struct attempt *a =
      fed(&wire_chat,
          STR(ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"},\"extra_content\":{"
                    "\"s\":\"1\"},\"none\":null}")
                  ENTRY("{\"index\":0,\"extra_content\":{\"s\":\"2\"},\"more\":\"\\ud83d\"}")
                      FINISH("tool_calls") "data:[DONE]\n\n"),
          1, &event, NULL);
  const struct block *b = event.reply->blocks;
  assert_true(str_is(b->raw, "{\"extra_content\":{\"s\":\"2\"},\"more\":\"\\ufffd\"}"));
  assert_true(str_is(b->wire, "chat") && str_is(b->args, "{}"));
  attempt_free(a);
}

/* -- Chat: reasoning -- */

static void test_reasoning(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  struct attempt *a =
      fed(&wire_chat,
          STR("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a\",\"reasoning\":\"a\"}}]}"
              "\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"text\":\"b\"}]}}]}\n\n"
              "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
              "\"c\"},{\"type\":\"text\",\"text\":\"d\"}]}}]}\n\n" FINISH("stop")),
          1, &event, &text);
  assert_true(str_is(buf_str(&text), "d"));
  assert_true(event.reply->count == 2 && event.reply->blocks[0].kind == BLOCK_THINKING);
  assert_true(str_is(event.reply->blocks[0].raw,
                     "{\"reasoning_content\":\"a\",\"reasoning\":\"ac\",\"reasoning_details\":[{"
                     "\"text\":\"b\"}]}"));
  attempt_free(a);
  buf_release(&text);
}

/* What a server says under two names is shown once; usage stands anywhere; a
 * chunk without anything in it is no progress, with or without ids. */
static void test_what_moves(void **state) {
  (void)state;
  struct event event;
  struct str piece;
  bool thinking;
  struct attempt *a = attempt_open_on(&wire_chat, 200);
  attempt_bytes(a, STR("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a\",\"reasoning\":"
                       "\"a\",\"reasoning_details\":[{\"text\":\"a\"}]}}]}\n\n"));
  assert_true(attempt_piece(a, &piece, &thinking) && thinking && str_is(piece, "a"));
  assert_true(attempt_moved(a));
  attempt_bytes(a, STR("data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\","
                       "\"content\":\"\"}}]}\n\n: ping\n\ndata: : ping\n\n"));
  attempt_bytes(a, STR("data: {\"choices\":[],\"x_groq\":{\"usage\":{\"prompt_tokens\":5,"
                       "\"completion_tokens\":6,\"total_tokens\":11}}}\n\n"));
  assert_false(attempt_moved(a) || attempt_over(a));
  attempt_bytes(a, STR(FINISH("stop") "data: {\"usage\":{\"prompt_tokens\":7,"
                                      "\"prompt_tokens_details\":{\"cached_tokens\":2,"
                                      "\"cache_write_tokens\":1}}}\n\n"));
  attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
  const struct usage *u = &event.reply->usage;
  assert_true(u->input == 4 && u->cache_read == 2 && u->cache_write == 1 && u->output == 6);
  assert_false(attempt_piece(a, &piece, &thinking));
  attempt_free(a);
}

/* <think> at the very start alone, cut anywhere. */
static void check_tags(const char *content, const char *want, const char *thought) {
  struct str all = str_of(content);
  for (size_t cut = 0; cut <= all.n; cut++) {
    struct event event;
    struct buf stream, text;
    buf_init(&stream, 65536);
    buf_init(&text, 65536);
    struct str parts[] = {str_part(all, 0, cut), str_part(all, cut, all.n)};
    for (size_t i = 0; i < 2; i++) {
      buf_lit(&stream, "data: {\"choices\":[{\"delta\":{\"content\":");
      json_quote(&stream, parts[i]);
      buf_lit(&stream, "}}]}\n\n");
    }
    buf_lit(&stream, FINISH("stop"));
    struct attempt *a = fed(&wire_chat, buf_str(&stream), 0, &event, &text);
    if (!str_is(buf_str(&text), want)) fail_msg("%s: %s", content, buf_z(&text));
    const struct block *b = event.reply->blocks;
    bool thinks = event.reply->count && b->kind == BLOCK_THINKING;
    assert_true(thinks == (thought != NULL));
    if (thought) assert_true(str_has(b->raw, str_of(thought)));
    attempt_free(a);
    buf_release(&stream);
    buf_release(&text);
  }
}

static void test_tags(void **state) {
  (void)state;
  check_tags("<think>why</think>\n\nyes <think>", "yes <think>", "\"why\"");
  check_tags(" \n<think>a</b></thin</think>no", "no", "\"a</b></thin\"");
  check_tags("<think>for ever </thi", "", "\"for ever </thi\"");
  check_tags("<thin", "<thin", NULL);
  check_tags("  <thank>", "  <thank>", NULL);
  check_tags("x<think>y</think>", "x<think>y</think>", NULL);
  check_tags("<think></think>z", "z", NULL);
  check_tags("                                                                    <think>a</think>",
             "                                                                    <think>a</think>",
             NULL);
}

/* -- ends -- */

static void check_end(const struct wire *wire, const char *stream, enum stop stop,
                      const char *word) {
  struct event event;
  struct attempt *a = fed(wire, str_of(stream), 0, &event, NULL);
  if (event.kind != EVENT_REPLY) fail_msg("no reply: %s", stream);
  assert_int_equal(event.reply->stop, stop);
  assert_true(str_is(event.reply->stop_word, word));
  attempt_free(a);
}

#define SAYS(text) "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define ENDS(type, more)                                                                           \
  "data: {\"type\":\"response." type "\",\"response\":{\"id\":\"r\"" more "}}\n\n"

static void test_ends(void **state) {
  (void)state;
  check_end(&wire_chat, FINISH("stop"), STOP_END, "stop");
  check_end(&wire_chat, FINISH("function_call"), STOP_TOOLS, "function_call");
  check_end(&wire_chat, FINISH("MAX_TOKENS"), STOP_LENGTH, "MAX_TOKENS");
  check_end(&wire_chat, FINISH("content_filter"), STOP_REFUSAL, "content_filter");
  check_end(&wire_chat, FINISH("model_context_window_exceeded"), STOP_CONTEXT,
            "model_context_window_exceeded");
  check_end(&wire_chat, FINISH("solar_flare"), STOP_UNKNOWN, "solar_flare");
  check_end(&wire_chat, FINISH("length") FINISH("stop"), STOP_LENGTH, "length");
  check_end(&wire_chat, SAYS("x") "data: [DONE]\n\n", STOP_END, "[DONE]");
  check_end(&wire_chat, "data: {\"choices\":[{\"finishReason\":\"STOP\"}]}\n\n", STOP_END, "STOP");
  check_end(&wire_chat, "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n" FINISH("stop"),
            STOP_REFUSAL, "stop");
  check_end(&wire_openai, ENDS("completed", ""), STOP_END, "completed");
  check_end(&wire_openai,
            ENDS("incomplete", ",\"incomplete_details\":{\"reason\":\"content_filter\"}"),
            STOP_REFUSAL, "content_filter");
  check_end(&wire_openai, ENDS("incomplete", ",\"incomplete_details\":{\"reason\":\"steered\"}"),
            STOP_UNKNOWN, "steered");
  check_end(&wire_openai, ENDS("incomplete", ""), STOP_UNKNOWN, "incomplete");
  check_end(
      &wire_openai,
      "data: {\"type\":\"response.refusal.delta\",\"output_index\":0,\"delta\":\"no\"}\n\n" ENDS(
          "completed", ",\"output\":[]"),
      STOP_REFUSAL, "completed");
  check_end(&wire_openai,
            ENDS("completed", ",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":"
                              "\"refusal\",\"refusal\":\"no\"}]}]"),
            STOP_REFUSAL, "completed");
}

static void check_fault(const struct wire *wire, const char *stream, enum fault_kind kind,
                        const char *type) {
  struct event event;
  struct attempt *a = fed(wire, str_of(stream), 1, &event, NULL);
  if (event.kind != EVENT_FAILED) fail_msg("no fault: %s", stream);
  if (event.fault->kind != kind || !str_is(event.fault->type, type))
    fail_msg("%s: %s %.*s", stream, "class", (int)event.fault->type.n, event.fault->type.p);
  assert_true(event.fault->message.n > 0);
  attempt_free(a);
}

static void test_faults(void **state) {
  (void)state;
  check_fault(&wire_chat, "data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n",
              FAULT_OVERLOADED, "429");
  check_fault(&wire_chat,
              "data: {\"error\":{\"message\":\"Insufficient credits\",\"code\":402}}\n\n",
              FAULT_QUOTA, "402");
  check_fault(&wire_chat, "data: {\"error\":\"overloaded\"}\n\n", FAULT_BROKEN, "");
  check_fault(&wire_chat, "event: error\ndata: {\"x\":1}\n\n", FAULT_BROKEN, "");
  check_fault(&wire_chat, SAYS("x") FINISH("error"), FAULT_BROKEN, "");
  check_fault(&wire_chat, FINISH("insufficient_system_resource"), FAULT_BROKEN, "");
  check_fault(&wire_chat, "data: {\"choices\"\n\n", FAULT_GARBLED, "");
  check_fault(&wire_chat, "data: 7\n\n", FAULT_GARBLED, "");
  check_fault(&wire_chat, "{\"error\":{\"message\":\"m\",\"type\":\"server_error\"}}",
              FAULT_OVERLOADED, "server_error");
  check_fault(&wire_openai,
              "data: {\"type\":\"response.failed\",\"response\":{\"error\":null}}\n\n",
              FAULT_BROKEN, "");
  check_fault(&wire_openai,
              "data: {\"type\":\"error\",\"error\":{\"code\":\"context_length_exceeded\","
              "\"message\":\"m\",\"type\":\"invalid_request_error\"}}\n\n",
              FAULT_CONTEXT, "invalid_request_error");
  check_fault(&wire_openai, "data: [DONE]\n\n", FAULT_BROKEN, "");
}

/* -- Responses: what small servers leave out -- */

static void test_small_servers(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  /* the finished response alone */
  struct attempt *a = fed(
      &wire_openai,
      STR(ENDS("completed",
               ",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":"
               "\"a\"},{\"type\":\"output_text\",\"text\":\"b\"}]},{\"type\":\"function_call\","
               "\"call_id\":\"c\",\"name\":\"f\",\"arguments\":{\"x\":1}}]")),
      0, &event, &text);
  assert_true(event.reply->count == 2 && str_is(buf_str(&text), "ab"));
  assert_true(event.reply->stop == STOP_TOOLS && str_is(event.reply->blocks[1].args, "{\"x\":1}"));
  assert_false(event.reply->usage.known_input);
  attempt_free(a);
  /* two items under one index, each said twice: a call runs once */
  buf_reset(&text);
  static const char item[] =
      "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":"
      "\"function_call\",\"call_id\":\"%c\",\"name\":\"f\",\"arguments\":\"\"}}\n\n";
  struct buf stream;
  buf_init(&stream, 65536);
  for (const char *id = "aabb"; *id; id++)
    for (const char *p = item; *p; p++) {
      if (*p != '%') buf_c(&stream, *p);
      if (*p == '%') buf_c(&stream, *id);
      p += *p == '%';
    }
  buf_lit(&stream,
          ENDS("completed",
               ",\"output\":[{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"f\"},"
               "{\"type\":\"function_call\",\"call_id\":\"b\",\"name\":\"f\"}]"));
  a = fed(&wire_openai, buf_str(&stream), 0, &event, &text);
  assert_true(event.reply->count == 2 && str_is(event.reply->blocks[0].id, "a"));
  assert_true(str_is(event.reply->blocks[1].id, "b") && str_is(event.reply->blocks[1].args, "{}"));
  attempt_free(a);
  buf_release(&stream);
  buf_release(&text);
}

/* A piece for another kind of item is dropped, and what a piece held back is not
 * said twice when the whole comes. */
static void test_stray_pieces(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  struct attempt *a = fed(
      &wire_openai,
      STR("data: "
          "{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"a\\ud83d\"}"
          "\n\ndata: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,"
          "\"delta\":\"{}\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,"
          "\"item\":{\"type\":\"message\",\"content\":[{\"text\":\"a🙂\"}]}}\n\n"
          "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":"
          "\"{\"}\n\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":"
          "\"x\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{"
          "\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}}"
          "\n\n" ENDS("completed", "")),
      1, &event, &text);
  assert_true(str_is(buf_str(&text), "a🙂") && event.reply->count == 2);
  assert_true(str_is(event.reply->blocks[1].args, "{") && event.reply->blocks[1].args_bad);
  attempt_free(a);
  buf_release(&text);
}

/* The finished text is trusted over its pieces: what was shown is withdrawn. */
static void test_text_that_differs(void **state) {
  (void)state;
  struct event event;
  struct buf text;
  buf_init(&text, 65536);
  for (size_t size = 0; size < 3; size++) {
    buf_reset(&text);
    struct attempt *a = fed(
        &wire_openai,
        STR("data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"one "
            "\"}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{"
            "\"type\":\"message\",\"content\":[{\"text\":\"two\"}]}}\n\n"
            "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"late\"}"
            "\n\n" ENDS("completed", "")),
        size, &event, &text);
    assert_true(event.reply->count == 1 && str_is(event.reply->blocks->text, "two"));
    assert_true(str_is(buf_str(&text), "two"));
    attempt_free(a);
  }
  buf_release(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_s05),           cmocka_unit_test(test_s05_everywhere),
      cmocka_unit_test(test_s07),           cmocka_unit_test(test_s09),
      cmocka_unit_test(test_s11),           cmocka_unit_test(test_m08),
      cmocka_unit_test(test_b02),           cmocka_unit_test(test_entries),
      cmocka_unit_test(test_extra_members), cmocka_unit_test(test_reasoning),
      cmocka_unit_test(test_what_moves),    cmocka_unit_test(test_tags),
      cmocka_unit_test(test_ends),          cmocka_unit_test(test_faults),
      cmocka_unit_test(test_small_servers), cmocka_unit_test(test_text_that_differs),
      cmocka_unit_test(test_stray_pieces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
