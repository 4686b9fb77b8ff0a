/* The journal in memory: order, ceilings of nothing but memory, every
 * allocation failing in turn. */
#include "store/journal.h"
#include "support/oom.h"
#include "support/test.h"

static struct str record_of(struct journal *j, size_t i) {
  struct str line;
  assert_int_equal(j->kind->record(j, i, &line, NULL), REIN_OK);
  return line;
}

static void test_order(void **state) {
  struct journal *j;
  struct err err;
  char line[32];
  bool later = true;
  (void)state;
  assert_int_equal(journal_open_memory(&j, &err), REIN_OK);
  assert_int_equal(record_of(j, 0).n, 0);
  for (int i = 0; i < 100; i++) {
    int n = snprintf(line, sizeof line, "{\"event\":%d}", i);
    assert_int_equal(j->kind->append(j, (struct str){line, (size_t)n}, &err), REIN_OK);
  }
  assert_int_equal(j->kind->commit(j, &later, &err), REIN_OK);
  assert_false(later);
  assert_text(record_of(j, 0), "{\"event\":0}");
  assert_text(record_of(j, 99), "{\"event\":99}");
  assert_int_equal(record_of(j, 99).p[12], '\0');
  assert_int_equal(record_of(j, 100).n, 0);
  j->kind->close(j);
}

static bool write_some(void *ctx) {
  struct journal *j;
  struct err err;
  bool ok = true;
  (void)ctx;
  if (journal_open_memory(&j, &err) != REIN_OK) return false;
  size_t kept = 0;
  for (int i = 0; i < 40; i++) {
    enum rein_code code = j->kind->append(j, STR("{}"), &err);
    assert_true(code == REIN_OK || code == REIN_MEMORY);
    ok = ok && code == REIN_OK;
    kept += code == REIN_OK;
  }
  if (kept > 0) assert_text(record_of(j, kept - 1), "{}");
  assert_int_equal(record_of(j, kept).n, 0);
  j->kind->close(j);
  return ok;
}

static void test_without_memory(void **state) {
  (void)state;
  assert_true(oom_each(write_some, NULL) > 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),
      cmocka_unit_test(test_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
