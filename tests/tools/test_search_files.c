/* search_files: hits and their places, what is left out and said, costly
 * patterns, odd files, links, and lines across blocks against a plain reading. */
#include "house.h"

#include "support/oom.h"
#include "tools/scan.h"

#include <time.h>

static void open_house(struct house *h) {
  house_build(h, "w/proj");
  house_open(h);
}

static const char *find(struct house *h, const char *pattern) {
  return house_say(h, "search_files", "pattern", pattern, NULL);
}

/* Processor time: what others do on the machine does not count. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void hits(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "b.txt", STR("one\r\nTwo\n\nlast 가"));
  house_file(&h, "a/x.c", STR("\xef\xbb\xbfint two;\nint one;\n"));
  house_file(&h, "node_modules/x.c", STR("one\n"));
  house_file(&h, ".git/x.c", STR("one\n"));
  assert_string_equal(find(&h, "one"), "a/x.c:2:int one;\nb.txt:1:one");
  assert_false(h.is_error);
  assert_string_equal(find(&h, "^one$"), "b.txt:1:one");
  assert_string_equal(find(&h, "^int two"), "a/x.c:1:int two;");
  assert_string_equal(find(&h, "\\d|가"), "b.txt:4:last 가");
  assert_string_equal(find(&h, "^$"), "b.txt:3:");
  assert_string_equal(find(&h, "[tT]wo"), "a/x.c:1:int two;\nb.txt:2:Two");
  assert_string_equal(house_json(&h, "search_files", "{\"pattern\":\"TWO\",\"ignore_case\":true}"),
                      "a/x.c:1:int two;\nb.txt:2:Two");
  assert_string_equal(house_json(&h, "search_files", "{\"pattern\":\"one\",\"dir\":\"a\"}"),
                      "a/x.c:2:int one;");
  assert_string_equal(
      house_json(&h, "search_files", "{\"pattern\":\"one\",\"dir\":\"a/../b.txt\"}"),
      "b.txt:1:one");
  assert_string_equal(house_json(&h, "search_files", "{\"pattern\":\"one\",\"glob\":\"*.c\"}"),
                      "a/x.c:2:int one;");
  assert_string_equal(
      house_json(&h, "search_files", "{\"pattern\":\"one\",\"dir\":\"node_modules\"}"),
      "node_modules/x.c:1:one");
  assert_has(
      house_json(&h, "search_files", "{\"pattern\":\"one\",\"dir\":\"b.txt\",\"glob\":\"*.c\"}"),
      "no file to search below b.txt (glob: *.c)");
  assert_string_equal(find(&h, "nowhere"), "no match for /nowhere/ in 2 files");
  assert_false(h.is_error);
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"one\",\"glob\":\"*.py\"}"),
             "no file to search below . (glob: *.py)");
  h.house.model_lang = REIN_KOREAN;
  assert_has(find(&h, "nowhere"), "파일 2개에서 /nowhere/");
  house_drop(&h);
}

static void refuses(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("a\n"));
  static const char *const bad[] = {"(", "*a", "(?P<n>a)"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    find(&h, bad[i]);
    assert_true(h.is_error);
  }
  house_json(&h, "search_files", "{\"pattern\":\"a\",\"glob\":\"[a\"}");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "[a");
  house_json(&h, "search_files", "{\"pattern\":\"a\",\"glob\":\"[a\",\"dir\":\"a.txt\"}");
  assert_true(h.is_error);
  house_json(&h, "search_files", "{\"pattern\":\"a\",\"dir\":\"absent\"}");
  assert_true(h.is_error);
  assert_has(buf_z(&h.answer), "absent");
  house_json(&h, "search_files", "{\"pattern\":\"a\",\"dir\":\"a.txt\\u0000\"}");
  assert_true(h.is_error);
  house_drop(&h);
}

static void bounds(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  buf_init(&file, 4u << 20);
  for (int i = 0; i < 20; i++)
    buf_lit(&file, "match\nother\n");
  house_file(&h, "a.txt", buf_str(&file));
  assert_has(find(&h, "match"), "a.txt:39:match");
  assert_has_not(buf_z(&h.answer), "[");
  house_file(&h, "b.txt", STR("match\n"));
  find(&h, "match");
  assert_has(
      buf_z(&h.answer),
      "a.txt:39:match\n[20 matching lines shown, there are more: narrow it with dir or glob]");
  assert_has_not(buf_z(&h.answer), "b.txt");
  assert_has(find(&h, ""), "a.txt:20:other\n[20 matching");
  house_drop(&h);
  open_house(&h);
  buf_reset(&file);
  for (int i = 0; i < 500; i++)
    buf_lit(&file, "가");
  buf_lit(&file, "👨‍👩‍👧needle");
  for (int i = 0; i < 500; i++)
    buf_lit(&file, "나");
  house_file(&h, "wide.txt", buf_str(&file));
  find(&h, "needle");
  assert_has(buf_z(&h.answer), "wide.txt:1:…가");
  assert_has(buf_z(&h.answer), "👨‍👩‍👧needle나");
  assert_has(buf_z(&h.answer), "나…");
  assert_true(utf8_count(buf_str(&h.answer)) < 320);
  buf_release(&file);
  house_drop(&h);
}

static void odd_files(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "bin", STR("needle needle needle\n\0\n"));
  house_file(&h, "bad.txt", STR("\xff\xfeneedle\xff\n"));
  house_file(&h, "in\nside", STR("needle\n"));
  assert_string_equal(find(&h, "needle"), "in\\u{a}side:1:needle");
  house_file(&h, "bad.txt", STR("x\xffneedle\xff\nCP949 \xc7\xd1\xb1\xdb\n"));
  assert_has(find(&h, "needle"), "bad.txt:1:x\xef\xbf\xbdneedle\xef\xbf\xbd\n");
  assert_has(find(&h, "CP9"), "bad.txt:2:CP949 ");
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"needle\",\"dir\":\"bin\"}"),
             "bin is a binary file: it is not searched");
  struct buf file;
  buf_init(&file, 1u << 20);
  for (int i = 0; i < 3000; i++)
    buf_lit(&file, "글\n");
  buf_lit(&file, "needle\nx");
  buf_c(&file, 0);
  buf_lit(&file, "needle\n");
  house_file(&h, "late", buf_str(&file));
  buf_release(&file);
  find(&h, "needle");
  assert_has(buf_z(&h.answer), "late:3001:needle\n");
  assert_has(buf_z(&h.answer), "[late is binary from line 3002 on: searched up to there]");
  if (geteuid()) {
    char path[1024];
    snprintf(path, sizeof path, "%s/bad.txt", h.root);
    chmod(path, 0);
    assert_has(find(&h, "needle"),
               "[1 files could not be read, the first one is bad.txt: Permission denied]");
  }
  house_drop(&h);
}

#define APART "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xb3\xe1\x86\xaf" /* 한글 */

