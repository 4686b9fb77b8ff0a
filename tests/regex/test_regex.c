/* Patterns as JavaScript means them, what is refused and where, limits, memory.
 * With "--batch" it answers test_node.py, which compares with an engine:
 *   in:  one digit of flags, then sizes in decimal, each ended by a blank, of
 *        the pattern and of each subject, a newline, then their bytes
 *   out: "! BYTE SENTENCE" for a pattern refused; else a word for each subject:
 *        "-" no match, "FROM,TO" in bytes, "?" given up
 */
#include "support/test.h"

#include "regex/regex.h"
#include "support/oom.h"
#include "text/text.h"

#include <stdlib.h>

static const unsigned ways[] = {0, REGEX_NO_JIT};

static struct regex *made(struct str pattern, unsigned flags) {
  struct err err = {0};
  struct regex *regex = NULL;
  if (regex_new(pattern, flags, &regex, &err)) {
    struct buf sentence;
    buf_init(&sentence, 4096);
    err_put(&sentence, REIN_ENGLISH, &err);
    print_error("%.*s: %s\n", (int)pattern.n, pattern.p, buf_z(&sentence));
    buf_release(&sentence);
    fail();
  }
  return regex;
}

static enum regex_hit once(const struct regex *regex, struct str line, size_t from,
                           struct str *match) {
  struct regex_scratch *scratch;
  assert_int_equal(regex_scratch_new(regex, &scratch), REIN_OK);
  char *room;
  struct str own = exact_copy(line, &room);
  enum regex_hit hit = regex_match(regex, scratch, own, from, match);
  if (hit == REGEX_YES && match) *match = (struct str){line.p + (match->p - own.p), match->n};
  mem_free(room);
  regex_scratch_free(scratch);
  return hit;
}

struct want {
  const char *pattern;
  unsigned flags;
  const char *line;
  const char *match; /* NULL: none */
};

/* Each row was asked of Node 20. */
static const struct want wants[] = {
    {"\\d+", 0, "１２ ٣ 12", "12"},
    {"\\s", 0, "a\xef\xbb\xbf", "\xef\xbb\xbf"},
    {"\\s", 0, "\xe2\x80\x8b", NULL},
    {"\\w+", 0, "한글abc", "abc"},
    {"\\b글", 0, "한글", NULL},
    {"^.$", 0, "🙂", NULL},
    {"^..$", 0, "🙂", "🙂"},
    {"[🙂]", 0, "🙃", "🙃"}, /* the upper half is in the class */
    {"\\ude42", 0, "a🙂", "🙂"},
    {"^[가-힣]{2}$", 0, "한글", "한글"},
    {"a.c", 0,
     "a\xe2\x80\xa8"
     "c",
     NULL},
    {"[^]", 0, "\n", "\n"},
    {"[]", 0, "a", NULL},
    {"a$", 0, "a\n", NULL},
    {"\\cJ", 0, "\n", "\n"},
    {"\\c", 0, "\\c", "\\c"},
    {"\\A\\z\\Q\\G\\K\\R\\h", 0, "AzQGKRh", "AzQGKRh"},
    {"\\u{3}", 0, "uuu", "uuu"},
    {"\\p{L}", 0, "p{L}", "p{L}"},
    {"a{,5}", 0, "a{,5}", "a{,5}"},
    {"]}", 0, "]}", "]}"},
    {"[[:alpha:]]", 0, "x:]", ":]"},
    {"[\\d-x]+", 0, "7-x", "7-x"},
    {"[\\b]", 0, "a\b", "\b"},
    {"\\101\\8", 0, "A8", "A8"},
    {"(a)\\10", 0, "a\b", "a\b"},
    {"\\1(a)", 0, "a", "a"},
    {"(a\\1)", 0, "a", "a"},
    {"(?:(a)|b)\\1c", 0, "bc", "bc"},
    {"(?<n>a)\\k<n>", 0, "aa", "aa"},
    {"(?<이름>가)\\k<이름>", 0, "가가", "가가"},
    {"\\k", 0, "k", "k"},
    {"(?<=값=)\\S+", 0, "값=가나", "가나"},
    {"(?<!값=)\\bx", 0, "값=x x", "x"},
    {"(?<=a{1,3}b?)c", 0, "aabc", "c"},
    {"(?<=\\s+)x", 0, "a  x", "x"},
    {"(?<=^|,)x", 0, "ax,x", "x"},
    {"(?:|a)*b", 0, "aab", "aab"},
    {"(?:|a)?", 0, "a", "a"},
    {"(?=a)*b", 0, "b", "b"},
    {"(?=a)+a", 0, "a", "a"},
    {"", 0, "abc", ""},
    {"x*", 0, "aaa", ""},
    {"K", REGEX_IGNORE_CASE, "\xe2\x84\xaa", NULL}, /* the Kelvin sign */
    {"é", REGEX_IGNORE_CASE, "É", "É"},
    {"ß", REGEX_IGNORE_CASE, "SS", NULL},
    {"σ", REGEX_IGNORE_CASE, "ς", "ς"},
    {"[^x]", REGEX_IGNORE_CASE, "X", NULL},
    {"(a)\\1", REGEX_IGNORE_CASE, "aA", "aA"},
    {"[a-z]+", REGEX_IGNORE_CASE, "_AbC", "AbC"},
    {"[B|\\u0100-\\uffff]x", 0, "ıx", "ıx"}, /* what PCRE2's JIT misses in [^…] */
    {"a{100,200}b", 0,
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaab",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaab"},
};

