/* Runs against a server that fails in every way, on all three wires, a hundred and
 * more at once. Each ends with the right answer or a named outcome; a call runs
 * once if its reply arrived whole and never if it did not; nothing is left open.
 *
 * A run's words carry its number; each reply carries its step, each call a key
 * that says where it comes from, so that server and tool know what they see.
 * REIN_RUNS sets how many, REIN_SEED where to begin; a run's faults depend on
 * its seed alone.
 */
#include "base/hash.h"
#include "support/speak.h"
#include "world.h"

#include <assert.h>
#include <pthread.h>

#define AT_ONCE 150
#define SENT_MAX 64 /* requests of one run */
#define IDLE_MS 500

enum way {
  WAY_WHOLE,
  WAY_GONE,      /* whole, then closed although it could be kept */
  WAY_TRAILING,  /* whole, then bytes that mean nothing */
  WAY_TWICE,     /* whole, and again */
  WAY_CUT,       /* closed somewhere */
  WAY_CUT_RESET, /* reset somewhere */
  WAY_ENDED,     /* ended properly, and too early */
  WAY_STALL,     /* silent from somewhere on */
  WAY_PINGS,     /* the same, with comments */
  WAY_FRAMING,   /* the chunks' own framing breaks */
  WAY_ERROR,     /* an error event somewhere */
  WAY_GARBLED,   /* bytes of the stream are others */
  WAY_CLOSE,     /* no answer */
  WAY_RESET,
  WAY_STATUS,
  WAY_NO_STREAM,
  WAY_HALF_HEAD,
  WAY_BAD_HTTP,
  WAYS
};

enum whole { WHOLE, BROKEN, EITHER }; /* what a client may take the reply for */

struct sent {
  enum way way;
  enum whole whole;
  size_t calls;
  int ran[SAID_CALLS_MAX];
};

struct campaign;

struct one {
  struct campaign *campaign;
  int number, steps; /* replies with calls before the answer */
  uint64_t seed;
  enum speaks speaks;
  struct rein_tool row;
  struct sent sent[SENT_MAX];
  size_t count, newest; /* requests; the peer's number of the last one */
  bool garbled;
  int strays; /* calls with keys that were never sent */
  char answer[64];
  struct live *live;
};

struct campaign {
  pthread_mutex_t lock; /* guards `sent` to `answer` of each */
  struct one ones[AT_ONCE];
  size_t count;
};

/* One answer on its way. */
struct serving {
  struct one *one;
  struct sent *sent;
  uint64_t dice;
  size_t nth;
  int fd;
  struct buf stream, words;
  size_t whole_at; /* of the stream */
};

static uint64_t roll(struct serving *s, uint64_t sides) {
  s->dice = s->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (s->dice >> 33) % sides;
}

/* -- keys -- */

struct key {
  char s[64];
};

static struct key key_of(const struct one *one, size_t nth, size_t call) {
  struct key key;
  uint64_t check = hash_end(hash_num(hash_num(HASH_START, one->seed), nth * 16 + call));
  snprintf(key.s, sizeof key.s, "k-%04d-%02zu-%zu-%08x", one->number, nth, call, (unsigned)check);
  return key;
}

static int tool_probe(struct rein_call *call) {
  struct one *one = rein_call_ctx(call);
  const char *text = rein_call_text(call, "key", "");
  char said[128];
  bool known = false;
  pthread_mutex_lock(&one->campaign->lock);
  for (size_t n = 0; n < one->count && !known; n++)
    for (size_t i = 0; i < one->sent[n].calls && !known; i++) {
      known = strcmp(text, key_of(one, n, i).s) == 0;
      one->sent[n].ran[i] += known;
    }
  one->strays += !known;
  pthread_mutex_unlock(&one->campaign->lock);
  snprintf(said, sizeof said, "ran %.60s", text);
  return rein_call_result(call, said, SIZE_MAX);
}

/* -- what the server says -- */

static int steps_in(struct str body) {
  char mark[16];
  for (int step = 1;; step++) {
    snprintf(mark, sizeof mark, "step-%d.", step);
    if (!str_has(body, str_of(mark))) return step - 1;
  }
}

