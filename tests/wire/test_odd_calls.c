/* Calls of both OpenAI wires as careless servers send them: under an index, an id
 * or a name that is reused, missing or moves, and events that say the same for
 * ever. Whatever they do, no call is merged with another or lost. What most
 * servers do is test_cases_openai.c's. */
#include "shared.h"

#define ENTRY(members) "data: {\"choices\":[{\"delta\":{\"tool_calls\":[" members "]}}]}\n\n"
#define CHAT_END "data: {\"choices\":[{\"finish_reason\":\"tool_calls\"}]}\n\n"
#define ITEM(event, members)                                                                       \
  "data: {\"type\":\"response.output_item." event                                                  \
  "\",\"output_index\":0,\"item\":{\"type\":\"function_call\"," members "}}\n\n"
#define PIECE(words)                                                                               \
  "data: "                                                                                         \
  "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"" words     \
  "\"}\n\n"
#define RESPONSE(event, members)                                                                   \
  "data: {\"type\":\"response." event "\",\"response\":{\"id\":\"r\"" members "}}\n\n"

static struct attempt *fed(const struct wire *wire, const char *stream, size_t size,
                           struct event *event) {
  struct attempt *a = attempt_open_on(wire, 200);
  play_pieces(a, str_of(stream), size, NULL);
  attempt_close(a, NULL, event);
  return a;
}

/* The calls as "id name args bad;", whole and byte by byte. */
static void check(const struct wire *wire, const char *stream, const char *want) {
  for (size_t size = 0; size < 2; size++) {
    struct event event;
    struct buf got;
    struct attempt *a = fed(wire, stream, size, &event);
    buf_init(&got, 65536);
    if (event.kind != EVENT_REPLY) fail_msg("no reply: %s", stream);
    for (size_t i = 0; i < event.reply->count; i++) {
      const struct block *b = &event.reply->blocks[i];
      buf_fmt(&got, "%.*s %.*s %.*s%s;", (int)b->id.n, b->id.p, (int)b->name.n, b->name.p,
              (int)b->args.n, b->args.p, b->args_bad ? " bad" : "");
    }
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
    attempt_free(a);
  }
}

static void test_names(void **state) {
  (void)state;
  /* another name is another call, under the same index and without ids or arguments */
  check(&wire_chat,
        ENTRY("{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")
            ENTRY("{\"index\":0,\"function\":{\"name\":\"g\",\"arguments\":\"\"}}") CHAT_END,
        "call_a9b5e89b_0 f {};call_a9b5e89b_1 g {};");
  check(&wire_chat,
        ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
            ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"g\",\"arguments\":\"\"}}")
                CHAT_END,
        "a f { bad;a_1 g {};");
}

static void test_ids(void **state) {
  (void)state;
  /* one id for all, and no index: whole arguments end a call */
  check(&wire_chat,
        ENTRY("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},"
              "{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"x\\\":1}\"}}")
            CHAT_END,
        "a f {};a_1 f {\"x\":1};");
  /* and pieces of one call stay together */
  check(&wire_chat,
        ENTRY("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
            ENTRY("{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"}\"}}") CHAT_END,
        "a f {};");
}

static void test_indexes_that_move(void **state) {
  (void)state;
  check(&wire_chat,
        ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
            ENTRY("{\"index\":1,\"id\":\"a\",\"function\":{\"arguments\":\"}\"}}") CHAT_END,
        "a f {};");
  check(&wire_chat,
        ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}")
            ENTRY("{\"index\":7,\"function\":{\"arguments\":\"}\"}}") CHAT_END,
        "a f {};");
  /* a new id without a name yet is a call of its own */
  check(&wire_chat,
        ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}")
            ENTRY("{\"index\":1,\"id\":\"b\",\"function\":{\"arguments\":\"{\"}}")
                ENTRY("{\"index\":1,\"function\":{\"name\":\"g\",\"arguments\":\"}\"}}") CHAT_END,
        "a f {};b g {};");
}