static void means_what_javascript_means(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * sizeof wants / sizeof *wants; i++) {
    const struct want *w = &wants[i / 2];
    struct regex *regex = made(str_of(w->pattern), w->flags | ways[i % 2]);
    struct str match = STR_NONE;
    enum regex_hit hit = once(regex, str_of(w->line), 0, &match);
    if (hit != (w->match ? REGEX_YES : REGEX_NO))
      fail_msg("%s on %s: %d", w->pattern, w->line, (int)hit);
    if (w->match) assert_str(match, str_of(w->match));
    regex_free(regex);
  }
}

static const struct {
  const char *pattern;
  enum text_id text;
  uint64_t at;
} refusals[] = {
    {"*a", T_REGEX_NOTHING_TO_REPEAT, 0},
    {"(*FAIL)", T_REGEX_NOTHING_TO_REPEAT, 1},
    {"가a**", T_REGEX_NOTHING_TO_REPEAT, 5},
    {"a{2}{3}", T_REGEX_NOTHING_TO_REPEAT, 4},
    {"{2}", T_REGEX_NOTHING_TO_REPEAT, 0},
    {"^*", T_REGEX_NOTHING_TO_REPEAT, 1},
    {"(?<=a)*", T_REGEX_NOTHING_TO_REPEAT, 6},
    {"a{2,1}", T_REGEX_REPEAT_ORDER, 1},
    {"a(b", T_REGEX_GROUP_OPEN, 1},
    {"a)b", T_REGEX_GROUP_CLOSE, 1},
    {"(?P<n>a)", T_REGEX_GROUP_PYTHON, 0},
    {"(?i:a)", T_REGEX_GROUP_FLAGS, 0},
    {"(?#a)", T_REGEX_GROUP_COMMENT, 0},
    {"(?>a)", T_REGEX_GROUP_ATOMIC, 0},
    {"(?R)", T_REGEX_GROUP_KIND, 0},
    {"(?", T_REGEX_GROUP_KIND, 0},
    {"a[b", T_REGEX_CLASS_OPEN, 1},
    {"a[]b[", T_REGEX_CLASS_OPEN, 4},
    {"[a-z-b-a]", T_REGEX_RANGE_ORDER, 5},
    {"[🙂-🙃]", T_REGEX_RANGE_ORDER, 1},
    {"a\\", T_REGEX_BACKSLASH_LAST, 1},
    {"(?<1a>b)", T_REGEX_NAME, 3},
    {"(?<>b)", T_REGEX_NAME, 3},
    {"(?<ab", T_REGEX_NAME_OPEN, 3},
    {"(?<n>a)(?<n>b)", T_REGEX_NAME_TWICE, 7},
    {"(?<n>a)\\k<m>", T_REGEX_NAME_UNKNOWN, 7},
    {"(?<n>a)\\k", T_REGEX_K_BARE, 7},
    {"a{65536}", T_REGEX_REPEAT_MAX, 1},
    {"[^a]{65535}[^b]{65535}", T_REGEX_TOO_BIG, 0},
    {"(?:[a-z]{2,8}-){0,20000}", T_REGEX_TOO_BIG, 0},
    {"((a{1000}){1000}){1000}", T_REGEX_TOO_BIG, 0},
    {"(?:|ab?)+c", T_REGEX_LOOP_BLANK, 0},
    {"(?:(a)|b)*\\1", T_REGEX_LOOP_REF, 10},
    {"(?<=(a))\\1", T_REGEX_BEHIND_REF, 8},
    {"(?<!//.*)x", T_REGEX_BEHIND_LENGTH, 6},
    {"(?<=xa{0,9}b{0,9}c)x", T_REGEX_BEHIND_MANY, 0},
    {"a\xff", T_REGEX_NOT_UTF8, 1},
    {"\xed\xa0\x80", T_REGEX_NOT_UTF8, 0},
};

