/* write_report: what it writes, and everything that is not below reports/. */
#include "house.h"

#include "support/oom.h"

static void open_house(struct house *h) {
  house_build(h, "w/proj");
  house_open(h);
}

static const char *report(struct house *h, const char *path, const char *content) {
  return house_say(h, "write_report", "path", path, "content", content, NULL);
}

static void writes(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  assert_string_equal(report(&h, "reports/x.md", "내용\n"), "wrote reports/x.md, 7 bytes");
  assert_false(h.is_error);
  assert_true(house_holds(&h, "w/proj/reports/x.md", "내용\n"));
  assert_string_equal(report(&h, "reports/x.md", ""),
                      "wrote reports/x.md, 0 bytes, in place of the file that was there");
  assert_true(house_holds(&h, "w/proj/reports/x.md", ""));
  report(&h, "./reports/deep/er/보고서.md", "x");
  assert_false(h.is_error);
  assert_true(house_holds(&h, "w/proj/reports/deep/er/보고서.md", "x"));
  house_json(&h, "write_report",
             "{\"path\":\"reports/s.md\",\"content\":\"a\\ud800b \\ud83d\\ude42\"}");
  assert_true(house_holds(&h, "w/proj/reports/s.md",
                          "a\xef\xbf\xbd"
                          "b \xf0\x9f\x99\x82"));
  h.house.model_lang = REIN_KOREAN;
  assert_string_equal(report(&h, "reports/k.md", "x"), "reports/k.md을(를) 썼습니다(1바이트).");
  house_drop(&h);
}

static void refused(struct house *h, const char *path) {
  report(h, path, "CANARY");
  assert_int_equal(h->code, REIN_OK);
  if (!h->is_error) fail_msg("%s was written", path);
  assert_has(buf_z(&h->answer), "reports/");
  assert_has_not(buf_z(&h->answer), "\x1b");
  assert_has_not(buf_z(&h->answer), "\n");
}

/* Each says where it may write, and nothing is there afterwards. */
static void refuses(void **state) {
  (void)state;
  struct house h;
  char full[1024];
  open_house(&h);
  snprintf(full, sizeof full, "%s/outside", h.top);
  mkdir(full, 0755);
  house_file(&h, "reports/old.md", STR("old"));
  static const char *const paths[] = {
      "reports/../secret.txt",
      "reports-evil/x.md",
      "x.md",
      "src/x.md",
      "../reports/x.md",
      "reports/../../x",
      "..",
      "Reports/x.md",
      "reports",
      "reports/",
      "reports/a/../../../x",
      "/etc/x",
      "reports/out/x.md",
      "reports/file.md",
      "reports/.git/config",
      "reports/.GIT/hooks/x",
      "~/reports/x.md",
      "reports\\x.md",
      "\x1b[2J\n",
  };
  snprintf(full, sizeof full, "%s/reports/out", h.root);
  assert_int_equal(symlink("../../../outside", full), 0);
  snprintf(full, sizeof full, "%s/reports/file.md", h.root);
  assert_int_equal(symlink("../../../outside/new.md", full), 0);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    refused(&h, paths[i]);
  snprintf(full, sizeof full, "%s/reports/abs.md", h.root);
  report(&h, full, "CANARY");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "reports/");
  house_json(&h, "write_report", "{\"path\":\"reports/a.txt\\u0000.md\",\"content\":\"x\"}");
  assert_true(h.is_error);
  report(&h, "", "x");
  assert_true(h.is_error);
  assert_false(house_holds(&h, "w/proj/secret.txt", NULL));
  assert_false(house_holds(&h, "w/proj/reports-evil/x.md", NULL));
  assert_false(house_holds(&h, "outside/x.md", NULL));
  assert_false(house_holds(&h, "outside/new.md", NULL));
  assert_false(house_holds(&h, "w/proj/reports/a.txt", NULL));
  assert_false(house_holds(&h, "w/proj/reports/abs.md", NULL));
  assert_true(house_holds(&h, "w/proj/reports/old.md", "old"));
  house_drop(&h);
}

/* reports/ itself leads out. */
static void reports_is_a_link(void **state) {
  (void)state;
  struct house h;
  char full[1024];
  open_house(&h);
  snprintf(full, sizeof full, "%s/outside", h.top);
  mkdir(full, 0755);
  snprintf(full, sizeof full, "%s/reports", h.root);
  assert_int_equal(symlink("../../outside", full), 0);
  refused(&h, "reports/x.md");
  assert_false(house_holds(&h, "outside/x.md", NULL));
  house_drop(&h);
}

static void battery(void **state) {
  (void)state;
  struct house h;
  size_t n;
  open_house(&h);
  char *text = house_shared("P03-path-battery/paths.json", &n);
  if (!text) {
    house_drop(&h);
    skip();
  }
  struct arena arena;
  struct json *doc = NULL;
  struct err err = {0};
  arena_init(&arena, 1u << 20);
  assert_int_equal(json_parse(&arena, (struct str){text, n}, JSON_STRICT, &doc, &err), REIN_OK);
  for (const struct json *item = doc->first; item; item = item->next) {
    struct buf args;
    buf_init(&args, 1u << 20);
    struct json_out w = json_out(&args);
    json_open(&w, '{');
    json_key(&w, "path");
    json_put_raw(&w, json_get(item, "p")->source);
    json_key(&w, "content");
    json_put_text(&w, STR("x"));
    json_close(&w, '}');
    house_call(&h, "write_report", buf_str(&args));
    assert_int_equal(h.code, REIN_OK);
    assert_true(h.is_error);
    buf_release(&args);
  }
  assert_string_equal(house_json(&h, "list_files", "{}"), "the folder . is empty");
  arena_release(&arena);
  free(text);
  house_drop(&h);
}

static bool scenario(void *ctx) {
  struct house *h = ctx;
  report(h, "reports/a.md", "text");
  bool ok = !h->code && !h->is_error && !h->answer.fail;
  if (ok) assert_true(house_holds(h, "w/proj/reports/a.md", "text"));
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  buf_room(&h.answer, ANSWER_MAX);
  assert_true(oom_each(scenario, &h) > 0);
  assert_string_equal(house_json(&h, "list_files", "{\"dir\":\"reports\"}"), "reports/a.md");
  house_drop(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes),  cmocka_unit_test(refuses),   cmocka_unit_test(reports_is_a_link),
      cmocka_unit_test(battery), cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
