/* Words: quotes taken off, and what the shell will put in read for the commands
 * in it. A word says what is certain of its text, not what it will be. */
#include "policy/shell_inside.h"

#define WORD_BYTES_MAX SHELL_TEXT_MAX

struct writing {
  struct buf text;
  struct shell_word word;
  bool quoted; /* a quote stood in it */
  bool open;   /* the rest is not known: a class or a brace began */
  bool name;   /* so far the name of a variable */
  size_t equals;
};

static void put_any(struct writing *w, bool splits) {
  w->word.fixed = false;
  w->word.splits |= splits;
  if (!w->open) buf_c(&w->text, ANY_TEXT);
}

static void put(struct writing *w, char c) {
  if (c == ANY_TEXT)
    put_any(w, true);
  else if (!w->open)
    buf_c(&w->text, c);
}

static bool puts_in(int c) {
  return c == '$' || c == '`';
}

static bool is_one_of(int c, const char *set) {
  return c > 0 && c < 128 && strchr(set, c) != NULL;
}

/* At "$" or "`". */
static void put_in(struct reader *r, struct writing *w, bool quoted) {
  if (reader_look(r) == '`') {
    reader_backtick(r, quoted);
    put_any(w, !quoted);
    return;
  }
  size_t at = r->at;
  bool bash = is_one_of(reader_look_behind(r), quoted ? "[" : "['\"");
  reader_dollar(r, quoted);
  if (r->at == at + 1 && !bash)
    put(w, '$');
  else
    put_any(w, !quoted);
}

static void quote_single(struct reader *r, struct writing *w) {
  reader_take(r);
  while (r->at < r->text.n && r->text.p[r->at] != '\'')
    put(w, r->text.p[r->at++]);
  if (r->at == r->text.n)
    reader_fail(r);
  else
    r->at++;
}

static void quote_double(struct reader *r, struct writing *w) {
  reader_take(r);
  for (int c; (c = reader_look(r)) != '"' && c != END_OF_TEXT;) {
    if (puts_in(c)) {
      put_in(r, w, true);
      continue;
    }
    reader_take(r);
    if (c == '\\' && r->at < r->text.n && is_one_of(r->text.p[r->at], "$`\"\\"))
      c = r->text.p[r->at++];
    put(w, (char)c);
  }
  if (!reader_take_if(r, '"')) reader_fail(r);
}

/* ---- what is put in ---------------------------------------------------------------- */

