/* The two tutorial tasks: real tools and real HTTP, a scripted model that speaks
 * the wire's own bytes; GitHub is served beside it. */
#include "driver/world.h"
#include "tools/tools.h"

#include <ftw.h>
#include <sys/stat.h>

static const char *const wanted[] = {
    "get_time",     "read_file", "list_files", "search_files", "github_repo_info",
    "http_get",     "http_post", "write_file", "edit_file",    "delete_file",
    "write_report", "exec",      "git_diff"};
#define ROWS (sizeof wanted / sizeof *wanted)

static bool serve_repository(int fd) {
  peer_answer(fd, 200, "content-type: application/json\r\n",
              STR("{\"full_name\":\"lodash/lodash\",\"description\":\"A utility library\","
                  "\"stargazers_count\":59000,\"open_issues_count\":400,\"archived\":false,"
                  "\"pushed_at\":\"2026-10-01T00:00:00Z\",\"default_branch\":\"main\"}"));
  return true;
}

static bool serve_script(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct script_answer answer = {0};
  struct err err = {0};
  if (str_starts(peer_head(peer, n), STR("GET /repos/lodash/lodash "))) return serve_repository(fd);
  if (script_answer(ctx, STR("/v1/messages"), body, &answer, &err) != REIN_OK) return false;
  peer_stream_begin(fd);
  for (size_t at = 0; at < answer.body.n; at += 61) /* cut anywhere, also in a character */
    peer_stream(fd, str_part(buf_str(&answer.body), at, 61));
  peer_stream_end(fd);
  buf_release(&answer.body);
  buf_release(&answer.headers);
  return true;
}

static void write_file(const char *root, const char *name, const char *text) {
  char path[700];
  snprintf(path, sizeof path, "%s/%s", root, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

struct task {
  struct world w;
  struct script *script;
  struct files files;
  char root[600];
  struct rein_tool rows[ROWS];
  struct live *live;
};

static void task_run(struct task *t, const char *words) {
  struct err err = {0};
  const char *tmp = getenv("TMPDIR");
  snprintf(t->root, sizeof t->root, "%s/rein-task-XXXXXX", tmp ? tmp : P_tmpdir);
  assert_non_null(mkdtemp(t->root));
  write_file(t->root, "README.md", "# 작은 프로젝트\n둘째 줄\n");
  write_file(t->root, "package.json", "{\"dependencies\": {\"lodash\": \"^4.17.21\"}}\n");
  write_file(t->root, "app.js", "const _ = require('lodash');\n");
  for (size_t i = 0; i < ROWS; i++)
    t->rows[i] = *builtin_tool(wanted[i]);
  assert_int_equal(script_new(str_of(script_demo), &t->script, &err), REIN_OK);
  world_open(&t->w, serve_script, t->script);
  assert_int_equal(files_open_root(t->root, &t->files, &err), REIN_OK);
  struct run_spec spec = world_spec(&t->w, t->rows, ROWS);
  spec.files = &t->files;
  spec.github_url = str_of(peer_url(t->w.peer));
  t->live = world_say(&t->w, &spec, words);
  loop_run(t->w.loop);
  assert_int_equal(t->live->outcome, REIN_OUTCOME_FINISHED);
}

static void task_close(struct task *t) {
  files_close_root(&t->files);
  world_close(&t->w);
  script_free(t->script);
  nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_first_line_and_time(void **state) {
  static struct task t;
  (void)state;
  task_run(&t, "README.md의 첫 줄을 읽고, 그다음 지금 몇 시인지 알려 줘");
  struct agent_stats stats = agent_stats(run_agent(t.live->run));
  assert_int_equal(stats.turns, 2);
  assert_int_equal(stats.requests, 3);
  struct str text = agent_text(run_agent(t.live->run));
  assert_true(str_has(text, STR("# 작은 프로젝트")));
  assert_false(str_has(text, STR("둘째")));
  /* All that was streamed is what was answered, whole characters each time. */
  assert_true(str_ends(buf_str(&t.live->text), text));
  task_close(&t);
}

static void test_lodash(void **state) {
  static struct task t;
  (void)state;
  task_run(&t, "이 프로젝트에서 lodash를 쓰고 있나요? GitHub에서 어떤 상태인지도 알아봐 주세요");
  struct agent_stats stats = agent_stats(run_agent(t.live->run));
  assert_int_equal(stats.turns, 3);
  assert_int_equal(stats.requests, 4);
  struct str text = agent_text(run_agent(t.live->run));
  assert_true(str_starts(text, STR("최종 답변:")));
  assert_true(str_has(text, STR("59000")));
  task_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_first_line_and_time),
      cmocka_unit_test(test_lodash),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
