/* Budgets that hold: random runs of the machine over the wires' own bytes, against
 * a model that counts tokens in its own way and fails in every way. No sockets:
 * the machine's bodies go to the model, the model's streams into an attempt.
 *
 * Held in each: what was spent never exceeds the ceiling, and is never less than
 * what the model really used; each request uses no more than was reserved; what is
 * left at a stop by tokens is less than the bound of the next request and 512. The same
 * of money, where a life has a limit of it: by prices that differ for cached and for
 * long prompts, what the model really used never costs more than was booked.
 * The next request is that of a twin, which lives the same life without a ceiling,
 * but for answers that were withdrawn and asked for again: to it they never came.
 *
 * REIN_LIVES sets how many, REIN_SEED where to begin.
 */
#include "core/agent.h"
#include "shared.h"
#include "support/speak.h"

#define STEPS_MAX 2000
#define OVERHEAD 1024  /* of each wire */
#define SPARE 8        /* digits of an output limit in a body */
#define WAIT_MAX 30000 /* of a retry: the twin's is another one */
#define NEVER_UP INT64_C(1000000000000)

enum way { /* how an attempt goes */
           WAY_WHOLE,
           WAY_NO_USAGE,
           WAY_HALF_USAGE,
           WAY_CUT,
           WAY_STALL,
           WAY_GARBLED,
           WAY_ERROR_EVENT,
           WAY_NO_STREAM,
           WAY_SILENT,
           WAY_STATUS,
           WAY_CONNECT,
           WAYS
};

struct stops {
  size_t lives, requests, failures, tokens, costs, bounded, cuts, capped, again,
      ended[REIN_OUTCOME_CANCELLED + 1];
};

struct life {
  uint64_t seed, dice;
  enum speaks speaks;
  struct agent *agent, *twin; /* the twin is gone after a stop by tokens */
  uint32_t ahead;             /* attempts that the twin does not know of */
  int64_t now, limit, reserved, twin_bound;
  int64_t div, hidden, failing; /* bytes a token; what the model adds; failures in 100 */
  bool drifts, caches, quiet;
  int64_t used;             /* by the model, whatever it tells */
  int64_t cost, cost_limit; /* likewise, pico-dollars; REIN_OFF */
  struct model_facts facts;
  bool known; /* the last reply told its counts */
  int64_t prompt, output, output_limit;
  size_t body_n;
  struct buf stream, words;
  struct stops *stops;
};

static uint64_t roll(struct life *l, uint64_t sides) {
  l->dice = l->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (l->dice >> 33) % sides;
}

