/* Scripts: which reply a request gets, what templates put in, what a file may
 * not hold; and that the bytes read back as what was written. */
#include "json/json.h"
#include "json/write.h"
#include "shared.h"
#include "text/text.h"
#include "wire/script.h"

static struct script *script_of(struct str text) {
  struct script *s = NULL;
  struct err err = {0};
  if (script_new(text, &s, &err) != REIN_OK) {
    struct buf b;
    buf_init(&b, 4096);
    err_put(&b, REIN_ENGLISH, &err);
    fail_msg("%u:%u %s", err.line, err.column, buf_z(&b));
  }
  return s;
}

/* A conversation as a client keeps it: answers are read by the wire itself. */
struct client {
  const struct wire *wire;
  const struct script *script;
  struct buf messages; /* with commas between */
  struct attempt *attempt;
  struct event event;
  struct script_answer answer;
  bool no_tools;
};

static void client_open(struct client *c, const struct script *script, const void *wire) {
  *c = (struct client){.script = script, .wire = wire};
  buf_init(&c->messages, 16u << 20);
}

static void client_drop(struct client *c) {
  attempt_free(c->attempt);
  buf_release(&c->answer.body);
  buf_release(&c->answer.headers);
  c->attempt = NULL;
}

static void client_close(struct client *c) {
  client_drop(c);
  buf_release(&c->messages);
}

static void add(struct client *c, enum role role, const struct block *blocks, size_t count) {
  struct message m = {role, blocks, count};
  if (c->messages.n) buf_c(&c->messages, ',');
  assert_true(c->wire->put_message(&c->messages, &m, false, NULL));
}

/* Sends what there is; the reply joins the conversation. */
static const struct reply *ask(struct client *c) {
  struct buf body;
  buf_init(&body, 16u << 20);
  bool anthropic = c->wire == &wire_anthropic;
  buf_put(&body, c->wire == &wire_openai ? STR("{\"input\":[") : STR("{\"messages\":["));
  buf_put(&body, buf_str(&c->messages));
  buf_c(&body, ']');
  if (c->no_tools)
    buf_put(&body, anthropic ? STR(",\"tool_choice\":{\"type\":\"none\"}")
                             : STR(",\"tool_choice\":\"none\""));
  buf_c(&body, '}');
  client_drop(c);
  assert_int_equal(
      script_answer(c->script, str_of(c->wire->path), buf_str(&body), &c->answer, NULL), REIN_OK);
  c->attempt = attempt_open_on(c->wire, c->answer.status);
  attempt_bytes(c->attempt, buf_str(&c->answer.body));
  attempt_end(c->attempt, ATTEMPT_CLOSED, STR_NONE, 1, 1, &c->event);
  buf_release(&body);
  if (c->event.kind != EVENT_REPLY) return NULL;
  const struct usage *u = &c->event.reply->usage;
  assert_true(u->known_input && u->known_output && u->input > 0 && u->output > 0);
  if (c->event.reply->count) add(c, ROLE_ASSISTANT, c->event.reply->blocks, c->event.reply->count);
  return c->event.reply;
}

static const struct reply *say(struct client *c, const char *words) {
  add(c, ROLE_USER, &(struct block){.kind = BLOCK_TEXT, .text = str_of(words)}, 1);
  return ask(c);
}

/* Answers the calls of the last reply, all with this text. */
static const struct reply *result(struct client *c, const char *text, bool is_error) {
  const struct reply *r = c->event.reply;
  struct block results[16] = {0};
  size_t n = 0;
  for (size_t i = 0; i < r->count; i++)
    if (r->blocks[i].kind == BLOCK_TOOL_USE)
      results[n++] = (struct block){.kind = BLOCK_TOOL_RESULT,
                                    .id = r->blocks[i].id,
                                    .text = str_of(text),
                                    .is_error = is_error};
  add(c, ROLE_USER, results, n);
  return ask(c);
}

static struct str text_of(const struct reply *r) {
  return r->count && r->blocks[0].kind == BLOCK_TEXT ? r->blocks[0].text : STR_NONE;
}

static const struct block *call_of(const struct reply *r) {
  assert_true(r->count && r->blocks[r->count - 1].kind == BLOCK_TOOL_USE);
  return &r->blocks[r->count - 1];
}

/* -- the demo -- */

static void play_readme(void **state, const char *task, const char *want) {
  struct script *s = script_of(str_of(script_demo));
  struct client c;
  client_open(&c, s, *state);
  const struct block *call = call_of(say(&c, task));
  assert_true(str_is(call->name, "read_file"));
  assert_true(str_is(call->args, "{\"path\":\"README.md\"}"));
  call = call_of(result(&c, "# rein\n[lines 1-1 of 9 shown; read on with offset 2]", false));
  assert_true(str_is(call->name, "get_time") && str_is(call->args, "{}"));
  const struct reply *r = result(&c, "2026-11-30T14:03:05+09:00", false);
  assert_true(str_is(text_of(r), want) && r->count == 1 && r->stop == STOP_END);
  client_close(&c);
  script_free(s);
}

