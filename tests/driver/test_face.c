/* rein.h as an embedder meets it: options refused by name, whole runs, the bare
 * machine over recorded answers. */
#include <rein.h>

#include "driver/world.h"

#include <pthread.h>

static bool serve_stock(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct reply_text r;
  (void)ctx;
  (void)peer;
  (void)n;
  bool last = count_in(body, "\"role\":\"assistant\"") > 0;
  reply_begin(&r);
  reply_say(&r, last ? "Three left." : "Looking.");
  if (!last) reply_call(&r, "toolu_1", "stock", "{\"text\":\"tea\"}");
  reply_end(&r, last ? "end_turn" : "tool_use");
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&r.b));
  peer_stream_end(fd);
  buf_release(&r.b);
  return true;
}

static int tool_stock(struct rein_call *call) {
  assert_string_equal(rein_call_text(call, "text", ""), "tea");
  return rein_call_result(call, "3 left", SIZE_MAX);
}

static const struct rein_tool stock_row[] = {
    ROW_WITH("stock", tool_stock, NULL, REIN_READS_PRIVATE, REIN_ASK, 0)};

static struct rein_options options(const char *url) {
  return (struct rein_options){.size = sizeof(struct rein_options),
                               .model = "anthropic/claude-test",
                               .base_url = url,
                               .api_key = " sk-embedder-0123456789\n",
                               .tools = stock_row,
                               .tool_count = 1};
}

/* -- rein_run -- */

static enum rein_verdict approve(void *ctx, const struct rein_question *q, char *reason,
                                 size_t cap) {
  assert_string_equal(q->tool, "stock");
  assert_int_equal(q->args_len, strlen(q->args));
  assert_true(strlen(q->rule) > 0);
  snprintf(reason, cap, "go on");
  ++*(int *)ctx;
  return REIN_ALLOW;
}

struct heard {
  struct buf lines;
  size_t count;
};

static void hear(void *ctx, const char *line, size_t n) {
  struct heard *h = ctx;
  assert_int_equal(strlen(line), n);
  assert_int_equal(line[0], '{');
  assert_null(strchr(line, '\n'));
  buf_put(&h->lines, (struct str){line, n});
  buf_c(&h->lines, '\n');
  h->count++;
}

static void test_a_run(void **state) {
  struct rein_report *report;
  struct rein_error error;
  struct heard h = {0};
  int approved = 0;
  size_t fds = open_fds();
  struct peer *peer = peer_start(serve_stock, NULL);
  struct rein_options o = options(peer_url(peer));
  (void)state;
  buf_init(&h.lines, 1u << 20);
  o.approve = approve;
  o.approve_ctx = &approved;
  o.hear = hear;
  o.hear_ctx = &h;
  assert_int_equal(rein_run(&o, "How much tea?", &report, &error), REIN_OK);
  assert_int_equal(rein_report_outcome(report), REIN_OUTCOME_FINISHED);
  assert_string_equal(rein_report_text(report), "Three left.");
  assert_string_equal(rein_report_reason(report), "the model finished");
  assert_int_equal(rein_report_turns(report), 1);
  assert_int_equal(rein_report_requests(report), 2);
  assert_int_equal(rein_report_usage(report).output, 40);
  assert_int_equal(approved, 1);
  assert_non_null(strstr(buf_z(&h.lines), "{\"event\":\"start\""));
  assert_non_null(strstr(buf_z(&h.lines), "{\"stream\":\"piece\",\"text\":\"Three left.\"}"));
  assert_non_null(strstr(buf_z(&h.lines), rein_report_json(report))); /* the last line */
  assert_null(strstr(buf_z(&h.lines), "sk-embedder"));
  assert_true(str_has(peer_head(peer, 0), STR("sk-embedder-0123456789\r\n"))); /* trimmed */
  check_history(peer);
  rein_report_free(report);
  buf_release(&h.lines);
  peer_stop(peer);
  assert_int_equal(open_fds(), fds);
}

/* -- ends while the approval function sits there -- */

