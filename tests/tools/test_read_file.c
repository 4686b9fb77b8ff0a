/* read_file: pages, odd files, and paths that lead nowhere or out. */
#include "house.h"
#include "tools/rows.h"

#include "support/oom.h"

static void open_house(struct house *h) {
  house_build(h, "w/proj");
  house_open(h);
}

static const char *read_text(struct house *h, const char *path) {
  return house_say(h, "read_file", "path", path, NULL);
}

static void pages(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "five.txt", STR("one\ntwo\nthree\nfour\nfive\n"));
  house_file(&h, "end.txt", STR("one\r\n끝 줄"));
  assert_string_equal(read_text(&h, "five.txt"), "one\ntwo\nthree\nfour\nfive\n");
  assert_string_equal(read_text(&h, "end.txt"), "one\r\n끝 줄");
  assert_string_equal(house_json(&h, "read_file", "{\"path\":\"five.txt\",\"limit\":2}"),
                      "one\ntwo\n[lines 1-2 of 5 shown; read on with offset 3]");
  assert_string_equal(
      house_json(&h, "read_file", "{\"path\":\"five.txt\",\"offset\":3,\"limit\":2}"),
      "three\nfour\n[lines 3-4 of 5 shown; read on with offset 5]");
  assert_string_equal(house_json(&h, "read_file", "{\"path\":\"five.txt\",\"offset\":5}"),
                      "five\n[lines 5-5 of 5 shown; this is the end of the file]");
  assert_string_equal(
      house_json(&h, "read_file", "{\"path\":\"end.txt\",\"offset\":2,\"limit\":null}"),
      "끝 줄\n[lines 2-2 of 2 shown; this is the end of the file]");
  assert_false(h.is_error);
  house_json(&h, "read_file", "{\"path\":\"five.txt\",\"offset\":6}");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "the file has 5 lines");
  house_json(&h, "read_file", "{\"path\":\"end.txt\",\"offset\":900}");
  assert_has(buf_z(&h.answer), "the file has 2 lines");
  house_json(&h, "read_file", "{\"path\":\"five.txt\",\"offset\":0}");
  assert_has(buf_z(&h.answer), "offset must be a whole number from 1 on, not 0");
  house_json(&h, "read_file", "{\"path\":\"five.txt\",\"limit\":1e400}");
  assert_true(h.is_error);
  h.house.model_lang = REIN_KOREAN;
  assert_has(house_json(&h, "read_file", "{\"path\":\"five.txt\",\"limit\":1}"),
             "전체 5줄 중 1-1번째");
  house_drop(&h);
}

/* Reading on with the offset that the notice names shows every line once. */
static void reads_on(void **state) {
  (void)state;
  struct house h;
  struct buf file, seen;
  open_house(&h);
  buf_init(&file, 4u << 20);
  buf_init(&seen, 4u << 20);
  for (int i = 0; i < 30000; i++)
    buf_fmt(&file, "줄 %d %.*s\n", i, i % 40, "0123456789012345678901234567890123456789");
  house_file(&h, "long.txt", buf_str(&file));
  int64_t offset = 1;
  int calls = 0;
  while (offset) {
    char args[100];
    snprintf(args, sizeof args, "{\"path\":\"long.txt\",\"offset\":%lld}", (long long)offset);
    house_json(&h, "read_file", args);
    assert_false(h.is_error);
    struct str text = buf_str(&h.answer), data, notice;
    assert_true(utf8_count(text) <= 20100);
    assert_true(str_split_last(text, '\n', &data, &notice));
    buf_put(&seen, data);
    buf_c(&seen, '\n');
    const char *on = strstr(notice.p, "offset ");
    offset = on ? strtoll(on + 7, NULL, 10) : 0;
    calls++;
  }
  assert_true(str_eq(buf_str(&file), buf_str(&seen)));
  assert_true(calls > 10 && calls < 80);
  buf_release(&file);
  buf_release(&seen);
  house_drop(&h);
}

static void long_lines(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  buf_init(&file, 4u << 20);
  buf_lit(&file, "first\n");
  for (int i = 0; i < 100000; i++)
    buf_lit(&file, "가");
  buf_lit(&file, "\nlast\n");
  house_file(&h, "wide.txt", buf_str(&file));
  assert_string_equal(read_text(&h, "wide.txt"),
                      "first\n[lines 1-1 of 3 shown; read on with offset 2]");
  house_json(&h, "read_file", "{\"path\":\"wide.txt\",\"offset\":2}");
  assert_has(buf_z(&h.answer), "[line 2 is cut here: it is longer than 20000 characters");
  assert_has(buf_z(&h.answer), "read on with offset 3]");
  assert_has_not(buf_z(&h.answer), "UTF-8");
  assert_int_equal(
      utf8_count(str_part(buf_str(&h.answer), 0, str_find_char(buf_str(&h.answer), '\n'))), 20000);
  h.house.read_points_max = 8;
  house_json(&h, "read_file", "{\"path\":\"wide.txt\",\"offset\":3}");
  assert_string_equal(buf_z(&h.answer),
                      "last\n[lines 3-3 of 3 shown; this is the end of the file]");
  assert_has(read_text(&h, "wide.txt"), "first\n[lines 1-1 of 3");
  buf_release(&file);
  house_drop(&h);
}