static void test_demo_readme(void **state) {
  play_readme(state, "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘",
              "README.md의 첫 줄은 \"# rein\"이고, 지금 시각은 2026-11-30T14:03:05+09:00입니다.");
  play_readme(
      state, "Read the first line of README.md, then tell me what time it is",
      "The first line of README.md is \"# rein\", and it is 2026-11-30T14:03:05+09:00 now.");
}

static void play_lodash(void **state, const char *task, const char *start, bool broken) {
  struct script *s = script_of(str_of(script_demo));
  struct client c;
  client_open(&c, s, *state);
  assert_true(str_is(call_of(say(&c, task))->name, "search_files"));
  assert_true(str_is(call_of(result(&c, "src/a.js:1:lodash\n", false))->name, "read_file"));
  const struct reply *r = result(&c, "{\"dependencies\":{}}", broken);
  assert_true(str_is(call_of(r)->name, "github_repo_info"));
  assert_true(str_is(call_of(r)->args, "{\"owner\":\"lodash\",\"repo\":\"lodash\"}"));
  r = result(&c, "{\"stargazers_count\":60000,\"archived\":false,\"pushed_at\":\"2026-01-01\"}",
             false);
  assert_true(str_starts(text_of(r), str_of(start)) && r->count == 1);
  assert_true(str_has(text_of(r), STR("src/a.js:1:lodash")));
  assert_true(str_has(text_of(r), STR("60000")) == !broken);
  client_close(&c);
  script_free(s);
}

static void test_demo_lodash(void **state) {
  const char *korean =
      "이 프로젝트에서 lodash를 쓰고 있나요? GitHub에서 어떤 상태인지도 알아봐 주세요";
  play_lodash(state, korean, "최종 답변:", false);
  play_lodash(state, korean, "최종 답변:", true);
  play_lodash(state, "Does this project use lodash? Look at GitHub, too", "Final answer:", false);
}

static void test_demo_other_words(void **state) {
  struct script *s = script_of(str_of(script_demo));
  struct client c;
  client_open(&c, s, *state);
  assert_true(str_has(text_of(say(&c, "날씨 어때?")), STR("오프라인 데모")));
  assert_true(str_has(text_of(say(&c, "How is the weather?")), STR("offline demo")));
  client_close(&c);
  script_free(s);
}

/* -- choosing -- */

static void test_order_and_end(void **state) {
  struct script *s =
      script_of(STR("// a script\n{\"replies\":[{\"text\":\"one\",\"calls\":[{\"name\":"
                    "\"t\",\"input\":{\"a\": [1.0, /* x */ \"{{words}}\"]}},"
                    "{\"name\":\"u\"}]},{\"text\":\"two {{result 2}}\"}]}"));
  struct client c;
  client_open(&c, s, *state);
  const struct reply *r = say(&c, "go \"on\"");
  assert_true(r->count == 3 && str_is(text_of(r), "one") && r->stop == STOP_TOOLS);
  assert_true(str_is(r->blocks[1].args, "{\"a\":[1.0,\"go \\\"on\\\"\"]}"));
  assert_true(str_ends(r->blocks[1].id, STR("_script_1_1")));
  assert_true(str_ends(r->blocks[2].id, STR("_script_1_2")) && str_is(r->blocks[2].args, "{}"));
  assert_true(str_is(text_of(result(&c, "x", false)), "two x"));
  assert_true(str_is(text_of(say(&c, "again")), "one")); /* new words, from the start */
  assert_true(str_ends(c.event.reply->blocks[1].id, STR("_script_3_1")));
  assert_true(str_is(text_of(result(&c, "y", false)), "two y"));
  assert_true(str_is(text_of(say(&c, "more")), "one"));
  result(&c, "z", false);
  add(&c, ROLE_ASSISTANT, &(struct block){.kind = BLOCK_TEXT, .text = STR("mine")}, 1);
  assert_true(str_has(text_of(ask(&c)), STR("end of the script")));
  client_close(&c);
  script_free(s);
}

static void test_wrap_up_has_no_calls(void **state) {
  struct script *s =
      script_of(STR("{\"replies\":[{\"text\":\"t\",\"calls\":[{\"name\":\"n\"}]}]}"));
  struct client c;
  client_open(&c, s, *state);
  c.no_tools = true;
  const struct reply *r = say(&c, "go");
  assert_true(r->count == 1 && r->stop == STOP_END);
  client_close(&c);
  script_free(s);
}