static enum rein_verdict approve_late(void *ctx, const struct rein_question *q, char *reason,
                                      size_t cap) {
  struct gate *g = ctx;
  struct pollfd p = {.fd = g->pipe[0], .events = POLLIN};
  (void)q;
  (void)reason;
  (void)cap;
  atomic_fetch_add(&g->waiting, 1);
  poll(&p, 1, -1);
  atomic_fetch_add(&g->passed, 1);
  return REIN_ALLOW;
}

static void test_time_while_approving(void **state) {
  struct rein_report *report;
  struct rein_error error;
  struct gate g;
  (void)state;
  gate_open(&g);
  struct peer *peer = peer_start(serve_stock, NULL);
  struct rein_options o = options(peer_url(peer));
  o.approve = approve_late;
  o.approve_ctx = &g;
  o.limits.time_ms = 100;
  assert_int_equal(rein_run(&o, "How much tea?", &report, &error), REIN_OK);
  assert_int_equal(rein_report_outcome(report), REIN_OUTCOME_TIME);
  assert_int_equal(atomic_load(&g.waiting), 1);
  assert_int_equal(atomic_load(&g.passed), 0);
  rein_report_free(report);
  peer_stop(peer);
  gate_release(&g);
  while (atomic_load(&g.passed) == 0)
    sched_yield();
  gate_close(&g);
}

static int tool_cancels(struct rein_call *call) {
  volatile int *flag = rein_call_ctx(call);
  __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
  while (!rein_call_cancelled(call))
    sched_yield();
  return rein_call_error(call, "stopped", SIZE_MAX);
}

static void test_the_cancel_flag(void **state) {
  struct rein_report *report;
  struct rein_error error;
  static volatile int flag;
  const struct rein_tool row[] = {ROW("stock", tool_cancels, (void *)&flag)};
  struct peer *peer = peer_start(serve_stock, NULL);
  struct rein_options o = options(peer_url(peer));
  (void)state;
  flag = 0;
  o.tools = row;
  o.cancel = &flag;
  assert_int_equal(rein_run(&o, "How much tea?", &report, &error), REIN_OK);
  assert_int_equal(rein_report_outcome(report), REIN_OUTCOME_CANCELLED);
  assert_int_equal(rein_outcome_exit(rein_report_outcome(report)), 25);
  rein_report_free(report);
  peer_stop(peer);
}

/* -- offline -- */

static void test_the_demo(void **state) {
  struct rein_report *report;
  struct rein_error error;
  char root[512], path[600];
  const char *tmp = getenv("TMPDIR");
  (void)state;
  snprintf(root, sizeof root, "%s/rein-face-XXXXXX", tmp ? tmp : P_tmpdir);
  assert_non_null(mkdtemp(root));
  snprintf(path, sizeof path, "%s/README.md", root);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs("# The first line\nmore\n", f);
  fclose(f);
  struct rein_options o = {
      .size = sizeof o, .model = "demo", .root = root, .builtin = "read_file, get_time"};
  assert_int_equal(
      rein_run(&o, "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘", &report, &error),
      REIN_OK);
  assert_int_equal(rein_report_outcome(report), REIN_OUTCOME_FINISHED);
  assert_non_null(strstr(rein_report_text(report), "# The first line"));
  assert_int_equal(rein_report_turns(report), 2);
  assert_int_equal(rein_report_requests(report), 3);
  rein_report_free(report);
  unlink(path);
  rmdir(root);
}

static void *run_demo(void *ctx) {
  struct rein_report *report;
  struct rein_options o = {.size = sizeof o, .model = "demo", .builtin = "get_time"};
  *(bool *)ctx = rein_run(&o, "hello", &report, NULL) == REIN_OK &&
                 rein_report_outcome(report) == REIN_OUTCOME_FINISHED;
  rein_report_free(report);
  return NULL;
}

static void test_runs_on_many_threads(void **state) {
  pthread_t threads[8];
  bool fine[8] = {false};
  (void)state;
  for (int i = 0; i < 8; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, run_demo, &fine[i]), 0);
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
    assert_true(fine[i]);
  }
}

/* -- what is refused -- */

static void refused(struct rein_options o, const char *task, const char *words) {
  struct rein_report *report = (struct rein_report *)&o;
  struct rein_error error = {0};
  assert_int_equal(rein_run(&o, task, &report, &error), REIN_INPUT);
  assert_null(report);
  assert_int_equal(error.code, REIN_INPUT);
  if (!strstr(error.message, words)) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
}

