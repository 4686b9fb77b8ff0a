/* A program that embeds rein with tools of its own, as a caller of <rein.h> would.
 *
 *   test_own_tools FILE   FILE: {"model", "base_url", "dialect", "strict", "skip_bad_tools",
 *                         "tools": [{"name", "schema"}]}. Each tool answers with the
 *                         arguments it got. Prints what a listener hears, a line each.
 *                         tests/driver/test_dialects_served.py reads it. Without FILE it
 *                         tests itself.
 */
#include "support/test.h"

#include "base/arena.h"
#include "json/json.h"

#include <rein.h>
#include <stdio.h>

#define FILE_BYTES_MAX (16u << 20)
#define TOOLS_MAX 300

static int echo(struct rein_call *call) {
  size_t n;
  const char *args = rein_call_args(call, &n);
  return rein_call_result(call, args, n);
}

static void print_line(void *ctx, const char *line, size_t n) {
  (void)ctx;
  printf("%.*s\n", (int)n, line);
}

/* A member's text, terminated; NULL: it is not there. */
static const char *text_of(struct arena *arena, const struct json *object, const char *key) {
  const struct json *member = json_get(object, key);
  struct str copy;
  if (!member) return NULL;
  bool text = member->kind == JSON_STRING;
  return arena_str(arena, text ? member->text : member->source, &copy) ? copy.p : NULL;
}

static enum rein_code run_file(struct arena *arena, struct str text, struct rein_error *error) {
  struct rein_tool tools[TOOLS_MAX] = {0};
  struct rein_options o = {.size = sizeof o, .tools = tools, .api_key = "k", .retries = REIN_OFF};
  struct rein_report *report = NULL;
  struct json *doc;
  if (json_parse(arena, text, JSON_STRICT, &doc, NULL) != REIN_OK) return REIN_INPUT;
  const struct json *list = json_get(doc, "tools");
  for (const struct json *t = list ? list->first : NULL; t; t = t->next)
    if (o.tool_count < TOOLS_MAX)
      tools[o.tool_count++] = (struct rein_tool){.name = text_of(arena, t, "name"),
                                                 .description = "A tool of mine.",
                                                 .schema = text_of(arena, t, "schema"),
                                                 .touches = REIN_TOUCHES_NOTHING,
                                                 .verdict = REIN_ALLOW,
                                                 .run = echo};
  o.model = text_of(arena, doc, "model");
  o.base_url = text_of(arena, doc, "base_url");
  o.dialect = text_of(arena, doc, "dialect");
  o.strict = json_true(json_get(doc, "strict"));
  o.skip_bad_tools = json_true(json_get(doc, "skip_bad_tools"));
  o.hear = print_line;
  enum rein_code code = rein_run(&o, "Go on.", &report, error);
  rein_report_free(report);
  return code;
}

static int run_path(const char *path) {
  struct arena arena;
  struct buf text;
  struct rein_error error = {0};
  FILE *f = fopen(path, "rb");
  if (!f) return 1;
  buf_init(&text, FILE_BYTES_MAX);
  for (size_t n = 1; n > 0;) {
    char *room = buf_room(&text, 65536);
    n = room ? fread(room, 1, 65536, f) : 0;
    buf_grown(&text, n);
  }
  (void)fclose(f);
  arena_init(&arena, 4 * (size_t)FILE_BYTES_MAX);
  enum rein_code code = run_file(&arena, buf_str(&text), &error);
  if (code != REIN_OK) (void)fprintf(stderr, "%s\n", error.message);
  arena_release(&arena);
  buf_release(&text);
  return code != REIN_OK;
}

/* ---- without a server: nothing is sent ------------------------------------------ */

static enum rein_outcome outcome_with(const char *schema, bool skip, int64_t *requests) {
  const struct rein_tool tool = {
      .name = "pick", .description = "d", .schema = schema, .verdict = REIN_ALLOW, .run = echo};
  struct rein_options o = {.size = sizeof o,
                           .model = "openai/m",
                           .api_key = "k",
                           .base_url = "http://127.0.0.1:9",
                           .retries = REIN_OFF,
                           .tools = &tool,
                           .tool_count = 1,
                           .skip_bad_tools = skip};
  struct rein_report *report = NULL;
  struct rein_error error = {0};
  assert_int_equal(rein_run(&o, "Go on.", &report, &error), REIN_OK);
  enum rein_outcome outcome = rein_report_outcome(report);
  *requests = rein_report_requests(report);
  rein_report_free(report);
  return outcome;
}

static void what_cannot_be_sent_is_said_before_a_request(void **state) {
  int64_t requests;
  (void)state;
  assert_int_equal(outcome_with("{\"type\":\"array\"}", false, &requests), REIN_OUTCOME_BAD_TOOL);
  assert_int_equal(requests, 0);
  /* Left out: the request is made, and nobody listens there. */
  assert_int_equal(outcome_with("{\"type\":\"array\"}", true, &requests), REIN_OUTCOME_MODEL_ERROR);
  assert_int_equal(requests, 1);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_cannot_be_sent_is_said_before_a_request),
  };
  if (argc > 1) return run_path(argv[1]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