static void other_encodings(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "cp949.txt", STR("\xc3\xa3\xc0\xbb\xb8\xbb \xc7\xd1\xb1\xdb\n"));
  house_file(&h, "bom.txt",
             STR("\xef\xbb\xbf"
                 "가\n나\n"));
  house_file(&h, "half.txt",
             STR("a\xed\xa0\x80"
                 "b\xf0\x9f\n"));
  house_file(&h, "utf16.txt",
             STR("\xff\xfe"
                 "a\0b\0"));
  house_file(&h, "empty.txt", STR(""));
  house_file(&h, "blank.txt", STR("\n\n"));
  assert_has(read_text(&h, "cp949.txt"),
             "찾을말 한글\n[the file is not UTF-8 but looks like CP949");
  assert_string_equal(read_text(&h, "bom.txt"), "가\n나\n");
  assert_has(read_text(&h, "half.txt"), "shown as U+FFFD");
  assert_string_equal(read_text(&h, "utf16.txt"),
                      "ab\n[the file is UTF-16LE, shown decoded; edit_file keeps its encoding]");
  house_file(&h, "lone.txt", STR("\xfe\xff\xd8\0\0a"));
  assert_has(read_text(&h, "lone.txt"), "\xef\xbf\xbd"
                                        "a\n[the file is UTF-16BE");
  assert_has(buf_z(&h.answer), "not in this encoding");
  house_file(&h, "latin.txt", STR("caf\xe9 cr\xe8me\n"));
  assert_has(read_text(&h, "latin.txt"), "shown as U+FFFD");
  house_file(&h, "utf32.txt", STR("\xff\xfe\0\0a\0\0\0"));
  assert_has(read_text(&h, "utf32.txt"), "a UTF-32 text");
  assert_string_equal(read_text(&h, "empty.txt"), "(the file is empty)");
  assert_string_equal(read_text(&h, "blank.txt"), "\n\n[these lines are blank]");
  assert_false(h.is_error);
  house_drop(&h);
}

/* Blocks end anywhere in a character: each line comes out whole wherever the
 * file's blocks happen to be cut. */
static void cut_anywhere(void **state) {
  (void)state;
  static const struct {
    struct str head, line;
  } files[] = {
      {STR("a"), STR("\xc7\xd1\xb1\xdb\x94\xee x\n")},
      {STR("\xff\xfe"), STR("\x5c\xd5\x3d\xd8\x42\xde\x20\0\n\0")},
      {STR("\xfe\xff"), STR("\xd5\x5c\xd8\x3d\xde\x42\0\x20\0\n")},
  };
  static const char *const lines[] = {"한글뷁 x\n", "한🙂 \n", "한🙂 \n"};
  struct house h;
  struct buf file;
  open_house(&h);
  h.house.read_points_max = 1000000;
  buf_init(&file, 1u << 20);
  for (size_t i = 0; i < 3; i++)
    for (size_t shift = 0; shift < 8; shift += i ? 2 : 1) {
      size_t n = 0;
      buf_reset(&file);
      buf_put(&file, files[i].head);
      for (size_t k = 0; k < shift; k += i ? 2 : 1)
        buf_put(&file, i == 2 ? STR("\0a") : i ? STR("a\0") : STR("a"));
      for (; file.n < 140000; n++)
        buf_put(&file, files[i].line);
      house_file(&h, "x", buf_str(&file));
      read_text(&h, "x");
      assert_has_not(buf_z(&h.answer), "\xef\xbf\xbd");
      size_t seen = 0;
      for (const char *at = buf_z(&h.answer); (at = strstr(at, lines[i])); at++)
        seen++;
      assert_int_equal(seen, n);
    }
  buf_release(&file);
  house_drop(&h);
}

