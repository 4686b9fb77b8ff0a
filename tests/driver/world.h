/* What the driver's tests share: a loop with a driver on it, runs that are
 * watched, a scripted server, tools that can be held, and the proof at the end
 * of each run that its journal replays to the same machine, byte for byte.
 */
#pragma once

#include "base/mem.h"
#include "driver/driver.h"
#include "driver/replay.h"
#include "driver/report.h"
#include "support/peer.h"
#include "text/text.h"
#include "wire/wires.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIVES_MAX 256
#define EVENTS_MAX 512

/* One run and all that was seen of it. */
struct live {
  struct world *world;
  struct run *run;
  struct buf log; /* what the watch saw, a word each */
  struct buf notes, text;
  uint64_t digest[EVENTS_MAX];
  enum event_kind kind[EVENTS_MAX];
  size_t events; /* the first record counts */
  bool big;      /* its journal is replayed once, not for every prefix */
  bool ended;
  enum rein_outcome outcome;
  int64_t began_ms, took_ms;
};

struct world {
  struct loop *loop;
  struct http *http;
  struct driver *driver;
  struct peer *peer;
  struct live *lives[LIVES_MAX];
  size_t count;
  size_t fds; /* open before it was built */
};

static inline size_t open_fds(void) {
  size_t n = 0;
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n;
}

static inline void world_open(struct world *w, peer_fn fn, void *ctx) {
  struct err err = {0};
  memset(w, 0, sizeof *w);
  w->fds = open_fds();
  assert_int_equal(loop_new(&w->loop, &err), REIN_OK);
  assert_int_equal(http_new(w->loop, &(struct http_options){0}, &w->http, &err), REIN_OK);
  assert_int_equal(driver_new(w->loop, w->http, &w->driver, &err), REIN_OK);
  if (fn) w->peer = peer_start(fn, ctx);
}

/* Descriptors that libraries open once and keep are open before anyone counts. */
static inline int world_warm(void **state) {
  struct err err = {0};
  struct loop *loop;
  struct http *http;
  (void)state;
  if (loop_new(&loop, &err) != REIN_OK) return -1;
  if (http_new(loop, &(struct http_options){0}, &http, &err) != REIN_OK) return -1;
  http_free(http);
  loop_free(loop, 0);
  return 0;
}

/* -- watching -- */

static inline void live_record(void *ctx, struct run *run, struct str line,
                               const struct event *event) {
  struct live *live = ctx;
  static const char *const words[] = {
#define WORD_X(id, word) word,
      EVENTS(WORD_X)
#undef WORD_X
  };
  assert_true(live->events < EVENTS_MAX);
  assert_true(line.n > 2 && line.p[0] == '{' && str_find_char(line, '\n') == line.n);
  if (event) {
    if (event->kind != EVENT_OUTCOME) buf_put(&live->log, str_of(words[event->kind]));
    if (event->kind != EVENT_OUTCOME) buf_c(&live->log, ' ');
    live->kind[live->events] = event->kind;
    live->digest[live->events] = agent_digest(run_agent(run));
  }
  live->events++;
}

static inline void live_piece(void *ctx, struct run *run, struct str text, bool thinking) {
  struct live *live = ctx;
  (void)run;
  if (!thinking) buf_put(&live->text, text);
}

static inline void live_withdrawn(void *ctx, struct run *run) {
  struct live *live = ctx;
  (void)run;
  buf_reset(&live->text);
  buf_lit(&live->log, "withdrawn ");
}

static inline void live_retry(void *ctx, struct run *run, const struct fault *fault,
                              int64_t wait_ms) {
  struct live *live = ctx;
  (void)run;
  assert_true(wait_ms >= 0);
  buf_fmt(&live->log, "retry(%s) ", fault_word(fault->kind));
}

static inline void live_ended(void *ctx, struct run *run, const struct agent_end *end) {
  struct live *live = ctx;
  assert_false(live->ended);
  live->ended = true;
  live->outcome = end->outcome;
  live->took_ms = loop_now(live->world->loop) - live->began_ms;
  buf_fmt(&live->log, "ended(%s)", rein_outcome_word(end->outcome));
  assert_ptr_equal(run_ended(run), end);
}

static inline void live_warn(void *ctx, struct run *run, struct str text) {
  struct live *live = ctx;
  (void)run;
  buf_put(&live->notes, text);
  buf_lit(&live->log, "warn ");
}

static inline void live_note(void *ctx, struct run *run, struct str text) {
  struct live *live = ctx;
  (void)run;
  buf_put(&live->notes, text);
}

/* A spec with nothing unusual in it; the test changes what it is about. */
static inline struct run_spec world_spec(struct world *w, const struct rein_tool *rows, size_t n) {
  struct run_spec spec = {
      .id = STR("20261130-140305-a1b2c3"),
      .agent = {.wire = &wire_anthropic,
                .model = STR("claude-test"),
                .system = STR("Be brief."),
                .rows = rows,
                .row_count = n,
                .jitter_seed = 7},
      .base_url = w->peer ? str_of(peer_url(w->peer)) : STR_NONE,
      .key = STR("sk-test-0123456789"),
  };
  return spec;
}

