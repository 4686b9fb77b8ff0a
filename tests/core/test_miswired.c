/* Runs in which a tool looks miswired, and runs that look alike and are fine. */
#include "core/miswired.h"

#include "support/oom.h"
#include "support/test.h"

#include <stdio.h>

struct told {
  struct miswired *m;
  struct buf out;
  size_t count;
  uint32_t calls;
};

static void on_sentence(void *ctx, struct str sentence) {
  struct told *t = ctx;
  t->count++;
  buf_put(&t->out, sentence);
  buf_c(&t->out, '\n');
}

static void begin(struct told *t) {
  *t = (struct told){.m = miswired_new()};
  assert_non_null(t->m);
  buf_init(&t->out, 1 << 20);
}

static void say(struct told *t, const char *words) {
  assert_true(miswired_hear(t->m, &(struct event){.kind = EVENT_SAY, .text = str_of(words)}));
}

static bool call(struct told *t, const char *tool, const char *args, const char *result,
                 bool is_error) {
  struct block use = {.kind = BLOCK_TOOL_USE, .name = str_of(tool), .args = str_of(args)};
  struct reply reply = {.blocks = &use, .count = 1, .stop = STOP_TOOLS};
  struct event said = {.kind = EVENT_REPLY, .reply = &reply};
  struct event came = {
      .kind = EVENT_RESULT, .id = ++t->calls, .text = str_of(result), .is_error = is_error};
  return miswired_hear(t->m, &said) && miswired_hear(t->m, &came);
}

/* The text with each % replaced by the number. */
static void fill(struct buf *out, const char *format, int number) {
  buf_reset(out);
  for (const char *p = format; *p; p++)
    if (*p == '%')
      buf_num(out, number);
    else
      buf_c(out, *p);
}

static void many(struct told *t, int count, const char *tool, const char *args, const char *result,
                 bool is_error) {
  struct buf a, r;
  buf_init(&a, 256);
  buf_init(&r, 256);
  for (int i = 1; i <= count; i++) {
    fill(&a, args, i);
    fill(&r, result, i);
    assert_true(call(t, tool, buf_z(&a), buf_z(&r), is_error));
  }
  buf_release(&a);
  buf_release(&r);
}

static void end(struct told *t, size_t count, const char *evidence) {
  assert_true(miswired_tell(t->m, REIN_ENGLISH, on_sentence, t));
  if (t->count != count) fail_msg("%zu findings: %s", t->count, buf_z(&t->out));
  if (!str_has(buf_str(&t->out), str_of(evidence)))
    fail_msg("no \"%s\" in: %s", evidence, buf_z(&t->out));
  miswired_free(t->m);
  buf_release(&t->out);
}

static void narrow_and_dull(void **state) {
  struct told t;
  (void)state;
  begin(&t);
  many(&t, 12, "sensor", "{\"channel\":%}", "value: 0 mV", false);
  end(&t, 1, "sensor looks miswired: 12 calls whose numbers lie between 1 and 12");
  begin(&t);
  many(&t, 9, "page", "{\"name\":\"page-%\",\"lang\":\"ko\"}", "[]", false);
  end(&t, 1, "9 of the results say nothing new, as in \"[]\"");
  begin(&t);
  many(&t, 8, "fetch", "{\"row\":%,\"to\":%}", "Error: row out of range", true);
  end(&t, 1, "between 1 and 8");
}

static void alike_and_fine(void **state) {
  struct told t;
  (void)state;
  begin(&t); /* paging: each page says something */
  many(&t, 40, "read_file", "{\"path\":\"a.txt\",\"offset\":%}", "line % of the file", false);
  end(&t, 0, "");
  begin(&t); /* polling is the no-progress valve's */
  for (int i = 0; i < 20; i++)
    assert_true(call(&t, "status", "{\"job\":7}", "pending", false));
  end(&t, 0, "");
  begin(&t); /* too few to tell */
  many(&t, 7, "sensor", "{\"channel\":%}", "value: 0 mV", false);
  end(&t, 0, "");
  begin(&t); /* wide: a search over a big range, not a loop */
  for (int i = 0; i < 12; i++) {
    char args[64];
    snprintf(args, sizeof args, "{\"at\":%d}", 1 << i);
    assert_true(call(&t, "probe", args, "", false));
  }
  end(&t, 0, "");
  begin(&t); /* some of them say something */
  for (int i = 1; i <= 12; i++) {
    char args[64], result[64];
    snprintf(args, sizeof args, "{\"channel\":%d}", i);
    snprintf(result, sizeof result, "value: %d mV", i % 3 ? 0 : i);
    assert_true(call(&t, "sensor", args, result, false));
  }
  end(&t, 0, "");
}

