/* The event-stream reader: the same events for every way of cutting a stream,
 * whatever ends its lines, and no memory for what has no end. */
#include "rpc/sse.h"

#include "support/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void note(struct buf *out, const struct sse_event *e) {
  buf_c(out, '[');
  buf_put(out, e->name);
  buf_c(out, '|');
  buf_put(out, e->id);
  buf_c(out, '|');
  buf_put(out, e->data);
  buf_put(out, e->open ? STR("|open]") : STR("]"));
}

/* The events of a stream fed in pieces of `size` behind a first one of `head`. */
static enum rein_code read_all(struct buf *out, struct str in, size_t head, size_t size) {
  struct sse s;
  struct sse_event e;
  sse_init(&s);
  for (size_t at = 0, n = head; at < in.n || at == 0; at += n, n = size) {
    sse_feed(&s, str_part(in, at, n));
    while (sse_next(&s, &e))
      note(out, &e);
    if (in.n == 0) break;
  }
  sse_end(&s);
  while (sse_next(&s, &e))
    note(out, &e);
  enum rein_code fail = s.fail;
  sse_release(&s);
  return fail;
}

static void same_for_every_cut(struct str in, const char *want) {
  struct buf out;
  buf_init(&out, 1 << 20);
  for (size_t head = 1; head <= in.n; head++) {
    buf_reset(&out);
    assert_int_equal(read_all(&out, in, head, in.n), REIN_OK);
    assert_string_equal(buf_z(&out), want);
  }
  buf_reset(&out);
  assert_int_equal(read_all(&out, in, 1, 1), REIN_OK);
  assert_string_equal(buf_z(&out), want);
  buf_release(&out);
}

static void test_fields(void **state) {
  (void)state;
  same_for_every_cut(STR("event: a\ndata: 1\n\n"), "[a||1]");
  same_for_every_cut(STR("data:1\ndata: 2\ndata\n\n"), "[||1\n2\n]");
  same_for_every_cut(STR("data:  two spaces\n\n"), "[|| two spaces]");
  same_for_every_cut(STR("data\n\n"), "[||]");
  same_for_every_cut(STR("event: no data\n\ndata: x\n\n"), "[||x]");
  same_for_every_cut(STR("event: a\nevent: b\ndata: x\n\ndata: y\n\n"), "[b||x][||y]");
  same_for_every_cut(STR("id: 7\ndata: x\n\ndata: y\n\n"), "[|7|x][|7|y]");
  same_for_every_cut(STR("what: ever\nretry: 10\ndata: x:y\n\n"), "[||x:y]");
  same_for_every_cut(STR(": comment\n:\ndata: x\n: another\n\n"), "[||x]");
  same_for_every_cut(STR("\n\n\ndata: x\n\n\n\n"), "[||x]");
}

static void test_line_ends(void **state) {
  (void)state;
  same_for_every_cut(STR("event: a\r\ndata: 1\r\ndata: 2\r\n\r\ndata: 3\r\n\r\n"),
                     "[a||1\n2][||3]");
  same_for_every_cut(STR("event: a\rdata: 1\rdata: 2\r\rdata: 3\r\r"), "[a||1\n2][||3]");
  same_for_every_cut(STR("event: a\ndata: 1\r\ndata: 2\r\rdata: 3\n\r\n"), "[a||1\n2][||3]");
}

static void test_bom(void **state) {
  (void)state;
  same_for_every_cut(STR("\xEF\xBB\xBF"
                         "data: x\n\n"),
                     "[||x]");
  same_for_every_cut(STR("\xEF\xBB\xBF\ndata: x\n\n"), "[||x]");
  same_for_every_cut(STR("data: x\n\xEF\xBB\xBF"
                         "data: y\n\n"),
                     "[||x]"); /* only at the start */
}

static void test_end_without_blank_line(void **state) {
  (void)state;
  same_for_every_cut(STR("data: x\n\ndata: y\n"), "[||x][||y|open]");
  same_for_every_cut(STR("data: x\n\ndata: y"), "[||x][||y|open]");
  same_for_every_cut(STR("data: x\n\nevent: y"), "[||x]");
  same_for_every_cut(STR("data: x\r"), "[||x|open]");
}

