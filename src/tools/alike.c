/* Each likeness is a way to fold both texts and search again. Line ends are
 * blanks, so the fold keeps where each line began. */
#include "tools/alike.h"

#include "base/mem.h"
#include "base/utf8.h"

enum fold {
  FOLD_ENDS = 1 << 0,   /* CR is left out */
  FOLD_BLANKS = 1 << 1, /* all blanks are */
  FOLD_FORM = 1 << 2,   /* canonically taken apart */
  FOLD_QUOTES = 1 << 3,
  FOLD_CASE = 1 << 4,
};

static const struct {
  unsigned fold;
  enum text_id why;
} likenesses[] = {
    {FOLD_ENDS, T_TOOLS_ALIKE_ENDS},
    {FOLD_BLANKS, T_TOOLS_ALIKE_BLANKS},
    {FOLD_FORM, T_TOOLS_ALIKE_FORM},
    {FOLD_QUOTES, T_TOOLS_ALIKE_QUOTES},
    {FOLD_CASE, T_TOOLS_ALIKE_CASE},
    {FOLD_BLANKS | FOLD_FORM | FOLD_QUOTES | FOLD_CASE, T_TOOLS_ALIKE_SOME},
};

static bool is_blank(uint32_t cp) {
  return cp == ' ' || (cp >= '\t' && cp <= '\r') || cp == 0xa0 || cp == 0x3000 || cp == 0xfeff ||
         (cp >= 0x2000 && cp <= 0x200b);
}

static uint32_t plain_quote(uint32_t cp) {
  static const uint32_t single[] = {0x2018, 0x2019, 0x201a, 0x201b, 0x2032, '`', 0xb4};
  static const uint32_t twice[] = {0x201c, 0x201d, 0x201e, 0x201f, 0x2033, 0xab, 0xbb, 0xff02};
  for (size_t i = 0; i < sizeof single / sizeof *single; i++)
    if (cp == single[i]) return '\'';
  for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
    if (cp == twice[i]) return '"';
  return cp;
}

static void fold_one(struct buf *out, struct str one, uint32_t cp, unsigned fold) {
  if ((fold & FOLD_ENDS) && cp == '\r') return;
  if ((fold & FOLD_BLANKS) && is_blank(cp)) return;
  uint32_t made = (fold & FOLD_QUOTES) ? plain_quote(cp) : cp;
  if (made != cp)
    utf8_put(out, made);
  else if (fold & (FOLD_FORM | FOLD_CASE))
    utf8_fold(out, one, (fold & FOLD_CASE) != 0);
  else
    buf_put(out, one);
}

/* `starts`, where asked for, holds where each line begins in the fold. */
static void fold_text(struct buf *out, struct str text, unsigned fold, struct buf *starts) {
  size_t at = 0, begin = 0;
  while (at < text.n && !out->fail) {
    uint32_t cp;
    struct str rest = str_part(text, at, text.n);
    size_t n = utf8_next(rest, &cp);
    if (!n) {
      cp = 0xfffd;
      n = 1;
    }
    fold_one(out, str_part(rest, 0, n), cp, fold);
    at += n;
    if (cp != '\n' || !starts) continue;
    buf_put(starts, (struct str){(const char *)&begin, sizeof begin});
    begin = out->n;
  }
  if (starts) buf_put(starts, (struct str){(const char *)&begin, sizeof begin});
}

/* The line in which place `at` of the fold lies: the last that begins there or
 * before and is not empty in the fold. */
static int64_t line_at(const struct buf *starts, size_t at) {
  size_t n = starts->n / sizeof(size_t), low = 0, high = n;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2, begin;
    memcpy(&begin, starts->p + middle * sizeof begin, sizeof begin);
    if (begin <= at)
      low = middle;
    else
      high = middle;
  }
  return (int64_t)low + 1;
}

static enum rein_code try_fold(struct str text, struct str old, unsigned fold, int64_t *line) {
  struct buf a, b, starts;
  *line = 0;
  buf_init(&a, 4 * text.n + 64);
  buf_init(&b, 4 * old.n + 64);
  buf_init(&starts, (text.n + 1) * sizeof(size_t));
  fold_text(&a, text, fold, &starts);
  fold_text(&b, old, fold, NULL);
  enum rein_code code = a.fail ? a.fail : b.fail ? b.fail : starts.fail;
  size_t at = code == REIN_OK && b.n ? str_find(buf_str(&a), buf_str(&b)) : a.n;
  if (code == REIN_OK && b.n && at < a.n) *line = line_at(&starts, at);
  buf_release(&starts);
  buf_release(&b);
  buf_release(&a);
  return code == REIN_LIMIT ? REIN_OK : code; /* grew more than fourfold: no likeness then */
}

static int64_t line_of(struct str text, size_t at) {
  int64_t n = 1;
  for (size_t i = 0; i < at; i++)
    n += text.p[i] == '\n';
  return n;
}

/* The first line of `old` that is more than blanks, found as it is. */
static int64_t first_line(struct str text, struct str old) {
  struct str line;
  do
    if (!str_next(&old, '\n', &line)) return 0;
  while (str_blank(line));
  if (str_blank(old)) return 0; /* it is all there was to find */
  line = str_trim(line);
  size_t at = str_find(text, line);
  return at < text.n ? line_of(text, at) : 0;
}

/* Where `old` without the line ends behind it ends the text. */
static int64_t last_line(struct str text, struct str old) {
  struct str bare = old;
  while (bare.n && (bare.p[bare.n - 1] == '\n' || bare.p[bare.n - 1] == '\r'))
    bare.n--;
  if (!bare.n || bare.n == old.n || !str_ends(text, bare)) return 0;
  return line_of(text, text.n - bare.n);
}

enum rein_code alike_find(struct str text, struct str old, enum text_id *why, int64_t *line) {
  *why = T_TOOLS_ALIKE_LAST;
  *line = last_line(text, old);
  for (size_t i = 0; !*line && i < sizeof likenesses / sizeof *likenesses; i++) {
    *why = likenesses[i].why;
    enum rein_code code = try_fold(text, old, likenesses[i].fold, line);
    if (code != REIN_OK) return code;
  }
  if (*line) return REIN_OK;
  *line = first_line(text, old);
  *why = *line ? T_TOOLS_ALIKE_FIRST : T_NONE;
  return REIN_OK;
}
