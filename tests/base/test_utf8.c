/* UTF-8: checked against a table of all code points, repaired alike whole and
 * in pieces, cut between graphemes. */
#include "support/test.h"

#include "base/utf8.h"

static struct buf out;

static int setup(void **state) {
  (void)state;
  buf_init(&out, 1 << 20);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  buf_release(&out);
  return 0;
}

static struct str shown(void (*fn)(struct buf *, struct str), struct str s) {
  buf_reset(&out);
  fn(&out, s);
  return buf_str(&out);
}

static void all_code_points(void **state) {
  (void)state;
  for (uint32_t cp = 0; cp <= 0x110000; cp++) {
    buf_reset(&out);
    utf8_put(&out, cp);
    uint32_t back = 0;
    size_t n = utf8_next(buf_str(&out), &back);
    bool good = cp < 0x110000 && (cp < 0xD800 || cp > 0xDFFF);
    assert_int_equal(n, good ? out.n : 0);
    assert_int_equal(utf8_valid(buf_str(&out)), good);
    if (good) assert_int_equal(back, cp);
    for (size_t cut = 1; cut < out.n; cut++)
      assert_int_equal(utf8_next(str_part(buf_str(&out), 0, cut), &back), 0);
  }
}

/* All texts of two bytes and a sample of three: valid means decodable. */
static void short_texts(void **state) {
  (void)state;
  for (uint32_t v = 0; v < 1 << 24; v += v < 1 << 16 ? 1 : 97) {
    char c[3] = {(char)v, (char)(v >> 8), (char)(v >> 16)};
    struct str s = {c, v < 1 << 16 ? 2 : 3};
    size_t at = 0, n = 1;
    for (uint32_t cp; at < s.n && n > 0; at += n)
      n = utf8_next(str_part(s, at, s.n), &cp);
    assert_int_equal(utf8_valid(s), n > 0);
    assert_true(utf8_valid(shown(utf8_repair, s)));
  }
}

static void long_ascii_is_looked_through(void **state) {
  (void)state;
  char text[100];
  for (size_t bad = 0; bad < sizeof text; bad++) {
    memset(text, 'a', sizeof text);
    text[bad] = (char)0xFF;
    assert_int_equal(utf8_bad((struct str){text, sizeof text}), bad);
    assert_int_equal(utf8_bad((struct str){text, bad}), bad);
  }
}

#define R "\xEF\xBF\xBD"

