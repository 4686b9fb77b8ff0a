/* The builders: what a reply is made of, whatever wire it came from. */
#include "json/json.h"
#include "shared.h"

static struct draft *opened(void) {
  struct draft *d = NULL;
  assert_int_equal(draft_new(&wire_anthropic, &d), REIN_OK);
  draft_id(d, STR("msg_1"), STR("m"));
  return d;
}

static struct reply ended(struct draft *d, enum stop stop) {
  struct reply r;
  draft_stop(d, stop, STR("word"));
  draft_done(d);
  assert_int_equal(draft_reply(d, &r, NULL), REIN_OK);
  return r;
}

static void call(struct draft *d, int64_t index, const char *id, const char *args) {
  draft_open(d, index, BLOCK_TOOL_USE);
  draft_call(d, index, str_of(id), STR("t"));
  draft_text(d, index, str_of(args));
  draft_close(d, index);
}

static void check_args(const char *source, bool bad, const char *kept) {
  struct draft *d = opened();
  call(d, 0, "i", source);
  struct reply r = ended(d, STOP_TOOLS);
  if (r.blocks->args_bad != bad || !str_is(r.blocks->args, kept))
    fail_msg("%s: %d %.*s", source, r.blocks->args_bad, (int)r.blocks->args.n, r.blocks->args.p);
  assert_false(r.blocks->cut);
  draft_free(d);
}

static void test_arguments(void **state) {
  (void)state;
  check_args("", false, "{}");
  check_args(" \n\t", false, "{}");
  check_args("{\"a\": -0, \"b\":[1.0,1e3, 2512292042121000001]}", false,
             "{\"a\": -0, \"b\":[1.0,1e3, 2512292042121000001]}");
  check_args("{\"a\":1e400}", false, "{\"a\":1e400}");
  check_args("[]", true, "[]");
  check_args("null", true, "null");
  check_args("\"{}\"", true, "\"{}\"");
  check_args("{\"a\":1}{\"b\":2}", true, "{\"a\":1}{\"b\":2}");
  check_args("{\"a\":1,}", true, "{\"a\":1,}");
  check_args("{\"a\":1", true, "{\"a\":1");
  check_args("{\"a\":1,\"a\":1}", true, "{\"a\":1,\"a\":1}");
  check_args("{\"x\":[{\"a\":1,\"\\u0061\":2}]}", true, "{\"x\":[{\"a\":1,\"\\u0061\":2}]}");
  check_args("{\"a\":\"\\ud83d\"}", false, "{\"a\":\"\\ufffd\"}");
  check_args("{\"a\":\"\xED\xA0\xBD\xED\xB9\x82\"}", false, "{\"a\":\"🙂\"}");
  check_args("{\"a\":\"\xff\"}", false, "{\"a\":\"\xEF\xBF\xBD\"}");
}

/* Deeper than the reader goes: bad, not a crash. */
static void test_deep_arguments(void **state) {
  (void)state;
  struct draft *d = opened();
  draft_open(d, 0, BLOCK_TOOL_USE);
  for (int i = 0; i < 100000; i++)
    draft_text(d, 0, STR("{\"a\":["));
  draft_close(d, 0);
  assert_true(ended(d, STOP_TOOLS).blocks->args_bad);
  draft_free(d);
}

/* The output limit cut the last block alone; and a gap is never {}. */
static void test_limit(void **state) {
  (void)state;
  struct draft *d = opened();
  call(d, 0, "a", "");
  call(d, 1, "b", "{\"x");
  call(d, 2, "c", "");
  struct reply r = ended(d, STOP_LENGTH);
  assert_true(!r.blocks[0].args_bad && str_is(r.blocks[0].args, "{}"));
  assert_true(r.blocks[1].args_bad && !r.blocks[1].cut);
  assert_true(r.blocks[2].args_bad && r.blocks[2].cut && r.blocks[2].args.n == 0);
  draft_free(d);
  d = opened();
  call(d, 0, "a", "{\"x\":1}");
  r = ended(d, STOP_LENGTH);
  assert_true(!r.blocks[0].args_bad && !r.blocks[0].cut);
  draft_free(d);
}

static void test_ids(void **state) {
  (void)state;
  struct draft *d = opened();
  call(d, 0, "", "{}");
  call(d, 1, "x", "{}");
  call(d, 2, "x", "{}");
  call(d, 3, "x_2", "{}");
  call(d, 4, "", "{}");
  struct reply r = ended(d, STOP_TOOLS), again;
  for (size_t i = 0; i < r.count; i++)
    for (size_t j = 0; j < i; j++)
      assert_false(str_eq(r.blocks[i].id, r.blocks[j].id));
  assert_true(str_starts(r.blocks[0].id, STR("call_")) && str_is(r.blocks[1].id, "x"));
  assert_int_equal(draft_reply(d, &again, NULL), REIN_OK);
  for (size_t i = 0; i < r.count; i++)
    assert_true(str_eq(r.blocks[i].id, again.blocks[i].id));
  draft_free(d);
}

