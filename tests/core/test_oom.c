/* Each allocation of a whole life fails in turn, once and from then on: no leak,
 * a legal state, and new words go on from there.
 */
#include "core/play.h"

#include "support/oom.h"

static void busy_reply(struct play *p, struct play_reply *r) {
  switch (p->sends) {
  case 1:
    r->blocks[r->count++] =
        (struct block){.kind = BLOCK_THINKING, .raw = STR("{}"), .wire = STR("toy")};
    play_text(r, "let me look");
    play_call(r, "a", "read", "{\"path\":\"1\",\"limit\":null}");
    play_call(r, "a", "read", "{\"path\":\"2\"}");
    play_call(r, "", "risky", "{}");
    return;
  case 2:
    play_call(r, "b", "nope", "{}");
    play_call(r, "c", "read", "{\"path\":");
    play_call(r, "d", "stamped", "{\"nonce\":1,\"x\":[1.50,{\"b\":1,\"a\":2}]}");
    play_call(r, "e", "banned", "{}");
    return;
  case 3: return; /* empty: a nudge */
  default: play_text(r, "done");
  }
}

static const char *long_result(struct play *p, struct str name, struct str args, bool *error) {
  static char text[40000];
  (void)name;
  (void)args;
  *error = p->runs == 2;
  for (size_t i = 0; i < sizeof text - 1; i++)
    text[i] = (char)('a' + i % 7);
  return p->runs == 1 ? text : "took 5 ms\nfine";
}

static void forgets(struct play *p, const struct action *ask, struct event *v) {
  (void)ask;
  v->verdict.remember = true;
  if (p->asks == 2) v->verdict.verdict = REIN_DENY;
}

static bool life(void *ctx) {
  struct play p = {.reply = busy_reply, .tool = long_result, .verdict = forgets, .now = 1};
  struct agent_config c = play_config();
  bool fine = play_new(&p, &c);
  if (fine) play_say(&p, "go");
  if (p.agent) {
    /* whatever failed: the machine is legal, and more words are taken */
    play_check_bodies(&p);
    if (p.code == REIN_MEMORY) assert_true(p.done != REIN_OUTCOME_NONE || p.journal.fail);
    enum rein_code before = p.code;
    p.code = REIN_OK;
    play_say(&p, "more");
    if (p.code == REIN_OK && before == REIN_OK) assert_int_equal(p.done, REIN_OUTCOME_FINISHED);
    fine = fine && before == REIN_OK && p.code == REIN_OK && !p.journal.fail && !p.bodies.fail;
    if (!p.bodies.fail) play_check_bodies(&p);
  }
  play_release(&p);
  (void)ctx;
  return fine;
}

static void every_allocation_fails_in_turn(void **state) {
  (void)state;
  assert_true(oom_each(life, NULL) > 200);
}

/* Records, read back with each allocation failing. */
static bool replay(void *ctx) {
  const struct play *p = ctx;
  struct arena arena;
  struct agent_config config;
  struct agent *agent = NULL;
  struct err err = {0};
  struct str rest = buf_str(&p->journal), line;
  arena_init(&arena, 1 << 26);
  str_next(&rest, '\n', &line);
  struct record_head head;
  enum rein_code code = record_read_start(&arena, line, toy_by_name, &config, &head, &err);
  if (code == REIN_OK) code = agent_new(&config, &agent, &err);
  while (code == REIN_OK && str_next(&rest, '\n', &line) && line.n) {
    struct event e;
    struct action a;
    code = record_read(&arena, line, &e, &err);
    if (code == REIN_OK) code = agent_feed(agent, &e, &err);
    while (agent && agent_next(agent, &a))
      continue;
  }
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  agent_free(agent);
  arena_release(&arena);
  return code == REIN_OK;
}

static void reading_back_fails_cleanly(void **state) {
  (void)state;
  struct play p = {.reply = busy_reply, .tool = long_result, .verdict = forgets, .now = 1};
  struct agent_config c = play_config();
  assert_true(play_new(&p, &c));
  play_say(&p, "go");
  assert_true(oom_each(replay, &p) > 100);
  play_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_fails_in_turn),
      cmocka_unit_test(reading_back_fails_cleanly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