static void unicode_forms(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "nfc.txt", STR("x 한글\n"));
  house_file(&h, "nfd-" APART ".txt", STR("x " APART "\n"));
  static const char *const patterns[] = {"한글",        APART,        "x 한글$",
                                         "한(?:글|국)", "[가-힣]{2}", "^x [한글]+$"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    assert_string_equal(find(&h, patterns[i]), "nfc.txt:1:x 한글\nnfd-" APART ".txt:1:x " APART);
  assert_has_not(find(&h, "^.{4}$"), "nfd-");
  assert_has(find(&h, "한글은"), "no match");
  house_drop(&h);
}

static void line_ends(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("one\r\ntwo\nthree\rfour\r"));
  assert_string_equal(find(&h, "e$"), "a.txt:1:one");
  assert_string_equal(find(&h, "[nw]\\w$"), "a.txt:1:one\na.txt:2:two");
  assert_string_equal(find(&h, "one\\r"), "a.txt:1:one");
  assert_string_equal(find(&h, "e[\\r\\n]$"), "a.txt:1:one");
  assert_has(find(&h, "e\\s$"), "no match"); /* \s alone is no wish to see line ends */
  assert_has(find(&h, "ee.four"), "no match");
  assert_has(find(&h, "ee\\x0dfour"), "a.txt:3:three");
  house_drop(&h);
}

