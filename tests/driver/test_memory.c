/* Whole runs with every allocation failing in turn, once and from then on: each
 * ends, nothing leaks, and what is told of it is legal. */
#include <rein.h>

#include "driver/world.h"
#include "support/oom.h"

static int tool_stock(struct rein_call *call) {
  const char *text = rein_call_text(call, "text", "none");
  return rein_call_result(call, text, SIZE_MAX);
}

static const struct rein_tool rows[] = {
    ROW("stock", tool_stock, NULL),
    ROW_WITH("order", tool_stock, NULL, REIN_WRITES, REIN_ASK, 0),
};

static const char script[] =
    "{\"scenarios\":[{\"replies\":["
    "{\"text\":\"Looking.\",\"calls\":[{\"name\":\"stock\",\"input\":{\"text\":\"tea\"}},"
    "{\"name\":\"order\",\"input\":{\"text\":\"tea\"}}]},"
    "{\"text\":\"Done: {{result 2}}.\"}]}]}";

static enum rein_verdict approve(void *ctx, const struct rein_question *q, char *reason,
                                 size_t cap) {
  (void)ctx;
  (void)q;
  snprintf(reason, cap, "yes");
  return REIN_ALLOW;
}

static void hear(void *ctx, const char *line, size_t n) {
  (void)ctx;
  assert_int_equal(line[0], '{');
  assert_int_equal(line[n - 1], '}');
}

/* -- rein_run, offline -- */

static bool whole_run(void *ctx) {
  struct rein_report *report = NULL;
  struct rein_error error = {0};
  struct rein_options o = {.size = sizeof o,
                           .model = ctx,
                           .tools = rows,
                           .tool_count = 2,
                           .approve = approve,
                           .hear = hear,
                           .retries = REIN_OFF, /* a lost reply would be waited for */
                           .policy_json = "{\"default\":\"deny\"}"};
  enum rein_code code = rein_run(&o, "How much tea?", &report, &error);
  if (code != REIN_OK) {
    assert_null(report);
    assert_int_equal(code, REIN_MEMORY);
    assert_true(strlen(error.message) > 0 || oom_failed() > 1);
    return false;
  }
  enum rein_outcome outcome = rein_report_outcome(report);
  bool whole =
      outcome == REIN_OUTCOME_FINISHED && strcmp(rein_report_text(report), "Done: tea.") == 0;
  assert_true(outcome != REIN_OUTCOME_NONE);
  assert_non_null(rein_report_json(report));
  rein_report_free(report);
  return whole;
}

static void test_a_run_without_memory(void **state) {
  char path[512], model[600];
  const char *tmp = getenv("TMPDIR");
  (void)state;
  snprintf(path, sizeof path, "%s/rein-memory-%d.json", tmp ? tmp : P_tmpdir, (int)getpid());
  snprintf(model, sizeof model, "script:%s", path);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(script, f);
  fclose(f);
  size_t fds = open_fds();
  assert_true(oom_each(whole_run, model) > 100);
  assert_int_equal(open_fds(), fds);
  unlink(path);
}

/* -- the same over HTTP, and the bare machine -- */

struct texts {
  struct reply_text first, last;
  const char *url;
};

static void texts_make(struct texts *texts) {
  reply_begin(&texts->first);
  reply_call(&texts->first, "toolu_1", "stock", "{\"text\":\"tea\"}");
  reply_end(&texts->first, "tool_use");
  reply_begin(&texts->last);
  reply_say(&texts->last, "Three left.");
  reply_end(&texts->last, "end_turn");
}

static void texts_drop(struct texts *texts) {
  buf_release(&texts->first.b);
  buf_release(&texts->last.b);
}

/* Allocates nothing of its own: its answers were made before. */
static bool serve_texts(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  const struct texts *texts = ctx;
  bool last = count_in(body, "\"role\":\"assistant\"") > 0;
  (void)peer;
  (void)n;
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(last ? &texts->last.b : &texts->first.b));
  peer_stream_end(fd);
  return true;
}