static void test_options_that_are_refused(void **state) {
  const struct rein_options good = options("http://127.0.0.1:9");
  struct rein_options o;
  (void)state;
#define REFUSED(words, ...)                                                                        \
  o = good;                                                                                        \
  __VA_ARGS__;                                                                                     \
  refused(o, "task", words)
  REFUSED("rein_options.size is 3", o.size = 3);
  REFUSED("no model is named", o.model = NULL);
  REFUSED("\"nonsense\" is not known", o.model = "nonsense/x");
  REFUSED("names no provider", o.model = "claude-sonnet-5");
  REFUSED("names no model", o.model = "anthropic/");
  REFUSED("cannot be read", o.model = "script:/nowhere/at/all.json");
  REFUSED("names no file", o.model = "script:");
  REFUSED("needs a key", o.api_key = NULL; o.base_url = NULL);
  REFUSED("API key is empty", o.api_key = " \n");
  REFUSED("character 3 of the API key", o.api_key = "ab cd");
  REFUSED("http:// or https://", o.base_url = "ftp://x");
  REFUSED("user name or password", o.base_url = "https://me:pw@example.com");
  REFUSED("rein_options.lang is 9", o.lang = (enum rein_lang)9);
  REFUSED("quirks", o.quirks = "mistrel");
  REFUSED("limits.no_progress", o.limits.no_progress = (enum rein_no_progress)77);
  REFUSED("rein_options.retries is -7", o.retries = -7);
  REFUSED("max_turns", o.limits.max_turns = -9);
  REFUSED("idle limit is -9", o.idle_ms = -9);
  REFUSED("all off", o.limits.max_turns = o.limits.token_budget = REIN_OFF);
  REFUSED("needs the price of the model \"claude-test\"", o.limits.cost_uusd = 5);
  REFUSED("give both input and output", o.models_json = "{\"m\":{\"input\":3}}");
  REFUSED("rein_options.tools is missing", o.tools = NULL);
  REFUSED("no built-in tool \"reed_file\"", o.builtin = "reed_file");
  REFUSED("set rein_options.root", o.builtin = "read_file");
  REFUSED("/nowhere/at/all", o.root = "/nowhere/at/all");
  REFUSED("not UTF-8", o.system = "a\xff");
  struct rein_tool bare = {.name = "bare", .description = "d", .schema = "{\"type\":\"object\"}"};
  REFUSED("the tool bare has no function: set rein_tool.run", o.tools = &bare; o.tool_count = 1);
#undef REFUSED
  refused(good, " \t", "no words");
  refused(good, NULL, "task is missing");
  assert_int_equal(rein_run(&good, "task", NULL, NULL), REIN_INPUT);
  refused(good, "a\xff", "not UTF-8");
  struct rein_error error;
  struct rein_report *report;
  assert_int_equal(rein_run(NULL, "task", &report, &error), REIN_INPUT);
}

static void test_a_key_is_not_quoted(void **state) {
  struct rein_options o = options("http://127.0.0.1:9");
  struct rein_report *report;
  struct rein_error error;
  (void)state;
  o.api_key = "sk-sec\x01ret";
  assert_int_equal(rein_run(&o, "task", &report, &error), REIN_INPUT);
  assert_null(strstr(error.message, "sk-sec"));
  o.lang = REIN_KOREAN;
  assert_int_equal(rein_run(&o, "task", &report, &error), REIN_INPUT);
  assert_non_null(strstr(error.message, "API 키의 7번째"));
}

static void test_an_older_and_a_newer_caller(void **state) {
  struct {
    struct rein_options o;
    int more;
  } newer = {.o = {.size = sizeof newer, .model = "demo"}, .more = 0};
  struct rein_report *report;
  struct rein_error error;
  (void)state;
  assert_int_equal(rein_run(&newer.o, "hi", &report, &error), REIN_OK);
  rein_report_free(report);
  newer.more = 1;
  assert_int_equal(rein_run(&newer.o, "hi", &report, &error), REIN_INPUT);
  assert_non_null(strstr(error.message, "newer"));
  struct rein_options older = {.size = offsetof(struct rein_options, lang), .model = "demo"};
  older.lang = (enum rein_lang)99; /* behind its end: not looked at */
  assert_int_equal(rein_run(&older, "hi", &report, &error), REIN_OK);
  rein_report_free(report);
}