/* What was read to its end is what the run has seen; the driver journals it. */
static void seen(void **state) {
  (void)state;
  struct house h;
  struct err err = {0};
  struct rein_call *call = NULL;
  open_house(&h);
  house_file(&h, "src/x", STR("one\ntwo\n"));
  assert_int_equal(
      call_new(&tool_read_file, &h.house, STR("{\"path\":\"./src/x\",\"limit\":1}"), &call, &err),
      REIN_OK);
  assert_int_equal(tool_read_file.run(call), REIN_OK);
  assert_true(str_is(call->saw.path, "src/x"));
  assert_true(call->saw.hash == files_hash(STR("one\ntwo\n")));
  call_free(call);
  house_drop(&h);
}

static void binaries(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("\x89PNG\r\n\x1a\n\0\0"));
  house_file(&h, "b", STR("%PDF-1.7\nabc"));
  house_file(&h, "c", STR("abc\0def"));
  house_file(&h, "d", STR("\x01\x02\x03 text \x01\x02"));
  house_file(&h, "e", STR("\x1b[0m colours\n"));
  struct buf late;
  buf_init(&late, 1u << 20);
  for (int i = 0; i < 3000; i++)
    buf_lit(&late, "글");
  buf_c(&late, 0);
  buf_lit(&late, "tail");
  house_file(&h, "late", buf_str(&late));
  buf_release(&late);
  assert_string_equal(read_text(&h, "a.txt"),
                      "(this is a PNG image, 10 bytes: it cannot be read as text)");
  assert_has(read_text(&h, "b"), "a PDF document");
  assert_string_equal(read_text(&h, "c"),
                      "(this is a binary file, 7 bytes: it cannot be read as text)");
  assert_has(read_text(&h, "d"), "a binary file");
  assert_has(read_text(&h, "e"), "colours");
  assert_has(read_text(&h, "late"), "a binary file, 9005 bytes");
  size_t n;
  char *bin = house_shared("M10-nul-and-control-bytes/bin.dat", &n);
  if (bin) {
    house_file(&h, "bin.dat", (struct str){bin, n});
    assert_has(read_text(&h, "bin.dat"), "a binary file");
    free(bin);
  }
  house_drop(&h);
}

static void refused(struct house *h, const char *path) {
  read_text(h, path);
  assert_true(h->is_error);
  assert_has_not(buf_z(&h->answer), "CANARY");
  assert_has_not(buf_z(&h->answer), "\x1b");
}

static void beside_the_root(void **state) {
  (void)state;
  struct house h;
  size_t n;
  house_build(&h, "w/proj");
  char *paths = house_shared("P01-sibling-prefix/paths.tsv", &n);
  if (!paths || !house_case(&h, "P01-sibling-prefix")) {
    house_drop(&h);
    skip();
  }
  house_open(&h);
  struct str rest = {paths, n}, line, path, want;
  int in = 0, out = 0;
  while (str_next(&rest, '\n', &line)) {
    char full[2048];
    if (!str_split(line, '\t', &path, &want)) continue;
    bool rooted = str_starts(path, STR("$ROOT"));
    if (rooted) path = str_part(path, 5, path.n);
    snprintf(full, sizeof full, "%s%.*s", rooted ? h.root : "", (int)path.n, path.p);
    if (str_is(str_trim(want), "in")) {
      assert_string_equal(read_text(&h, full), "ok\n");
      in++;
    } else {
      refused(&h, full);
      out++;
    }
  }
  assert_true(in == 6 && out == 5);
  free(paths);
  house_drop(&h);
}

static void links(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "w/proj");
  if (!house_case(&h, "P02-symlinks-read-and-write")) {
    house_drop(&h);
    skip();
  }
  house_open(&h);
  refused(&h, "link.txt");
  refused(&h, "abs.txt");
  refused(&h, "out/victim.txt");
  refused(&h, "dangling.txt");
  refused(&h, "loop1");
  refused(&h, "deep/d/victim.txt");
  assert_string_equal(read_text(&h, "inlink/f.txt"), "in\n");
  files_close_root(&h.files);
  snprintf(h.root, sizeof h.root, "%s/w/rootlink", h.top);
  house_open(&h);
  assert_string_equal(read_text(&h, "real/f.txt"), "in\n");
  house_drop(&h);
}

/* A long name does not push the way out of the 200 characters an error has. */
static void long_errors(void **state) {
  (void)state;
  struct house h;
  char path[1024] = "";
  open_house(&h);
  for (int i = 0; i < 84; i++)
    memcpy(path + 3 * i, "가", 4);
  for (int korean = 0; korean < 2; korean++) {
    h.house.model_lang = korean ? REIN_KOREAN : REIN_ENGLISH;
    assert_has(read_text(&h, path), "list_files");
    assert_true(h.is_error && utf8_count(buf_str(&h.answer)) <= 200);
    house_say(&h, "search_files", "pattern", "a", "glob", "[가가가", NULL);
    assert_true(h.is_error && utf8_count(buf_str(&h.answer)) <= 200);
    house_say(&h, "github_repo_info", "owner", path, "repo", path, NULL);
    assert_has(buf_z(&h.answer), "…");
    assert_true(h.is_error && utf8_count(buf_str(&h.answer)) <= 200);
  }
  house_drop(&h);
}

