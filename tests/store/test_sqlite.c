/* The journal on disk: order, who may write, damage told in words, every call of
 * the file system failing in turn, a full disk, and commits that runs share. */
#include "host/loop.h"
#include "store/lines.h"
#include "store/store.h"
#include "support/oom.h"
#include "support/test.h"
#include "text/text.h"

#include "faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], path[300];

static void fresh(void) {
  char command[512];
  const char *tmp = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/store-%d", tmp ? tmp : "/tmp", (int)getpid());
  snprintf(path, sizeof path, "%s/deep/er/runs.db", folder);
  static const char *const names[] = {"", "-wal", "-shm", "-lock", "-journal"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(command, sizeof command, "%s%s", path, names[i]);
    unlink(command);
  }
}

static void append(struct journal *j, const char *line) {
  struct err err = {0};
  assert_int_equal(j->kind->append(j, str_of(line), &err), REIN_OK);
}

static enum rein_code commit(struct journal *j, struct err *err) {
  bool later = true;
  enum rein_code code = j->kind->commit(j, &later, err);
  assert_false(later);
  return code;
}

static void assert_record(struct journal *j, size_t i, const char *wanted) {
  struct str line;
  struct err err = {0};
  assert_int_equal(j->kind->record(j, i, &line, &err), REIN_OK);
  assert_true(str_is(line, wanted));
}

static struct store *opened(void) {
  struct store *store;
  struct err err = {0};
  if (store_open(path, NULL, &store, &err) == REIN_OK) return store;
  struct buf words;
  buf_init(&words, 4096);
  err_put(&words, REIN_ENGLISH, &err);
  fail_msg("store_open: %s", buf_z(&words));
  return NULL;
}

