/* The estimate, in hundredths of a token: see tokens.h. Runs, not a vocabulary. */
#include "core/tokens.h"

#define OPAQUE_MIN 48 /* so long a run of such characters is no word: base64, hashes */
#define GAUGE_MOST 16 /* no tokenizer is so far off; keeps products in range */

enum kind { LETTER, DIGIT, PUNCT, BLANK, HANGUL, JAMO, EMOJI, OTHER };

static const struct weights {
  int letters, digits, punct, blanks; /* a run; up to three digits; one; a run but ' ' */
  int hangul_run, hangul, jamo;       /* a run, and each syllable; a letter of NFD */
  int other, opaque;                  /* one code point; one character of an opaque run */
} table[] = {
    /* Claude: the o200k row × 1.2 and × 1.55, Korean of the old Claude × 1.0 and × 1.3. */
    [TOKENIZER_UNKNOWN] = {108, 160, 30, 200, 0, 130, 300, 90, 68},
    [TOKENIZER_O200K] = {108, 160, 33, 200, 50, 60, 300, 70, 66},
    [TOKENIZER_CL100K] = {108, 160, 30, 200, 0, 130, 300, 90, 68},
    [TOKENIZER_CLAUDE_2025] = {130, 192, 40, 240, 15, 140, 300, 90, 79},
    [TOKENIZER_CLAUDE_2026] = {167, 248, 51, 310, 20, 182, 390, 117, 102},
};

static const char *const words[] = {
#define TOKENIZER_X(id, word) [TOKENIZER_##id] = word,
    TOKENIZERS(TOKENIZER_X)
#undef TOKENIZER_X
};

const char *tokenizer_word(enum tokenizer tokenizer) {
  return words[tokenizer];
}

enum tokenizer tokenizer_of(struct str word) {
  int i = TOKENIZER_COUNT - 1;
  while (i > 0 && !str_is(word, words[i]))
    i--;
  return (enum tokenizer)i;
}

static bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

static bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static enum kind kind_of_ascii(char c) {
  if (is_lower(c) || is_upper(c)) return LETTER;
  if (is_digit(c)) return DIGIT;
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' ? BLANK : PUNCT;
}

/* Of the code point at s, *n bytes long. Text is well-formed; what is not counts bytes. */
static enum kind kind_of(const char *s, size_t left, size_t *n) {
  unsigned char c = (unsigned char)s[0];
  *n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
  if (*n > left) *n = left;
  if (c < 0x80) return kind_of_ascii(s[0]);
  if (*n == 4) return EMOJI;
  if (*n != 3) return OTHER;
  uint32_t point =
      (c & 0x0Fu) << 12 | ((unsigned char)s[1] & 0x3Fu) << 6 | ((unsigned char)s[2] & 0x3Fu);
  if (point >= 0xAC00 && point <= 0xD7A3) return HANGUL;
  return point >= 0x1100 && point <= 0x11FF ? JAMO : OTHER;
}

/* The length of an opaque run at s; 0: it is none, and none begins in *looked bytes. */
static size_t opaque_run(struct str s, size_t *looked) {
  size_t i = 0, digits = 0;
  for (; i < s.n; i++) {
    char c = s.p[i];
    bool fits = is_lower(c) || is_upper(c) || is_digit(c) || (c && strchr("+/=_-", c));
    if (!fits) break;
    digits += is_digit(c);
  }
  *looked = i;
  return i >= OPAQUE_MIN && digits ? i : 0;
}

/* The end of the run that begins at i; a capital behind a small letter begins another. */
static size_t run_end(struct str s, size_t i, enum kind kind) {
  size_t n = 1;
  for (; i < s.n && kind_of(s.p + i, s.n - i, &n) == kind; i += n)
    if (kind == LETTER && i + 1 < s.n && is_lower(s.p[i]) && is_upper(s.p[i + 1])) return i + 1;
  return i;
}

static int64_t weight_of(const struct weights *w, enum kind kind, struct str run) {
  int64_t n = (int64_t)run.n;
  switch (kind) {
  case LETTER: return w->letters;
  case DIGIT: return (n + 2) / 3 * w->digits;
  case PUNCT: return n * w->punct;
  case BLANK: return n == 1 && run.p[0] == ' ' ? 0 : w->blanks;
  case HANGUL: return w->hangul_run + n / 3 * w->hangul;
  case JAMO: return n / 3 * w->jamo;
  case EMOJI: return (n + 3) / 4 * 2 * w->other;
  case OTHER: return (n + 2) / 3 * w->other;
  }
  return 0;
}

int64_t tokens_of(enum tokenizer tokenizer, struct str s) {
  const struct weights *w = &table[tokenizer];
  int64_t sum = 0;
  size_t looked = 0; /* up to there no opaque run begins */
  for (size_t i = 0; i < s.n;) {
    size_t n, opaque = 0;
    enum kind kind = kind_of(s.p + i, s.n - i, &n);
    bool may = kind == LETTER || kind == DIGIT || kind == PUNCT;
    if (may && i >= looked) {
      opaque = opaque_run(str_part(s, i, s.n), &looked);
      looked += i;
    }
    size_t end = opaque ? i + opaque : run_end(s, i, kind);
    sum += opaque ? (int64_t)opaque * w->opaque : weight_of(w, kind, str_part(s, i, end - i));
    i = end;
  }
  return (sum + 99) / 100;
}

void gauge_set(struct gauge *g, int64_t counted, int64_t estimated) {
  int64_t most = estimated * GAUGE_MOST;
  *g = (struct gauge){counted < most ? counted : most, estimated};
}

int64_t gauge_apply(const struct gauge *g, int64_t estimate) {
  return g->estimated > 0 && g->counted > 0 ? estimate * g->counted / g->estimated : estimate;
}