static const struct {
  struct str from, to;
} repairs[] = {
    {STR("plain"), STR("plain")},
    {STR(""), STR("")},
    {STR("한글 😀"), STR("한글 😀")},
    {STR("a\xFFz"), STR("a" R "z")},
    {STR("\xC0\xAF"), STR(R R)},       /* overlong */
    {STR("\xE0\x80\x80"), STR(R R R)}, /* overlong */
    {STR("\xF0\x9F\x98"), STR(R)},     /* a cut character is one part */
    {STR("\xF0\x9F\x98z"), STR(R "z")},
    {STR("\xF4\x90\x80\x80"), STR(R R R R)},                         /* too high */
    {STR("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), STR(R R R R "A")}, /* Unicode, table 3-11 */
    {STR("\xED\xA0\x80"), STR(R)},                                   /* a surrogate alone */
    {STR("\xED\xB0\x80"), STR(R)},
    {STR("\xED\xB0\x80\xED\xA0\x80"), STR(R R)}, /* the wrong way round */
    {STR("\xED\xA0\xBD\xED\xB8\x80"), STR("😀")},
    {STR("x\xED\xA0\xBDy"), STR("x" R "y")},
    {STR("\xED\xA0\xBD\xED\xA0\xBD\xED\xB8\x80"), STR(R "😀")},
    {STR("\xED\xA0\xBD\xED"), STR(R R)},
    {STR("\xED\xA0"), STR(R)},
    {STR("\xED"), STR(R)},
    {STR("\xED\xA0z"), STR(R R "z")},
};
#define REPAIRS (sizeof repairs / sizeof repairs[0])

static void repairs_whole(void **state) {
  (void)state;
  for (size_t i = 0; i < REPAIRS; i++) {
    assert_str(shown(utf8_repair, repairs[i].from), repairs[i].to);
    assert_int_equal(utf8_valid(repairs[i].from), str_eq(repairs[i].from, repairs[i].to));
  }
}

/* The same in pieces of every size, and cut in two at every point. */
static void joins_pieces(void **state) {
  (void)state;
  struct buf all = {.max = 1000}, want = {.max = 1000};
  for (size_t i = 0; i < REPAIRS; i++)
    buf_put(&all, repairs[i].from);
  utf8_repair(&want, buf_str(&all));
  for (size_t size = 1; size <= all.n; size++) {
    struct utf8_join j = {0};
    buf_reset(&out);
    for (size_t at = 0; at < all.n; at += size) {
      utf8_join(&j, &out, str_part(buf_str(&all), at, size));
      assert_true(utf8_valid(buf_str(&out)));
    }
    utf8_join_end(&j, &out);
    assert_str(buf_str(&out), buf_str(&want));
  }
  for (size_t i = 0; i < REPAIRS; i++)
    for (size_t cut = 0; cut <= repairs[i].from.n; cut++) {
      struct utf8_join j = {0};
      buf_reset(&out);
      utf8_join(&j, &out, str_part(repairs[i].from, 0, cut));
      utf8_join(&j, &out, STR_NONE);
      utf8_join(&j, &out, str_part(repairs[i].from, cut, SIZE_MAX));
      utf8_join_end(&j, &out);
      assert_str(buf_str(&out), repairs[i].to);
    }
  buf_release(&all);
  buf_release(&want);
}

/* What is whole does not wait for more. */
static void joins_without_delay(void **state) {
  (void)state;
  struct utf8_join j = {0};
  buf_reset(&out);
  utf8_join(&j, &out, STR("가\xED\xA0\xBD"));
  assert_text(buf_str(&out), "가");
  utf8_join(&j, &out, STR("\xED\xB8\x80나\xEB"));
  assert_text(buf_str(&out), "가😀나");
  utf8_join(&j, &out, STR("\x8B\xA4."));
  assert_text(buf_str(&out), "가😀나다.");
  assert_int_equal(j.held_n, 0);
}

#define FAMILY "👨‍👩‍👧"
#define FLAG "🇰🇷"

static void cuts_between_graphemes(void **state) {
  (void)state;
  assert_int_equal(utf8_count(STR("a한" FLAG)), 4);
  assert_text(utf8_head(STR("abc"), 2), "ab");
  assert_text(utf8_head(STR("abc"), 3), "abc");
  assert_text(utf8_head(STR("abc"), 0), "");
  assert_text(utf8_head(STR("한글"), 1), "한");
  assert_text(utf8_head(STR("a" FAMILY "b"), 3), "a");
  assert_text(utf8_head(STR("a" FAMILY "b"), 6), "a" FAMILY);
  assert_text(utf8_head(STR(FAMILY), 3), "👨‍👩"); /* one alone is cut between code points */
  assert_text(utf8_head(STR("e\xCC\x81x"), 1), "e");
  assert_text(utf8_head(STR("ae\xCC\x81x"), 2), "a");
  assert_text(utf8_head(STR("a\r\nb"), 2), "a");
  assert_text(utf8_head(STR(FLAG FLAG), 3), FLAG);
  assert_text(utf8_tail(STR("abc"), 2), "bc");
  assert_text(utf8_tail(STR("abc"), 5), "abc");
  assert_text(utf8_tail(STR("abc"), 0), "");
  assert_text(utf8_tail(STR("한글"), 1), "글");
  assert_text(utf8_tail(STR("a" FAMILY "b"), 4), "b");
  assert_text(utf8_tail(STR("a" FAMILY "b"), 6), FAMILY "b");
  assert_text(utf8_tail(STR("ae\xCC\x81"), 1), "\xCC\x81"); /* nothing else would be left */
  assert_text(utf8_tail(STR("ae\xCC\x81x"), 2), "x");
  assert_text(utf8_tail(STR("a\r\nb"), 2), "b");
  assert_text(utf8_tail(STR(FLAG FLAG FLAG), 3), FLAG);
}

/* Head and tail of a text with everything in it, for every length: a prefix
 * and suffix, not longer than asked, cut where the graphemes are. */
static void cuts_everywhere(void **state) {
  (void)state;
  struct str s = STR("ab\r\n한글" FAMILY FLAG FLAG "e\xCC\x81각ᄀ\xE1\x85\xA1\xFF\xE2\x82z" FAMILY);
  size_t head = 0, tail = 0;
  for (size_t max = 0; max < 60; max++) {
    struct str h = utf8_head(s, max), t = utf8_tail(s, max);
    assert_true(h.p == s.p && t.p + t.n == s.p + s.n);
    assert_true(h.n >= head && t.n >= tail);
    head = h.n;
    tail = t.n;
    if (max > 0) assert_true(t.n > 0 && h.n > 0);
  }
  assert_true(head == s.n && tail == s.n);
}

static void width(void **state) {
  (void)state;
  assert_int_equal(utf8_width(STR("abc")), 3);
  assert_int_equal(utf8_width(STR("한글")), 4);
  assert_int_equal(utf8_width(STR("e\xCC\x81")), 1);
  assert_int_equal(utf8_width(STR("😀")), 2);
  assert_int_equal(utf8_width(STR("\xE1\x84\x80\xE1\x85\xA1")), 2);
  assert_int_equal(utf8_width(STR("")), 0);
}

static void shows_controls(void **state) {
  (void)state;
  struct str s = STR("a\x1b[31m\n\tb\x7f\xC2\x9B\xE2\x80\xAE한\xFF");
  buf_reset(&out);
  utf8_show(&out, s, true);
  assert_text(buf_str(&out), "a\\u{1b}[31m\n\tb\\u{7f}\\u{9b}\\u{202e}한" R);
  buf_reset(&out);
  utf8_show(&out, s, false);
  assert_text(buf_str(&out), "a\\u{1b}[31m\\u{a}\\u{9}b\\u{7f}\\u{9b}\\u{202e}한" R);
}

static void same_in_other_forms(void **state) {
  static const struct {
    const char *a, *b;
    bool same;
  } rows[] = {
      {"보고.txt", "\u1107\u1169\u1100\u1169.txt", true},
      {"é", "e\u0301", true},
      {"a\u0323\u0307", "a\u0307\u0323", true},
      {"Å", "\u212b", true},
      {"", "", true},
      {"x", "X", false},
      {"ﬁ", "fi", false},
      {"가", "가\u11a8", false},
      {"", "a", false},
      {"\xff", "\xff", true},
      {"\xff", "\xfe", false},
      {"\xffé",
       "\xff"
       "e\u0301",
       false},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(utf8_same(str_of(rows[i].a), str_of(rows[i].b)), rows[i].same);
    assert_int_equal(utf8_same(str_of(rows[i].b), str_of(rows[i].a)), rows[i].same);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_code_points),
      cmocka_unit_test(short_texts),
      cmocka_unit_test(long_ascii_is_looked_through),
      cmocka_unit_test(repairs_whole),
      cmocka_unit_test(joins_pieces),
      cmocka_unit_test(joins_without_delay),
      cmocka_unit_test(cuts_between_graphemes),
      cmocka_unit_test(cuts_everywhere),
      cmocka_unit_test(width),
      cmocka_unit_test(shows_controls),
      cmocka_unit_test(same_in_other_forms),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