static void test_order(void **state) {
  struct journal *j, *k;
  struct err err = {0};
  struct stat st;
  (void)state;
  fresh();
  struct store *store = opened();
  assert_int_equal(store_begin(store, STR("one"), 5, &j, &err), REIN_OK);
  append(j, "{\"event\":0}");
  append(j, "{\"event\":\"\xed\x95\x9c\"}");
  assert_record(j, 1, "{\"event\":\"\xed\x95\x9c\"}");
  assert_int_equal(store_look(store, STR("one"), &k, &err), REIN_INPUT); /* not committed */
  assert_int_equal(commit(j, &err), REIN_OK);
  append(j, "{\"event\":2}");
  assert_record(j, 2, "{\"event\":2}");
  assert_record(j, 3, "");
  assert_int_equal(store_look(store, STR("one"), &k, &err), REIN_OK);
  assert_record(k, 1, "{\"event\":\"\xed\x95\x9c\"}");
  assert_record(k, 2, "");
  k->kind->close(k);
  j->kind->close(j);
  assert_int_equal(store_begin(store, STR("one"), 5, &j, &err), REIN_OK);
  append(j, "{}");
  assert_int_equal(commit(j, &err), REIN_INPUT); /* the name is taken */
  j->kind->close(j);
  store_close(store);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  snprintf(path, sizeof path, "%s/deep/er", folder);
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_one_writer(void **state) {
  struct journal *j, *k;
  struct err err = {0};
  (void)state;
  fresh();
  struct store *a = opened(), *b = opened();
  assert_int_equal(store_begin(a, STR("r"), 1, &j, &err), REIN_OK);
  append(j, "{}");
  assert_int_equal(commit(j, &err), REIN_OK);
  assert_int_equal(store_take(b, STR("r"), &k, &err), REIN_HELD);
  assert_int_equal(store_take(a, STR("r"), &k, &err), REIN_HELD);
  assert_int_equal(store_look(b, STR("r"), &k, &err), REIN_OK); /* reading is free */
  k->kind->close(k);
  /* The lock is lost without a word: the fence still holds. */
  char lock[320];
  snprintf(lock, sizeof lock, "%s-lock", path);
  unlink(lock);
  struct store *c = opened();
  assert_int_equal(store_take(c, STR("r"), &k, &err), REIN_OK);
  append(j, "{\"late\":1}");
  assert_int_equal(commit(j, &err), REIN_HELD);
  append(k, "{\"new\":1}");
  assert_int_equal(commit(k, &err), REIN_OK);
  assert_record(k, 1, "{\"new\":1}");
  k->kind->close(k);
  j->kind->close(j);
  store_close(a);
  store_close(b);
  store_close(c);
}

static void sql(const char *text) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void test_damage(void **state) {
  struct journal *j;
  struct store *store;
  struct str line;
  struct err err = {0};
  (void)state;
  fresh();
  store = opened();
  assert_int_equal(store_begin(store, STR("r"), 1, &j, &err), REIN_OK);
  for (int i = 0; i < 3; i++)
    append(j, "{\"whole\":1}");
  assert_int_equal(commit(j, &err), REIN_OK);
  j->kind->close(j);
  store_close(store);
  sql("UPDATE record SET line = '{\"whole\":2}' WHERE seq = 1");
  store = opened();
  assert_int_equal(store_look(store, STR("r"), &j, &err), REIN_OK);
  assert_int_equal(j->kind->record(j, 0, &line, &err), REIN_OK);
  assert_int_equal(j->kind->record(j, 1, &line, &err), REIN_SYSTEM);
  assert_int_equal(err.text, T_STORE_RECORD);
  j->kind->close(j);
  store_close(store);
  sql("PRAGMA user_version = 99");
  assert_int_equal(store_open(path, NULL, &store, &err), REIN_SYSTEM);
  assert_int_equal(err.text, T_STORE_NEWER);
  sql("PRAGMA application_id = 7");
  assert_int_equal(store_open(path, NULL, &store, &err), REIN_SYSTEM);
  assert_int_equal(err.text, T_STORE_NOT_OURS);
  FILE *f = fopen(path, "wb");
  for (int i = 0; i < 4096; i++)
    fputc('x', f);
  fclose(f);
  assert_int_equal(store_open(path, NULL, &store, &err), REIN_SYSTEM);
  assert_int_equal(err.text, T_STORE_NOT_OURS);
}

/* Two commits of a run; *safe: records whose commit was answered well. */
static bool write_run(size_t *safe, struct err *err) {
  struct store *store;
  struct journal *j = NULL;
  *safe = 0;
  if (store_open(path, NULL, &store, err) != REIN_OK) return false;
  bool ok = store_begin(store, STR("r"), 1, &j, err) == REIN_OK;
  for (int i = 0; i < 2 && ok; i++) {
    append(j, "{\"a\":1}");
    append(j, "{\"b\":1}");
    ok = commit(j, err) == REIN_OK;
    *safe += ok ? 2 : 0;
  }
  if (j) j->kind->close(j);
  store_close(store);
  return ok;
}

/* What was answered well is there; what is there is a whole step. */
static void look_back(size_t safe) {
  struct err err = {0};
  struct journal *j;
  struct str line;
  size_t n = 0;
  struct store *store = opened();
  if (store_look(store, STR("r"), &j, &err) == REIN_OK) {
    while (j->kind->record(j, n, &line, &err) == REIN_OK && line.n > 0)
      n++;
    j->kind->close(j);
  }
  store_close(store);
  assert_true(n >= safe && n % 2 == 0 && n <= safe + 2);
}

static void fails_each(int code, bool stays) {
  struct err err = {0};
  size_t safe;
  for (int at = 1; at < 1000; at++) {
    fresh();
    err = (struct err){0};
    faulty_set(at, code, stays);
    bool ok = write_run(&safe, &err);
    bool hit = atomic_load(&faulty_hit);
    faulty_set(0, 0, false);
    if (!ok) {
      struct buf words;
      buf_init(&words, 4096);
      err_put(&words, REIN_ENGLISH, &err);
      assert_true(words.n > 20);
      buf_release(&words);
    }
    look_back(safe);
    if (!hit) return;
  }
  fail_msg("it never came to an end");
}

static void test_each_call_fails(void **state) {
  (void)state;
  fails_each(0, false);
  fails_each(0, true);
  fails_each(SQLITE_FULL, false);
  fails_each(SQLITE_FULL, true);
}

/* -- commits that runs share -- */

#define RUNS 100

static struct loop *the_loop;
static int safe_count, safe_failed;

static void on_safe(void *ctx, const struct err *why) {
  (void)ctx;
  safe_failed += why != NULL;
  if (++safe_count == RUNS) loop_stop(the_loop);
}

static void test_group(void **state) {
  struct err err = {0};
  struct journal *j[RUNS];
  struct store *store;
  char name[16];
  (void)state;
  fresh();
  assert_int_equal(loop_new(&the_loop, &err), REIN_OK);
  assert_int_equal(store_open(path, the_loop, &store, &err), REIN_OK);
  safe_count = safe_failed = 0;
  for (int i = 0; i < RUNS; i++) {
    bool later = false;
    snprintf(name, sizeof name, "run-%d", i);
    assert_int_equal(store_begin(store, str_of(name), i, &j[i], &err), REIN_OK);
    j[i]->safe = on_safe;
    append(j[i], "{\"x\":1}");
    assert_int_equal(j[i]->kind->commit(j[i], &later, &err), REIN_OK);
    assert_true(later);
  }
  loop_run(the_loop);
  assert_int_equal(safe_count, RUNS);
  assert_int_equal(safe_failed, 0);
  for (int i = 0; i < RUNS; i++)
    assert_record(j[i], 0, "{\"x\":1}");
  append(j[0], "{\"y\":1}");
  bool later = false;
  assert_int_equal(j[0]->kind->commit(j[0], &later, &err), REIN_OK);
  j[0]->kind->close(j[0]); /* while its commit is under way */
  store_close(store);
  loop_free(the_loop, 1000);
}

/* -- lines -- */

static size_t lines(const char *text, size_t n, struct lines_found *found) {
  struct err err = {0};
  struct journal *j;
  assert_int_equal(lines_open((struct str){text, n}, &j, found, &err), REIN_OK);
  j->kind->close(j);
  return found->records;
}

static void test_lines(void **state) {
  static const char text[] =
      "{\"event\":\"start\"}\n{\"event\":\"say\",\"text\":\"}{ \xea\xb0\x80 \\\"\"}\n"
      "{\"stream\":\"piece\"}\n{\"event\":\"tick\"}";
  struct lines_found found;
  (void)state;
  for (size_t cut = 0; cut < sizeof text; cut++) {
    size_t n = lines(text, cut, &found);
    assert_true(n <= 3);
    assert_int_equal(found.damaged, 0);
    if (cut == sizeof text - 1) assert_int_equal(n, 3);
  }
  assert_int_equal(
      lines("{\"event\":\"a\"}{\"event\":\"b\"}\n\0\0\0{\"event\":\"c\"}\n", 44, &found), 3);
  assert_int_equal(found.nul_bytes, 3);
  assert_int_equal(lines("{\"event\":\"a\"}\n{\"eve\n{\"event\":\"c\"}\n", 34, &found), 1);
  assert_int_equal(found.damaged, 2);
  assert_int_equal(lines("{\"event\":\"\xff\"}\n{\"event\":\"c\"}\n", 26, &found), 0);
  assert_int_equal(found.damaged, 1);
}

static bool without_memory(void *ctx) {
  struct err err = {0};
  size_t safe;
  struct store *store;
  struct journal *j;
  (void)ctx;
  fresh();
  if (store_open(path, NULL, &store, &err) != REIN_OK) return false;
  bool ok = store_begin(store, STR("r"), 1, &j, &err) == REIN_OK;
  if (ok) {
    bool later;
    ok = j->kind->append(j, STR("{}"), &err) == REIN_OK &&
         j->kind->commit(j, &later, &err) == REIN_OK;
    j->kind->close(j);
  }
  store_close(store);
  (void)safe;
  return ok;
}

static void test_without_memory(void **state) {
  (void)state;
  assert_true(oom_each(without_memory, NULL) > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order),          cmocka_unit_test(test_one_writer),
      cmocka_unit_test(test_damage),         cmocka_unit_test(test_each_call_fails),
      cmocka_unit_test(test_group),          cmocka_unit_test(test_lines),
      cmocka_unit_test(test_without_memory),
  };
  faulty_register();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