static void test_blank_texts(void **state) {
  static const char *const texts[] = {" ", "one", "\n\n", "", "two", "\xE3\x80\x80"};
  (void)state;
  struct draft *d = opened();
  struct buf shown;
  struct str piece;
  bool thinking;
  buf_init(&shown, 4096);
  for (int64_t i = 0; i < 6; i++) {
    draft_open(d, i, BLOCK_TEXT);
    draft_text(d, i, str_of(texts[i]));
    while (draft_piece(d, &piece, &thinking))
      buf_put(&shown, piece);
    draft_close(d, i);
  }
  struct reply r = ended(d, STOP_END);
  while (draft_piece(d, &piece, &thinking))
    buf_put(&shown, piece);
  assert_string_equal(buf_z(&shown), "one\n\ntwo\xE3\x80\x80");
  struct buf text;
  buf_init(&text, 4096);
  for (size_t i = 0; i < r.count; i++)
    buf_put(&text, r.blocks[i].text);
  assert_string_equal(buf_z(&text), buf_z(&shown));
  buf_release(&text);
  buf_release(&shown);
  draft_free(d);
}

static void test_thinking(void **state) {
  (void)state;
  struct draft *d = opened();
  draft_open(d, 0, BLOCK_THINKING);
  draft_text(d, 0, STR(" 생각 \"a\"  \n"));
  draft_signature(d, 0, STR("s1"));
  draft_signature(d, 0, STR("s2"));
  draft_open(d, 1, BLOCK_THINKING);
  draft_text(d, 1, STR("unsigned"));
  draft_open(d, 2, BLOCK_THINKING);
  draft_raw(d, 2, STR("{ \"type\":\"redacted_thinking\",\"data\":\"x\" }"));
  struct reply r = ended(d, STOP_END);
  assert_int_equal(r.count, 2);
  assert_int_equal(draft_dropped(d), 1);
  assert_true(str_is(r.blocks[0].raw,
                     "{\"type\":\"thinking\",\"thinking\":\" 생각 \\\"a\\\"  \\n\","
                     "\"signature\":\"s2\"}"));
  assert_true(str_is(r.blocks[1].raw, "{ \"type\":\"redacted_thinking\",\"data\":\"x\" }"));
  assert_true(str_is(r.blocks[0].wire, "anthropic"));
  draft_free(d);
}

static void test_opaque(void **state) {
  (void)state;
  struct draft *d = opened();
  draft_open(d, 0, BLOCK_OPAQUE);
  draft_raw(d, 0,
            STR("{\"type\": \"server_tool_use\", \"n\": 1.0, \"input\": {}, \"text\":\"a\"}"));
  draft_patch(d, 0, STR("input"), PATCH_SOURCE, STR("{\"q\":"));
  draft_patch(d, 0, STR("text"), PATCH_TEXT, STR("b\xED\xA0\xBD"));
  draft_patch(d, 0, STR("input"), PATCH_SOURCE, STR(" -0}"));
  draft_patch(d, 0, STR("text"), PATCH_TEXT, STR("\xED\xB9\x82"));
  draft_patch(d, 0, STR("more"), PATCH_TEXT, STR("c"));
  draft_open(d, 1, BLOCK_OPAQUE);
  draft_raw(d, 1, STR("{\"type\":\"x\" ,\"input\":{ }}"));
  draft_patch(d, 1, STR("input"), PATCH_SOURCE, STR(""));
  draft_open(d, 2, BLOCK_OPAQUE);
  draft_raw(d, 2, STR("{\"type\":\"x\",\"input\":{}}"));
  draft_patch(d, 2, STR("input"), PATCH_SOURCE, STR("{\"q"));
  struct reply r = ended(d, STOP_END);
  assert_int_equal(r.count, 3);
  assert_true(str_is(r.blocks[0].raw,
                     "{\"type\":\"server_tool_use\",\"n\":1.0,\"input\":{\"q\": -0},"
                     "\"text\":\"ab🙂\",\"more\":\"c\"}"));
  assert_true(str_is(r.blocks[1].raw, "{\"type\":\"x\",\"input\":{ }}"));
  assert_true(str_is(r.blocks[2].raw, "{\"type\":\"x\",\"input\":{\"INVALID_JSON\":\"{\\\"q\"}}"));
  draft_free(d);
}

