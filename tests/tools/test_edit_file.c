/* edit_file: the handed cases of editing and encodings, and others like them. */
#include "house.h"

#include "support/oom.h"

#include <dirent.h>

static void open_house(struct house *h) {
  house_build(h, "proj");
  house_open(h);
}

static const char *edit(struct house *h, const char *old, const char *new) {
  return house_say(h, "edit_file", "path", "f.txt", "old", old, "new", new, NULL);
}

static bool holds(struct house *h, struct str want) {
  char full[2048], got[4096];
  snprintf(full, sizeof full, "%s/f.txt", h->root);
  FILE *f = fopen(full, "rb");
  assert_non_null(f);
  size_t n = fread(got, 1, sizeof got, f);
  fclose(f);
  return str_eq((struct str){got, n}, want);
}

struct row {
  struct str file;
  const char *args; /* behind "path" */
  struct str want;  /* the file; its p NULL: an error, and the file stays */
  const char *says; /* part of the answer */
};
#define B(literal) STR(literal)
#define ROW(file, args, want, says)                                                                \
  { B(file), args, B(want), says }
#define BAD(file, args, says)                                                                      \
  { B(file), args, STR_NONE, says }

static const struct row rows[] = {
    /* F05 and its kin */
    BAD("가나가나", "\"old\":\"가나\",\"new\":\"x\"", "more than once, in lines 1, 1"),
    BAD("a\nb\na\nb\na", "\"old\":\"a\",\"new\":\"x\"", "in lines 1, 3, 5"),
    BAD("aaa", "\"old\":\"aa\",\"new\":\"b\"", "overlap"),
    BAD("aaaa", "\"old\":\"aa\",\"new\":\"b\",\"all\":true", "overlap"),
    ROW("a.a.a", "\"old\":\"a\",\"new\":\"bb\",\"all\":true", "bb.bb.bb",
        "at 3 places, lines 1, 1, 1"),
    BAD("값", "\"old\":\"\",\"new\":\"x\"", "old is empty"),
    BAD("", "\"old\":\"a\",\"new\":\"x\"", "nor anything like it"),
    ROW("f(x)", "\"old\":\"f(x)\",\"new\":\"$& $1 \\\\1 $$ ${y}\"", "$& $1 \\1 $$ ${y}",
        "line 1:\n1: $& $1 \\1 $$ ${y}"),
    BAD("a\tb", "\"old\":\"a b\",\"new\":\"c\"", "line 1 differs in white space alone"),
    BAD("x\n  if (a) {\n    b;\n", "\"old\":\"if (a) {\\nb;\",\"new\":\"c\"",
        "line 2 differs in white space alone"),
    BAD("같음", "\"old\":\"같음\",\"new\":\"같음\"", "nothing would change"),
    BAD("끝줄", "\"old\":\"끝줄\\n\",\"new\":\"x\"", "line 1 ends the file, without a line end"),
    BAD("“따옴표”", "\"old\":\"\\\"따옴표\\\"\",\"new\":\"x\"",
        "line 1 differs in quotation marks"),
    BAD("x\nHello World\n", "\"old\":\"hello world\",\"new\":\"x\"",
        "line 2 differs in upper and lower"),
    BAD("1\n\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\n", "\"old\":\"한\",\"new\":\"x\"",
        "line 2 is the same text in another Unicode form"),
    BAD("one\ntwo\nthree\n", "\"old\":\"two\\nfour\",\"new\":\"x\"",
        "its first line stands in line 2"),
    ROW("a\n한글 뒤\nb", "\"old\":\"한글 \",\"new\":\"\"", "a\n뒤\nb", "line 2:\n2: 뒤"),
    ROW("no end", "\"old\":\"end\",\"new\":\"끝\"", "no 끝", "1: no 끝"),
    ROW("a\nb\nc\n", "\"old\":\"b\\n\",\"new\":\"x\\ny\\n\"", "a\nx\ny\nc\n",
        "line 2:\n2: x\n3: y"),
    /* T06 and its kin: line ends and byte order marks */
    ROW("\xef\xbb\xbf가\r\n나\r\n다\r\n", "\"old\":\"가\\n나\\n\",\"new\":\"가\\n하나\\n둘\\n\"",
        "\xef\xbb\xbf가\r\n하나\r\n둘\r\n다\r\n", "line 1:\n1: 가\n2: 하나\n3: 둘"),
    BAD("x\r\ny\r\n--\nx\ny\n", "\"old\":\"x\\ny\",\"new\":\"z\"", "more than once, in lines 1, 4"),
    BAD("\xef\xbb\xbf가\r\n나\r\n다\r\n", "\"old\":\"다\\r\\n\",\"new\":\"다\\n\"",
        "nothing would change"),
    ROW("a\r\nb\r\n", "\"old\":\"a\",\"new\":\"1\\n2\"", "1\r\n2\r\nb\r\n", "1: 1\n2: 2"),
    ROW("a\r\nb", "\"old\":\"b\",\"new\":\"1\\n2\"", "a\r\n1\r\n2", "2: 1\n3: 2"),
    ROW("a\r\nb\r\n", "\"old\":\"\\nb\",\"new\":\"\"", "a\r\n", "edited"),
    ROW("a\nb\r\nc\n", "\"old\":\"b\\n\",\"new\":\"x\\ny\\n\"", "a\nx\r\ny\r\nc\n", "line 2"),
    BAD("a\nb\n", "\"old\":\"a\\r\\nb\",\"new\":\"x\"", "differs in line ends alone"),
    ROW("a\rb\rc", "\"old\":\"b\",\"new\":\"x\"", "a\rx\rc", "edited"),
    ROW("a\r\r\nb", "\"old\":\"a\",\"new\":\"x\"", "x\r\r\nb", "edited"),
    ROW("x\n\ny\n", "\"old\":\"\\n\\n\",\"new\":\"\\n\"", "x\ny\n", "edited"),
    /* T05 and its kin: bytes that are no UTF-8 */
    ROW("// \xbc\xb3\xc1\xa4\nint x = 1;\n// \xb3\xa1\n",
        "\"old\":\"int x = 1;\",\"new\":\"int x = 2;\"",
        "// \xbc\xb3\xc1\xa4\nint x = 2;\n// \xb3\xa1\n", "2: int x = 2;"),
    BAD("// \xbc\xb3\xc1\xa4\nint x;\n", "\"old\":\"설정\",\"new\":\"x\"", "looks like CP949"),
    BAD("// \xbc\xb3\xc1\xa4\nint x;\n", "\"old\":\"int\",\"new\":\"정수\"",
        "set encoding to cp949"),
    ROW("// \xbc\xb3\xc1\xa4\nint x;\n", "\"old\":\"설정\",\"new\":\"정\",\"encoding\":\"EUC-KR\"",
        "// \xc1\xa4\nint x;\n", "1: // 정"),
    ROW("// \xbc\xb3\xc1\xa4\r\nx\r\n",
        "\"old\":\"설정\\nx\",\"new\":\"뷁\\n\",\"encoding\":\"cp949\"", "// \x94\xee\r\n\r\n",
        "1: // 뷁"),
    BAD("// \xbc\xb3\xc1\xa4\n", "\"old\":\"설정\",\"new\":\"🙂\",\"encoding\":\"cp949\"",
        "which has no character 🙂"),
    BAD("가\n\xff raw\nx = 1\n", "\"old\":\"가\",\"new\":\"나\"", "its encoding is not known"),
    ROW("가\n\xff raw\nx = 1\n", "\"old\":\"x = 1\",\"new\":\"x = 2\"", "가\n\xff raw\nx = 2\n",
        "3: x = 2"),
    BAD("\xff"
        "A",
        "\"old\":\"A\",\"new\":\"B\"", "inside a character at line 1"),
    BAD("caf\xe9 x\n", "\"old\":\"é\",\"new\":\"e\"", "not UTF-8"),
    ROW("caf\xe9 x\n", "\"old\":\"x\",\"new\":\"y\"", "caf\xe9 y\n", "edited"),
    BAD("caf\xe9 x\n", "\"old\":\"x\",\"new\":\"y\",\"encoding\":\"cp949\"",
        "is not CP949 throughout (byte 3)"),
    BAD("abc\xff", "\"old\":\"a\",\"new\":\"y\",\"encoding\":\"utf-8\"",
        "is not UTF-8 throughout (byte 3)"),
    BAD("abc", "\"old\":\"a\",\"new\":\"y\",\"encoding\":\"latin1\"",
        "encoding latin1 is not known"),
    /* CP949's second bytes are ASCII letters: 똠 is 8C 63 */
    BAD("\x8c\x63\xb0\xa1\xb0\xa1\xb0\xa1", "\"old\":\"c\",\"new\":\"d\"", "nor anything like it"),
    /* UTF-16, whose mark says what it is */
    ROW("\xff\xfe"
        "a\0\r\0\n\0\x00\xac",
        "\"old\":\"a\\n가\",\"new\":\"나\\n🙂\"", "\xff\xfe\x98\xb0\r\0\n\0\x3d\xd8\x42\xde",
        "2: 🙂"),
    ROW("\xfe\xff\0a\0b", "\"old\":\"b\",\"new\":\"각\"", "\xfe\xff\0a\xac\x01", "1: a각"),
    ROW("a\0b\0c\0d\0\n\0", "\"old\":\"d\",\"new\":\"e\"", "a\0b\0c\0e\0\n\0", "1: abce"),
    BAD("\xff\xfe"
        "a\0b",
        "\"old\":\"a\",\"new\":\"b\"", "is not UTF-16LE throughout (byte 4)"),
    BAD("\xff\xfe"
        "a\0\0\xd8",
        "\"old\":\"a\",\"new\":\"b\"", "is not UTF-16LE throughout (byte 4)"),
    BAD("\x89PNG\r\n\x1a\n a", "\"old\":\"a\",\"new\":\"b\"", "is a PNG image"),
    BAD("text\0more", "\"old\":\"text\",\"new\":\"b\"", "is a binary file"),
};