static struct str some_words(struct serving *s) {
  static const char *const words[] = {"look ", "\"there\" ", "어디 ", "a\\b\n", "🙂 "};
  size_t from = s->words.n;
  for (size_t n = roll(s, 40); n > 0; n--)
    buf_put(&s->words, str_of(words[roll(s, 5)]));
  return str_part(buf_str(&s->words), from, s->words.n);
}

static void put_calls(struct serving *s, struct said *said) {
  said->call_count = 1 + roll(s, 3);
  for (size_t i = 0; i < said->call_count; i++) {
    struct said_call *c = &said->calls[i];
    size_t from = s->words.n;
    snprintf(c->id, sizeof c->id, "call_%zu_%zu", s->nth, i);
    snprintf(c->name, sizeof c->name, "probe");
    buf_fmt(&s->words, "{\"key\": \"%s\", \"note\": \"가 \\\"나\\\"\"}",
            key_of(s->one, s->nth, i).s);
    c->args = str_part(buf_str(&s->words), from, s->words.n);
  }
}

static void make_reply(struct serving *s, struct str body) {
  struct one *one = s->one;
  struct said said = {.id = (int)(roll(s, 1000000)), .prompt = 500, .output = 90};
  int step = steps_in(body) + 1;
  char text[64];
  buf_room(&s->words, 16384); /* slices into it must stay */
  if (roll(s, 3) == 0) said.thinking = some_words(s);
  said.piece = roll(s, 4) ? 0 : 1 + roll(s, 3);
  snprintf(text, sizeof text, "step-%d. I look", step);
  if (step > one->steps)
    snprintf(text, sizeof text, "answer %d of %zu", one->number, count_in(body, "ran k-"));
  else
    put_calls(s, &said);
  said.text = str_of(text);
  s->whole_at = speak(&s->stream, one->speaks, &said);
  pthread_mutex_lock(&one->campaign->lock);
  if (step > one->steps) memcpy(one->answer, text, sizeof text);
  s->sent->calls = said.call_count;
  pthread_mutex_unlock(&one->campaign->lock);
}

/* -- how it says it -- */

static void write_head(struct serving *s, const char *more) {
  peer_write(s->fd, STR("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"));
  if (roll(s, 10)) peer_write(s->fd, STR("retry-after-ms: 5\r\n")); /* so that nobody waits long */
  peer_write(s->fd, str_of(more));
}

static void rest_a_while(struct serving *s) {
  struct pollfd p = {.fd = s->fd, .events = POLLRDHUP};
  if (roll(s, 12) == 0) poll(&p, 1, 1 + (int)roll(s, 4));
}

/* Pieces of any size, some in one write with their framing, some not. */
static void write_pieces(struct serving *s, struct str bytes) {
  size_t most = roll(s, 6) ? 1 + roll(s, 900) : 1 + roll(s, 9);
  while (bytes.n) {
    size_t n = 1 + roll(s, most);
    peer_stream(s->fd, str_part(bytes, 0, n));
    bytes = str_part(bytes, n, bytes.n);
    rest_a_while(s);
  }
}

static void note_whole(struct serving *s, enum whole whole) {
  pthread_mutex_lock(&s->one->campaign->lock);
  s->sent->whole = whole;
  pthread_mutex_unlock(&s->one->campaign->lock);
}

/* The last event lacks its end where it is cut before its two line ends; `more`
 * may bring these. */
static struct str cut(struct serving *s, bool more) {
  size_t at = roll(s, 5) ? roll(s, s->stream.n) : s->whole_at - 4 + roll(s, 6);
  note_whole(s, at + (more ? 2 : 0) < s->whole_at ? BROKEN : EITHER);
  return str_part(buf_str(&s->stream), 0, at);
}