static bool is_letter(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

static void substitution(struct reader *r) {
  size_t pending = r->here_count;
  reader_list(r);
  if (!reader_take_if(r, ')') || r->here_count != pending) reader_fail(r);
}

/* $((…)): dash takes it for arithmetic in any case, bash may not. */
static void arithmetic(struct reader *r) {
  struct writing none = {.open = true};
  for (int depth = 2; depth > 0;) {
    int c = reader_look(r);
    if (c == END_OF_TEXT || is_one_of(c, "'\";")) {
      reader_fail(r);
      return;
    }
    if (puts_in(c)) {
      put_in(r, &none, true);
      continue;
    }
    if (is_letter(c)) reader_unclear(r, T_POLICY_SHELL_BASH);
    reader_take(r);
    depth += (c == '(') - (c == ')');
    if (depth == 1 && reader_look(r) != ')') reader_fail(r);
  }
}

/* ${…}: up to its brace, reading what is in it. */
static void braces(struct reader *r, bool quoted) {
  struct writing none = {.open = true};
  if (++r->depth > SHELL_DEPTH_MAX) reader_fail(r);
  for (int c; (c = reader_look(r)) != '}' && c != END_OF_TEXT;) {
    bool quote = is_one_of(c, "'\"");
    /* Readers differ on quotes in here inside quotes. */
    if (quoted && quote) reader_unclear(r, T_POLICY_SHELL_BASH);
    if (puts_in(c)) {
      put_in(r, &none, quoted);
    } else if (c == '"') {
      quote_double(r, &none);
    } else if (quote && !quoted) {
      quote_single(r, &none);
    } else {
      reader_take(r);
      r->at += c == '\\' && r->at < r->text.n;
    }
  }
  if (!reader_take_if(r, '}')) reader_fail(r);
  r->depth--;
}

static void bracket(struct reader *r) {
  reader_take(r);
  if (reader_take_if(r, '('))
    arithmetic(r);
  else
    substitution(r);
}

/* Only the "$" is taken where it is one. */
void reader_dollar(struct reader *r, bool quoted) {
  reader_take(r);
  int c = reader_look(r);
  if (c == '(') {
    bracket(r);
  } else if (c == '{') {
    reader_take(r);
    braces(r, quoted);
  } else if (is_letter(c)) {
    while (is_letter(c) || is_digit(c)) {
      reader_take(r);
      c = reader_look(r);
    }
  } else if (is_digit(c) || is_one_of(c, "@*#?-$!")) {
    reader_take(r);
  } else if (is_one_of(c, quoted ? "[" : "['\"")) {
    reader_unclear(r, T_POLICY_SHELL_BASH);
  }
}

/* Within `…`, a backslash before $, ` and \ goes away before it is read. */
static void backtick_text(struct reader *r, bool quoted, struct buf *inner) {
  reader_take(r);
  while (r->at < r->text.n && r->text.p[r->at] != '`') {
    char c = r->text.p[r->at++];
    int next = r->at < r->text.n ? (unsigned char)r->text.p[r->at] : END_OF_TEXT;
    bool escapes = c == '\\' && is_one_of(next, quoted ? "$`\\\"\n" : "$`\\\n");
    if (escapes) c = r->text.p[r->at++];
    if (!escapes || c != '\n') buf_c(inner, c);
  }
  if (r->at == r->text.n) reader_fail(r);
  r->at++;
}

void reader_backtick(struct reader *r, bool quoted) {
  struct buf inner;
  struct str text;
  buf_init(&inner, WORD_BYTES_MAX);
  backtick_text(r, quoted, &inner);
  if (inner.fail == REIN_LIMIT || r->depth + 1 > SHELL_DEPTH_MAX) reader_fail(r);
  if (inner.fail == REIN_MEMORY || !arena_str(r->all->arena, buf_str(&inner), &text))
    r->all->code = REIN_MEMORY;
  else if (reader_well(r))
    reader_text(r->all, text, r->depth + 1);
  buf_release(&inner);
}

/* ---- the word ---------------------------------------------------------------------- */

/* "~" and "~/" are a folder; "~name" is somebody's, and its name goes with it. */
static void tilde(struct reader *r, struct writing *w) {
  reader_take(r);
  put_any(w, false);
  int c = reader_look(r);
  w->open |= c != '/' && !shell_delimits(c);
}

/* "[" alone is a program, "{" alone and "{}" are themselves; else they begin a
 * class, or what bash makes several words of, and the end is not looked for. */
static void opening(struct reader *r, struct writing *w, int c) {
  int next = reader_look_behind(r);
  bool alone = shell_delimits(next) && (c == '{' || (w->text.n == 0 && !w->quoted));
  reader_take(r);
  if (alone || (c == '{' && next == '}')) {
    put(w, (char)c);
    return;
  }
  put_any(w, true);
  w->open = true;
}

/* Where "=" ends the name of a variable. */
static void note_name(struct writing *w, int c) {
  bool first = w->text.n == 0;
  if (c == '=' && w->name && !first) w->equals = w->text.n;
  w->name = w->name && (is_letter(c) || (is_digit(c) && !first));
}

static void bare(struct reader *r, struct writing *w, int c) {
  char before = w->text.n ? w->text.p[w->text.n - 1] : '=';
  bool begins = w->text.n ? is_one_of(before, "=:") : !w->quoted && w->word.fixed;
  note_name(w, c);
  if (c == ANY_TEXT) reader_unclear(r, T_POLICY_SHELL_TEXT);
  if (c == '~' && begins) {
    tilde(r, w);
  } else if (is_one_of(c, "[{")) {
    opening(r, w, c);
  } else {
    reader_take(r);
    put(w, is_one_of(c, "*?") ? ANY_TEXT : (char)c);
  }
}

static void escaped(struct reader *r, struct writing *w) {
  reader_take(r);
  put(w, r->at < r->text.n ? r->text.p[r->at++] : '\\');
}

/* A piece that is quoted, or put in. */
static void quoted_piece(struct reader *r, struct writing *w, int c) {
  w->name = false;
  w->quoted |= !puts_in(c);
  if (c == '\\')
    escaped(r, w);
  else if (c == '\'')
    quote_single(r, w);
  else if (c == '"')
    quote_double(r, w);
  else
    put_in(r, w, false);
}

void reader_word(struct reader *r, struct shell_word *word, size_t *equals) {
  struct writing w = {.word = {.fixed = true}, .name = true, .equals = SIZE_MAX};
  buf_init(&w.text, WORD_BYTES_MAX);
  for (int c; !shell_delimits(c = reader_look(r));) {
    if (is_one_of(c, "\\'\"$`"))
      quoted_piece(r, &w, c);
    else
      bare(r, &w, c);
  }
  *word = w.word;
  if (w.text.fail == REIN_LIMIT) reader_fail(r);
  if (w.text.fail == REIN_MEMORY || !arena_str(r->all->arena, buf_str(&w.text), &word->text))
    r->all->code = REIN_MEMORY;
  *equals = w.equals == SIZE_MAX ? word->text.n : w.equals;
  buf_release(&w.text);
}