/* What is neither a string nor an object is kept as it came, and never run as {}. */
static void test_arguments_of_other_types(void **state) {
  (void)state;
  check(&wire_chat,
        ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":false}},"
              "{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":null}}")
            CHAT_END,
        "a f false bad;b f {};");
  check(&wire_openai,
        ITEM("done", "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":[1]")
            RESPONSE("completed", ""),
        "a f [1] bad;");
}

/* Responses: two calls under one index, the first without its end. */
static void test_items_without_end(void **state) {
  (void)state;
  check(&wire_openai,
        ITEM("added", "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"\"") PIECE("{}")
            ITEM("added", "\"call_id\":\"b\",\"name\":\"f\",\"arguments\":\"\"")
                PIECE("{\\\"x\\\":1}") RESPONSE("completed", ""),
        "a f {};b f {\"x\":1};");
  check(&wire_openai,
        ITEM("added", "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"\"") PIECE("{}")
            ITEM("done", "\"call_id\":\"b\",\"name\":\"g\",\"arguments\":\"{}\"") RESPONSE(
                "completed", ",\"output\":[{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":"
                             "\"f\",\"arguments\":\"{}\"},{\"type\":\"function_call\",\"call_id\":"
                             "\"b\",\"name\":\"g\",\"arguments\":\"{}\"}]"),
        "a f {};b g {};");
  /* a proxy that gives the call another id at its end */
  check(&wire_openai,
        ITEM("added", "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"\"") PIECE("{")
            ITEM("done", "\"call_id\":\"b\",\"name\":\"f\",\"arguments\":\"{}\"")
                RESPONSE("completed", ""),
        "a f {};");
}

/* Nothing of a response that was given up runs, whichever event says so; and it
 * is over, though the connection stays. */
static void test_responses_given_up(void **state) {
  static const char *const ends[] = {RESPONSE("cancelled", ""),
                                     RESPONSE("completed", ",\"status\":\"cancelled\""),
                                     RESPONSE("completed", ",\"status\":\"failed\"")};
  (void)state;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct event event;
    struct attempt *a = attempt_open_on(&wire_openai, 200);
    attempt_bytes(a, STR(ITEM("done", "\"call_id\":\"a\",\"name\":\"f\",\"arguments\":\"{}\"")));
    assert_false(attempt_over(a));
    attempt_bytes(a, str_of(ends[i]));
    assert_true(attempt_over(a));
    attempt_end(a, ATTEMPT_CLOSED, STR_NONE, 1, 1, &event);
    assert_true(event.kind == EVENT_FAILED && event.fault->kind == FAULT_BROKEN);
    attempt_free(a);
  }
  struct event event;
  struct attempt *a = fed(&wire_openai,
                          RESPONSE("completed", ",\"status\":\"incomplete\",\"incomplete_details\":"
                                                "{\"reason\":\"max_output_tokens\"}"),
                          0, &event);
  assert_true(event.kind == EVENT_REPLY && event.reply->stop == STOP_LENGTH);
  attempt_free(a);
}

/* An idle limit ends such a stream: what was said before moves nothing. */
static void test_the_same_for_ever(void **state) {
  static const struct {
    const struct wire *wire;
    const char *event;
  } rows[] = {
      {&wire_chat, ENTRY("{\"index\":0,\"function\":{\"arguments\":\"\"}}")},
      {&wire_chat, ENTRY("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}")},
      {&wire_openai, "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n"},
      {&wire_openai, ITEM("added", "\"call_id\":\"a\",\"name\":\"f\"")},
      {&wire_openai, "data: {\"type\":\"response.function_call_arguments.done\",\"output_index\":0,"
                     "\"arguments\":\"{}\"}\n\n"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct attempt *a = attempt_open_on(rows[i].wire, 200);
    attempt_bytes(a, str_of(rows[i].event));
    assert_true(attempt_moved(a));
    for (int again = 0; again < 3; again++) {
      attempt_bytes(a, str_of(rows[i].event));
      if (attempt_moved(a)) fail_msg("moves: %s", rows[i].event);
    }
    attempt_free(a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_indexes_that_move),
      cmocka_unit_test(test_arguments_of_other_types),
      cmocka_unit_test(test_items_without_end),
      cmocka_unit_test(test_responses_given_up),
      cmocka_unit_test(test_the_same_for_ever),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