static bool serve_whole(struct serving *s, enum way way) {
  note_whole(s, WHOLE);
  write_pieces(s, buf_str(&s->stream));
  if (way == WAY_TWICE) write_pieces(s, buf_str(&s->stream));
  if (way == WAY_TRAILING) write_pieces(s, STR("data: {\"type\":\"what\"}\n\nevent: \0\ndata: {"));
  peer_stream_end(s->fd);
  return way != WAY_GONE;
}

static bool serve_stall(struct serving *s, bool pings) {
  struct pollfd p = {.fd = s->fd, .events = POLLRDHUP};
  write_pieces(s, cut(s, pings));
  while (pings && poll(&p, 1, 50) == 0)
    peer_stream(s->fd, STR("\n: ping\n\n"));
  peer_wait(s->fd);
  return false;
}

static bool serve_error(struct serving *s) {
  static const char *const events[] = {
      "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
      "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\"}\n\n",
      "data: {\"error\":{\"message\":\"x\",\"code\":503}}\n\n"};
  write_pieces(s, cut(s, true));
  write_pieces(s, STR("\n\n"));
  write_pieces(s, str_of(events[s->one->speaks]));
  peer_stream_end(s->fd);
  return true;
}

static void garble(struct serving *s) {
  size_t at = roll(s, s->stream.n), n = 1 + roll(s, 20);
  for (size_t i = at; i < at + n && i < s->stream.n; i++)
    s->stream.p[i] = roll(s, 2) ? (char)roll(s, 256) : "{}[]\"\\:,\n"[roll(s, 9)];
  if (roll(s, 2)) return;
  size_t end = at + roll(s, 200); /* and bytes are missing */
  if (end > s->stream.n) end = s->stream.n;
  memmove(s->stream.p + at, s->stream.p + end, s->stream.n - end);
  buf_cut(&s->stream, s->stream.n - (end - at));
}

static bool serve_garbled(struct serving *s) {
  note_whole(s, EITHER);
  pthread_mutex_lock(&s->one->campaign->lock);
  s->one->garbled = true;
  pthread_mutex_unlock(&s->one->campaign->lock);
  garble(s);
  write_pieces(s, buf_str(&s->stream));
  peer_stream_end(s->fd);
  return true;
}

static bool serve_framing(struct serving *s) {
  static const char *const bad[] = {"zz\r\nx\r\n", "5\r\nabc", "ffffffffffffffffff\r\n", "\r\n\r\n",
                                    "-1\r\n"};
  write_pieces(s, cut(s, false));
  peer_write(s->fd, str_of(bad[roll(s, 5)]));
  return false;
}

static bool serve_stream(struct serving *s) {
  enum way way = s->sent->way;
  write_head(s, "transfer-encoding: chunked\r\n\r\n");
  switch (way) {
  case WAY_WHOLE:
  case WAY_GONE:
  case WAY_TRAILING:
  case WAY_TWICE: return serve_whole(s, way);
  case WAY_CUT: write_pieces(s, cut(s, false)); return false;
  case WAY_CUT_RESET:
    write_pieces(s, cut(s, false));
    peer_reset(s->fd);
    return false;
  case WAY_ENDED:
    write_pieces(s, cut(s, true));
    peer_stream_end(s->fd);
    return true;
  case WAY_STALL:
  case WAY_PINGS: return serve_stall(s, way == WAY_PINGS);
  case WAY_FRAMING: return serve_framing(s);
  case WAY_ERROR: return serve_error(s);
  case WAY_GARBLED: return serve_garbled(s);
  case WAY_CLOSE:
  case WAY_RESET:
  case WAY_STATUS:
  case WAY_NO_STREAM:
  case WAY_HALF_HEAD:
  case WAY_BAD_HTTP:
  case WAYS: break;
  }
  return false;
}

