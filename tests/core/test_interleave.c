/* Random lives of the machine: answers late, doubled, reordered, failed; words,
 * interrupts and clock steps at any point. Each life ends, sends nothing that a
 * provider would refuse, spends no more than it may, and replays to the same
 * state. REIN_LIVES sets how many; REIN_SEED where to begin.
 */
#include "core/play.h"

#define STEPS_MAX 4000 /* far above what any life needs: a loop without bound fails here */

struct life {
  struct play p;
  uint64_t dice;
  uint32_t pending[64]; /* ids of requests (high bit) and calls that may be answered */
  size_t pending_count;
  uint32_t ask;
  int64_t div, hidden; /* how the provider counts: bytes a token, and what it adds */
};

static uint64_t roll(struct life *l, uint64_t sides) {
  l->dice = l->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (l->dice >> 33) % sides;
}

#define IS_SEND UINT32_C(0x80000000)

static void random_reply(struct life *l, struct play_reply *r) {
  static const char *const names[] = {"read",   "write",   "risky", "clock",
                                      "banned", "stamped", "nope"};
  static const char *const args[] = {"{\"path\":\"a\"}",
                                     "{\"path\":\"b\"}",
                                     "{}",
                                     "{\"path\":",
                                     "{\"path\":null,\"limit\":null}",
                                     "[]"};
  static const char *const ids[] = {"a", "b", "c", "", "a b"};
  static const enum stop stops[] = {STOP_END,   STOP_TOOLS,   STOP_TOOLS,
                                    STOP_TOOLS, STOP_LENGTH,  STOP_REFUSAL,
                                    STOP_PAUSE, STOP_CONTEXT, STOP_UNKNOWN};
  size_t texts = roll(l, 2), calls = roll(l, 4) ? roll(l, 5) : 0;
  if (roll(l, 8) == 0)
    r->blocks[r->count++] =
        (struct block){.kind = BLOCK_THINKING, .raw = STR("{}"), .wire = STR("toy")};
  for (size_t i = 0; i < texts; i++)
    play_text(r, "some words");
  for (size_t i = 0; i < calls; i++)
    play_call(r, ids[roll(l, 5)], names[roll(l, 7)], args[roll(l, 6)]);
  r->stop = stops[roll(l, sizeof stops / sizeof *stops)];
  r->word = "word";
  int64_t bytes = (int64_t)play_last_body(&l->p).n;
  r->usage =
      (struct usage){.input = bytes / l->div + l->hidden,
                     .output = (int64_t)roll(l, 256), /* no more than any output limit here */
                     .known_input = roll(l, 10) > 0,
                     .known_output = roll(l, 10) > 0};
}

static void feed_reply(struct life *l, uint32_t id) {
  struct play_reply r = {0};
  random_reply(l, &r);
  struct reply reply = {.blocks = r.blocks,
                        .count = r.count,
                        .stop = r.stop,
                        .stop_word = STR("word"),
                        .usage = r.usage};
  play_feed(&l->p,
            &(struct event){.kind = EVENT_REPLY, .at_ms = l->p.now, .id = id, .reply = &reply});
}

static void feed_failure(struct life *l, uint32_t id) {
  struct fault f = {.kind = (enum fault_kind)roll(l, FAULT_QUOTA + 1),
                    .repair = roll(l, 3) ? REWRITE_NONE : (enum rewrite)roll(l, REWRITE_COUNT),
                    .message = STR("words"),
                    .retry_after_ms = roll(l, 4) ? -1 : (int64_t)roll(l, 5000),
                    .should_retry = (int)roll(l, 3) - 1,
                    .began = roll(l, 2),
                    .billed = roll(l, 2)};
  play_feed(&l->p, &(struct event){.kind = EVENT_FAILED, .at_ms = l->p.now, .id = id, .fault = &f});
}

/* Answers something that waits, or waited, or never was. */
static void answer_something(struct life *l) {
  if (l->pending_count == 0) return;
  size_t i = roll(l, l->pending_count);
  uint32_t id = l->pending[i];
  if (roll(l, 6)) l->pending[i] = l->pending[--l->pending_count]; /* else it may come again */
  if (id & IS_SEND) {
    if (roll(l, 4))
      feed_reply(l, id & ~IS_SEND);
    else
      feed_failure(l, id & ~IS_SEND);
    return;
  }
  static const char *const texts[] = {"same", "same",       "other",
                                      "",     "took 12 ms", "\xff\xed\xa0\x80"};
  play_feed(&l->p, &(struct event){.kind = EVENT_RESULT,
                                   .at_ms = l->p.now,
                                   .id = id,
                                   .text = str_of(texts[roll(l, 6)]),
                                   .is_error = roll(l, 3) == 0});
}

static void feed_verdict(struct life *l, uint32_t id) {
  struct event v = {.kind = EVENT_VERDICT, .at_ms = l->p.now, .id = id};
  v.verdict.verdict = roll(l, 2) ? REIN_ALLOW : REIN_DENY;
  v.verdict.by = (enum decider)roll(l, 3);
  v.verdict.remember = roll(l, 3) == 0;
  play_feed(&l->p, &v);
}

static void pull(struct life *l) {
  struct action a;
  while (agent_next(l->p.agent, &a)) {
    uint32_t held = a.id | (a.kind == ACTION_SEND ? IS_SEND : 0);
    if (a.kind == ACTION_RUN)
      play_feed(&l->p, &(struct event){.kind = EVENT_STARTED, .at_ms = l->p.now, .id = a.id});
    if (a.kind == ACTION_SEND || a.kind == ACTION_RUN) {
      if (l->pending_count < 60) l->pending[l->pending_count++] = held;
      if (a.kind == ACTION_SEND) {
        buf_put(&l->p.bodies, a.body);
        buf_c(&l->p.bodies, '\n');
      }
    } else if (a.kind == ACTION_ASK) {
      l->ask = a.id;
    } else if (a.kind == ACTION_RESERVE && roll(l, 50) == 0) {
      play_feed(&l->p, &(struct event){.kind = EVENT_REFUSED, .at_ms = l->p.now, .id = a.id});
    } else {
      play_act(&l->p, &a);
    }
  }
}

