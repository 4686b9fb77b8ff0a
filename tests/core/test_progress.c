/* The no-progress valve: its ladder, its presets, and the handed scripts. */
#include "core/play.h"
#include "support/shared.h"

/* A script: what each turn calls and what that answers. */
struct script {
  const char *const *calls, *const *results; /* call: "TOOL ARGS" */
  size_t count;
};

static void scripted(struct play *p, struct play_reply *r) {
  const struct script *s = p->ctx;
  size_t i = (size_t)p->sends - 1;
  if (i >= s->count) {
    play_text(r, "the end");
    return;
  }
  const char *blank = strchr(s->calls[i], ' ');
  static char name[40];
  snprintf(name, sizeof name, "%.*s", (int)(blank - s->calls[i]), s->calls[i]);
  play_call(r, "a", name, blank + 1);
}

static const char *answers(struct play *p, struct str name, struct str args, bool *error) {
  const struct script *s = p->ctx;
  (void)name;
  (void)args;
  (void)error;
  return s->results[(size_t)p->sends - 1];
}

static void play_script(struct play *p, const struct script *s, enum rein_no_progress preset) {
  struct agent_config c = play_config();
  c.limits.no_progress = preset;
  *p = (struct play){.reply = scripted, .tool = answers, .ctx = (void *)s};
  assert_true(play_new(p, &c));
  play_say(p, "go");
  play_check_bodies(p);
  assert_int_equal(play_replay(p), agent_digest(p->agent));
}

#define SCRIPT(n)                                                                                  \
  { calls, results, n }

static void the_ladder(void **state) {
  (void)state;
  static const char *const calls[] = {"read {\"path\":\"x\"}", "read {\"path\":\"x\"}",
                                      "read {\"path\":\"x\"}", "read {\"path\":\"x\"}",
                                      "read {\"path\":\"x\"}", "read {\"path\":\"x\"}"};
  static const char *const results[] = {"r", "r", "r", "r", "r", "r"};
  struct script s = SCRIPT(6);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_NO_PROGRESS);
  assert_int_equal(p.sends, 5); /* the fifth is stopped before it runs */
  assert_int_equal(p.runs, 3);  /* the fourth is not run and says why */
  assert_true(play_sent(&p, "Note: this has brought the same result twice"));
  assert_true(play_sent(&p, "brought the same result 3 times"));
  struct buf why;
  play_sentence(&p, REIN_ENGLISH, &why);
  assert_true(str_has(buf_str(&why), STR("read")));
  buf_release(&why);
  play_release(&p);
}

static void another_way_after_the_block_goes_on(void **state) {
  (void)state;
  static const char *const calls[] = {"read {\"path\":\"x\"}", "read {\"path\":\"x\"}",
                                      "read {\"path\":\"x\"}", "read {\"path\":\"x\"}",
                                      "read {\"path\":\"y\"}", "read {\"path\":\"x\"}"};
  static const char *const results[] = {"r", "r", "r", "r", "new", "r"};
  struct script s = SCRIPT(6);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_FINISHED);
  assert_int_equal(p.runs, 5);
  play_release(&p);
}

static void polling_and_clocks_are_progress(void **state) {
  (void)state;
  static const char *const calls[] = {"clock {}", "clock {}", "clock {}",
                                      "clock {}", "clock {}", "clock {}"};
  static const char *const results[] = {"1", "1", "1", "1", "1", "1"};
  struct script s = SCRIPT(6);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_FINISHED);
  play_release(&p);
  /* a clock between does not hide a loop */
  static const char *const mixed[] = {
      "read {\"path\":\"x\"}", "clock {}", "read {\"path\":\"x\"}", "clock {}",
      "read {\"path\":\"x\"}", "clock {}", "read {\"path\":\"x\"}", "clock {}",
      "read {\"path\":\"x\"}"};
  static const char *const same[] = {"r", "1", "r", "1", "r", "1", "r", "1", "r"};
  struct script t = {mixed, same, 9};
  play_script(&p, &t, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_NO_PROGRESS);
  play_release(&p);
}

static void volatile_parts_are_left_out(void **state) {
  (void)state;
  static const char *const calls[] = {"stamped {\"q\":1,\"nonce\":1}",
                                      "stamped {\"q\":1.0,\"nonce\":2}",
                                      "stamped {\"at\":3,\"q\":1e0,\"r\":null}",
                                      "stamped {\"q\":1,\"nonce\":4}", "stamped {\"q\":1}"};
  static const char *const results[] = {"took 1 ms\nx", "took 22 ms\nx", "took 333 ms\nx",
                                        "took 4 ms\nx", "took 5 ms\nx"};
  struct script s = SCRIPT(5);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_NO_PROGRESS);
  play_release(&p);
}

