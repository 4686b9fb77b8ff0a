/* JSONTestSuite, handed beside the project: every y_ file is taken, every n_
 * file refused, the i_ files go as Node's JSON.parse takes them; and each text
 * is also read cut at every point.
 */
#include "support/test.h"

#include "json/json.h"
#include "text/text.h"

#include <dirent.h>
#include <stdlib.h>

#define FILE_MAX ((size_t)1 << 20)
#define CUT_EACH_MAX 2000 /* longer texts are cut at some points: they repeat themselves */

static const char *folder(void) {
  static char path[4096];
  const char *shared = getenv("REIN_SHARED");
  int n = snprintf(path, sizeof path, "%s/data/json-parsing/test_parsing",
                   shared ? shared : "../shared");
  assert_in_range(n, 1, sizeof path - 1);
  return path;
}

static struct buf read_file(const char *name) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", folder(), name);
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  struct buf text = {.max = FILE_MAX};
  char *room = buf_room(&text, FILE_MAX);
  assert_non_null(room);
  buf_grown(&text, fread(room, 1, FILE_MAX, f));
  fclose(f);
  return text;
}

/* Reads from memory that ends where the text ends. */
static enum rein_code parse(struct str text, struct err *err) {
  struct arena arena;
  arena_init(&arena, 64u << 20);
  char *room;
  struct json *doc = NULL;
  enum rein_code code = json_parse(&arena, exact_copy(text, &room), JSON_STRICT, &doc, err);
  assert_int_equal(doc != NULL, code == REIN_OK);
  mem_free(room);
  arena_release(&arena);
  return code;
}

/* As JSON.parse of Node 20 (texts that are not UTF-8 never reach it). */
static bool node_takes(const char *name) {
  static const char *const refused[] = {
      "i_string_UTF-16LE_with_BOM.json",
      "i_string_UTF-8_invalid_sequence.json",
      "i_string_UTF8_surrogate_U+D800.json",
      "i_string_invalid_utf-8.json",
      "i_string_iso_latin_1.json",
      "i_string_lone_utf8_continuation_byte.json",
      "i_string_not_in_unicode_range.json",
      "i_string_overlong_sequence_2_bytes.json",
      "i_string_overlong_sequence_6_bytes.json",
      "i_string_overlong_sequence_6_bytes_null.json",
      "i_string_truncated-utf-8.json",
      "i_string_utf16BE_no_BOM.json",
      "i_string_utf16LE_no_BOM.json",
      "i_structure_UTF-8_BOM_empty_object.json",
  };
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    if (strcmp(name, refused[i]) == 0) return false;
  return true;
}

static int visit(bool (*look)(const char *name, struct str text)) {
  DIR *dir = opendir(folder());
  if (!dir) {
    print_message("skipped: %s is not there\n", folder());
    skip();
  }
  int bad = 0, seen = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    const char *name = entry->d_name;
    if (!str_ends(str_of(name), STR(".json"))) continue;
    struct buf text = read_file(name);
    if (!look(name, buf_str(&text))) {
      print_error("%s\n", name);
      bad++;
    }
    seen++;
    buf_release(&text);
  }
  closedir(dir);
  assert_true(seen > 300);
  return bad;
}

static bool goes_as_named(const char *name, struct str text) {
  struct err err = {0};
  enum rein_code code = parse(text, &err);
  bool want = name[0] == 'y' || (name[0] == 'i' && node_takes(name));
  if (code && (err.text == T_NONE || err.line == 0 || err.column == 0 || err.at > text.n))
    return false;
  return (code == REIN_OK) == want;
}

/* A cut text is refused or read, never read beyond its end; cut inside an
 * array or object it is always refused. */
static bool goes_when_cut(const char *name, struct str text) {
  (void)name;
  struct err err = {0};
  if (parse(text, &err)) err.code = REIN_INPUT;
  struct str seen = str_trim(text);
  bool nested = err.code == REIN_OK && (seen.p[0] == '{' || seen.p[0] == '[');
  size_t step = text.n > CUT_EACH_MAX ? 9973 : 1;
  for (size_t cut = 0; cut < text.n; cut += step) {
    struct err why = {0};
    enum rein_code code = parse(str_part(text, 0, cut), &why);
    if (nested && !code && text.p + cut < seen.p + seen.n) return false;
    if (code && why.at > cut) return false;
  }
  return true;
}

static void suite(void **state) {
  (void)state;
  assert_int_equal(visit(goes_as_named), 0);
}

static void suite_cut(void **state) {
  (void)state;
  assert_int_equal(visit(goes_when_cut), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(suite), cmocka_unit_test(suite_cut)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