static void utf16(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  house_file(&h, "le.txt",
             STR("\xff\xfe"
                 "a\0\n\0"
                 "\x00\xac"
                 "\x3d\xd8\x42\xde"
                 "b\0\r\0\n\0"
                 "\x3d\xd8"));
  house_file(&h, "be.txt",
             STR("\xfe\xff"
                 "\xac\x00"
                 "\0b"));
  assert_string_equal(find(&h, "가.*b$"), "be.txt:1:가b\nle.txt:2:가🙂b");
  assert_string_equal(find(&h, "\\ufffd"), "le.txt:3:\xef\xbf\xbd");
  buf_init(&file, 8u << 20);
  buf_lit(&file, "\xff\xfe");
  for (int i = 0; i < 300000; i++)
    buf_put(&file, i % 10 ? STR("x\0") : STR("\n\0"));
  buf_put(&file, STR("\x00\xac"));
  house_file(&h, "long.txt", buf_str(&file));
  assert_has(find(&h, "x*가"), "long.txt:30001:xxxxxxxxx가");
  buf_release(&file);
  house_drop(&h);
}

#define KOREAN "\xc7\xd1\xb1\xdb" /* 한글 in CP949 */

/* A file that is not UTF-8 is read as read_file reads it, and that is said. */
static void korean(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  house_file(&h, "a.txt", STR("int x;\r\n// " KOREAN " one\r\nplain\n" KOREAN "\n"));
  assert_string_equal(
      find(&h, "한글( one)?$"),
      "a.txt:2:// 한글 one\na.txt:4:한글\n[1 files with hits are not UTF-8 and were "
      "read as CP949 (EUC-KR), a guess from their bytes; the first one is a.txt]");
  assert_has(find(&h, "[가-힣]+ o"), "a.txt:2:// 한글 one\n");
  assert_has(find(&h, "\\ud55c."), "a.txt:4:한글\n");
  assert_has(find(&h, "one"), "a.txt:2:// 한글 one\n");
  assert_has(find(&h, "^plain$"), "a.txt:3:plain\n");
  assert_has(find(&h, "nowhere"), "no match for /nowhere/ in 1 files");
  assert_has_not(buf_z(&h.answer), "CP949");
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"한글\",\"dir\":\"a.txt\"}"),
             "a.txt:4:");
  /* the first byte that is not ASCII at every place around blocks and reads */
  buf_init(&file, 8u << 20);
  static const size_t places[] = {SCAN_READ, SCAN_BLOCK, 3 * SCAN_READ};
  for (size_t i = 0; i < 3; i++)
    for (size_t off = 0; off < 12; off++) {
      buf_reset(&file);
      while (file.n < places[i] - off)
        buf_c(&file, file.n % 100 == 99 ? '\n' : 'x');
      for (int k = 0; k < 30; k++)
        buf_lit(&file, KOREAN KOREAN);
      buf_lit(&file, "!\n" KOREAN);
      house_file(&h, "a.txt", buf_str(&file));
      assert_has(find(&h, "한글한글!$"), "한글한글!\n[1 files");
      assert_has(find(&h, "^한글$"), ":한글\n");
    }
  buf_reset(&file);
  buf_lit(&file, KOREAN); /* and one line without an end, longer than a block */
  for (size_t i = 0; i < SCAN_BLOCK; i++)
    buf_lit(&file, KOREAN);
  buf_lit(&file, "!\n" KOREAN "?");
  house_file(&h, "a.txt", buf_str(&file));
  assert_has(find(&h, "한글!"), "한글!\n");
  assert_has(find(&h, "^한글.$"), "a.txt:2:한글?\n");
  house_file(&h, "a.txt", STR("caf\xe9 x\n"));
  assert_has(find(&h, "é"),
             "no match for /é/ in 1 files\n[1 files are in an encoding that is not known");
  assert_has_not(find(&h, "x"), "[");
  house_file(&h, "a.txt", STR("n\0e\0e\0d\0\n\0\x00\xac\n\0"));
  assert_string_equal(find(&h, "^(need|가)$"), "a.txt:1:need\na.txt:2:가");
  h.house.model_lang = REIN_KOREAN;
  house_file(&h, "a.txt", STR(KOREAN "\n"));
  assert_has(find(&h, "한글"), "CP949(EUC-KR)로 읽었습니다. 첫 파일은 a.txt입니다.");
  buf_release(&file);
  house_drop(&h);
}

