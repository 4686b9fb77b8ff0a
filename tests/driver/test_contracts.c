/* Tools on the wire, through the machine and real wires: strict where asked for, what
 * cannot be sent, what a provider refuses all the same, and the same bytes again from
 * the first record.
 */
#include "support/oom.h"
#include "support/shared.h"
#include "support/test.h"

#include "core/agent.h"
#include "core/record.h"
#include "wire/wires.h"

static const struct rein_tool pick[] = {
    {.name = "pick",
     .description = "Picks colours.",
     .schema = "{\"type\":\"object\",\"properties\":{\"colours\":{\"type\":\"array\",\"items\":"
               "{\"type\":\"string\"},\"minItems\":1,\"maxItems\":5},\"note\":{\"type\":"
               "\"string\"}},\"required\":[\"colours\"]}",
     .verdict = REIN_ALLOW},
    {.name = "no good",
     .description = "x",
     .schema = "{\"type\":\"array\"}",
     .verdict = REIN_ALLOW}};

struct talk {
  struct agent *agent;
  struct action action;
  struct err err;
};

static void feed(struct talk *t, struct event e) {
  assert_int_equal(agent_feed(t->agent, &e, &t->err), REIN_OK);
}

/* Drives it to the next thing that is somebody else's to answer. */
static enum action_kind drive(struct talk *t) {
  while (agent_next(t->agent, &t->action)) {
    uint32_t id = t->action.id;
    if (t->action.kind == ACTION_RESERVE)
      feed(t, (struct event){.kind = EVENT_GRANTED, .id = id, .tokens = t->action.tokens});
    else if (t->action.kind == ACTION_REWRITE)
      feed(t, (struct event){.kind = EVENT_REWRITE, .id = id, .rewrite = t->action.rewrite});
    else
      return t->action.kind;
  }
  return ACTION_NONE;
}

static struct agent_config config(const struct wire *wire, size_t rows) {
  return (struct agent_config){.wire = wire,
                               .model = STR("m"),
                               .rows = pick,
                               .row_count = rows,
                               .address = STR("http://127.0.0.1:9")};
}

static struct talk begin(const struct agent_config *c) {
  struct talk t = {0};
  assert_int_equal(agent_new(c, &t.agent, &t.err), REIN_OK);
  feed(&t, (struct event){.kind = EVENT_SAY, .text = STR("go")});
  return t;
}

static void called(struct talk *t, uint32_t id, const char *args) {
  const struct block use = {
      .kind = BLOCK_TOOL_USE, .id = STR("c1"), .name = STR("pick"), .args = str_of(args)};
  const struct reply reply = {.blocks = &use, .count = 1, .stop = STOP_TOOLS};
  feed(t, (struct event){.kind = EVENT_REPLY, .id = id, .reply = &reply});
}

static void bounds_hold_though_they_are_not_sent(void **state) {
  static const struct {
    const char *args, *told; /* NULL: it runs */
  } calls[] = {{"{\"colours\":[],\"note\":null}", "1"},
               {"{\"colours\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"],\"note\":null}", "5"},
               {"{\"colours\":[\"a\"],\"note\":null}", NULL},
               {"{\"colours\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"note\":\"x\"}", NULL}};
  (void)state;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    struct agent_config c = config(&wire_openai, 1);
    c.dialect = STR("openai-strict-2024");
    struct talk t = begin(&c);
    assert_int_equal(drive(&t), ACTION_SEND);
    assert_true(str_has(t.action.body, STR("\"strict\":true")));
    assert_false(str_has(t.action.body, STR("minItems")));
    assert_true(str_has(t.action.body, STR("at least 1 items; at most 5 items")));
    called(&t, t.action.id, calls[i].args);
    assert_int_equal(drive(&t), calls[i].told ? ACTION_SEND : ACTION_RUN);
    struct call_view view;
    assert_true(agent_nth_call(t.agent, 0, &view));
    if (calls[i].told) {
      assert_true(view.is_error && !view.ran);
      assert_true(str_has(view.result, str_of(calls[i].told)));
    } else {
      assert_false(str_has(t.action.args, STR("null")));
    }
    agent_free(t.agent);
  }
}

/* Each line of a handed file as the arguments of a strict call. */
static void each_line(const struct agent_config *c, const char *path, bool runs) {
  struct buf file;
  struct str rest, line;
  shared_read(&file, path);
  rest = buf_str(&file);
  while (str_next(&rest, '\n', &line)) {
    if (str_blank(line)) continue;
    struct talk t = begin(c);
    struct buf args;
    struct call_view view;
    buf_init(&args, 4096);
    buf_put(&args, line);
    assert_int_equal(drive(&t), ACTION_SEND);
    assert_true(str_has(t.action.body, STR("\"strict\":true")));
    called(&t, t.action.id, buf_z(&args));
    assert_int_equal(drive(&t), runs ? ACTION_RUN : ACTION_SEND);
    assert_true(agent_nth_call(t.agent, 0, &view));
    assert_int_equal(view.is_error, !runs);
    agent_free(t.agent);
    buf_release(&args);
  }
  buf_release(&file);
}