/* An index that is used again is another block; what is closed takes no more. */
static void test_indexes(void **state) {
  (void)state;
  struct draft *d = opened();
  call(d, 0, "a", "{\"n\":1}");
  draft_text(d, 0, STR("late"));
  call(d, 0, "b", "{\"n\":2}");
  draft_open(d, 5, BLOCK_TEXT);
  draft_open(d, 5, BLOCK_TEXT);
  draft_text(d, 5, STR("t"));
  draft_text(d, 9, STR("nowhere"));
  struct reply r = ended(d, STOP_TOOLS);
  assert_int_equal(r.count, 3);
  assert_true(str_is(r.blocks[0].args, "{\"n\":1}") && str_is(r.blocks[1].args, "{\"n\":2}"));
  draft_free(d);
}

static void test_usage(void **state) {
  (void)state;
  struct draft *d = opened();
  struct usage seen;
  draft_count(&seen);
  draft_usage(d, &seen);
  assert_false(draft_used(d).known_input || draft_used(d).known_output);
  seen.input = 7;
  draft_usage(d, &seen);
  draft_count(&seen);
  seen.output = INT64_MAX;
  seen.cache_read = 3;
  draft_usage(d, &seen);
  struct usage u = draft_used(d);
  assert_true(u.input == 7 && u.cache_read == 3 && u.cache_write == 0);
  assert_true(u.output == DRAFT_TOKENS_MAX && u.known_input && u.known_output);
  draft_free(d);
}

static void test_restart(void **state) {
  (void)state;
  struct draft *d = opened();
  struct str piece;
  bool thinking;
  call(d, 0, "a", "{}");
  draft_open(d, 1, BLOCK_TEXT);
  draft_text(d, 1, STR("old"));
  assert_true(draft_piece(d, &piece, &thinking));
  draft_restart(d);
  assert_true(draft_withdrawn(d) && !draft_withdrawn(d) && draft_began(d));
  draft_id(d, STR("msg_2"), STR("n"));
  draft_open(d, 0, BLOCK_TEXT);
  draft_text(d, 0, STR("new"));
  struct reply r = ended(d, STOP_END);
  assert_true(r.count == 1 && str_is(r.blocks[0].text, "new") && str_is(r.id, "msg_2"));
  draft_free(d);
}

static void test_ceilings(void **state) {
  (void)state;
  struct draft *d = opened();
  for (int64_t i = 0; i <= DRAFT_BLOCKS_MAX; i++)
    draft_open(d, i, BLOCK_TEXT);
  assert_int_equal(draft_failed(d)->kind, FAULT_GARBLED);
  draft_free(d);
  d = opened();
  char piece[65536];
  memset(piece, 'x', sizeof piece);
  draft_open(d, 0, BLOCK_TEXT);
  for (size_t fed = 0; fed <= DRAFT_BYTES_MAX && !draft_failed(d); fed += sizeof piece)
    draft_text(d, 0, (struct str){piece, sizeof piece});
  assert_int_equal(draft_failed(d)->kind, FAULT_GARBLED);
  assert_true(str_has(draft_failed(d)->message, STR("33554432")));
  draft_free(d);
  draft_free(NULL);
}

/* Without a stop reason nobody knows whether it was cut: not taken as an end. */
static void test_no_stop(void **state) {
  (void)state;
  struct draft *d = opened();
  struct reply r;
  draft_done(d);
  assert_int_equal(draft_reply(d, &r, NULL), REIN_OK);
  assert_true(r.stop == STOP_UNKNOWN && str_is(r.stop_word, "null"));
  draft_free(d);
}

/* The first end counts, of either kind. */
static void test_ends(void **state) {
  (void)state;
  struct draft *d = opened();
  struct reply r = ended(d, STOP_END);
  draft_fail(d, FAULT_OVERLOADED, STR("late"), STR("t"));
  draft_stop(d, STOP_LENGTH, STR("late"));
  assert_true(draft_is_done(d) && !draft_failed(d) && r.stop == STOP_END);
  draft_free(d);
  d = opened();
  draft_fail(d, FAULT_OVERLOADED, STR("first"), STR("t"));
  draft_fail(d, FAULT_AUTH, STR("second"), STR("t"));
  draft_done(d);
  assert_true(!draft_is_done(d) && draft_failed(d)->kind == FAULT_OVERLOADED);
  assert_true(str_is(draft_failed(d)->message, "first"));
  draft_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arguments),   cmocka_unit_test(test_deep_arguments),
      cmocka_unit_test(test_limit),       cmocka_unit_test(test_ids),
      cmocka_unit_test(test_blank_texts), cmocka_unit_test(test_thinking),
      cmocka_unit_test(test_opaque),      cmocka_unit_test(test_indexes),
      cmocka_unit_test(test_usage),       cmocka_unit_test(test_restart),
      cmocka_unit_test(test_ceilings),    cmocka_unit_test(test_no_stop),
      cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