/* Pipes, sockets and devices are passed over without being opened. */
static void odd_kinds(void **state) {
  (void)state;
  struct house h;
  char path[1024];
  open_house(&h);
  snprintf(path, sizeof path, "%s/pipe", h.root);
  assert_int_equal(mkfifo(path, 0600), 0);
  snprintf(path, sizeof path, "%s/loop", h.root);
  assert_int_equal(symlink(".", path), 0);
  house_file(&h, "a.txt", STR("needle\n"));
  assert_string_equal(find(&h, "needle"), "a.txt:1:needle");
  assert_true(house_json(&h, "search_files", "{\"pattern\":\"n\",\"dir\":\"pipe\"}") && h.is_error);
  house_drop(&h);
}

/* The same hits in the same order from one thread and from many, where git's
 * rules leave some out. */
static void same_with_threads(void **state) {
  (void)state;
  struct house h;
  struct buf one;
  char path[64];
  open_house(&h);
  buf_init(&one, ANSWER_MAX);
  for (int i = 0; i < 300; i++) {
    snprintf(path, sizeof path, "d%d/e%d/f%d.txt", i % 7, i % 5, i);
    house_file(&h, path, i % 3 ? STR("other\n") : STR("x\nneedle\n"));
  }
  house_file(&h, "d3/.gitignore", STR("e1/\n"));
  house_file(&h, ".gitignore", STR("/d0\nf1?.txt\n!f12.txt\n"));
  h.house.walk_threads = 1;
  buf_put(&one, str_of(find(&h, "needle")));
  assert_has_not(buf_z(&one), "d0/");
  assert_has_not(buf_z(&one), "f15.txt");
  assert_has(buf_z(&one), "[20 matching lines shown");
  for (int round = 0; round < 30; round++) {
    h.house.walk_threads = 2 + (unsigned)round % 7;
    assert_string_equal(find(&h, "needle"), buf_z(&one));
  }
  assert_has(house_json(&h, "list_files", "{\"glob\":\"**/*.txt\"}"), "d5/e2/f12.txt\n");
  assert_has_not(buf_z(&h.answer), "d0/");
  buf_release(&one);
  house_drop(&h);
}

/* Every row of the battery ends soon and says what was given up; then the
 * plain patterns still work. */
static void catastrophes(void **state) {
  (void)state;
  struct house h;
  size_t n, patterns_n, good_n;
  char *evil = house_shared("F01-regex-catastrophe/evil.txt", &n);
  char *patterns = house_shared("F01-regex-catastrophe/patterns.tsv", &patterns_n);
  char *good = house_shared("F01-regex-catastrophe/good.tsv", &good_n);
  if (!evil || !patterns || !good) skip();
  open_house(&h);
  house_file(&h, "evil.txt", (struct str){evil, n});
  struct str rest = {patterns, patterns_n}, line, pattern, want;
  int rows = 0;
  while (str_next(&rest, '\n', &line)) {
    char text[4096];
    if (!line.n) continue;
    snprintf(text, sizeof text, "%.*s", (int)line.n, line.p);
    double began = now();
    find(&h, text);
    assert_true(now() - began < 5.0);
    assert_int_equal(h.code, REIN_OK);
    rows++;
  }
  assert_true(rows > 10);
  rest = (struct str){good, good_n};
  while (str_next(&rest, '\n', &line)) {
    char text[4096];
    if (!str_split(line, '\t', &pattern, &want)) continue;
    snprintf(text, sizeof text, "%.*s", (int)pattern.n, pattern.p);
    assert_has(find(&h, text), "evil.txt:");
    assert_has_not(buf_z(&h.answer), "gave up");
  }
  free(evil);
  free(patterns);
  free(good);
  house_drop(&h);
}