static void the_handed_arguments(void **state) {
  struct buf file;
  struct arena arena;
  struct json *doc;
  (void)state;
  shared_read(&file, "cases/C01-strict-mode-lint/tools.json");
  arena_init(&arena, 1u << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), JSON_STRICT, &doc, NULL), REIN_OK);
  struct str schema;
  assert_true(arena_str(&arena, json_get(json_at(doc, 0), "parameters")->source, &schema));
  struct rein_tool row = pick[0];
  row.schema = schema.p;
  struct agent_config c = config(&wire_openai, 1);
  c.rows = &row;
  c.strict = true;
  each_line(&c, "cases/C01-strict-mode-lint/bad-args.jsonl", false);
  each_line(&c, "cases/C01-strict-mode-lint/good-args.jsonl", true);
  arena_release(&arena);
  buf_release(&file);
}

static void strict_is_asked_for(void **state) {
  static const struct wire *const all[] = {&wire_anthropic, &wire_openai, &wire_chat};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    struct agent_config c = config(all[i], 1);
    for (int strict = 0; strict < 2; strict++) {
      c.strict = strict;
      struct talk t = begin(&c);
      assert_int_equal(drive(&t), ACTION_SEND);
      assert_int_equal(str_has(t.action.body, STR("\"strict\":true")), strict);
      agent_free(t.agent);
    }
  }
}

static void what_cannot_be_sent_is_said_before(void **state) {
  (void)state;
  struct agent_config c = config(&wire_anthropic, 2);
  struct talk t = begin(&c);
  assert_int_equal(drive(&t), ACTION_DONE);
  assert_int_equal(agent_ended(t.agent)->outcome, REIN_OUTCOME_BAD_TOOL);
  assert_int_equal(agent_ended(t.agent)->why.text, T_CORE_END_BAD_TOOL);
  assert_int_equal(agent_stats(t.agent).requests, 0);
  agent_free(t.agent);
  c.skip_bad_tools = true;
  t = begin(&c);
  assert_int_equal(drive(&t), ACTION_SEND);
  assert_true(str_has(t.action.body, STR("\"pick\"")));
  assert_false(str_has(t.action.body, STR("no good")));
  agent_free(t.agent);
}

static void a_refused_tool_is_sent_plainer_once(void **state) {
  const struct fault refused = {
      .kind = FAULT_SCHEMA,
      .status = 400,
      .message = STR("Invalid schema for function 'pick': In context=(), 'x' is not permitted.")};
  (void)state;
  struct agent_config c = config(&wire_openai, 1);
  c.strict = true;
  struct talk t = begin(&c);
  assert_int_equal(drive(&t), ACTION_SEND);
  feed(&t, (struct event){.kind = EVENT_FAILED, .id = t.action.id, .fault = &refused});
  assert_int_equal(drive(&t), ACTION_SEND);
  assert_true(str_has(t.action.body, STR("\"strict\":false")));
  struct str words, tool = agent_loosened(t.agent, &words);
  assert_text(tool, "pick");
  assert_str(words, refused.message);
  feed(&t, (struct event){.kind = EVENT_FAILED, .id = t.action.id, .fault = &refused});
  assert_int_equal(drive(&t), ACTION_DONE);
  assert_int_equal(agent_ended(t.agent)->outcome, REIN_OUTCOME_BAD_TOOL);
  agent_free(t.agent);
}

/* Names of members stand in quotes too, and Gemini counts tools in its own way. */
static void the_right_tool_is_blamed(void **state) {
  static const char *const sentences[] = {
      "Invalid schema for function 'in': In context=('properties', 'path'), 'x' is not permitted.",
      "tools.1.custom: For 'path' type, properties x are not supported",
      "Unknown name \"x\" at 'tools[0].function_declarations[1].parameters': Cannot find field."};
  static const char schema[] =
      "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}";
  const struct rein_tool rows[] = {{.name = "path", .description = "d", .schema = schema},
                                   {.name = "in", .description = "d", .schema = schema}};
  (void)state;
  for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
    const struct fault refused = {
        .kind = FAULT_SCHEMA, .status = 400, .message = str_of(sentences[i])};
    struct agent_config c = config(&wire_openai, 2);
    struct str words;
    c.rows = rows;
    c.strict = true;
    struct talk t = begin(&c);
    assert_int_equal(drive(&t), ACTION_SEND);
    feed(&t, (struct event){.kind = EVENT_FAILED, .id = t.action.id, .fault = &refused});
    assert_int_equal(drive(&t), ACTION_SEND);
    assert_text(agent_loosened(t.agent, &words), "in");
    agent_free(t.agent);
  }
}