#define HOLD(l, what)                                                                              \
  do {                                                                                             \
    if (!(what)) fail_msg("REIN_SEED=%llu: not true: %s", (unsigned long long)(l)->seed, #what);   \
  } while (0)

static int no_tool(struct rein_call *call) {
  (void)call;
  return 0;
}

#define ANY "{\"type\":\"object\"}"
static const struct rein_tool rows[] = {
    {.name = "read",
     .description = "reads",
     .schema = ANY,
     .touches = REIN_READS_PRIVATE,
     .verdict = REIN_ALLOW,
     .run = no_tool},
    {.name = "write",
     .description = "writes",
     .schema = ANY,
     .touches = REIN_WRITES,
     .verdict = REIN_ALLOW,
     .run = no_tool},
    {.name = "no", .description = "denied", .schema = ANY, .verdict = REIN_DENY, .run = no_tool},
};

/* -- random words, in a buffer that is kept for the whole reply -- */

static struct str some_words(struct life *l, size_t bytes) {
  static const char *const words[] = {"plain ", "\"quoted\" ", "가나다 ", "a\\b\n",
                                      "🙂",   "\t{[ ",       "x"};
  size_t from = l->words.n;
  while (l->words.n < from + bytes)
    buf_put(&l->words, str_of(words[roll(l, sizeof words / sizeof *words)]));
  return str_part(buf_str(&l->words), from, l->words.n);
}

static struct str some_args(struct life *l) {
  size_t from = l->words.n;
  buf_fmt(&l->words, "{\"path\":\"p%llu\",\"text\":\"", (unsigned long long)roll(l, 1000000));
  for (size_t n = roll(l, 30); n > 0; n--)
    buf_lit(&l->words, "some \\\"thing\\\" 더 ");
  buf_lit(&l->words, "\"}");
  return str_part(buf_str(&l->words), from, l->words.n);
}

/* -- the model -- */

static int64_t limit_in(const struct life *l, struct str body) {
  static const char *const keys[] = {
      "\"max_tokens\":", "\"max_output_tokens\":", "\"max_completion_tokens\":"};
  for (size_t i = 0; i < 3; i++) {
    size_t at = str_find(body, str_of(keys[i]));
    if (at < body.n) return strtoll(body.p + at + strlen(keys[i]), NULL, 10);
  }
  fail_msg("REIN_SEED=%llu: a request without output limit", (unsigned long long)l->seed);
  return 0;
}

static size_t take(struct str *text, size_t *room) {
  text->n = text->n < *room ? text->n : *room;
  while (text->n > 0 && text->n < *room && ((unsigned char)text->p[text->n - 1] & 0x80))
    text->n--;
  *room -= text->n;
  return text->n;
}

/* Cuts the reply where its tokens would pass the limit. */
static void count_output(struct life *l, struct said *said, int64_t hidden, int64_t limit) {
  size_t visible = said->thinking.n + said->text.n;
  for (size_t i = 0; i < said->call_count; i++)
    visible += said->calls[i].args.n + 16;
  said->output = (int64_t)visible / l->div + hidden + 1;
  if (said->output <= limit) return;
  said->cut = true;
  said->stop = NULL;
  said->output = limit;
  size_t room = (size_t)((limit - (hidden < limit ? hidden : limit)) * l->div), kept = 0;
  if (take(&said->thinking, &room) == 0) said->thinking = STR_NONE;
  if (take(&said->text, &room) == 0) said->text = STR_NONE;
  for (; kept < said->call_count && room > 16; kept++) {
    room -= 16;
    take(&said->calls[kept].args, &room);
  }
  said->call_count = kept;
}

static void odd_stop(struct life *l, struct said *said) {
  static const char *const pause[] = {"pause_turn", "content_filter", "refusal"};
  static const char *const refusal[] = {"refusal", "content_filter", "content_filter"};
  switch (roll(l, 12)) {
  case 0:
    if (l->speaks == SPEAKS_ANTHROPIC) said->stop = pause[l->speaks];
    return;
  case 1: said->stop = refusal[l->speaks]; return;
  case 2: said->text = STR_NONE; return; /* empty */
  default: return;
  }
}

static void make_reply(struct life *l, struct said *said, int id) {
  static const char *const names[] = {"read", "write", "read", "no", "unheard_of"};
  *said = (struct said){.id = id, .piece = 8 + roll(l, 60)};
  buf_reset(&l->words);
  buf_room(&l->words, 64u << 10); /* slices into it must stay */
  if (roll(l, 4) == 0) said->thinking = some_words(l, roll(l, 2000));
  if (roll(l, 4)) said->text = some_words(l, 1 + roll(l, 1500));
  if (roll(l, 7)) said->call_count = roll(l, 5);
  for (size_t i = 0; i < said->call_count; i++) {
    struct said_call *c = &said->calls[i];
    snprintf(c->id, sizeof c->id, "call_%d_%zu", id, i);
    snprintf(c->name, sizeof c->name, "%s", names[roll(l, 5)]);
    c->args = some_args(l);
  }
  if (said->call_count == 0) odd_stop(l, said);
}

static void put_error_event(struct life *l, size_t at) {
  static const char *const events[] = {
      "event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
      "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"busy\"}\n\n",
      "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n"};
  while (at > 0 && !(l->stream.p[at - 1] == '\n' && l->stream.p[at] != '\n'))
    at--;
  buf_cut(&l->stream, at);
  buf_put(&l->stream, str_of(events[l->speaks]));
}

/* What the model tells of what it counted. */
static void hide_usage(struct life *l, enum way way, struct said *told) {
  bool half = way == WAY_HALF_USAGE, prompt_too = roll(l, 2);
  if (way == WAY_NO_USAGE || (half && prompt_too)) told->prompt = -1;
  if (way == WAY_NO_USAGE || (half && !prompt_too)) told->output = -1;
}

/* Bytes of a count that still reads well would be a lie that nobody can see. */
static bool in_counts(const struct life *l, size_t at) {
  size_t from = at, to = at;
  while (from > 0 && l->stream.p[from - 1] != '\n')
    from--;
  while (to < l->stream.n && l->stream.p[to] != '\n')
    to++;
  return str_has(str_part(buf_str(&l->stream), from, to - from), STR("\"usage\""));
}

static void spoil(struct life *l, enum way way) {
  size_t at = roll(l, l->stream.n);
  if (way == WAY_CUT || way == WAY_STALL) buf_cut(&l->stream, at);
  if (way == WAY_ERROR_EVENT) put_error_event(l, at);
  if (way == WAY_GARBLED && !in_counts(l, at)) l->stream.p[at] = "{}\"\n:\1"[roll(l, 6)];
}

/* Counts what it really uses, makes the stream, spoils it. */
static void make_stream(struct life *l, struct str body, enum way way) {
  struct said said;
  int64_t limit = limit_in(l, body);
  int64_t hidden = l->drifts ? (int64_t)roll(l, (uint64_t)l->hidden + 1) : l->hidden;
  make_reply(l, &said, (int)roll(l, 1000000));
  count_output(l, &said, roll(l, 3) ? 0 : (int64_t)roll(l, 3000), limit);
  said.prompt = (int64_t)body.n / l->div + hidden;
  if (l->caches) said.cached = (int64_t)roll(l, (uint64_t)said.prompt);
  bool writes = l->caches && l->speaks == SPEAKS_ANTHROPIC; /* the others do not bill it */
  if (writes) said.fresh = (int64_t)roll(l, (uint64_t)(said.prompt - said.cached));
  HOLD(l, said.prompt + limit <= l->reserved);
  l->used += said.prompt + said.output;
  l->cost += price_of(&l->facts, &(struct usage){.input = said.prompt - said.cached - said.fresh,
                                                 .cache_read = said.cached,
                                                 .cache_write = said.fresh,
                                                 .output = said.output});
  hide_usage(l, way, &said);
  buf_reset(&l->stream);
  speak(&l->stream, l->speaks, &said);
  spoil(l, way);
  HOLD(l, l->stream.fail == REIN_OK);
}

static void feed(struct life *l, const struct event *e);

static void feed_pieces(struct attempt *a, struct life *l) {
  for (struct str rest = buf_str(&l->stream); rest.n;) {
    size_t n = 1 + roll(l, 4000);
    attempt_bytes(a, str_part(rest, 0, n));
    rest = str_part(rest, n, rest.n);
  }
}

static enum attempt_end answer(struct life *l, struct attempt *a, enum way way) {
  static const int statuses[] = {500, 503, 529, 429, 408, 409, 502};
  if (way == WAY_CONNECT) return ATTEMPT_CONNECT;
  if (way == WAY_SILENT) return roll(l, 2) ? ATTEMPT_BROKEN : ATTEMPT_STALLED;
  attempt_status(a, way == WAY_STATUS ? statuses[roll(l, 7)] : 200);
  if (roll(l, 2)) attempt_header(a, STR("retry-after-ms"), STR("20"));
  if (way == WAY_STATUS || way == WAY_NO_STREAM) {
    attempt_bytes(a,
                  roll(l, 2) ? STR("<html>busy</html>") : STR("{\"error\":{\"message\":\"b\"}}"));
    return ATTEMPT_CLOSED;
  }
  feed_pieces(a, l);
  if (way == WAY_STALL) return ATTEMPT_STALLED;
  return way == WAY_CUT && roll(l, 2) ? ATTEMPT_BROKEN : ATTEMPT_CLOSED;
}

static void told(struct life *l, const struct event *e, size_t body_n) {
  if (e->kind != EVENT_REPLY) {
    l->stops->failures++;
    return;
  }
  const struct usage *u = &e->reply->usage;
  l->known = u->known_input && u->known_output && usage_prompt(u) > 0;
  l->prompt = usage_prompt(u);
  l->output = u->output;
  l->body_n = body_n;
}

static void exchange(struct life *l, uint32_t id, struct str body) {
  struct attempt *a;
  struct event e;
  enum way way = WAY_WHOLE;
  if (roll(l, 100) < (uint64_t)l->failing) way = (enum way)(1 + roll(l, WAYS - 1));
  if (way == WAY_WHOLE && l->quiet && roll(l, 2)) way = WAY_NO_USAGE;
  bool works = way != WAY_STATUS && way != WAY_CONNECT && way != WAY_NO_STREAM;
  size_t body_n = body.n;
  l->output_limit = limit_in(l, body);
  l->stops->requests++;
  if (works) make_stream(l, body, way);
  if (works && roll(l, 60) == 0) { /* nobody waits for the answer */
    feed(l, &(struct event){.kind = EVENT_CANCEL, .text = STR("x")});
    return;
  }
  HOLD(l, attempt_new(agent_config(l->agent)->wire, id, &a) == REIN_OK);
  enum attempt_end end = answer(l, a, way);
  attempt_end(a, end, STR_NONE, l->now, 1000, &e);
  told(l, &e, body_n);
  feed(l, &e);
  attempt_free(a);
}

/* -- the machine's wants -- */

/* The bound that it must keep to, as far as it can be told from outside: not
 * more than the last prompt, its answer, and all bytes that are new. */
static void check_bound(struct life *l, struct str body) {
  int64_t bound = l->reserved - limit_in(l, body), most = (int64_t)body.n + OVERHEAD + SPARE;
  HOLD(l, bound >= (l->known ? l->prompt : (int64_t)body.n));
  int64_t fresh = (int64_t)body.n - (int64_t)l->body_n; /* an answer that was withdrawn adds none */
  if (fresh < 0) fresh = 0;
  if (l->known) most = l->prompt + l->output + fresh + OVERHEAD + SPARE;
  HOLD(l, bound <= most);
}

static void pull_twin(struct life *l) {
  struct action a;
  while (l->twin && agent_next(l->twin, &a)) {
    if (a.kind != ACTION_RESERVE) continue;
    l->twin_bound = a.tokens - agent_config(l->twin)->output_limit;
  }
}

static void feed_twin(struct life *l, struct event e) {
  struct err err = {0};
  bool attempt = e.kind == EVENT_GRANTED || e.kind == EVENT_REPLY || e.kind == EVENT_FAILED;
  if (attempt) e.id -= l->ahead; /* a grant of more room is one that it has already */
  HOLD(l, agent_feed(l->twin, &e, &err) == REIN_OK);
  pull_twin(l);
}

static void feed(struct life *l, const struct event *e) {
  struct err err = {0};
  struct event at = *e;
  at.at_ms = l->now;
  HOLD(l, agent_feed(l->agent, &at, &err) == REIN_OK);
  if (agent_withdrew(l->agent)) {
    l->stops->again++;
    l->ahead++;
  } else if (l->twin) {
    feed_twin(l, at);
  }
  struct agent_stats s = agent_stats(l->agent);
  HOLD(l, s.spent + s.reserved <= l->limit);
  HOLD(l, l->cost_limit == REIN_OFF || s.cost <= l->cost_limit);
}

static void act(struct life *l, const struct action *a) {
  switch (a->kind) {
  case ACTION_RESERVE:
    l->reserved = a->tokens;
    HOLD(l, agent_stats(l->agent).spent + a->tokens <= l->limit);
    feed(l, &(struct event){.kind = EVENT_GRANTED, .id = a->id, .tokens = a->tokens});
    return;
  case ACTION_SEND:
    check_bound(l, a->body);
    exchange(l, a->id, a->body);
    HOLD(l, l->used <= agent_stats(l->agent).spent);
    HOLD(l, l->cost <= agent_stats(l->agent).cost);
    return;
  case ACTION_RUN:
    feed(l, &(struct event){.kind = EVENT_STARTED, .id = a->id});
    buf_reset(&l->words);
    feed(l, &(struct event){.kind = EVENT_RESULT,
                            .id = a->id,
                            .text = some_words(l, roll(l, 5) ? roll(l, 600) : roll(l, 6000)),
                            .is_error = roll(l, 8) == 0});
    return;
  case ACTION_REWRITE:
    feed(l, &(struct event){.kind = EVENT_REWRITE, .id = a->id, .rewrite = a->rewrite});
    return;
  case ACTION_ASK:
  case ACTION_NONE:
  case ACTION_ABORT_SEND:
  case ACTION_ABORT_RUN:
  case ACTION_DONE: return;
  }
}

/* Until it ends; time passes only while it waits. */
static void go(struct life *l) {
  struct action a;
  for (int i = 0; agent_ended(l->agent)->outcome == REIN_OUTCOME_NONE; i++) {
    HOLD(l, i < STEPS_MAX);
    if (agent_next(l->agent, &a)) {
      act(l, &a);
      continue;
    }
    HOLD(l, agent_deadline(l->agent) < NEVER_UP);
    if (agent_deadline(l->agent) > l->now) l->now = agent_deadline(l->agent) + WAIT_MAX;
    feed(l, &(struct event){.kind = EVENT_TICK});
  }
  while (agent_next(l->agent, &a))
    act(l, &a);
}

/* -- a stop by tokens -- */

static bool twin_is(const struct life *l, const char *state) {
  return strcmp(agent_state(l->twin), state) == 0;
}

/* Up to the twin's next request: open calls are answered with nothing. */
static void twin_goes_on(struct life *l) {
  struct err err = {0};
  struct call_view call;
  for (size_t i = 0; twin_is(l, "calls") && agent_nth_call(l->twin, i, &call); i++) {
    struct event started = {.kind = EVENT_STARTED, .at_ms = l->now, .id = call.id};
    struct event result = {.kind = EVENT_RESULT, .at_ms = l->now, .id = call.id};
    HOLD(l, agent_feed(l->twin, &started, &err) == REIN_OK);
    HOLD(l, agent_feed(l->twin, &result, &err) == REIN_OK);
    pull_twin(l);
  }
}

/* An answer cut by the lowered limit: the same request has no room for 512 more
 * tokens than it had. Of one whose limit was lowered by less than that, nothing is
 * gained by asking again: it may leave much. */
static void check_cut(struct life *l, int64_t left, int64_t wanted) {
  int64_t more = l->output_limit + OUTPUT_LIMIT_MIN;
  l->stops->cuts++;
  if (!l->known) return; /* its reservation was booked, and the bound is as it was */
  if (l->cost_limit != REIN_OFF) return; /* dollars may have left less room than tokens */
  l->stops->capped += more > wanted && left >= l->prompt + OVERHEAD + more;
  HOLD(l, more > wanted || left < l->prompt + OVERHEAD + more + SPARE);
}

static void check_stop(struct life *l) {
  struct agent_stats s = agent_stats(l->agent);
  int64_t left = l->limit - s.spent, wanted = agent_config(l->agent)->output_limit;
  bool cost = agent_ended(l->agent)->outcome == REIN_OUTCOME_COST;
  l->stops->tokens += !cost;
  l->stops->costs += cost;
  if (cost) return; /* that it does not close early is test_valves.c's */
  if (agent_ended(l->twin)->outcome == REIN_OUTCOME_TRUNCATED) {
    check_cut(l, left, wanted);
    return;
  }
  twin_goes_on(l);
  if (twin_is(l, "ended")) return; /* another valve would have closed before the request */
  HOLD(l, twin_is(l, "reserving"));
  l->stops->bounded++;
  int64_t least = wanted < OUTPUT_LIMIT_MIN ? wanted : OUTPUT_LIMIT_MIN;
  HOLD(l, left < l->twin_bound + least + SPARE); /* the twin's limits have more digits */
}

static void say(struct life *l, const char *words) {
  feed(l, &(struct event){.kind = EVENT_SAY, .text = str_of(words)});
  go(l);
  l->stops->ended[agent_ended(l->agent)->outcome]++;
  enum rein_outcome outcome = agent_ended(l->agent)->outcome;
  if (!l->twin || (outcome != REIN_OUTCOME_TOKENS && outcome != REIN_OUTCOME_COST)) return;
  check_stop(l);
  agent_free(l->twin);
  l->twin = NULL;
}

/* -- a life -- */

static struct model_facts some_prices(struct life *l) {
  struct model_facts f = {.priced = true, .rates = {3000000, 300000, 3750000, 15000000}};
  if (roll(l, 2)) f.rates = (struct rates){1234567, 1234567, 100, 999};
  if (roll(l, 2)) f.long_above = (int64_t)roll(l, 5000) + 1;
  f.long_rates = (struct rates){6000000, 600000, 7500000, 22500000};
  return f;
}

static void be_born(struct life *l) {
  static const char *const addresses[] = {"", "https://api.deepseek.com",
                                          "https://openrouter.ai/v1", "https://api.mistral.ai/v1",
                                          "https://api.openai.com/v1"};
  static const int64_t limits[] = {3000, 8000, 22000, 60000, 150000};
  static const int64_t turns[] = {0, 0, 3, REIN_OFF};
  struct err err = {0};
  struct agent_config c = {.wire = wires[l->speaks],
                           .model = STR("m-1"),
                           .rows = rows,
                           .row_count = sizeof rows / sizeof *rows,
                           .limits = {.time_ms = NEVER_UP, .no_progress = REIN_PROGRESS_OFF}};
  c.system = some_words(l, roll(l, 3) ? 40 : roll(l, 8000));
  c.address = str_of(addresses[roll(l, 5)]);
  c.limits.max_turns = turns[roll(l, 4)];
  c.limits.token_budget = limits[roll(l, 5)] + (int64_t)roll(l, 3000);
  c.output_limit = roll(l, 2) ? 0 : 100 + (int64_t)roll(l, 6000);
  c.retries = roll(l, 3) ? 0 : REIN_OFF;
  l->facts = some_prices(l);
  c.facts = l->facts;
  l->cost_limit = roll(l, 3) ? REIN_OFF : 20000 + (int64_t)roll(l, 300000);
  c.limits.cost_uusd = l->cost_limit;
  if (l->cost_limit != REIN_OFF) l->cost_limit *= PICO_PER_MICRO;
  c.jitter_seed = roll(l, 1000);
  c.limits.wrap_up = roll(l, 4) == 0;
  HOLD(l, agent_new(&c, &l->agent, &err) == REIN_OK);
  l->limit = c.limits.token_budget;
  c.limits.token_budget = c.limits.cost_uusd = REIN_OFF;
  if (c.limits.wrap_up) return; /* it holds a slice back: no twin tells how much is left */
  HOLD(l, agent_new(&c, &l->twin, &err) == REIN_OK);
}

static void live(uint64_t seed, struct stops *stops) {
  static const int64_t divs[] = {1, 2, 4};
  struct life l = {.seed = seed, .dice = seed * 2 + 1, .now = 1000, .stops = stops};
  for (int i = 0; i < 4; i++)
    roll(&l, 2);
  buf_init(&l.stream, 8u << 20);
  buf_init(&l.words, 8u << 20);
  l.speaks = (enum speaks)roll(&l, SPEAKS_WIRES);
  l.div = divs[roll(&l, 3)];
  l.hidden = roll(&l, 2) ? 800 : 0;
  l.drifts = roll(&l, 4) == 0;
  l.caches = roll(&l, 2);
  l.quiet = roll(&l, 12) == 0;
  l.failing = roll(&l, 3) ? (int64_t)roll(&l, 50) : 0;
  be_born(&l);
  say(&l, "begin");
  for (int i = 0; i < 3 && roll(&l, 3); i++)
    say(&l, "and go on");
  stops->lives++;
  agent_free(l.twin);
  agent_free(l.agent);
  buf_release(&l.stream);
  buf_release(&l.words);
}

static uint64_t number(const char *name, uint64_t absent) {
  const char *z = getenv(name);
  return z ? strtoull(z, NULL, 10) : absent;
}

static void budgets_hold(void **state) {
  struct stops stops = {0};
  uint64_t from = number("REIN_SEED", 1);
  uint64_t count = number("REIN_LIVES", getenv("REIN_LONG") ? 20000 : 1000);
  (void)state;
  for (uint64_t seed = from; seed < from + count; seed++)
    live(seed, &stops);
  print_message(
      "%zu lives, %zu requests, %zu failed; %zu stops by cost; %zu stops by tokens: %zu before a "
      "request "
      "or its calls, %zu cut (%zu of them lowered by less than 512); %zu asked for again\n",
      stops.lives, stops.requests, stops.failures, stops.costs, stops.tokens, stops.bounded,
      stops.cuts, stops.capped, stops.again);
#define ENDED_X(id, word, exit)                                                                    \
  if (stops.ended[REIN_OUTCOME_##id])                                                              \
    print_message("  " word " %zu\n", stops.ended[REIN_OUTCOME_##id]);
  REIN_OUTCOMES(ENDED_X)
#undef ENDED_X
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(budgets_hold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