static void test_kinds(void **state) {
  struct script *s = script_of(
      STR("{\"scenarios\":["
          "{\"when\":\"slow\",\"replies\":[{\"status\":429,\"headers\":{\"retry-after\":"
          "\"3\"},\"error\":\"slow down\"}]},"
          "{\"when\":[\"raw\",\"bytes\"],\"replies\":[{\"sse\":\"data: {\\n\\n\"}]},"
          "{\"when\":\"own\",\"replies\":[{\"status\":500,\"error\":{\"e\" : 1 /* c */}}]},"
          "{\"when\":\"think\",\"replies\":[{\"thinking\":\"hm  \",\"text\":\"긴 글 가나다라 "
          "마바사 🙂👨‍👩‍👧 아자차카타파하\",\"stop\":\"max_tokens\"}]}]}"));
  struct client c;
  client_open(&c, s, *state);
  assert_null(say(&c, "slow"));
  assert_true(str_is(buf_str(&c.answer.headers), "retry-after: 3\n"));
  assert_true(c.answer.status == 429 && c.event.fault->kind == FAULT_OVERLOADED);
  assert_true(str_is(c.event.fault->message, "slow down"));
  assert_true(str_is(c.event.fault->type, "rate_limit_error"));
  assert_null(say(&c, "bytes"));
  assert_int_equal(c.event.fault->kind, FAULT_GARBLED);
  assert_null(say(&c, "own"));
  assert_true(str_is(buf_str(&c.answer.body), "{\"e\":1}"));
  const struct reply *r = say(&c, "think");
  assert_true(r->count == 2 && r->stop == STOP_LENGTH && r->blocks[0].kind == BLOCK_THINKING);
  assert_true(str_has(r->blocks[0].raw, STR("\"hm  \"")));
  assert_true(
      str_is(r->blocks[1].text,
             "긴 글 가나다라 마바사 🙂👨‍👩‍👧 아자차카타파하"));
  r = say(&c, "else");
  assert_true(str_has(text_of(r), STR("end of the script")));
  client_close(&c);
  script_free(s);
}

static void test_templates(void **state) {
  struct script *s = script_of(
      STR("{\"replies\":[{\"calls\":[{\"name\":\"a\"},{\"name\":\"b\"}]},{\"text\":\"{{result 1}}|"
          "{{ result 1 line 2 }}|{{result 1 line 9}}|{{result 2 /a/1}}|{{result 2 /b}}|{{result 2 "
          "/c}}|{{result 9}}|{{error}}|{{words}}|{{\",\"text_if_error\":\"bad: {{error}}\"}]}"));
  struct client c;
  client_open(&c, s, *state);
  const struct reply *r = say(&c, "w");
  struct block results[] = {
      {.kind = BLOCK_TOOL_RESULT, .id = r->blocks[0].id, .text = STR("l1\r\nl2\r\n")},
      {.kind = BLOCK_TOOL_RESULT,
       .id = r->blocks[1].id,
       .text = STR("{\"a\":[0,1e3],\"b\":\"x\"}")}};
  add(&c, ROLE_USER, results, 2);
  assert_true(str_is(text_of(ask(&c)), "l1\r\nl2\r\n|l2||1e3|x|(-)|(-)|(-)|w|{{"));
  client_close(&c);
  client_open(&c, s, *state);
  say(&c, "w");
  assert_true(str_is(text_of(result(&c, "not there\nat all", true)), "bad: not there"));
  client_close(&c);
  script_free(s);
}

/* Text that stands beside results is the user's only where a scenario names it. */
static void test_words_beside_results(void **state) {
  struct script *s = script_of(STR(
      "{\"scenarios\":[{\"when\":\"first\",\"replies\":[{\"calls\":[{\"name\":\"a\"}]},{\"text\":"
      "\"two\"}]},{\"when\":\"second\",\"replies\":[{\"text\":\"other\"}]}]}"));
  for (int named = 0; named < 2; named++) {
    struct client c;
    client_open(&c, s, *state);
    const struct reply *r = say(&c, "first");
    struct block blocks[] = {{.kind = BLOCK_TOOL_RESULT, .id = r->blocks[0].id, .text = STR("x")},
                             {.kind = BLOCK_TEXT, .text = named ? STR("second") : STR("a note")}};
    add(&c, ROLE_USER, blocks, 2);
    assert_true(str_is(text_of(ask(&c)), named ? "other" : "two"));
    client_close(&c);
  }
  script_free(s);
}

/* -- what cannot be served, what cannot be read -- */