static void presets(void **state) {
  (void)state;
  static const char *const calls[] = {"read {\"path\":\"x\"}", "read {\"path\":\"y\"}",
                                      "read {\"path\":\"x\"}", "read {\"path\":\"x\"}",
                                      "read {\"path\":\"x\"}", "read {\"path\":\"x\"}"};
  static const char *const results[] = {"1", "2", "3", "4", "5", "6"}; /* results do not count */
  struct script s = SCRIPT(6);
  static const struct {
    enum rein_no_progress preset;
    int sends;
    enum rein_outcome outcome;
  } rows[] = {{REIN_PROGRESS_2_TURNS, 4, REIN_OUTCOME_NO_PROGRESS},
              {REIN_PROGRESS_3_IN_A_ROW, 5, REIN_OUTCOME_NO_PROGRESS},
              {REIN_PROGRESS_3_IN_ALL, 4, REIN_OUTCOME_NO_PROGRESS},
              {REIN_PROGRESS_DEFAULT, 7, REIN_OUTCOME_FINISHED},
              {REIN_PROGRESS_OFF, 7, REIN_OUTCOME_FINISHED}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct play p;
    play_script(&p, &s, rows[i].preset);
    assert_int_equal(p.done, rows[i].outcome);
    assert_int_equal(p.sends, rows[i].sends);
    if (rows[i].outcome == REIN_OUTCOME_NO_PROGRESS) assert_int_equal(p.runs, p.sends - 1);
    play_release(&p);
  }
}

static void three_turns_without_a_run(void **state) {
  (void)state;
  static const char *const calls[] = {"nope {\"a\":1}", "nope {\"a\":2}", "nope {\"a\":3}",
                                      "nope {\"a\":4}"};
  static const char *const results[] = {"", "", "", ""};
  struct script s = SCRIPT(4);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  assert_int_equal(p.done, REIN_OUTCOME_NO_PROGRESS);
  assert_int_equal(p.sends, 3);
  play_release(&p);
}

static void new_words_start_anew(void **state) {
  (void)state;
  static const char *const calls[] = {"read {\"path\":\"x\"}", "read {\"path\":\"x\"}"};
  static const char *const results[] = {"r", "r"};
  struct script s = SCRIPT(2);
  struct play p;
  play_script(&p, &s, REIN_PROGRESS_DEFAULT);
  for (int i = 0; i < 3; i++) {
    p.sends = 0;
    play_say(&p, "again");
    assert_int_equal(p.done, REIN_OUTCOME_FINISHED);
  }
  play_release(&p);
}

/* The handed scripts; every tool they name is a row of the toy table here. */
static struct str map_call(struct arena *arena, struct str call) {
  struct buf b;
  struct str copy;
  buf_init(&b, 1000);
  struct json_out w = json_out(&b);
  buf_lit(&b, "stamped ");
  if (call.n && call.p[0] == '{') {
    buf_put(&b, call);
  } else {
    json_open(&w, '{');
    json_key(&w, "call");
    json_put_text(&w, call);
    json_close(&w, '}');
  }
  assert_true(arena_str(arena, buf_str(&b), &copy));
  buf_release(&b);
  return copy;
}

static void handed_scripts(void **state) {
  (void)state;
  struct buf file;
  struct arena arena;
  shared_read(&file, "cases/B05-no-progress-against-polling/scripts.json");
  struct json *doc;
  arena_init(&arena, 1 << 24);
  assert_int_equal(json_parse(&arena, buf_str(&file), 0, &doc, NULL), REIN_OK);
  for (const struct json *row = doc->first; row; row = row->next) {
    const char *calls[64], *results[64];
    size_t count = 0;
    const struct json *c = json_get(row, "calls")->first, *r = json_get(row, "results")->first;
    for (; c && r; c = c->next, r = r->next, count++) {
      struct str result;
      assert_true(arena_str(&arena, json_text(r), &result));
      calls[count] = map_call(&arena, json_text(c)).p;
      results[count] = result.p;
    }
    struct script s = {calls, results, count};
    struct play p;
    play_script(&p, &s, REIN_PROGRESS_DEFAULT);
    bool stopped = p.done == REIN_OUTCOME_NO_PROGRESS;
    if (stopped != str_is(json_text(json_get(row, "want")), "stop"))
      fail_msg("%.*s: %s", (int)json_text(json_get(row, "name")).n,
               json_text(json_get(row, "name")).p, stopped ? "stopped" : "went on");
    play_release(&p);
  }
  buf_release(&file);
  arena_release(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ladder),
      cmocka_unit_test(another_way_after_the_block_goes_on),
      cmocka_unit_test(polling_and_clocks_are_progress),
      cmocka_unit_test(volatile_parts_are_left_out),
      cmocka_unit_test(presets),
      cmocka_unit_test(three_turns_without_a_run),
      cmocka_unit_test(new_words_start_anew),
      cmocka_unit_test(handed_scripts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
