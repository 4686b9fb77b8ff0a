/* Shows what is there. utf8_show makes controls and what turns the direction of
 * text visible; a prompt must also show what takes no room or is blank. */
#include "cli/reveal.h"

#include "base/utf8.h"
#include "text/text.h"

#define LINES_MAX 16 /* of one value at the prompt; more would push its name off the screen */

struct range {
  uint32_t first, last;
};

/* Zero-width and blank characters beside those that utf8_show spells out. */
static bool unseen(uint32_t cp) {
  static const struct range ranges[] = {
      {0xA0, 0xA0},     {0xAD, 0xAD},     {0x34F, 0x34F},    {0x115F, 0x1160}, {0x1680, 0x1680},
      {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x2000, 0x200F},  {0x2028, 0x202F}, {0x205F, 0x206F},
      {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164},  {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},
      {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE0FFF}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (cp >= ranges[i].first && cp <= ranges[i].last) return true;
  return false;
}

void reveal(struct buf *out, struct str s, struct str margin) {
  while (s.n) {
    uint32_t cp = 0;
    size_t n = utf8_next(s, &cp);
    struct str one = str_part(s, 0, n ? n : 1);
    if (n && cp == '\n' && margin.n) {
      buf_c(out, '\n');
      buf_put(out, margin);
    } else if (n && unseen(cp)) {
      buf_fmt(out, "\\u{%x}", (unsigned)cp);
    } else {
      utf8_show(out, one, false);
    }
    s = str_part(s, one.n, SIZE_MAX);
  }
}

static size_t count_lines(struct str s) {
  size_t n = 1;
  for (size_t i = 0; i < s.n; i++)
    n += s.p[i] == '\n';
  return n;
}

bool reveal_cut(struct buf *out, struct str s, size_t most, struct str margin,
                enum rein_lang lang) {
  struct buf mended;
  buf_init(&mended, s.n * 3 + 16);
  utf8_repair(&mended, s);
  if (mended.fail) out->fail = mended.fail;
  s = buf_str(&mended);
  size_t points = utf8_count(s);
  struct str head = s, tail = STR_NONE;
  if (points > most) {
    head = utf8_head(s, most / 2);
    tail = utf8_tail(s, most - most / 2);
  }
  if (count_lines(head) + count_lines(tail) > LINES_MAX) margin = STR_NONE;
  reveal(out, head, margin);
  if (points > most) {
    struct num_text left, all;
    TEXT_PUT(out, lang, T_CLI_CUT,
             str_num(&left, (int64_t)(points - utf8_count(head) - utf8_count(tail))),
             str_num(&all, (int64_t)points));
    reveal(out, tail, margin);
  }
  buf_release(&mended);
  return points > most;
}

/* Unseen, and in nobody's ordinary text: emoji are joined by U+200D and U+FE0F,
 * Korean and Japanese text holds blanks of their own. */
static bool hidden(uint32_t cp) {
  bool ordinary = cp == 0xA0 || cp == 0x200D || cp == 0xFE0F || cp == 0x3000;
  return unseen(cp) && !ordinary;
}

/* What is not hidden goes out in stretches: a letter at a time is slow. */
static void put_seen(struct buf *out, struct str s) {
  uint32_t cp = 0;
  size_t from = 0;
  for (size_t at = 0, n; at < s.n; at += n ? n : 1) {
    n = 1;
    if ((unsigned char)s.p[at] < 0x80) continue;
    n = utf8_next(str_part(s, at, s.n), &cp);
    if (!n || !hidden(cp)) continue;
    utf8_show(out, str_part(s, from, at - from), false);
    buf_fmt(out, "\\u{%x}", (unsigned)cp);
    from = at + n;
  }
  utf8_show(out, str_part(s, from, s.n), false);
}

/* \n and \t as one writes them, all else unseen as \u{…}. */
static void put_spelled(struct buf *out, struct str s) {
  for (size_t from = 0; from < s.n;) {
    size_t n = 0;
    while (from + n < s.n && s.p[from + n] != '\n' && s.p[from + n] != '\t')
      n++;
    put_seen(out, str_part(s, from, n));
    from += n;
    if (from < s.n) buf_put(out, s.p[from] == '\n' ? STR("\\n") : STR("\\t"));
    from++;
  }
}

void reveal_line(struct buf *out, struct str s, size_t columns) {
  struct buf b;
  /* At most four bytes a column here; what lies behind cannot be seen anyway. */
  struct str near = str_part(s, 0, columns * 8);
  buf_init(&b, near.n * 10 + 64);
  /* Mostly a quarter of it is enough. The points beyond are for what the last
   * ones join with, and for a character that the quarter cuts. */
  put_spelled(&b, str_part(near, 0, columns * 2));
  if (utf8_count(buf_str(&b)) <= columns + 8 || utf8_width(buf_str(&b)) <= columns) {
    buf_reset(&b);
    put_spelled(&b, near);
  }
  if (b.fail) out->fail = b.fail;
  struct str line = buf_str(&b), head = line;
  bool cut = near.n < s.n;
  if (utf8_width(head) > columns) {
    cut = true;
    head = utf8_head(line, columns);
    while (utf8_width(head) > columns)
      head = utf8_head(head, utf8_count(head) - 1);
  }
  buf_put(out, head);
  if (cut) buf_lit(out, " …");
  buf_release(&b);
}