static void refuses_with_reason_and_place(void **state) {
  (void)state;
  struct buf sentence;
  buf_init(&sentence, 4096);
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    struct err err = {0};
    struct regex *regex;
    struct str pattern = str_of(refusals[i].pattern);
    if (regex_new(pattern, 0, &regex, &err) != REIN_INPUT) fail_msg("%s: taken", pattern.p);
    assert_null(regex);
    if (err.text != refusals[i].text || err.at != refusals[i].at)
      fail_msg("%s: %s at %d", pattern.p, text_raw(err.text, REIN_ENGLISH), (int)err.at);
    for (int lang = REIN_ENGLISH; lang <= REIN_KOREAN; lang++) {
      buf_reset(&sentence);
      err_put(&sentence, (enum rein_lang)lang, &err);
      assert_true(str_find(buf_str(&sentence), STR("{0}")) == sentence.n);
      assert_true(str_find(buf_str(&sentence), STR("{1}")) == sentence.n);
      bool own = str_find(pattern, STR("{2}")) < pattern.n;
      assert_true(own || str_find(buf_str(&sentence), STR("{2}")) == sentence.n);
    }
    /* Nobody has to ask why. */
    assert_int_equal(regex_new(pattern, 0, &regex, NULL), REIN_INPUT);
  }
  buf_release(&sentence);
}

static enum rein_code new_of(const char *left, const char *middle, const char *right,
                             size_t times) {
  struct buf pattern;
  buf_init(&pattern, 1 << 20);
  for (size_t i = 0; i < times; i++)
    buf_put(&pattern, str_of(left));
  buf_put(&pattern, str_of(middle));
  for (size_t i = 0; i < times; i++)
    buf_put(&pattern, str_of(right));
  struct regex *regex;
  enum rein_code code = regex_new(buf_str(&pattern), 0, &regex, NULL);
  regex_free(regex);
  buf_release(&pattern);
  return code;
}

static void bounds_length_depth_and_counts(void **state) {
  (void)state;
  assert_int_equal(new_of("a", "", "", REGEX_PATTERN_MAX), REIN_OK);
  assert_int_equal(new_of("a", "", "", REGEX_PATTERN_MAX + 1), REIN_INPUT);
  assert_int_equal(new_of("(?:", "a", ")*", 100), REIN_OK);
  assert_int_equal(new_of("(", "a", ")+", 101), REIN_INPUT);
  assert_int_equal(new_of("[^", "a", "]", REGEX_PATTERN_MAX / 3), REIN_OK);
  assert_int_equal(new_of("()", "", "", REGEX_PATTERN_MAX / 2), REIN_OK);
  assert_int_equal(new_of("a|", "", "", REGEX_PATTERN_MAX / 2), REIN_OK);
  assert_int_equal(new_of("", "a{1000}", "", 1), REIN_OK);
  assert_int_equal(new_of("", "^.{1,65535}$", "", 1), REIN_OK);
  assert_int_equal(new_of("", "^[a-z0-9-]{4096}$", "", 1), REIN_OK);
  assert_int_equal(new_of("", "^[가-힣 ]{2,10000}$", "", 1), REIN_OK);
  assert_int_equal(new_of("", "(?:abc){1000}", "", 1), REIN_OK);
}

