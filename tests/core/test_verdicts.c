/* What the dispatcher says of arguments, tool by tool, for whoever compares.
 *
 *   test_verdicts FILE   FILE holds a tool a line: {"dialect", "schema", "values": […]}.
 *                        A line each: {"strict", "sent", "verdicts"}, a letter for each
 *                        value: y it would run, n it is answered with an error; or
 *                        {"bad"} where the tool cannot be used or sent.
 *                        tests/core/test_verdicts.py reads it. Without FILE it tests itself.
 */
#include "support/test.h"

#include "core/agent.h"
#include "json/json.h"
#include "json/write.h"
#include "schema/dialect.h"
#include "wire/wires.h"

#include <stdlib.h>

#define OUT_MAX (16u << 20)
#define CALLS_MAX 64

struct judge {
  struct agent *agent;
  struct arena arena;
  struct err err;
  bool bad;
};

static void feed(struct judge *j, struct event e) {
  if (agent_feed(j->agent, &e, &j->err) != REIN_OK) abort();
}

/* To the next request, every call that may run having run; false: it ended. */
static bool drive(struct judge *j, struct str *body, uint32_t *id) {
  struct action a;
  while (agent_next(j->agent, &a)) {
    if (a.kind == ACTION_RESERVE) {
      feed(j, (struct event){.kind = EVENT_GRANTED, .id = a.id, .tokens = a.tokens});
    } else if (a.kind == ACTION_RUN) {
      feed(j, (struct event){.kind = EVENT_STARTED, .id = a.id});
      feed(j, (struct event){.kind = EVENT_RESULT, .id = a.id, .text = STR("fine")});
    } else if (a.kind == ACTION_SEND) {
      *body = a.body;
      *id = a.id;
      return true;
    } else if (a.kind == ACTION_DONE) {
      return false;
    }
  }
  return false;
}

/* The tool as the request has it. */
static void put_sent(struct json_out *w, struct judge *j, struct str body) {
  struct json *doc;
  if (json_parse(&j->arena, body, JSON_STRICT, &doc, &j->err) != REIN_OK) abort();
  const struct json *tool = json_at(json_get(doc, "tools"), 0);
  json_key(w, "strict");
  json_put_bool(w, json_true(json_get(tool, "strict")));
  json_key(w, "sent");
  json_put_raw(w, json_get(tool, "parameters")->source);
}

static void put_verdicts(struct json_out *w, struct judge *j, uint32_t id,
                         const struct json *values) {
  struct block calls[CALLS_MAX];
  struct reply reply = {.blocks = calls, .stop = STOP_TOOLS};
  struct num_text rooms[CALLS_MAX];
  struct str body;
  char letters[CALLS_MAX];
  for (const struct json *v = values->first; v && reply.count < CALLS_MAX; v = v->next) {
    struct str name = str_num(&rooms[reply.count], (int64_t)reply.count);
    calls[reply.count++] =
        (struct block){.kind = BLOCK_TOOL_USE, .id = name, .name = STR("t"), .args = v->source};
  }
  feed(j, (struct event){.kind = EVENT_REPLY, .id = id, .reply = &reply});
  (void)drive(j, &body, &id);
  for (size_t i = 0; i < reply.count; i++) {
    struct call_view view;
    if (!agent_nth_call(j->agent, i, &view) || !view.answered) abort();
    letters[i] = view.ran && !view.is_error ? 'y' : 'n';
  }
  json_key(w, "verdicts");
  json_put_text(w, (struct str){letters, reply.count});
}

static void judge_line(struct str line, struct buf *out) {
  struct judge j = {0};
  struct json *doc;
  struct str body, schema;
  uint32_t id;
  struct json_out w = json_out(out);
  arena_init(&j.arena, 256u << 20);
  if (json_parse(&j.arena, line, JSON_STRICT, &doc, &j.err) != REIN_OK) abort();
  if (!arena_str(&j.arena, json_get(doc, "schema")->source, &schema)) abort();
  const struct rein_tool row = {.name = "t",
                                .description = "d",
                                .schema = schema.p,
                                .touches = REIN_TOUCHES_NOTHING,
                                .verdict = REIN_ALLOW};
  struct agent_config c = {.wire = &wire_openai,
                           .model = STR("m"),
                           .rows = &row,
                           .row_count = 1,
                           .limits = {.no_progress = REIN_PROGRESS_OFF},
                           .dialect = json_text(json_get(doc, "dialect")),
                           .address = STR("http://127.0.0.1:9")};
  json_open(&w, '{');
  if (agent_new(&c, &j.agent, &j.err) != REIN_OK) abort();
  feed(&j, (struct event){.kind = EVENT_SAY, .text = STR("go")});
  if (drive(&j, &body, &id)) {
    put_sent(&w, &j, body);
    put_verdicts(&w, &j, id, json_get(doc, "values"));
  } else {
    json_key(&w, "bad");
    json_put_bool(&w, true);
  }
  json_close(&w, '}');
  agent_free(j.agent);
  arena_release(&j.arena);
}

static int judge_file(const char *path) {
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t cap = 0;
  struct buf out;
  if (!f) return 2;
  buf_init(&out, OUT_MAX);
  for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
    buf_reset(&out);
    judge_line((struct str){line, (size_t)n}, &out);
    puts(buf_z(&out));
  }
  free(line);
  buf_release(&out);
  return fclose(f) || fflush(stdout) ? 2 : 0;
}

/* ---- by itself ------------------------------------------------------------------ */

static void told(const char *dialect, const char *schema, const char *values, const char *want) {
  struct buf line, out, wanted;
  buf_init(&line, 1u << 16);
  buf_init(&out, 1u << 20);
  buf_init(&wanted, 256);
  buf_fmt(&line, "{\"dialect\":\"%s\",\"schema\":%s,\"values\":%s}", dialect, schema, values);
  buf_fmt(&wanted, "\"verdicts\":\"%s\"", want);
  judge_line(buf_str(&line), &out);
  if (!str_has(buf_str(&out), buf_str(&wanted))) {
    print_message("%s: %s, wanted %s\n", buf_z(&line), buf_z(&out), want);
    fail();
  }
  buf_release(&line);
  buf_release(&out);
  buf_release(&wanted);
}

static void null_stands_for_absent(void **state) {
  (void)state;
#define TAG "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
  told("openai", TAG "\"b\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"a\"]}",
       "[{\"a\":\"x\",\"b\":null},{\"a\":null},{\"a\":\"x\",\"c\":null}]", "yny");
  told("openai-strict", TAG "\"b\":{\"type\":\"string\"}},\"required\":[\"a\"]}",
       "[{\"a\":\"x\",\"b\":null},{\"a\":null},{\"a\":\"x\",\"c\":1}]", "ynn");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(null_stands_for_absent),
  };
  if (argc > 1) return judge_file(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