static inline struct live *world_add(struct world *w, struct run_spec *spec) {
  struct err err = {0};
  struct live *live = calloc(1, sizeof *live);
  assert_non_null(live);
  assert_true(w->count < LIVES_MAX);
  live->world = w;
  buf_init(&live->log, 1u << 20);
  buf_init(&live->notes, 1u << 20);
  buf_init(&live->text, 1u << 20);
  live->began_ms = loop_now(w->loop);
  spec->watch = (struct watch){live_record, live_piece, live_withdrawn, live_retry,
                               live_ended,  live_warn,  live_note,      live};
  assert_int_equal(journal_open_memory(&spec->journal, &err), REIN_OK);
  enum rein_code code = driver_add(w->driver, spec, &live->run, &err);
  if (code != REIN_OK) {
    struct buf why;
    buf_init(&why, 4096);
    err_put(&why, REIN_ENGLISH, &err);
    fail_msg("driver_add: %s", buf_z(&why));
  }
  w->lives[w->count++] = live;
  return live;
}

static inline struct live *world_say(struct world *w, struct run_spec *spec, const char *words) {
  struct err err = {0};
  struct live *live = world_add(w, spec);
  assert_int_equal(driver_say(live->run, str_of(words), &err), REIN_OK);
  return live;
}

/* -- replay -- */

struct proof {
  const struct live *live;
  struct peer *peer; /* NULL: bodies are not compared */
  size_t sent, fed;
};

static inline void proof_fed(void *ctx, size_t record, const struct agent *agent) {
  struct proof *proof = ctx;
  proof->fed++;
  if (agent_digest(agent) != proof->live->digest[record])
    fail_msg("record %zu: the replayed machine differs", record);
}

static inline void proof_action(void *ctx, const struct action *action) {
  struct proof *proof = ctx;
  if (action->kind != ACTION_SEND || !proof->peer) return;
  if (proof->sent < peer_count(proof->peer)) {
    while (proof->sent < peer_count(proof->peer) && peer_body(proof->peer, proof->sent).n == 0)
      proof->sent++; /* a tool's own request */
    struct str live = peer_body(proof->peer, proof->sent);
    if (!str_eq(live, action->body)) fail_msg("request %zu: the bytes differ", proof->sent);
  }
  proof->sent++;
}

/* Each prefix anew for short journals, the whole in one go for long ones: it
 * passes through every prefix too. */
static inline void live_prove(const struct live *live, struct peer *peer) {
  struct err err = {0};
  struct replay replay;
  size_t first = live->events <= 40 && !live->big ? 1 : live->events;
  for (size_t n = first; n <= live->events; n++) {
    struct proof proof = {.live = live, .peer = peer};
    struct replay_watch watch = {
        .fed = proof_fed, .action = proof_action, .ctx = &proof, .bodies = true};
    enum rein_code code = replay_open(run_journal(live->run), n, &watch, &replay, &err);
    if (code != REIN_OK) {
      struct buf why;
      buf_init(&why, 4096);
      err_put(&why, REIN_ENGLISH, &err);
      fail_msg("replay of %zu records: %s", n, buf_z(&why));
    }
    assert_int_equal(proof.fed, n - 1);
    if (n == live->events)
      assert_int_equal(agent_digest(replay.agent), agent_digest(run_agent(live->run)));
    replay_close(&replay);
  }
}

/* -- check_history.py, where the handed files are -- */

#define HISTORY_MAX 256

extern char **environ;