static void goes_on_behind_a_byte(void **state) {
  (void)state;
  struct regex *regex = made(STR("(?<=가)나|\\bx"), 0);
  struct str line = STR("가나 나 가나x x"), match = STR_NONE;
  assert_int_equal(once(regex, line, 0, &match), REGEX_YES);
  assert_int_equal(match.p - line.p, 3);
  /* What lies before `from` is still seen. */
  assert_int_equal(once(regex, line, 3, &match), REGEX_YES);
  assert_int_equal(match.p - line.p, 3);
  assert_int_equal(once(regex, line, 4, &match), REGEX_YES);
  assert_int_equal(match.p - line.p, 14);
  assert_int_equal(once(regex, line, line.n - 1, &match), REGEX_YES);
  assert_int_equal(match.p - line.p, line.n - 1);
  assert_int_equal(once(regex, line, line.n, NULL), REGEX_NO);
  assert_int_equal(once(regex, line, line.n + 1, NULL), REGEX_NO);
  regex_free(regex);
  regex = made(STR("$"), 0);
  assert_int_equal(once(regex, STR("🙂"), 4, &match), REGEX_YES);
  assert_int_equal(match.n, 0);
  regex_free(regex);
}

static struct str run_of(struct buf *b, const char *piece, size_t times, const char *end) {
  buf_reset(b);
  for (size_t i = 0; i < times; i++)
    buf_put(b, str_of(piece));
  buf_put(b, str_of(end));
  return buf_str(b);
}

static void gives_up_and_stays_usable(void **state) {
  (void)state;
  static const char *const patterns[] = {
      "(a+)+$",
      "(a|aa)+$",
      "(.*a){25}c?$",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "(?:a|a?a|a)*$",
      "(a*)*(b|c)$",
      "(?:(?:a?){9}){9}(?:b|c)",
      "(?=(?:a+)+$|a(?:a|a)*$)b?",
      "(?:\\w+\\s*)+:",
      "(a|b|ab)*(?:c|d)",
      "a*a*a*a*a*a*(?:b|c)",
      "(?:a?a?a?a?a?a?a?a?){4}[bc]",
  };
  struct buf line;
  buf_init(&line, 1 << 22);
  size_t gave_up = 0;
  for (size_t i = 0; i < 2 * sizeof patterns / sizeof *patterns; i++) {
    struct regex *regex = made(str_of(patterns[i / 2]), ways[i % 2]);
    struct regex_scratch *scratch;
    assert_int_equal(regex_scratch_new(regex, &scratch), REIN_OK);
    enum regex_hit hit = regex_match(regex, scratch, run_of(&line, "a", 400, "!"), 0, NULL);
    assert_true(hit == REGEX_GAVE_UP || hit == REGEX_NO || hit == REGEX_YES);
    gave_up += hit == REGEX_GAVE_UP;
    hit = regex_match(regex, scratch, run_of(&line, "a", 100000, "!"), 0, NULL);
    assert_true(hit != REGEX_NO_MEMORY);
    assert_int_not_equal(regex_match(regex, scratch, STR("b"), 0, NULL), REGEX_GAVE_UP);
    regex_scratch_free(scratch);
    regex_free(regex);
  }
  assert_true(gave_up >= 12);
  buf_release(&line);
}