static bool serve_nothing(struct serving *s) {
  static const int statuses[] = {500, 502, 503, 529, 429, 408};
  static const char *const pages[] = {"<html>busy</html>", "", "{\"error\":{\"message\":\"busy\"}}",
                                      "\xff\xfe\x00", "{\"choices\":[]}"};
  static const char *const bad[] = {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
                                    "HTTP/9.9 200\r\n\r\n", "\x16\x03\x01\x02",
                                    "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"};
  struct str page = str_of(pages[roll(s, 5)]);
  note_whole(s, BROKEN);
  switch (s->sent->way) {
  case WAY_RESET: peer_reset(s->fd); return false;
  case WAY_STATUS:
    peer_answer(s->fd, statuses[roll(s, 6)], "retry-after-ms: 5\r\n", page);
    return roll(s, 2);
  case WAY_NO_STREAM: peer_answer(s->fd, 200, "retry-after-ms: 5\r\n", page); return roll(s, 2);
  case WAY_HALF_HEAD: write_head(s, roll(s, 2) ? "x-half: " : "transfer-enc"); return false;
  case WAY_BAD_HTTP: peer_write(s->fd, str_of(bad[roll(s, 5)])); return false;
  default: return false;
  }
}

static struct one *find_one(struct campaign *c, struct str body) {
  size_t at = str_find(body, STR("case-"));
  assert(at + 9 < body.n);
  long number = strtol(body.p + at + 5, NULL, 10);
  assert(number >= 0 && (size_t)number < c->count);
  return &c->ones[number];
}

/* More than half of the answers are good: most runs come through. */
static enum way choose(struct serving *s) {
  if (roll(s, 100) < 55) return WAY_WHOLE;
  return (enum way)(1 + roll(s, WAYS - 1));
}

static bool serve_faults(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct campaign *c = ctx;
  struct serving s = {.one = find_one(c, body), .fd = fd};
  (void)peer;
  pthread_mutex_lock(&c->lock);
  assert(s.one->count < SENT_MAX);
  s.nth = s.one->count++;
  s.one->newest = n;
  s.sent = &s.one->sent[s.nth];
  s.dice = hash_end(hash_num(hash_num(HASH_START, s.one->seed), s.nth));
  s.sent->way = choose(&s);
  s.sent->whole = BROKEN;
  pthread_mutex_unlock(&c->lock);
  buf_init(&s.stream, 1u << 20);
  buf_init(&s.words, 1u << 20);
  make_reply(&s, body);
  rest_a_while(&s);
  bool keep = s.sent->way < WAY_CLOSE ? serve_stream(&s) : serve_nothing(&s);
  buf_release(&s.stream);
  buf_release(&s.words);
  return keep;
}

/* -- what must hold -- */

struct figures {
  size_t runs, requests, ended[REIN_OUTCOME_CANCELLED + 1], ways[WAYS];
  size_t calls, refused_whole, strays;
};