/* `wire` as the checker calls it: anthropic, responses, chat. */
static inline void check_bodies(const char *wire, const struct str *bodies, size_t count) {
  static char path[HISTORY_MAX][512];
  char tool[1024], name[32];
  const char *shared = getenv("REIN_SHARED"), *tmp = getenv("TMPDIR");
  snprintf(tool, sizeof tool, "%s/cases/_tools/check_history.py", shared ? shared : "../shared");
  if (access(tool, R_OK) != 0) {
    print_message("skipped: %s is not here\n", tool);
    return;
  }
  snprintf(name, sizeof name, "%s", wire);
  char *argv[HISTORY_MAX + 4] = {"python3", tool, name};
  assert_true(count <= HISTORY_MAX);
  for (size_t i = 0; i < count; i++) {
    snprintf(path[i], sizeof path[i], "%s/request-%d-%zu.json", tmp ? tmp : P_tmpdir, (int)getpid(),
             i);
    FILE *f = fopen(path[i], "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bodies[i].p, 1, bodies[i].n, f), bodies[i].n);
    fclose(f);
    argv[3 + i] = path[i];
  }
  pid_t child;
  int status = -1;
  assert_int_equal(posix_spawnp(&child, "python3", NULL, NULL, argv, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) fail_msg("check_history.py refuses a request");
  for (size_t i = 0; i < count; i++)
    unlink(path[i]);
}

static inline void check_history(struct peer *peer) {
  struct str bodies[16];
  size_t count = 0;
  for (size_t n = 0; n < peer_count(peer) && count < 16; n++)
    if (peer_body(peer, n).n > 0) bodies[count++] = peer_body(peer, n); /* else a tool's own */
  if (count) check_bodies("anthropic", bodies, count);
}

static inline void live_free(struct live *live) {
  buf_release(&live->log);
  buf_release(&live->notes);
  buf_release(&live->text);
  free(live);
}

/* Proves every run, takes all down, and counts descriptors. */
static inline void world_close(struct world *w) {
  for (size_t i = 0; i < w->count; i++)
    live_prove(w->lives[i], w->count == 1 ? w->peer : NULL);
  if (w->peer && w->count == 1) check_history(w->peer);
  driver_free(w->driver);
  http_free(w->http);
  loop_free(w->loop, 0);
  if (w->peer) peer_stop(w->peer);
  for (size_t i = 0; i < w->count; i++)
    live_free(w->lives[i]);
  assert_int_equal(open_fds(), w->fds);
}

/* -- tools -- */

/* A gate that a tool waits at until the test opens it; nobody sleeps. */
struct gate {
  int pipe[2];
  atomic_int waiting, passed, cancelled;
};

static inline void gate_open(struct gate *g) {
  memset(g, 0, sizeof *g);
  assert_int_equal(pipe2(g->pipe, O_CLOEXEC), 0);
}

static inline void gate_release(struct gate *g) {
  assert_int_equal(write(g->pipe[1], "x", 1), 1); /* nobody reads it: all pass */
}

static inline void gate_close(struct gate *g) {
  close(g->pipe[0]);
  close(g->pipe[1]);
}

/* Deaf to its cancel flag, as the worst of tools are. */
static inline int tool_deaf(struct rein_call *call) {
  struct gate *g = rein_call_ctx(call);
  struct pollfd p = {.fd = g->pipe[0], .events = POLLIN};
  atomic_fetch_add(&g->waiting, 1);
  poll(&p, 1, -1);
  atomic_fetch_add(&g->passed, 1);
  return rein_call_result(call, "late", 4);
}

/* Looks at its flag as it should. */
static inline int tool_patient(struct rein_call *call) {
  struct gate *g = rein_call_ctx(call);
  struct pollfd p = {.fd = g->pipe[0], .events = POLLIN};
  atomic_fetch_add(&g->waiting, 1);
  while (poll(&p, 1, 5) == 0)
    if (rein_call_cancelled(call)) {
      atomic_fetch_add(&g->cancelled, 1);
      return rein_call_error(call, "cancelled", SIZE_MAX);
    }
  return rein_call_result(call, "opened", SIZE_MAX);
}

static inline int tool_echo(struct rein_call *call) {
  const char *text = rein_call_text(call, "text", "nothing");
  return rein_call_result(call, text, SIZE_MAX);
}

#define TEXT_SCHEMA "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}"
#define ROW_WITH(n, f, c, t, v, ms)                                                                \
  {                                                                                                \
    .name = n, .description = "A tool of the tests.", .schema = TEXT_SCHEMA, .touches = t,         \
    .verdict = v, .run = f, .ctx = c, .limit_ms = ms                                               \
  }
#define ROW(n, f, c) ROW_WITH(n, f, c, REIN_READS_PRIVATE, REIN_ALLOW, 0)

/* -- servers -- */

static inline size_t turns_of(struct str body) {
  return count_in(body, "\"role\":\"assistant\"");
}

static inline void send_reply(int fd, struct reply_text *r) {
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&r->b));
  peer_stream_end(fd);
  buf_release(&r->b);
}

static inline void say(int fd, const char *text) {
  struct reply_text r;
  reply_begin(&r);
  reply_say(&r, text);
  reply_end(&r, "end_turn");
  send_reply(fd, &r);
}

/* The tools named in ctx (a list ended by NULL) in the first turn, then "done". */
static inline bool serve_calls(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  const char *const *names = ctx;
  struct reply_text r;
  char id[32];
  (void)peer;
  (void)n;
  if (turns_of(body) > 0) {
    say(fd, "done");
    return true;
  }
  reply_begin(&r);
  reply_say(&r, "I will look.");
  for (size_t i = 0; names[i]; i++) {
    snprintf(id, sizeof id, "toolu_%zu", i);
    reply_call(&r, id, names[i], "{\"text\":\"\xed\x95\x9c\xea\xb8\x80\"}");
  }
  reply_end(&r, "tool_use");
  send_reply(fd, &r);
  return true;
}

static inline bool serve_words(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer;
  (void)n;
  (void)body;
  say(fd, ctx);
  return true;
}

/* Pings and nothing else, until the client goes. */
static inline bool serve_silence(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx;
  (void)peer;
  (void)n;
  (void)body;
  peer_stream_begin(fd);
  peer_stream(fd, STR("event: ping\ndata: {\"type\": \"ping\"}\n\n"));
  peer_wait(fd);
  return false;
}