static void long_lines_are_no_reason_to_give_up(void **state) {
  (void)state;
  struct buf line;
  buf_init(&line, 1 << 22);
  struct str text = run_of(&line, "word, 낱말; ", 100000, "end");
  static const char *const patterns[] = {"end", "\\bend$", "\\w+d$", "[a-z]+nd\\b", "(?:x|e)nd"};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    struct regex *regex = made(str_of(patterns[i]), 0);
    struct str match = STR_NONE;
    assert_int_equal(once(regex, text, 0, &match), REGEX_YES);
    assert_text(match, "end");
    regex_free(regex);
  }
  buf_release(&line);
}

/* What the first look says of a text of several lines: the numbers of the lines
 * that may match, or "all". */
static const char *look_over(const char *pattern, unsigned flags, struct str text, char room[64]) {
  struct regex *regex = made(str_of(pattern), flags);
  struct regex_scratch *scratch = NULL;
  size_t at = 0, end;
  room[0] = 0;
  assert_int_equal(regex_scratch_new(regex, &scratch), REIN_OK);
  assert_true(regex_look_at(regex, scratch, text));
  while ((at = regex_look_next(regex, scratch, at)) < text.n) {
    int line = 1;
    for (size_t i = 0; i < at; i++)
      line += text.p[i] == '\n';
    (void)snprintf(room + strlen(room), 8, "%d", line);
    end = at + str_find_char(str_part(text, at, text.n), '\n');
    at = end + 1;
  }
  if (!regex_looks(regex)) (void)snprintf(room, 8, "all");
  regex_scratch_free(scratch);
  regex_free(regex);
  return room;
}

static void looks_first(void **state) {
  (void)state;
  static const char text[] =
      "static int a;\n"                                                            /* 1 */
      "foo barbaz\n"                                                               /* 2 */
      "STATIC FOO\n"                                                               /* 3 */
      "한글 텍스트\n"                                                              /* 4 */
      "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xb3\xe1\x86\xaf\n" /* 5 */
      "x\xffy 🙂\n"                                                              /* 6 */
      "ab12\r\n"                                                                   /* 7 */
      "x1y22z333";                                                                 /* 8 */
  static const struct {
    const char *pattern;
    unsigned flags;
    const char *lines;
  } rows[] = {
      {"static", 0, "1"},
      {"static", REGEX_IGNORE_CASE, "13"},
      {"foo.*barbaz", 0, "2"},
      {"foo|static", 0, "12"},
      {"foo|static", REGEX_IGNORE_CASE, "123"},
      {"한글", 0, "4"},
      {"한글", REGEX_FORMS, "45"},
      {"한글", REGEX_FORMS | REGEX_IGNORE_CASE, "45"},
      {"[가-힣]{3}", 0, "4"},
      {"[가-힣]{3}", REGEX_FORMS, "45"},
      {"🙂", 0, "456"},
      {"x\\ufffdy", 0, "6"},
      {"\\d{2}", 0, "78"},
      {"\\d{3}", 0, "8"},
      {"\\d\\r", 0, "7"},
      {"(?:foo)?d", 0, ""},
      {"[a-c]{2}\\d", 0, "7"},
      {"", 0, "all"},
      {"x*", 0, "all"},
      {"(a)\\1", 0, "127"},
      {"(?=foo)", 0, "all"},
      {"[]", 0, ""},
      {"nowhere|absent", 0, ""},
      {"[^]\\n", 0, ""},
  };
  char room[64];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(
        look_over(rows[i].pattern, rows[i].flags, (struct str){text, sizeof text - 1}, room),
        rows[i].lines);
}

static bool scenario(void *ctx) {
  const struct want *w = ctx;
  struct regex *regex;
  struct regex_scratch *scratch = NULL;
  struct err err = {0};
  enum rein_code code = regex_new(str_of(w->pattern), w->flags, &regex, &err);
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  assert_true((code == REIN_OK) == (regex != NULL));
  assert_int_equal(err.code, code);
  if (!code) code = regex_scratch_new(regex, &scratch);
  bool well = false;
  if (!code) {
    struct str match = STR_NONE;
    enum regex_hit hit = regex_match(regex, scratch, str_of(w->line), 0, &match);
    assert_true(hit == REGEX_YES || hit == REGEX_NO_MEMORY);
    well = hit == REGEX_YES && str_is(match, w->match);
  }
  regex_scratch_free(scratch);
  regex_free(regex);
  return well;
}