static void guessed_paths(void **state) {
  struct told t;
  (void)state;
  begin(&t);
  say(&t, "Fix the tests.");
  assert_true(call(&t, "read_file", "{\"path\":\"src/main.py\"}", "no such file", true));
  assert_true(call(&t, "read_file", "{\"path\":\"app/main.py\"}", "no such file", true));
  assert_true(call(&t, "read_file", "{\"path\":\"README.md\"}", "# It is in Rust", false));
  assert_true(call(&t, "read_file", "{\"path\":\"lib.py\"}", "no such file", true));
  end(&t, 1,
      "3 in 4 calls stood in no earlier word or result, and came to nothing: src/main.py, "
      "app/main.py, lib.py");
  begin(&t); /* the person named them, a listing did */
  say(&t, "Read a.py and src/b.py.");
  assert_true(call(&t, "list_files", "{}", "c.py\nd.py", false));
  static const char *const paths[] = {"a.py", "src/b.py", "c.py", "d.py"};
  for (size_t i = 0; i < 4; i++) {
    char args[64];
    snprintf(args, sizeof args, "{\"path\":\"%s\"}", paths[i]);
    assert_true(call(&t, "read_file", args, "permission denied", true));
  }
  end(&t, 0, "");
  begin(&t); /* new files are nobody's word, and come to something */
  many(&t, 6, "write_file", "{\"path\":\"new/%.txt\",\"text\":\"x\"}", "wrote % bytes", false);
  end(&t, 0, "");
}

static void made_up_names(void **state) {
  struct told t;
  static const char *const ids[] = {"ORD-48213", "ORD-99120", "ORD-11507"};
  (void)state;
  for (int known = 0; known < 2; known++) {
    begin(&t);
    say(&t, "Where is my order?");
    if (known) assert_true(call(&t, "list", "{}", "ORD-48213 ORD-99120 ORD-11507 are open", false));
    for (size_t i = 0; i < 3; i++) {
      char args[64];
      snprintf(args, sizeof args, "{\"order\":\"%s\"}", ids[i]);
      assert_true(call(&t, "order", args, "not found", false));
    }
    end(&t, !known, known ? "" : "3 in 3 calls stood in no earlier word or result");
  }
  begin(&t); /* patterns and sentences are the model's own words */
  assert_true(call(&t, "search_files", "{\"pattern\":\"later\"}", "", false));
  assert_true(call(&t, "search_files", "{\"pattern\":\"fix me\"}", "", false));
  assert_true(call(&t, "search_files", "{\"pattern\":\"hack\"}", "", false));
  end(&t, 0, "");
}

static bool once(void *ctx) {
  (void)ctx;
  struct told t = {.m = miswired_new()};
  buf_init(&t.out, 1 << 20);
  bool fine = t.m && miswired_source(t.m, STR("system"));
  for (int i = 0; i < 9 && fine; i++) {
    char args[64];
    snprintf(args, sizeof args, "{\"path\":\"dir/%d.txt\"}", i);
    fine = call(&t, "read", args, "no such file", true);
  }
  fine = fine && miswired_tell(t.m, REIN_KOREAN, on_sentence, &t) && t.out.fail == REIN_OK;
  miswired_free(t.m);
  buf_release(&t.out);
  return fine;
}

static void every_allocation_fails(void **state) {
  (void)state;
  assert_true(oom_each(once, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_and_dull),        cmocka_unit_test(alike_and_fine),
      cmocka_unit_test(guessed_paths),          cmocka_unit_test(made_up_names),
      cmocka_unit_test(every_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
