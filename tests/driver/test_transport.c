/* What happens between a run and its server below the stream, in whole runs: waits
 * in all their forms, answers that are no stream, bytes without end, connections
 * that are kept and that are not. HTTP by itself is tests/host's; faults at random
 * are test_faults.c's.
 */
#include "support/speak.h"
#include "world.h"

#include <assert.h>
#include <sys/socket.h>
#include <time.h>

#define TURNS 20

static void reply_on(int fd, enum speaks wire, const struct said *said) {
  struct buf b;
  buf_init(&b, 1u << 20);
  speak(&b, wire, said);
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&b));
  peer_stream_end(fd);
  buf_release(&b);
}

static void say_on(int fd, enum speaks wire, const char *text) {
  reply_on(fd, wire, &(struct said){.text = str_of(text), .prompt = 50, .output = 5});
}

static enum speaks wire_of(struct peer *peer, size_t n) {
  struct str head = peer_head(peer, n);
  if (str_has(head, STR("/messages "))) return SPEAKS_ANTHROPIC;
  return str_has(head, STR("/responses ")) ? SPEAKS_OPENAI : SPEAKS_CHAT;
}

/* Runs of a table find their row by their words: "row-07". */
static size_t row_of(struct str body) {
  size_t at = str_find(body, STR("row-"));
  assert(at + 6 < body.n);
  return (size_t)(body.p[at + 4] - '0') * 10 + (size_t)(body.p[at + 5] - '0');
}

static struct live *say_row(struct world *w, struct run_spec *spec, size_t row) {
  char words[16];
  snprintf(words, sizeof words, "row-%02zu", row);
  return world_say(w, spec, words);
}

/* -- waits -- */

struct wait_row {
  const char *headers; /* lines; %s: a date */
  int date_s;          /* from now */
  int64_t time_ms;     /* the valve; 0: off */
  int64_t least_ms, most_ms;
  int64_t requests;
  enum rein_outcome outcome;
};

#define SLACK 8000 /* a busy machine */
static const struct wait_row waits[] = {
    {"retry-after-ms: 150\r\n", 0, 30000, 150, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"Retry-After: 0.2\r\n", 0, 30000, 200, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after: 1\r\n", 0, 30000, 1000, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after-ms: 20\r\nretry-after: 60\r\n", 0, 30000, 20, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after-ms: soon\r\nretry-after: 0.1\r\n", 0, 30000, 100, SLACK, 2,
     REIN_OUTCOME_FINISHED},
    {"retry-after: %s\r\n", 2, 30000, 900, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after: %s\r\n", -60, 30000, 375, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after: -1\r\n", 0, 30000, 375, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"retry-after: a while\r\n", 0, 30000, 375, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"", 0, 30000, 375, SLACK, 2, REIN_OUTCOME_FINISHED},
    {"x-should-retry: false\r\nretry-after-ms: 5\r\n", 0, 0, 0, SLACK, 1, REIN_OUTCOME_MODEL_ERROR},
    /* longer than the valve leaves: it ends now, and not when the valve closes */
    {"retry-after: 20\r\n", 0, 15000, 0, SLACK, 1, REIN_OUTCOME_TIME},
    {"retry-after-ms: 15000\r\n", 0, 15000, 0, SLACK, 1, REIN_OUTCOME_TIME},
    {"retry-after: %s\r\n", 60, 15000, 0, SLACK, 1, REIN_OUTCOME_TIME},
    {"retry-after: 86400\r\n", 0, 5000, 0, SLACK, 1, REIN_OUTCOME_TIME},
    {"retry-after: %s\r\n", 86400, 15000, 0, SLACK, 1, REIN_OUTCOME_TIME},
    /* longer than anybody waits */
    {"retry-after: 601\r\n", 0, 0, 0, SLACK, 1, REIN_OUTCOME_MODEL_ERROR},
    {"retry-after: %s\r\n", 86400, 0, 0, SLACK, 1, REIN_OUTCOME_MODEL_ERROR},
    {"retry-after: 99999999999999999999\r\n", 0, 0, 0, SLACK, 1, REIN_OUTCOME_MODEL_ERROR},
};
#define WAITS (sizeof waits / sizeof *waits)

static atomic_int asked[WAITS];