static void odd_paths(void **state) {
  (void)state;
  struct house h;
  size_t n;
  open_house(&h);
  house_file(&h, "..\\secret", STR("literal"));
  house_file(&h, "새\n줄.txt", STR("literal"));
  assert_string_equal(read_text(&h, "..\\secret"), "literal");
  assert_string_equal(read_text(&h, "새\n줄.txt"), "literal");
  read_text(&h, ".");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "list_files");
  read_text(&h, "absent.txt");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "absent.txt");
  house_json(&h, "read_file", "{\"path\":\"a.txt\\u0000.md\"}");
  assert_true(h.is_error);
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
  assert_true(doc->count > 10);
  for (const struct json *item = doc->first; item; item = item->next) {
    struct buf args;
    buf_init(&args, 1u << 20);
    struct json_out w = json_out(&args);
    json_open(&w, '{');
    json_key(&w, "path");
    json_put_raw(&w, json_get(item, "p")->source);
    json_close(&w, '}');
    house_call(&h, "read_file", buf_str(&args));
    assert_int_equal(h.code, REIN_OK);
    if (!str_has(json_get(item, "p")->text, STR("\n")) &&
        !str_is(json_get(item, "p")->text, "..\\secret"))
      assert_true(h.is_error);
    assert_has_not(buf_z(&h.answer), "\x1b");
    buf_release(&args);
  }
  arena_release(&arena);
  free(text);
  house_drop(&h);
}

static void big_files(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "tree");
  if (!house_case(&h, "F04-big-binary-broken-files")) {
    house_drop(&h);
    skip();
  }
  house_open(&h);
  assert_has(read_text(&h, "sparse.log"), "a binary file, 2147483648 bytes");
  assert_has(read_text(&h, "oneline.js"), "longer than 20000 characters");
  assert_true(utf8_count(buf_str(&h.answer)) < 20200);
  assert_has(read_text(&h, "late-nul.txt"), "a binary file");
  assert_has(read_text(&h, "cp949.txt"), "CP949");
  assert_string_equal(read_text(&h, "no-eol.txt"), "끝 줄에 찾을말");
  assert_string_equal(read_text(&h, "empty.txt"), "(the file is empty)");
  house_drop(&h);
}

/* A character that lies across two blocks of the file is read whole. */
static void across_blocks(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  buf_init(&file, 1u << 20);
  for (size_t shift = 0; shift < 4; shift++) {
    buf_reset(&file);
    for (size_t i = 0; i < (64u << 10) - 8 + shift; i++)
      buf_c(&file, i % 64 == 63 ? '\n' : 'a');
    buf_lit(&file, "가나다라마\n");
    house_file(&h, "a.txt", buf_str(&file));
    assert_has(house_json(&h, "read_file", "{\"path\":\"a.txt\",\"offset\":1024}"),
               "가나다라마\n[lines");
    assert_has_not(buf_z(&h.answer), "U+FFFD");
  }
  buf_release(&file);
  house_drop(&h);
}

static void cancelled(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("text\n"));
  house_cancelled(&h, "read_file", STR("{\"path\":\"a.txt\"}"));
  house_drop(&h);
}

static bool scenario(void *ctx) {
  struct house *h = ctx;
  house_json(h, "read_file", "{\"path\":\"a.txt\",\"limit\":2}");
  bool ok = !h->code && !h->is_error && !h->answer.fail;
  if (ok) assert_has(buf_z(&h->answer), "two\xef\xbf\xbd\n[some");
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("one\ntwo\xff\nthree\n"));
  buf_room(&h.answer, ANSWER_MAX); /* the test's own memory is not what fails */
  assert_true(oom_each(scenario, &h) > 0);
  house_drop(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages),         cmocka_unit_test(reads_on),
      cmocka_unit_test(long_lines),    cmocka_unit_test(other_encodings),
      cmocka_unit_test(cut_anywhere),  cmocka_unit_test(seen),
      cmocka_unit_test(binaries),      cmocka_unit_test(beside_the_root),
      cmocka_unit_test(links),         cmocka_unit_test(long_errors),
      cmocka_unit_test(odd_paths),     cmocka_unit_test(big_files),
      cmocka_unit_test(across_blocks), cmocka_unit_test(cancelled),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