static void refused(const struct script *s, const char *path, const char *body, int status) {
  struct script_answer a;
  assert_int_equal(script_answer(s, str_of(path), str_of(body), &a, NULL), REIN_OK);
  assert_int_equal(a.status, status);
  assert_true(str_is(a.content_type, "application/json") && a.body.n > 0);
  buf_release(&a.body);
  buf_release(&a.headers);
}

static void test_bad_requests(void **state) {
  (void)state;
  struct script *s = script_of(STR("{\"replies\":[{\"text\":\"t\"}]}"));
  refused(s, "/v1/responses", "{}", 400);
  refused(s, "/v1/chat/completions", "{\"messages\":[]}", 400);
  refused(s, "/v1/completions", "{}", 404);
  refused(s, "", "{}", 404);
  refused(s, "/v1/messages", "", 400);
  refused(s, "/v1/messages", "[]", 400);
  refused(s, "/v1/messages", "{\"messages\":[]}", 400);
  refused(s, "/v1/messages", "{\"messages\":[", 400);
  script_free(s);
}

static void test_bad_scripts(void **state) {
  static const struct {
    const char *text;
    uint32_t line, column;
  } rows[] = {
      {"", 0, 0},
      {"[]", 1, 1},
      {"{}", 1, 1},
      {"{\"replies\":[]}", 1, 12},
      {"{\"replies\":{}}", 1, 12},
      {"{\"replies\":[\n 7]}", 2, 2},
      {"{\"replies\":[{\"text\":7}]}", 1, 21},
      {"{\"replies\":[{\"text\":{\"fr\":\"x\"}}]}", 1, 22},
      {"{\"replies\":[{\"text\":\"가\", \"txt\":\"x\"}]}", 1, 26},
      {"{\"replies\":[{\"text\":\"{{resul 1}}\"}]}", 1, 21},
      {"{\"replies\":[{\"text\":\"{{result 0}}\"}]}", 1, 21},
      {"{\"replies\":[{\"text\":\"{{}}\"}]}", 1, 21},
      {"{\"replies\":[{\"text\":\"{{words 1}}\"}]}", 1, 21},
      {"{\"replies\":[{\"calls\":{}}]}", 1, 22},
      {"{\"replies\":[{\"calls\":[{}]}]}", 1, 23},
      {"{\"replies\":[{\"calls\":[{\"name\":\"n\",\"input\":[]}]}]}", 1, 43},
      {"{\"replies\":[{\"calls\":[{\"name\":\"n\",\"input\":{\"a\":[\"{{x}}\"]}}]}]}", 1, 49},
      {"{\"replies\":[{\"status\":200}]}", 1, 13},
      {"{\"replies\":[{\"status\":429,\"text\":\"x\"}]}", 1, 27},
      {"{\"replies\":[{\"status\":429,\"headers\":{\"a\":\"x\\r\\ny\"}}]}", 1, 42},
      {"{\"replies\":[{\"sse\":7}]}", 1, 13},
      {"{\"replies\":[{\"text\":\"a\",\"text\":\"b\"}]}", 0, 0},
      {"{\"scenarios\":[]}", 1, 14},
      {"{\"scenarios\":[{\"when\":\"\",\"replies\":[{\"text\":\"x\"}]}]}", 1, 23},
      {"{\"scenarios\":[{\"when\":\"a\"}]}", 1, 15},
      {"{\"scenarios\":[{\"replies\":[{\"text\":\"x\"}]}],\"replies\":[]}", 1, 43}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct script *s = NULL;
    struct err err = {0};
    assert_int_equal(script_new(str_of(rows[i].text), &s, &err), REIN_INPUT);
    assert_null(s);
    if (rows[i].line && (err.line != rows[i].line || err.column != rows[i].column))
      fail_msg("%s: at %u:%u", rows[i].text, err.line, err.column);
    assert_int_equal(script_new(str_of(rows[i].text), &s, NULL), REIN_INPUT);
  }
}

#define ON_EACH(test)                                                                              \
  cmocka_unit_test_prestate(test, (void *)&wire_anthropic),                                        \
      cmocka_unit_test_prestate(test, (void *)&wire_openai),                                       \
      cmocka_unit_test_prestate(test, (void *)&wire_chat)

int main(void) {
  const struct CMUnitTest tests[] = {
      ON_EACH(test_demo_readme),
      ON_EACH(test_demo_lodash),
      ON_EACH(test_demo_other_words),
      ON_EACH(test_order_and_end),
      ON_EACH(test_wrap_up_has_no_calls),
      ON_EACH(test_kinds),
      ON_EACH(test_templates),
      ON_EACH(test_words_beside_results),
      cmocka_unit_test(test_bad_requests),
      cmocka_unit_test(test_bad_scripts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