static bool serve_waits(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  size_t i = row_of(body);
  char date[64], headers[256];
  struct tm tm;
  (void)ctx;
  if (atomic_fetch_add(&asked[i], 1) > 0) {
    say_on(fd, wire_of(peer, n), "fine");
    return true;
  }
  time_t at = time(NULL) + waits[i].date_s;
  strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&at, &tm));
  const char *mark = strchr(waits[i].headers, '%');
  int before = mark ? (int)(mark - waits[i].headers) : (int)strlen(waits[i].headers);
  snprintf(headers, sizeof headers, "%.*s%s%s", before, waits[i].headers, mark ? date : "",
           mark ? "\r\n" : "");
  peer_answer(fd, i % 2 ? 429 : 503, headers, STR("{\"error\":{\"message\":\"busy\"}}"));
  return true;
}

static void test_waits(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_waits, NULL);
  for (size_t i = 0; i < WAITS; i++) {
    struct run_spec spec = world_spec(&w, NULL, 0);
    spec.agent.wire = wires[i % SPEAKS_WIRES];
    spec.agent.limits.time_ms = waits[i].time_ms;
    say_row(&w, &spec, i);
  }
  loop_run(w.loop);
  for (size_t i = 0; i < WAITS; i++) {
    const struct wait_row *row = &waits[i];
    const struct live *live = w.lives[i];
    if (live->outcome != row->outcome || live->took_ms < row->least_ms ||
        live->took_ms > row->most_ms || asked[i] != row->requests)
      fail_msg("%s: %s after %lld ms and %d requests", row->headers,
               rein_outcome_word(live->outcome), (long long)live->took_ms, (int)asked[i]);
    assert_int_equal(agent_stats(run_agent(live->run)).requests, row->requests);
  }
  world_close(&w);
}

/* -- status 200, and no stream -- */

static const struct {
  const char *type, *body, *says;
} pages[] = {
    {"text/html", "<!doctype html><p>Sign in</p>", "Sign in"},
    {"application/json", "{\"id\":\"x\",\"content\":[]}", "content"},
    {"text/event-stream", "upstream gone", "upstream gone"},
    {"text/event-stream", "", ""},
    {"text/event-stream", ": nothing\n\n", ""},
    {"application/octet-stream", "\x89PNG\r\n\x1a\n", "PNG"},
    {"application/json", "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"too busy\"}}",
     "too busy"},
    {"text/event-stream", "data: <html>\n\n", "<html>"},
};
#define PAGES (sizeof pages / sizeof *pages)

static bool serve_pages(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  size_t i = row_of(body) % PAGES;
  char headers[128];
  (void)ctx, (void)peer, (void)n;
  snprintf(headers, sizeof headers, "content-type: %s\r\nretry-after-ms: 5\r\n", pages[i].type);
  peer_answer(fd, 200, headers, str_of(pages[i].body));
  return true;
}

static void test_pages(void **state) {
  struct world w;
  (void)state;
  world_open(&w, serve_pages, NULL);
  for (size_t i = 0; i < PAGES * SPEAKS_WIRES; i++) {
    struct run_spec spec = world_spec(&w, NULL, 0);
    spec.agent.wire = wires[i / PAGES];
    say_row(&w, &spec, i);
  }
  loop_run(w.loop);
  for (size_t i = 0; i < w.count; i++) {
    const struct live *live = w.lives[i];
    struct agent_stats s = agent_stats(run_agent(live->run));
    struct buf why;
    buf_init(&why, 1u << 20);
    report_put_reason(&why, live->run, REIN_ENGLISH);
    bool said = str_has(buf_str(&why), str_of(pages[i % PAGES].says));
    if (live->outcome != REIN_OUTCOME_MODEL_ERROR || s.requests != 3 || !said)
      fail_msg("%s, %s: %s after %lld requests: %s", wires[i / PAGES]->name, pages[i % PAGES].body,
               rein_outcome_word(live->outcome), (long long)s.requests, buf_z(&why));
    buf_release(&why);
  }
  world_close(&w);
}

/* -- bytes without end -- */