static void test_bytes_are_kept(void **state) {
  (void)state;
  struct buf out;
  struct str in = STR("id: a\0b\ndata: x\0y\xff\n\n"), want = STR("[||x\0y\xff]");
  buf_init(&out, 1024);
  for (size_t size = 1; size < 9; size++) {
    buf_reset(&out);
    assert_int_equal(read_all(&out, in, size, size), REIN_OK);
    assert_true(str_eq(buf_str(&out), want));
  }
  buf_release(&out);
}

/* An endless line, and endless data: refused where the ceiling is. */
static void endless(const char *unit, size_t most) {
  struct sse s;
  struct sse_event e;
  size_t fed = 0;
  sse_init(&s);
  while (!s.fail && fed < 4 * (size_t)SSE_EVENT_MAX) {
    sse_feed(&s, str_of(unit));
    fed += strlen(unit);
    assert_false(sse_next(&s, &e));
  }
  assert_int_equal(s.fail, REIN_LIMIT);
  assert_true(fed <= most + 2 * strlen(unit));
  assert_true(s.line.cap <= 2 * (size_t)SSE_LINE_MAX && s.data.cap <= 2 * (size_t)SSE_EVENT_MAX);
  sse_feed(&s, STR("data: x\n\n"));
  assert_false(sse_next(&s, &e));
  sse_release(&s);
}

static void test_endless(void **state) {
  (void)state;
  char unit[8192];
  memset(unit, 'x', sizeof unit);
  unit[sizeof unit - 1] = '\0';
  endless(unit, SSE_LINE_MAX);
  memcpy(unit, "data: ", 6);
  unit[sizeof unit - 2] = '\n';
  endless(unit, SSE_EVENT_MAX + SSE_EVENT_MAX / 100);
}

/* A name or an id that is no word is none, and the stream goes on. */
static void test_endless_words(void **state) {
  (void)state;
  char stream[20000];
  for (const char *const *field = (const char *const[]){"id", "event", NULL}; *field; field++) {
    struct buf out;
    buf_init(&out, 1 << 16);
    int n = snprintf(stream, sizeof stream, "%s: known\n%s: %09000d\ndata: 1\n\ndata: 2\n\n",
                     *field, *field, 7);
    assert_int_equal(read_all(&out, (struct str){stream, (size_t)n}, 5, 1000), REIN_OK);
    assert_string_equal(buf_z(&out), "[||1][||2]");
    buf_release(&out);
  }
}

static void test_line_at_the_ceiling(void **state) {
  (void)state;
  struct sse s;
  struct sse_event e;
  struct buf line;
  buf_init(&line, SSE_LINE_MAX + 16);
  buf_lit(&line, "data: ");
  while (line.n < SSE_LINE_MAX)
    buf_c(&line, 'x');
  buf_lit(&line, "\n\n");
  sse_init(&s);
  sse_feed(&s, buf_str(&line));
  assert_true(sse_next(&s, &e));
  assert_int_equal(e.data.n, SSE_LINE_MAX - 6);
  sse_release(&s);
  sse_init(&s);
  for (size_t i = 0; i < line.n; i++) {
    sse_feed(&s, str_part(buf_str(&line), i, 1));
    assert_true(sse_next(&s, &e) == (i + 1 == line.n));
  }
  sse_release(&s);
  buf_release(&line);
}

static void test_comments_are_counted(void **state) {
  (void)state;
  struct sse s;
  struct sse_event e;
  sse_init(&s);
  sse_feed(&s, STR(": ping\n\n: ping\n\n"));
  assert_false(sse_next(&s, &e));
  assert_int_equal(s.comments, 2);
  sse_release(&s);
}

static bool scenario(void *ctx) {
  struct buf out;
  struct str in = STR("id: 1\nevent: a\ndata: 1\ndata: 2\n\ndata: 3\n");
  (void)ctx;
  buf_init(&out, 1024);
  enum rein_code fail = read_all(&out, in, 3, 3);
  assert_true(fail == REIN_OK || fail == REIN_MEMORY);
  bool well =
      fail == REIN_OK && out.fail == REIN_OK && str_is(buf_str(&out), "[a|1|1\n2][|1|3|open]");
  buf_release(&out);
  return well;
}

static void test_memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fields),
      cmocka_unit_test(test_line_ends),
      cmocka_unit_test(test_bom),
      cmocka_unit_test(test_end_without_blank_line),
      cmocka_unit_test(test_bytes_are_kept),
      cmocka_unit_test(test_endless),
      cmocka_unit_test(test_endless_words),
      cmocka_unit_test(test_line_at_the_ceiling),
      cmocka_unit_test(test_comments_are_counted),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
