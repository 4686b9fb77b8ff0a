/* The whole program with each allocation failing in turn: it ends with an
 * outcome of its own, never by crashing or as wrong usage, and leaks nothing. In
 * `make check` only some of the places are tried, in check-long all. */
#include "support/oom.h"
#include "support/test.h"

#include "cli/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STEP_SHORT 23 /* coprime to the usual patterns of a run */

/* The runner gives each test a folder of its own: the journal goes there. */
static char *envp[] = {"HOME=.", "LANG=C.UTF-8", NULL};

/* program() with stdout and stderr put aside; what it did to them is not this
 * test's subject. */
static int quietly(char *const *argv) {
  int argc = 0, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  int out = dup(1), err = dup(2);
  while (argv[argc])
    argc++;
  dup2(null, 1);
  if (!getenv("SHOW")) dup2(null, 2);
  int code = program(argc, argv, envp);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  close(null);
  return code;
}

static void try_all(char *const *argv) {
  size_t step = getenv("REIN_LONG") ? 1 : STEP_SHORT;
  assert_int_equal(quietly(argv), 0);
  for (enum oom_how how = OOM_ONCE; how <= OOM_ON; how++) {
    for (size_t n = 1;; n += n < 40 ? 1 : step) {
      oom_fail_at(n, how);
      int code = quietly(argv);
      size_t failed = oom_failed();
      oom_stop();
      if (!failed) break;
      bool legal = code == 0 || code == 1 || (code >= 10 && code <= 25);
      if (!legal) print_error("allocation %zu: exit %d\n", n, code);
      assert_true(legal);
    }
  }
  assert_int_equal(quietly(argv), 0);
}

static void run(void **state) {
  char *argv[] = {"rein", "-m", "demo",
                  "-C",   "/",  "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘",
                  NULL};
  (void)state;
  try_all(argv);
}

static void run_as_json(void **state) {
  char *argv[] = {
      "rein", "-m", "demo", "-C", "/", "--output", "stream-json", "지금 몇 시인지 알려 줘", NULL};
  (void)state;
  try_all(argv);
}

static void dry_run(void **state) {
  char *argv[] = {
      "rein",         "-m",       "demo",     "--dry-run", "--output",           "json", "--policy",
      "get_time=ask", "--system", "be brief", "-t",        "get_time,read_file", "x",    NULL};
  (void)state;
  try_all(argv);
}

static void listings(void **state) {
  char *tools[] = {"rein", "tools", "--output", "json", NULL};
  char *help[] = {"rein", "--help", NULL};
  char *man[] = {"rein", "help", "--man", NULL};
  char *schema[] = {"rein", "help", "--schema", NULL};
  (void)state;
  try_all(tools);
  try_all(help);
  try_all(man);
  try_all(schema);
}

static void lint(void **state) {
  static const char tools[] =
      "{\"tools\":[{\"name\":\"run\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
      "\"user_id\":{\"type\":[\"string\",\"integer\",\"null\"],\"maxLength\":9},\"가\":{\"$ref\":"
      "\"#/$defs/n\"}},\"$defs\":{\"n\":{\"oneOf\":[{\"const\":1},{\"not\":{\"type\":"
      "\"object\"}}]}}}},{\"name\":\"map_it\",\"inputSchema\":{\"additionalProperties\":{}}}]}";
  char *file[] = {"rein", "lint", "--wire", "openai-strict", "tools.json", NULL};
  char *json[] = {"rein", "lint", "--output", "json", "tools.json", NULL};
  char *own[] = {"rein", "lint", "-t", "read_file", NULL};
  (void)state;
  FILE *f = fopen("tools.json", "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(tools, 1, sizeof tools - 1, f), sizeof tools - 1);
  assert_int_equal(fclose(f), 0);
  try_all(file);
  try_all(json);
  try_all(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(run), cmocka_unit_test(run_as_json),
                                     cmocka_unit_test(dry_run), cmocka_unit_test(listings),
                                     cmocka_unit_test(lint)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