static bool whole_http_run(void *ctx) {
  const struct texts *texts = ctx;
  struct rein_report *report = NULL;
  struct rein_error error = {0};
  struct rein_options o = {.size = sizeof o,
                           .model = "anthropic/claude-test",
                           .base_url = texts->url,
                           .api_key = "sk-0123456789",
                           .tools = rows,
                           .tool_count = 2,
                           .retries = REIN_OFF};
  if (rein_run(&o, "How much tea?", &report, &error) != REIN_OK) return false;
  bool whole = rein_report_outcome(report) == REIN_OUTCOME_FINISHED &&
               strcmp(rein_report_text(report), "Three left.") == 0;
  rein_report_free(report);
  return whole;
}

static void test_an_http_run_without_memory(void **state) {
  struct texts texts;
  (void)state;
  texts_make(&texts);
  size_t fds = open_fds();
  struct peer *peer = peer_start(serve_texts, &texts);
  texts.url = peer_url(peer);
  assert_true(oom_each(whole_http_run, &texts) > 100);
  peer_stop(peer);
  assert_int_equal(open_fds(), fds);
  texts_drop(&texts);
}

static void feed(struct rein_machine *m, uint32_t id, const struct reply_text *r, int64_t now) {
  (void)rein_machine_status(m, id, 200);
  (void)rein_machine_header(m, id, "content-type", "text/event-stream");
  (void)rein_machine_bytes(m, id, r->b.p, r->b.n);
  if (rein_machine_end(m, id, true, NULL, now) == REIN_MEMORY)
    (void)rein_machine_end(m, id, true, NULL, now);
}

static bool whole_machine(void *ctx) {
  const struct texts *texts = ctx;
  struct rein_options o = {.size = sizeof o,
                           .model = "anthropic/claude-test",
                           .base_url = "http://127.0.0.1:9",
                           .api_key = "sk-0123456789",
                           .tools = rows,
                           .tool_count = 2};
  struct rein_machine *m;
  struct rein_error error;
  struct rein_want w;
  if (rein_machine_new(&o, "How much tea?", 0, &m, &error) != REIN_OK) {
    assert_null(m);
    return false;
  }
  enum rein_outcome outcome = REIN_OUTCOME_NONE;
  int sent = 0;
  int64_t now = 0;
  for (int step = 0; step < 100 && outcome == REIN_OUTCOME_NONE; step++) {
    switch (rein_machine_next(m, &w)) {
    case REIN_WANT_NOTHING:
      now = rein_machine_deadline(m);
      if (now == INT64_MAX)
        step = 100; /* it waits for an answer that was lost */
      else
        (void)rein_machine_tick(m, now);
      break;
    case REIN_WANT_SEND: feed(m, w.id, sent++ == 0 ? &texts->first : &texts->last, now); break;
    case REIN_WANT_ASK: (void)rein_machine_verdict(m, w.id, REIN_ALLOW, "yes", now); break;
    case REIN_WANT_RUN:
      if (rein_machine_started(m, w.id, now) == REIN_MEMORY)
        (void)rein_machine_started(m, w.id, now);
      if (rein_machine_result(m, w.id, "3 left", 6, false, now) == REIN_MEMORY)
        (void)rein_machine_result(m, w.id, "3 left", 6, false, now);
      break;
    case REIN_WANT_ABORT_SEND:
    case REIN_WANT_ABORT_RUN: break;
    case REIN_WANT_DONE: outcome = w.outcome; break;
    }
  }
  bool whole = outcome == REIN_OUTCOME_FINISHED && !strcmp(rein_machine_text(m), "Three left.");
  assert_non_null(rein_machine_reason(m));
  rein_machine_free(m);
  return whole;
}

static void test_a_machine_without_memory(void **state) {
  struct texts texts;
  (void)state;
  texts_make(&texts);
  assert_true(oom_each(whole_machine, &texts) > 100);
  texts_drop(&texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_run_without_memory),
      cmocka_unit_test(test_an_http_run_without_memory),
      cmocka_unit_test(test_a_machine_without_memory),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