/* -- the bare machine -- */

static void feed_reply(struct rein_machine *m, uint32_t id, bool last, size_t cut) {
  struct reply_text r;
  reply_begin(&r);
  reply_say(&r, last ? "Three left." : "Looking.");
  if (!last) reply_call(&r, "toolu_1", "stock", "{\"text\":\"tea\"}");
  reply_end(&r, last ? "end_turn" : "tool_use");
  assert_int_equal(rein_machine_status(m, id, 200), REIN_OK);
  assert_int_equal(rein_machine_header(m, id, "content-type", "text/event-stream"), REIN_OK);
  for (size_t at = 0; at < r.b.n; at += cut) {
    size_t n = r.b.n - at < cut ? r.b.n - at : cut;
    assert_int_equal(rein_machine_bytes(m, id, r.b.p + at, n), REIN_OK);
  }
  buf_release(&r.b);
}

static struct rein_machine *machine(struct rein_options o) {
  struct rein_machine *m = NULL;
  struct rein_error error = {0};
  o.approve = NULL;
  if (rein_machine_new(&o, "How much tea?", 1000, &m, &error) != REIN_OK)
    fail_msg("rein_machine_new: %s", error.message);
  return m;
}

static void drive_machine(size_t cut) {
  struct rein_machine *m = machine(options("http://127.0.0.1:9/"));
  struct rein_want w;
  const char *text;
  size_t n;
  bool thinking;
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_string_equal(w.url, "http://127.0.0.1:9/v1/messages");
  assert_true(w.body_len > 0 && w.headers[0] && w.body[0] == '{');
  uint32_t first = w.id;
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_NOTHING);
  feed_reply(m, first, false, cut);
  assert_true(rein_machine_piece(m, &text, &n, &thinking));
  assert_false(thinking);
  assert_int_equal(rein_machine_end(m, first, true, NULL, 1010), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_ASK);
  assert_ptr_equal(w.tool, &stock_row[0]);
  assert_string_equal(w.args, "{\"text\":\"tea\"}");
  uint32_t call = w.id;
  assert_int_equal(rein_machine_verdict(m, call, REIN_ALLOW, NULL, 1020), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_RUN);
  assert_int_equal(w.id, call);
  assert_int_equal(rein_machine_started(m, call, 1021), REIN_OK);
  assert_int_equal(rein_machine_result(m, call, "3 left\xff", SIZE_MAX, false, 1030), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  feed_reply(m, w.id, true, cut);
  /* The last event came; nobody waits for a server that does not close. */
  assert_int_equal(rein_machine_deadline(m), 1030);
  uint32_t second = w.id;
  assert_int_equal(rein_machine_tick(m, 1031), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_ABORT_SEND);
  assert_int_equal(w.id, second);
  assert_int_equal(rein_machine_end(m, second, true, NULL, 1032), REIN_OK); /* late: nothing */
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_DONE);
  assert_int_equal(w.outcome, REIN_OUTCOME_FINISHED);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_NOTHING);
  assert_string_equal(rein_machine_text(m), "Three left.");
  assert_string_equal(rein_machine_reason(m), "the model finished");
  assert_int_equal(rein_machine_turns(m), 1);
  assert_int_equal(rein_machine_requests(m), 2);
  for (size_t i = 0; i < 9; i++)
    assert_non_null(rein_machine_record(m, i, &n));
  assert_null(rein_machine_record(m, 9, &n));
  assert_non_null(strstr(rein_machine_record(m, 0, NULL), "\"start\""));
  rein_machine_free(m);
}

static void test_the_bare_machine(void **state) {
  (void)state;
  drive_machine(1);
  drive_machine(7);
  drive_machine(100000);
}