static void table(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct row *row = &rows[i];
    struct buf args;
    buf_init(&args, 65536);
    buf_lit(&args, "{\"path\":\"f.txt\",");
    buf_put(&args, str_of(row->args));
    buf_c(&args, '}');
    house_file(&h, "f.txt", row->file);
    house_call(&h, "edit_file", buf_str(&args));
    buf_release(&args);
    const char *answer = buf_z(&h.answer);
    bool good = row->want.p != NULL;
    if (h.code || h.is_error == good || !strstr(answer, row->says))
      fail_msg("row %zu: %s: %s", i, row->args, answer);
    if (!holds(&h, good ? row->want : row->file)) fail_msg("row %zu: %s: the file", i, row->args);
    if (h.is_error && utf8_count(buf_str(&h.answer)) > 200)
      fail_msg("row %zu is long: %s", i, answer);
  }
  house_drop(&h);
}

/* What is there is judged against what the run has seen. */
static void conflicts(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "f.txt", STR("one\n"));
  struct call_seen seen = {.path = STR("f.txt"), .hash = files_hash(STR("one\n"))};
  h.house.seen = &seen;
  assert_has(edit(&h, "one", "two"), "edited f.txt, line 1");
  assert_has(edit(&h, "two", "three"), "was changed by somebody else since it was read");
  assert_true(h.is_error);
  assert_has(house_say(&h, "write_file", "path", "./f.txt", "content", "x", NULL), "read it again");
  assert_has(house_say(&h, "delete_file", "path", "f.txt", NULL), "read it again");
  assert_true(holds(&h, STR("two\n")));
  seen.hash = files_hash(STR("two\n"));
  assert_has(house_say(&h, "write_file", "path", "f.txt", "content", "x", NULL), "in place of");
  assert_has_not(buf_z(&h.answer), "had not read");
  house_drop(&h);
}

static size_t place_entries(struct house *h) {
  DIR *dir = opendir(h->root);
  size_t n = 0;
  assert_non_null(dir);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n - 2;
}

static bool scenario(void *ctx) {
  struct house *h = ctx;
  house_file(h, "f.txt", STR("// \xbc\xb3\xc1\xa4\r\nx\r\n"));
  house_json(h, "edit_file",
             "{\"path\":\"f.txt\",\"old\":\"설정\\nx\",\"new\":\"끝\",\"encoding\":\"cp949\"}");
  bool ok = !h->code && !h->is_error && !h->answer.fail;
  /* A call whose answer found no memory may have been carried out. */
  bool new = holds(h, STR("// \xb3\xa1\r\n")), old = holds(h, STR("// \xbc\xb3\xc1\xa4\r\nx\r\n"));
  assert_true(new || (old && !ok));
  assert_int_equal(place_entries(h), 1);
  if (!ok) return false;
  edit(h, "x Y", "z");
  return !h->code && !h->answer.fail && strstr(buf_z(&h->answer), "nor anything");
}

static void no_memory(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  buf_room(&h.answer, ANSWER_MAX);
  assert_true(oom_each(scenario, &h) > 0);
  house_drop(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table),
      cmocka_unit_test(conflicts),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