static void gives_up_in_words(void **state) {
  (void)state;
  struct house h;
  struct buf file;
  open_house(&h);
  buf_init(&file, 1u << 20);
  for (int i = 0; i < 30; i++)
    buf_lit(&file, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy\n");
  house_file(&h, "a.txt",
             STR("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy\nxxyk\n"));
  assert_string_equal(find(&h, "(x+x+)+(?=.?k)y"),
                      "a.txt:2:xxyk\n[gave up at a.txt:1: the pattern is too costly there]");
  house_file(&h, "b.txt", buf_str(&file));
  assert_has(find(&h, "(x+x+)+(?=.?k)y"),
             "[the search stopped after 10 such lines, 2 files searched: write a simpler pattern]");
  assert_has(buf_z(&h.answer), "a.txt:2:xxyk\n");
  assert_has_not(buf_z(&h.answer), "b.txt:5:");
  buf_release(&file);
  house_drop(&h);
}

static void beside_and_out(void **state) {
  (void)state;
  struct house h;
  house_build(&h, "w/proj");
  if (!house_case(&h, "P02-symlinks-read-and-write") || !house_case(&h, "P01-sibling-prefix")) {
    house_drop(&h);
    skip();
  }
  house_open(&h);
  assert_string_equal(house_json(&h, "search_files", "{\"pattern\":\"in|원본\",\"dir\":\".\"}"),
                      "real/f.txt:1:in");
  assert_string_equal(house_json(&h, "search_files", "{\"pattern\":\"in\",\"dir\":\"inlink\"}"),
                      "real/f.txt:1:in");
  static const char *const out[] = {
      "out", "link.txt", "abs.txt", "../proj-backup", "../proj-backup/.env", "..", "/etc"};
  for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
    house_say(&h, "search_files", "pattern", ".", "dir", out[i], NULL);
    assert_true(h.is_error);
    assert_has_not(buf_z(&h.answer), "CANARY");
  }
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
  double began = now();
  find(&h, "찾을말");
  assert_has(buf_z(&h.answer), "[20 matching lines shown, there are more");
  house_json(&h, "search_files", "{\"pattern\":\"찾을말\",\"glob\":\"oneline.js\"}");
  assert_has(buf_z(&h.answer), "찾을말다라");
  assert_has(buf_z(&h.answer), "[oneline.js:1 is longer than 1048576 bytes");
  assert_true(utf8_count(buf_str(&h.answer)) < 600);
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"찾을말\",\"dir\":\"no-eol.txt\"}"),
             "no-eol.txt:1:끝 줄에 찾을말");
  assert_has(house_json(&h, "search_files", "{\"pattern\":\"없는말\",\"dir\":\"many\"}"),
             "in 3000 files");
  assert_true(now() - began < 10.0);
  house_drop(&h);
}

/* ---- the scanner against a plain reading of the same text ---- */

