/* The official suite: every required test of both drafts, and the optional ones,
 * counted.
 *
 *   test_suite            the tests
 *   test_suite --report   a line for each group of optional tests: draft, file,
 *                         passed, number; and one for each that failed
 *
 * Documents below remotes/ are handed over under http://localhost:1234/, as the
 * suite asks; format is held where a folder's name says so.
 */
#include "schema/schema.h"

#include "support/shared.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SUITE "data/json-schema-test-suite"
#define REMOTES_MAX 200

struct suite {
  struct arena arena;
  struct schema_document documents[REMOTES_MAX];
  size_t document_n;
  struct schema_options options;
  bool report;
  size_t passed, number;           /* of the folder */
  size_t file_passed, file_number; /* of the file */
  const char *folder, *file;
};

static const char *path_of(char room[4096], const char *under, const char *name) {
  snprintf(room, 4096, "%.3000s/%.1000s", under, name);
  return room;
}

static const char *absolute(char room[4096], const char *name) {
  const char *shared = getenv("REIN_SHARED");
  snprintf(room, 4096, "%.1000s/%.3000s", shared ? shared : "../shared", name);
  return room;
}

static struct json *parse_file(struct suite *s, const char *name) {
  struct buf file;
  struct str text;
  struct json *doc = NULL;
  shared_read(&file, name);
  assert_true(arena_str(&s->arena, buf_str(&file), &text));
  buf_release(&file);
  assert_int_equal(json_parse(&s->arena, text, JSON_STRICT, &doc, NULL), REIN_OK);
  return doc;
}

static bool is_json(const char *name) {
  return str_ends(str_of(name), STR(".json"));
}

static void add_remotes(struct suite *s, const char *under, const char *uri) {
  char room[4096], name[4096], address[4096];
  DIR *dir = opendir(absolute(room, under));
  if (!dir) return;
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (entry->d_name[0] == '.') continue;
    path_of(name, under, entry->d_name);
    path_of(address, uri, entry->d_name);
    if (!is_json(entry->d_name)) {
      add_remotes(s, name, address);
      continue;
    }
    assert_in_range(s->document_n, 0, REMOTES_MAX - 1);
    struct schema_document *d = &s->documents[s->document_n++];
    assert_true(arena_str(&s->arena, str_of(address), &d->uri));
    d->json = parse_file(s, name);
  }
  closedir(dir);
}

static void suite_init(struct suite *s) {
  *s = (struct suite){.report = false};
  arena_init(&s->arena, 256u << 20);
  add_remotes(s, SUITE "/remotes", "http://localhost:1234");
  s->options.documents = s->documents;
  s->options.document_count = s->document_n;
}

static void tell(const struct suite *s, const struct json *group, const struct json *test,
                 const struct err *err) {
  struct buf why;
  buf_init(&why, 1 << 16);
  if (err->text) err_put(&why, REIN_ENGLISH, err);
  struct str about = json_text(json_get(group, "description"));
  struct str name = test ? json_text(json_get(test, "description")) : STR("(schema)");
  printf("failed\t%s\t%s\t%.*s\t%.*s\t%s\n", s->folder, s->file, (int)about.n, about.p, (int)name.n,
         name.p, buf_z(&why));
  buf_release(&why);
}

static void run_group(struct suite *s, const struct json *group) {
  struct schema *schema = NULL;
  struct err err = {0};
  enum rein_code made = schema_new(json_get(group, "schema"), &s->options, &schema, &err);
  const struct json *tests = json_get(group, "tests");
  for (const struct json *test = tests->first; test; test = test->next) {
    struct err why = err;
    enum rein_code code = made ? REIN_BUG : schema_check(schema, json_get(test, "data"), &why);
    bool valid = json_true(json_get(test, "valid"));
    bool right = valid ? code == REIN_OK : code == REIN_INPUT;
    s->file_passed += right;
    s->file_number++;
    if (!right) tell(s, group, test, &why);
  }
  schema_free(schema);
}

static void run_file(struct suite *s, const char *name) {
  const struct json *doc = parse_file(s, name);
  s->file_passed = s->file_number = 0;
  for (const struct json *group = doc->first; group; group = group->next)
    run_group(s, group);
  s->passed += s->file_passed;
  s->number += s->file_number;
  if (s->report)
    printf("file\t%s\t%s\t%zu\t%zu\n", s->folder, s->file, s->file_passed, s->file_number);
}

static bool run_folder(struct suite *s, const char *folder) {
  char room[4096], name[4096], path[4096];
  path_of(name, SUITE "/tests", folder);
  DIR *dir = opendir(absolute(room, name));
  if (!dir) return false;
  s->passed = s->number = 0;
  s->folder = folder;
  for (struct dirent *entry; (entry = readdir(dir));) {
    if (!is_json(entry->d_name)) continue;
    s->file = entry->d_name;
    run_file(s, path_of(path, name, entry->d_name));
  }
  closedir(dir);
  return true;
}

static void required(const char *folder, enum schema_draft draft, size_t number) {
  static struct suite s;
  suite_init(&s);
  s.options.draft = draft;
  if (!run_folder(&s, folder)) {
    print_message("skipped: %s is not there\n", folder);
    arena_release(&s.arena);
    skip();
  }
  printf("%s: %zu of %zu\n", folder, s.passed, s.number);
  assert_int_equal(s.number, number);
  assert_int_equal(s.passed, number);
  arena_release(&s.arena);
}

static void draft_2020_12(void **state) {
  (void)state;
  required("draft2020-12", SCHEMA_DRAFT_2020, 1299);
}

static void draft_7(void **state) {
  (void)state;
  required("draft7", SCHEMA_DRAFT_7, 927);
}

static int report(void) {
  static const struct {
    const char *folder;
    enum schema_draft draft;
    bool formats;
  } rows[] = {{"draft2020-12", SCHEMA_DRAFT_2020, false},
              {"draft2020-12/optional", SCHEMA_DRAFT_2020, false},
              {"draft2020-12/optional/format", SCHEMA_DRAFT_2020, true},
              {"draft7", SCHEMA_DRAFT_7, false},
              {"draft7/optional", SCHEMA_DRAFT_7, false},
              {"draft7/optional/format", SCHEMA_DRAFT_7, true}};
  static struct suite s;
  suite_init(&s);
  s.report = true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    s.options.draft = rows[i].draft;
    s.options.hold_formats = rows[i].formats;
    if (!run_folder(&s, rows[i].folder)) return 1;
    printf("folder\t%s\t%zu\t%zu\n", rows[i].folder, s.passed, s.number);
  }
  arena_release(&s.arena);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(draft_2020_12), cmocka_unit_test(draft_7)};
  if (argc > 1 && strcmp(argv[1], "--report") == 0) return report();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