static void test_the_machine_retries_and_stalls(void **state) {
  struct rein_options o = options("http://127.0.0.1:9");
  struct rein_want w;
  const char *text;
  size_t n;
  bool thinking;
  (void)state;
  o.idle_ms = 500;
  o.retries = 1;
  struct rein_machine *m = machine(o);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_int_equal(rein_machine_bytes(m, w.id, "event: x\n\n", 10), REIN_OK);
  feed_reply(m, w.id, false, 350);
  while (rein_machine_piece(m, &text, &n, &thinking))
    ;
  assert_false(rein_machine_withdrawn(m));
  rein_machine_free(m);

  m = machine(o);
  struct reply_text r;
  reply_begin(&r);
  reply_say(&r, "half of");
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_int_equal(rein_machine_status(m, w.id, 200), REIN_OK);
  assert_int_equal(rein_machine_bytes(m, w.id, r.b.p, r.b.n), REIN_OK);
  assert_true(rein_machine_piece(m, &text, &n, &thinking));
  assert_int_equal(rein_machine_end(m, w.id, false, "reset", 1001), REIN_OK);
  assert_true(rein_machine_withdrawn(m));
  assert_false(rein_machine_withdrawn(m));
  buf_release(&r.b);
  rein_machine_free(m);

  m = machine(o);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_int_equal(rein_machine_status(m, w.id, 529), REIN_OK);
  assert_int_equal(rein_machine_end(m, w.id, true, NULL, 1001), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_NOTHING);
  int64_t due = rein_machine_deadline(m);
  assert_true(due > 1001 && due < 1001 + 9000);
  assert_int_equal(rein_machine_tick(m, due), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_int_equal(rein_machine_deadline(m), due + 500);
  assert_int_equal(rein_machine_tick(m, due + 500), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_ABORT_SEND);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_DONE);
  assert_int_equal(w.outcome, REIN_OUTCOME_MODEL_ERROR);
  assert_non_null(strstr(rein_machine_reason(m), "stalled"));
  rein_machine_free(m);
}

static void test_the_machine_cancels(void **state) {
  struct rein_machine *m = machine(options("http://127.0.0.1:9"));
  struct rein_want w;
  (void)state;
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_SEND);
  assert_int_equal(rein_machine_cancel(m, 1005), REIN_OK);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_ABORT_SEND);
  assert_int_equal(rein_machine_next(m, &w), REIN_WANT_DONE);
  assert_int_equal(w.outcome, REIN_OUTCOME_CANCELLED);
  rein_machine_free(m);
}

static void test_what_the_machine_refuses(void **state) {
  const struct rein_options good = options("http://127.0.0.1:9");
  struct rein_options o;
  struct rein_machine *m;
  struct rein_error error;
  int flag = 0;
  (void)state;
#define REFUSED(words, ...)                                                                        \
  o = good;                                                                                        \
  __VA_ARGS__;                                                                                     \
  assert_int_equal(rein_machine_new(&o, "task", 0, &m, &error), REIN_INPUT);                       \
  assert_null(m);                                                                                  \
  assert_non_null(strstr(error.message, words))
  assert_int_equal(rein_machine_new(&good, "task", 0, NULL, NULL), REIN_INPUT);
  REFUSED("builtin", o.builtin = "get_time");
  REFUSED("root", o.root = "/");
  REFUSED("hear", o.hear = hear);
  REFUSED("approve", o.approve = approve);
  REFUSED("cancel", o.cancel = &flag);
  REFUSED("demo", o.model = "demo");
  REFUSED("script:FILE", o.model = "script:x.json");
#undef REFUSED
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_run),
      cmocka_unit_test(test_time_while_approving),
      cmocka_unit_test(test_the_cancel_flag),
      cmocka_unit_test(test_the_demo),
      cmocka_unit_test(test_runs_on_many_threads),
      cmocka_unit_test(test_options_that_are_refused),
      cmocka_unit_test(test_a_key_is_not_quoted),
      cmocka_unit_test(test_an_older_and_a_newer_caller),
      cmocka_unit_test(test_the_bare_machine),
      cmocka_unit_test(test_the_machine_retries_and_stalls),
      cmocka_unit_test(test_the_machine_cancels),
      cmocka_unit_test(test_what_the_machine_refuses),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