static uint32_t seed = 7;
static uint32_t roll(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

static void same_as_plain(struct house *h, const char *pattern, struct str text) {
  struct scan_pattern made;
  struct regex_scratch *scratch = NULL;
  struct err err = {0};
  struct scan scan;
  char path[1024];
  assert_int_equal(scan_pattern_new(str_of(pattern), 0, &made, &err), REIN_OK);
  const struct regex *regex = made.regex;
  assert_int_equal(regex_scratch_new(regex, &scratch), REIN_OK);
  struct rein_call *call = NULL;
  assert_int_equal(call_new(builtin_tool("get_time"), NULL, STR("{}"), &call, &err), REIN_OK);
  assert_int_equal(scan_init(&scan, &made, call_clock(call)), REIN_OK);
  scan.clock.until_ms = INT64_MAX;
  house_file(h, "t", text);
  snprintf(path, sizeof path, "%s/t", h->root);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  scan_file(&scan, fd, text.n);
  struct str rest = text, line, match, was;
  int64_t no = 0;
  enum scan_event event;
  while (str_next(&rest, '\n', &line)) {
    no++;
    if (!rest.n && !line.n && str_ends(text, STR("\n"))) break;
    if (regex_match(regex, scratch, line, 0, &match) != REGEX_YES) continue;
    was = match;
    do
      event = scan_next(&scan);
    while (event == SCAN_LONG);
    assert_int_equal(event, SCAN_HIT);
    assert_int_equal(scan.line, no);
    assert_true(str_eq(scan.match, was));
    if (line.n < SCAN_BLOCK) assert_true(str_eq(scan.text, line));
  }
  do
    event = scan_next(&scan);
  while (event == SCAN_LONG);
  assert_int_equal(event, SCAN_END);
  close(fd);
  scan_release(&scan);
  call_free(call);
  regex_scratch_free(scratch);
  scan_pattern_release(&made);
}

static void blocks(void **state) {
  (void)state;
  struct house h;
  struct buf text;
  open_house(&h);
  buf_init(&text, 16u << 20);
  static const char *const patterns[] = {"needle", "^needle", "nee[d]le$", "가나?needle"};
  for (int round = 0; round < 24; round++) {
    buf_reset(&text);
    size_t lines = 1 + roll(6);
    for (size_t i = 0; i < lines; i++) {
      /* lengths around the block's and around its multiples */
      size_t n = roll(3) ? roll(200) : (1 + roll(2)) * SCAN_BLOCK - 16 + roll(32);
      for (size_t k = 0; k < n; k += 3)
        buf_lit(&text, "가");
      if (roll(2)) buf_lit(&text, "needle");
      if (roll(2)) buf_lit(&text, "나");
      if (i + 1 < lines || roll(2)) buf_c(&text, '\n');
    }
    same_as_plain(&h, patterns[roll(4)], buf_str(&text));
  }
  buf_release(&text);
  house_drop(&h);
}

/* Where pieces of a long line meet: no ^ there, one hit a line, and the line
 * behind it begins anew. */
static void pieces(void **state) {
  (void)state;
  struct house h;
  struct buf text;
  open_house(&h);
  buf_init(&text, 8u << 20);
  for (size_t i = 0; i < SCAN_BLOCK - SCAN_OVERLAP; i++)
    buf_c(&text, 'x');
  buf_lit(&text, "needle");
  for (size_t i = 0; i < SCAN_BLOCK; i++)
    buf_c(&text, 'x');
  buf_lit(&text, "needle\nneedle\n");
  house_file(&h, "t", buf_str(&text));
  static const char *const anchored[] = {"^needle", "^nee[d]le"};
  for (size_t i = 0; i < 2; i++) {
    assert_has(find(&h, anchored[i]), "t:2:needle\n[t:1 is longer");
    assert_has_not(buf_z(&h.answer), "t:1:");
  }
  assert_has(find(&h, "needle"), "t:1:…xxx");
  assert_has(buf_z(&h.answer), "xxx…\nt:2:needle\n[");
  assert_true(h.answer.n < 600);
  buf_reset(&text);
  for (size_t i = 0; i < SCAN_BLOCK + 10; i++)
    buf_c(&text, 'x');
  buf_lit(&text, "\nneedle\n");
  house_file(&h, "t", buf_str(&text));
  assert_has(find(&h, "^needle"), "t:2:needle\n[t:1 is longer");
  buf_release(&text);
  house_drop(&h);
}

static void cancelled(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  house_file(&h, "a.txt", STR("text\n"));
  house_cancelled(&h, "search_files", STR("{\"pattern\":\"text\"}"));
  house_drop(&h);
}

static bool scenario(void *ctx) {
  struct house *h = ctx;
  house_json(h, "search_files", "{\"pattern\":\"ne+dle\",\"glob\":\"*.txt\"}");
  bool ok = !h->code && !h->is_error && !h->answer.fail;
  if (ok) assert_string_equal(buf_z(&h->answer), "a/a.txt:1:x\xef\xbf\xbdneedle");
  house_json(h, "search_files", "{\"pattern\":\"none\",\"dir\":\"a/a.txt\"}");
  bool one = !h->code && !h->is_error && !h->answer.fail;
  if (one) assert_has(buf_z(&h->answer), "no match for /none/ in 1 files");
  return ok && one;
}

static void no_memory(void **state) {
  (void)state;
  struct house h;
  open_house(&h);
  h.house.walk_threads = 1; /* allocations in the same order each time */
  house_file(&h, "a/a.txt", STR("x\xffneedle\n"));
  buf_room(&h.answer, ANSWER_MAX);
  assert_true(oom_each(scenario, &h) > 0);
  house_drop(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits),           cmocka_unit_test(refuses),
      cmocka_unit_test(bounds),         cmocka_unit_test(odd_files),
      cmocka_unit_test(catastrophes),   cmocka_unit_test(gives_up_in_words),
      cmocka_unit_test(beside_and_out), cmocka_unit_test(big_files),
      cmocka_unit_test(blocks),         cmocka_unit_test(pieces),
      cmocka_unit_test(unicode_forms),  cmocka_unit_test(line_ends),
      cmocka_unit_test(utf16),          cmocka_unit_test(korean),
      cmocka_unit_test(odd_kinds),      cmocka_unit_test(same_with_threads),
      cmocka_unit_test(cancelled),      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