#define HOLD(one, what)                                                                            \
  do {                                                                                             \
    if (!(what))                                                                                   \
      fail_msg("REIN_SEED=%llu REIN_RUNS=1: not true: %s", (unsigned long long)(one)->seed,        \
               #what);                                                                             \
  } while (0)

/* The calls of one reply: all of them ran, once, or none. */
static void check_sent(const struct one *one, size_t n, struct str newest, struct figures *f) {
  const struct sent *sent = &one->sent[n];
  for (size_t i = 0; i < sent->calls; i++) {
    bool accepted = str_has(newest, str_of(key_of(one, n, i).s));
    HOLD(one, sent->ran[i] <= 1);
    if (sent->whole == BROKEN) HOLD(one, !accepted && sent->ran[i] == 0);
    if (accepted && sent->way != WAY_GARBLED) HOLD(one, sent->ran[i] == 1);
    f->calls += (size_t)sent->ran[i];
    f->refused_whole += sent->whole == WHOLE && !accepted;
  }
}

static void check_end(const struct one *one) {
  struct live *live = one->live;
  const struct agent *agent = run_agent(live->run);
  struct buf why;
  HOLD(one, live->ended);
  HOLD(one, live->outcome != REIN_OUTCOME_NONE && live->outcome != REIN_OUTCOME_INTERNAL);
  if (live->outcome == REIN_OUTCOME_FINISHED) {
    struct str answer = str_of(one->answer);
    HOLD(one, one->garbled || str_eq(agent_text(agent), answer));
    HOLD(one, one->garbled || str_ends(buf_str(&live->text), answer));
    return;
  }
  buf_init(&why, 1u << 20);
  report_put_reason(&why, live->run, REIN_ENGLISH);
  HOLD(one, why.n > 0);
  HOLD(one, one->garbled || live->outcome == REIN_OUTCOME_MODEL_ERROR);
  buf_release(&why);
}

static void check_one(const struct one *one, struct peer *peer, struct figures *f) {
  struct str newest = peer_body(peer, one->newest);
  HOLD(one, one->count > 0);
  HOLD(one, (int64_t)one->count == agent_stats(run_agent(one->live->run)).requests);
  check_end(one);
  for (size_t n = 0; n < one->count; n++) {
    check_sent(one, n, newest, f);
    f->ways[one->sent[n].way]++;
  }
  HOLD(one, one->garbled || one->strays == 0);
  f->strays += (size_t)one->strays;
  f->ended[one->live->outcome]++;
  f->requests += one->count;
  f->runs++;
}

static void check_all(struct campaign *c, struct peer *peer, struct figures *f) {
  static const char *const names[] = {"anthropic", "responses", "chat"};
  static struct str bodies[AT_ONCE];
  for (size_t i = 0; i < c->count; i++)
    check_one(&c->ones[i], peer, f);
  for (int wire = 0; wire < SPEAKS_WIRES; wire++) {
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
      if ((int)c->ones[i].speaks == wire) bodies[count++] = peer_body(peer, c->ones[i].newest);
    if (count) check_bodies(names[wire], bodies, count);
  }
}

static void begin(struct campaign *c, struct world *w, uint64_t seed) {
  struct one *one = &c->ones[c->count];
  char words[32];
  *one = (struct one){.campaign = c, .number = (int)c->count, .seed = seed};
  one->speaks = (enum speaks)(seed % SPEAKS_WIRES);
  one->steps = (int)(seed / SPEAKS_WIRES % 4);
  one->row = (struct rein_tool)ROW("probe", tool_probe, one);
  one->row.schema = "{\"type\":\"object\"}";
  c->count++;
  struct run_spec spec = world_spec(w, &one->row, 1);
  spec.agent.wire = wires[one->speaks];
  spec.agent.retries = 3;
  spec.agent.jitter_seed = seed;
  spec.agent.limits.token_budget = 10000000;
  spec.idle_ms = IDLE_MS;
  snprintf(words, sizeof words, "case-%04d. Go", one->number);
  one->live = world_say(w, &spec, words);
  one->live->big = true;
}

static void batch(uint64_t seed, size_t count, struct figures *f) {
  static struct campaign c;
  struct world w;
  c.count = 0;
  assert_int_equal(pthread_mutex_init(&c.lock, NULL), 0);
  world_open(&w, serve_faults, &c);
  for (size_t i = 0; i < count; i++)
    begin(&c, &w, seed + i);
  loop_run(w.loop);
  check_all(&c, w.peer, f);
  world_close(&w);
  pthread_mutex_destroy(&c.lock);
}

static uint64_t number(const char *name, uint64_t absent) {
  const char *z = getenv(name);
  return z ? strtoull(z, NULL, 10) : absent;
}

static void test_faults(void **state) {
  struct figures f = {0};
  uint64_t seed = number("REIN_SEED", 1);
  uint64_t count = number("REIN_RUNS", getenv("REIN_LONG") ? 2000 : AT_ONCE);
  (void)state;
  for (uint64_t i = 0; i < count; i += AT_ONCE)
    batch(seed + i, count - i < AT_ONCE ? (size_t)(count - i) : AT_ONCE, &f);
  print_message("%zu runs, %zu requests, %zu of them without a fault; %zu calls ran, %zu of "
                "garbled replies; %zu whole replies' calls were not taken\n",
                f.runs, f.requests, f.ways[WAY_WHOLE], f.calls, f.strays, f.refused_whole);
  for (int i = 0; i <= REIN_OUTCOME_CANCELLED; i++)
    if (f.ended[i])
      print_message("  %s %zu\n", rein_outcome_word((enum rein_outcome)i), f.ended[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