static const struct {
  const char *begin, *again, *says;
} floods[] = {
    {"HTTP/1.1 200 OK\r\n\r\ndata: ", "xxxxxxxxxxxxxxxx", "8388608"},
    {"HTTP/1.1 200 OK\r\n\r\n", "data: x\n", "8388608"},
    {"HTTP/1.1 200 OK\r\n\r\n", ": ping\n\n", "stalled"},
    {"HTTP/1.1 200 OK\r\n\r\n", "\n\n\n\n\n\n\n\n", "stalled"},
    {"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<p>", "<p>and on and on", "8388608"},
    {"HTTP/1.1 500 No\r\n\r\n<p>", "<p>and on and on", "HTTP 500"},
    {"HTTP/1.1 200 OK\r\nx: ", "xxxxxxxxxxxxxxxx", "header"},
    {"HTTP/1.1 200 OK\r\n", "x-some: header\r\n", "header"},
    {"HTTP/1.1 103 Hints\r\n\r\n", "HTTP/1.1 103 Hints\r\nlink: x\r\n\r\n", "header"},
    {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "0000000000000000", "chunked"},
    {"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1;ext=xxxxxxxxxx\r\n \r\n",
     "stalled"},
    {"", "no HTTP at all, ", "HTTP/0.9"},
};
#define FLOODS (sizeof floods / sizeof *floods)

static bool serve_floods(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  size_t i = row_of(body);
  struct pollfd p = {.fd = fd, .events = POLLRDHUP};
  struct buf b;
  (void)ctx, (void)peer, (void)n;
  buf_init(&b, 1u << 20);
  while (b.n < 60000)
    buf_put(&b, str_of(floods[i].again));
  peer_write(fd, str_of(floods[i].begin));
  while (poll(&p, 1, 0) == 0)
    peer_write(fd, buf_str(&b));
  buf_release(&b);
  return false;
}