static void memory_may_fail_anywhere(void **state) {
  (void)state;
  static const struct want rows[] = {
      {"(?<n>[a-f]+)x\\k<n>(?<=a|bc?)(?:q|r){2,3}", 0, "!faxfaqqq", "faxfaqqq"},
      {"(a[^b]+|é)*\\d{3}$", REGEX_IGNORE_CASE, "axÉÉ123", "axÉÉ123"},
      {"(a[^b]+|é)*\\d{3}$", REGEX_IGNORE_CASE | REGEX_NO_JIT, "axÉÉ123", "axÉÉ123"},
      {"static (?:int|char) \\w+", 0, "a static int main(", "static int main"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct want row = rows[i];
    assert_true(oom_each(scenario, &row) > 0);
  }
}

/* ---- --batch ------------------------------------------------------------- */

static void batch_answer(const struct regex *regex, struct regex_scratch *scratch,
                         struct str subject) {
  struct str match = STR_NONE;
  char *room = malloc(subject.n + 1); /* so that the sanitizer sees a read beyond it */
  memcpy(room + 1, subject.p, subject.n);
  enum regex_hit hit = regex_match(regex, scratch, (struct str){room + 1, subject.n}, 0, &match);
  size_t from = hit == REGEX_YES ? (size_t)(match.p - room) - 1 : 0;
  if (hit == REGEX_YES)
    printf("%zu,%zu ", from, from + match.n);
  else
    printf("%s ", hit == REGEX_NO ? "-" : "?");
  free(room);
}

static void batch_case(unsigned flags, const struct str *text, size_t n) {
  struct err err = {0};
  struct regex *regex;
  struct regex_scratch *scratch = NULL;
  if (regex_new(text[0], flags, &regex, &err)) {
    struct buf sentence;
    buf_init(&sentence, 4096);
    err_put(&sentence, REIN_ENGLISH, &err);
    printf("! %llu %s", (unsigned long long)err.at, buf_z(&sentence));
    buf_release(&sentence);
  } else if (regex_scratch_new(regex, &scratch) == REIN_OK) {
    for (size_t i = 1; i < n; i++)
      batch_answer(regex, scratch, text[i]);
  }
  putchar('\n');
  regex_scratch_free(scratch);
  regex_free(regex);
}

static bool batch_one(char *head, size_t head_n) {
  struct str *text = calloc(head_n, sizeof *text);
  size_t n = 0, total = 0;
  for (char *at = head + 1; *at && *at != '\n'; at += *at == ' ') {
    text[n].n = strtoul(at, &at, 10);
    total += text[n++].n;
  }
  char *bytes = malloc(total + 1), *next = bytes;
  bool whole = fread(bytes, 1, total, stdin) == total;
  for (size_t i = 0; i < n; i++) {
    text[i].p = next;
    next += text[i].n;
  }
  if (whole) batch_case((unsigned)(head[0] - '0'), text, n);
  free(bytes);
  free(text);
  return whole;
}

static int batch(void) {
  char *head = NULL;
  size_t cap = 0;
  bool whole = true;
  for (ssize_t n; whole && (n = getline(&head, &cap, stdin)) > 0;)
    whole = batch_one(head, (size_t)n);
  free(head);
  return whole ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--batch") == 0) return batch();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_what_javascript_means),
      cmocka_unit_test(refuses_with_reason_and_place),
      cmocka_unit_test(bounds_length_depth_and_counts),
      cmocka_unit_test(goes_on_behind_a_byte),
      cmocka_unit_test(gives_up_and_stays_usable),
      cmocka_unit_test(long_lines_are_no_reason_to_give_up),
      cmocka_unit_test(looks_first),
      cmocka_unit_test(memory_may_fail_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