static void nudge_world(struct life *l) {
  switch (roll(l, 24)) {
  case 0:
    play_feed(&l->p, &(struct event){
                         .kind = EVENT_CANCEL, .at_ms = l->p.now, .text = STR("x"), .signal = 2});
    return;
  case 1:
    play_feed(&l->p, &(struct event){
                         .kind = EVENT_SAY, .at_ms = l->p.now, .text = STR("more \xed\xa0\xbd")});
    return;
  case 2:
    l->p.now -= (int64_t)roll(l, 5000); /* the clock steps back */
    return;
  case 3: l->p.now += (int64_t)roll(l, 20000); return;
  case 4: feed_verdict(l, (uint32_t)roll(l, 20)); return;
  case 5:
    play_feed(&l->p, &(struct event){
                         .kind = EVENT_GRANTED, .at_ms = l->p.now, .id = (uint32_t)roll(l, 20)});
    return;
  case 6:
    play_feed(&l->p, &(struct event){
                         .kind = EVENT_STARTED, .at_ms = l->p.now, .id = (uint32_t)roll(l, 20)});
    return;
  case 7: feed_reply(l, (uint32_t)roll(l, 20)); return;
  default: answer_something(l);
  }
}

static void step(struct life *l) {
  int64_t due = agent_deadline(l->p.agent);
  if (l->ask && roll(l, 2)) {
    feed_verdict(l, l->ask);
    l->ask = 0;
  } else if (due != INT64_MAX && roll(l, 3) == 0) {
    l->p.now = due > l->p.now ? due : l->p.now;
    play_feed(&l->p, &(struct event){.kind = EVENT_TICK, .at_ms = l->p.now});
  } else {
    nudge_world(l);
  }
  pull(l);
}

static struct agent_config random_config(struct life *l) {
  static const int64_t turns[] = {0, REIN_ZERO, 1, 3, REIN_OFF};
  static const int64_t tokens[] = {0, 1500, 4000, 20000};
  struct agent_config c = play_config();
  c.limits.max_turns = turns[roll(l, 5)];
  c.limits.token_budget = tokens[roll(l, 4)];
  c.limits.time_ms = roll(l, 3) ? REIN_OFF : 1 + (int64_t)roll(l, 30000);
  c.limits.no_progress = (enum rein_no_progress)roll(l, 5);
  c.output_limit = 256 + (int64_t)roll(l, 2000);
  c.limits.wrap_up = roll(l, 3) == 0;
  c.retries = roll(l, 3) ? 0 : REIN_OFF;
  c.jitter_seed = roll(l, 1000);
  c.model_lang = roll(l, 2) ? REIN_KOREAN : REIN_ENGLISH;
  return c;
}

/* The budget holds as long as the provider counts no more than a token a byte. */
static void check_budget(const struct life *l) {
  const struct rein_limits *limits = agent_limits(l->p.agent);
  struct agent_stats s = agent_stats(l->p.agent);
  if (limits->token_budget != REIN_OFF) assert_true(s.spent <= limits->token_budget);
  if (limits->max_turns != REIN_OFF) assert_true(s.turns <= limits->max_turns);
}

static void live(uint64_t seed) {
  struct life l = {.dice = seed * 2 + 1, .p = {.now = 1000}};
  for (int i = 0; i < 4; i++)
    roll(&l, 2);
  l.div = 1 + (int64_t)roll(&l, 4);
  l.hidden = (int64_t)roll(&l, 1000);
  struct agent_config config = random_config(&l);
  assert_true(play_new(&l.p, &config));
  play_feed(&l.p, &(struct event){.kind = EVENT_SAY, .at_ms = l.p.now, .text = STR("begin")});
  pull(&l);
  int busy = 30 + (int)roll(&l, 100), steps = 0;
  for (; steps < busy; steps++)
    step(&l);
  /* then the world only answers, and the run must end by itself */
  while (agent_ended(l.p.agent)->outcome == REIN_OUTCOME_NONE && steps < STEPS_MAX) {
    steps++;
    if (l.ask) feed_verdict(&l, l.ask);
    l.ask = 0;
    pull(&l); /* whoever drives pulls after each event, and so does a replay */
    if (l.pending_count) {
      answer_something(&l);
    } else {
      l.p.now = agent_deadline(l.p.agent) == INT64_MAX ? l.p.now + 1 : agent_deadline(l.p.agent);
      play_feed(&l.p, &(struct event){.kind = EVENT_TICK, .at_ms = l.p.now});
    }
    pull(&l);
  }
  if (steps >= STEPS_MAX) fail_msg("life %llu does not end", (unsigned long long)seed);
  check_budget(&l);
  play_check_bodies(&l.p);
  if (play_replay(&l.p) != agent_digest(l.p.agent))
    fail_msg("life %llu replays to another state", (unsigned long long)seed);
  play_release(&l.p);
}

static uint64_t number(const char *name, uint64_t absent) {
  const char *z = getenv(name);
  return z ? strtoull(z, NULL, 10) : absent;
}

static void lives(void **state) {
  (void)state;
  uint64_t from = number("REIN_SEED", 1);
  uint64_t count = number("REIN_LIVES", getenv("REIN_LONG") ? 200000 : 8000);
  for (uint64_t seed = from; seed < from + count; seed++)
    live(seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
