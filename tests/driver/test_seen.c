/* What a run has seen of files: from a result's record, the last word counts, the
 * oldest is forgotten, and a call gets its own copy. */
#include "support/test.h"

#include "support/oom.h"

#include "core/record.h"
#include "driver/run.h"

static bool see(struct run *run, const char *path, uint64_t hash) {
  struct event e = {.kind = EVENT_RESULT, .seen = str_of(path), .seen_hash = hash};
  return seen_keep(&run->seen, &e);
}

static uint64_t knows(const struct run *run, const char *path) {
  struct arena arena;
  const struct call_seen *list;
  uint64_t hash = 0;
  arena_init(&arena, 64u << 20);
  assert_true(seen_copy(run, &arena, &list));
  for (; list; list = list->next)
    if (str_is(list->path, path)) hash = list->hash;
  arena_release(&arena);
  return hash;
}

static void last_word(void **state) {
  (void)state;
  struct run run = {0};
  assert_true(see(&run, "a", 1) && see(&run, "b", 2) && see(&run, "a", 3));
  assert_int_equal(knows(&run, "a"), 3);
  assert_int_equal(knows(&run, "b"), 2);
  assert_int_equal(knows(&run, "c"), 0);
  struct event other = {.kind = EVENT_SAY, .seen = STR("c"), .seen_hash = 9};
  assert_true(seen_keep(&run.seen, &other));
  assert_int_equal(knows(&run, "c"), 0);
  seen_drop(&run.seen);
  assert_null(run.seen);
}

static void oldest_goes(void **state) {
  (void)state;
  struct run run = {0};
  char name[32];
  for (int i = 1; i <= SEEN_MAX + 1; i++) {
    snprintf(name, sizeof name, "f%d", i);
    assert_true(see(&run, name, (uint64_t)i));
    if (i == 2) assert_true(see(&run, "f1", 77));
  }
  assert_int_equal(knows(&run, "f2"), 0);
  assert_int_equal(knows(&run, "f1"), 77);
  assert_int_equal(knows(&run, "f3"), 3);
  seen_drop(&run.seen);
}

/* All 64 bits, and any name, come back from the journal. */
static void in_the_journal(void **state) {
  (void)state;
  static const uint64_t hashes[] = {0,
                                    1,
                                    UINT64_MAX,
                                    UINT64_C(0x8000000000000000),
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(0xfedcba9876543210)};
  for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
    struct buf line;
    struct arena arena;
    struct err err = {0};
    struct event back, e = {.kind = EVENT_RESULT,
                            .id = 3,
                            .text = STR("x"),
                            .seen = STR("한글/\"a\".c"),
                            .seen_hash = hashes[i]};
    buf_init(&line, 4096);
    arena_init(&arena, 1u << 20);
    record_put(&line, &e);
    assert_int_equal(record_read(&arena, buf_str(&line), &back, &err), REIN_OK);
    assert_str(back.seen, e.seen);
    assert_true(back.seen_hash == hashes[i]);
    buf_reset(&line);
    e.seen = STR_NONE;
    record_put(&line, &e);
    assert_false(str_has(buf_str(&line), STR("seen")));
    arena_release(&arena);
    buf_release(&line);
  }
}

static bool scenario(void *ctx) {
  (void)ctx;
  struct run run = {0};
  struct arena arena;
  const struct call_seen *list;
  arena_init(&arena, 1u << 20);
  bool ok = see(&run, "a", 1) && see(&run, "b", 2) && seen_copy(&run, &arena, &list);
  arena_release(&arena);
  seen_drop(&run.seen);
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(last_word),
      cmocka_unit_test(oldest_goes),
      cmocka_unit_test(in_the_journal),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