static void the_first_record_gives_the_same_bytes(void **state) {
  (void)state;
  struct agent_config c = config(&wire_openai, 2), again;
  struct arena arena;
  struct buf line, body;
  struct record_head head = {0};
  c.strict = c.skip_bad_tools = true;
  struct talk t = begin(&c);
  assert_int_equal(drive(&t), ACTION_SEND);
  buf_init(&line, 1u << 20);
  buf_init(&body, 1u << 20);
  buf_put(&body, t.action.body);
  record_put_start(&line, agent_config(t.agent), &head);
  agent_free(t.agent);
  arena_init(&arena, 1u << 22);
  assert_int_equal(record_read_start(&arena, buf_str(&line), wire_by_name, &again, &head, &t.err),
                   REIN_OK);
  assert_text(again.forms[1].schema, "");
  t = begin(&again);
  assert_int_equal(drive(&t), ACTION_SEND);
  assert_str(t.action.body, buf_str(&body));
  agent_free(t.agent);
  arena_release(&arena);
  buf_release(&line);
  buf_release(&body);
}

/* ---- every allocation failing ------------------------------------------------- */

/* False: it could not be fed, and so the run ended there. */
static bool fed(struct talk *t, struct event e) {
  enum rein_code code = agent_feed(t->agent, &e, &t->err);
  if (code == REIN_OK) return true;
  assert_int_equal(code, REIN_MEMORY);
  assert_int_equal(agent_ended(t->agent)->outcome, REIN_OUTCOME_INTERNAL);
  return false;
}

/* To the next request; false: memory ended it before. */
static bool sends(struct talk *t) {
  while (agent_next(t->agent, &t->action)) {
    uint32_t id = t->action.id;
    bool fine = true;
    if (t->action.kind == ACTION_SEND) return true;
    if (t->action.kind == ACTION_RESERVE)
      fine = fed(t, (struct event){.kind = EVENT_GRANTED, .id = id, .tokens = t->action.tokens});
    else if (t->action.kind == ACTION_REWRITE)
      fine = fed(t, (struct event){.kind = EVENT_REWRITE, .id = id, .rewrite = t->action.rewrite});
    else if (t->action.kind == ACTION_DONE)
      assert_int_equal(agent_ended(t->agent)->outcome, REIN_OUTCOME_INTERNAL);
    if (!fine) return false;
  }
  return false;
}

/* Derived, one left out, refused, sent plainer; a tool is never sent half changed. */
static bool refused_life(void *ctx) {
  const struct fault refused = {.kind = FAULT_SCHEMA,
                                .status = 400,
                                .message = STR("Invalid schema for function 'pick': no")};
  struct agent_config c = config(ctx, 2);
  struct talk t = {0};
  c.strict = c.skip_bad_tools = true;
  enum rein_code code = agent_new(&c, &t.agent, &t.err);
  bool fine = code == REIN_OK;
  if (!fine) assert_int_equal(code, REIN_MEMORY);
  fine = fine && fed(&t, (struct event){.kind = EVENT_SAY, .text = STR("go")}) && sends(&t);
  if (fine) {
    assert_true(str_has(t.action.body, STR("\"strict\":true")));
    assert_false(str_has(t.action.body, STR("no good")));
    uint32_t id = t.action.id;
    fine = fed(&t, (struct event){.kind = EVENT_FAILED, .id = id, .fault = &refused}) && sends(&t);
  }
  if (fine) assert_false(str_has(t.action.body, STR("\"strict\":true")));
  agent_free(t.agent);
  return fine;
}

static void every_allocation_fails_in_turn(void **state) {
  static const struct wire *const all[] = {&wire_anthropic, &wire_openai, &wire_chat};
  (void)state;
  for (size_t i = 0; i < 3; i++)
    assert_true(oom_each(refused_life, (void *)all[i]) > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_hold_though_they_are_not_sent),
      cmocka_unit_test(the_handed_arguments),
      cmocka_unit_test(strict_is_asked_for),
      cmocka_unit_test(what_cannot_be_sent_is_said_before),
      cmocka_unit_test(a_refused_tool_is_sent_plainer_once),
      cmocka_unit_test(the_right_tool_is_blamed),
      cmocka_unit_test(the_first_record_gives_the_same_bytes),
      cmocka_unit_test(every_allocation_fails_in_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