/* Each alone: they would hold each other up. */
static void flood(const struct wire *wire, size_t row) {
  struct world w;
  struct buf why;
  world_open(&w, serve_floods, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.agent.wire = wire;
  spec.agent.retries = REIN_OFF;
  spec.idle_ms = strcmp(floods[row].says, "stalled") == 0 ? 200 : 20000;
  struct live *live = say_row(&w, &spec, row);
  loop_run(w.loop);
  buf_init(&why, 1u << 20);
  report_put_reason(&why, live->run, REIN_ENGLISH);
  if (live->outcome != REIN_OUTCOME_MODEL_ERROR ||
      !str_has(buf_str(&why), str_of(floods[row].says)))
    fail_msg("flood %zu on %s: %s: %s", row, wire->name, rein_outcome_word(live->outcome),
             buf_z(&why));
  buf_release(&why);
  w.count = 0; /* check_history knows one wire */
  live_prove(live, w.peer);
  world_close(&w);
  live_free(live);
}

static void test_floods(void **state) {
  (void)state;
  for (size_t row = 0; row < FLOODS; row++)
    for (size_t i = 0; i < SPEAKS_WIRES; i++)
      if (i == row % SPEAKS_WIRES || getenv("REIN_LONG")) flood(wires[i], row);
}

/* -- connections -- */

struct counting {
  atomic_int closed;
  bool closes;      /* after each reply, without a word */
  size_t breaks_at; /* this request is not answered; 0: none */
};

/* Answers when the server has closed, where it does. */
static int tool_counted(struct rein_call *call) {
  struct counting *c = rein_call_ctx(call);
  const char *text = rein_call_text(call, "text", "a-result-0");
  int turn = (int)strtol(text + 9, NULL, 10) / 2;
  while (c->closes && atomic_load(&c->closed) <= turn)
    poll(NULL, 0, 1);
  return rein_call_result(call, text, SIZE_MAX);
}

static bool serve_turns(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct counting *c = ctx;
  struct said said = {.id = (int)n, .prompt = 50, .output = 5};
  char args[64];
  if (c->breaks_at && n == c->breaks_at) return false;
  size_t turns = count_in(body, "a-result-");
  snprintf(args, sizeof args, "{\"text\":\"a-result-%zu\"}", turns);
  /* The arguments stand in the body as well: twice per turn. */
  if (turns < 2 * TURNS) {
    said.call_count = 1;
    snprintf(said.calls[0].id, sizeof said.calls[0].id, "call_%zu", n);
    snprintf(said.calls[0].name, sizeof said.calls[0].name, "echo");
    said.calls[0].args = str_of(args);
  } else {
    said.text = STR("all turns done");
  }
  reply_on(fd, wire_of(peer, n), &said);
  if (c->closes) shutdown(fd, SHUT_RDWR);
  atomic_fetch_add(&c->closed, 1);
  return !c->closes;
}

static void run_turns(const struct wire *wire, struct counting c, size_t requests,
                      size_t connections) {
  struct world w;
  world_open(&w, serve_turns, &c);
  const struct rein_tool row = ROW("echo", tool_counted, &c);
  struct run_spec spec = world_spec(&w, &row, 1);
  spec.agent.wire = wire;
  struct live *live = world_say(&w, &spec, "Go");
  live->big = true;
  loop_run(w.loop);
  struct agent_stats s = agent_stats(run_agent(live->run));
  assert_int_equal(live->outcome, REIN_OUTCOME_FINISHED);
  assert_true(str_is(agent_text(run_agent(live->run)), "all turns done"));
  assert_int_equal(s.turns, TURNS);
  assert_int_equal(s.requests, requests);
  assert_int_equal(peer_count(w.peer), requests);
  assert_int_equal(peer_connections(w.peer), connections);
  size_t failed = requests - (TURNS + 1);
  assert_int_equal(count_in(buf_str(&live->log), "failed "), failed);
  w.count = 0; /* proved here: check_history knows one wire */
  live_prove(live, failed ? NULL : w.peer);
  static const char *const names[] = {"anthropic", "responses", "chat"};
  for (int i = 0; i < SPEAKS_WIRES; i++)
    if (wires[i] == wire)
      check_bodies(names[i], (struct str[]){peer_body(w.peer, requests - 1)}, 1);
  world_close(&w);
  live_free(live);
}

static void test_one_connection(void **state) {
  (void)state;
  for (int i = 0; i < SPEAKS_WIRES; i++)
    run_turns(wires[i], (struct counting){0}, TURNS + 1, 1);
}

/* The next turn finds it closed and connects anew: one request each, no failure. */
static void test_stale_connections(void **state) {
  (void)state;
  for (int i = 0; i < SPEAKS_WIRES; i++)
    run_turns(wires[i], (struct counting){.closes = true}, TURNS + 1, TURNS + 1);
}

/* Closed in answer to a request: it may have been worked on, so the machine
 * decides, and counts it. The second connection is curl's own, nothing goes over it. */
static void test_closed_on_arrival(void **state) {
  (void)state;
  run_turns(&wire_chat, (struct counting){.breaks_at = 3}, TURNS + 2, 3);
}

/* -- a request that was never sent costs nothing -- */

static bool serve_no_tunnel(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)body;
  if (n == 1) peer_answer(fd, 407, "", STR_NONE);
  if (n == 2) peer_reset(fd);
  return false;
}

static void test_no_tunnel(void **state) {
  struct err err = {0};
  struct world w;
  (void)state;
  world_open(&w, serve_no_tunnel, NULL);
  driver_free(w.driver);
  http_free(w.http);
  struct http_options through = {.proxy = peer_url(w.peer)};
  assert_int_equal(http_new(w.loop, &through, &w.http, &err), REIN_OK);
  assert_int_equal(driver_new(w.loop, w.http, &w.driver, &err), REIN_OK);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.base_url = STR("https://model.invalid");
  struct live *live = world_say(&w, &spec, "Hi");
  loop_run(w.loop);
  assert_int_equal(live->outcome, REIN_OUTCOME_MODEL_ERROR);
  assert_int_equal(count_in(buf_str(&live->log), "retry(connect)"), 2);
  assert_int_equal(agent_stats(run_agent(live->run)).spent, 0);
  assert_int_equal(peer_count(w.peer), 3);
  live_prove(live, NULL);
  w.count = 0;
  world_close(&w);
  live_free(live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_waits),
      cmocka_unit_test(test_pages),
      cmocka_unit_test(test_floods),
      cmocka_unit_test(test_one_connection),
      cmocka_unit_test(test_stale_connections),
      cmocka_unit_test(test_closed_on_arrival),
      cmocka_unit_test(test_no_tunnel),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
