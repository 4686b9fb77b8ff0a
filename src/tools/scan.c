/* Lines that match, from blocks of a file. What is done with them is
 * search_files.c's business; what a pattern means is src/regex's. */
#include "tools/scan.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "tools/kind.h"

#include <errno.h>
#include <unistd.h>

/* Lines are repaired before they are matched; a literal that a repair could
 * make (U+FFFD, a joined surrogate pair) must not be looked for before it. */
static struct str usable_literal(struct str literal) {
  for (size_t i = 0; i < literal.n; i++)
    if ((unsigned char)literal.p[i] >= 0xef) return STR_NONE;
  return literal;
}

enum rein_code scan_init(struct scan *scan, const struct regex *regex, struct call_clock clock) {
  *scan = (struct scan){.regex = regex, .clock = clock, .ended = true};
  scan->literal = usable_literal(regex_literal(regex));
  buf_init(&scan->fixed, 3 * SCAN_BLOCK);
  scan->block = mem_resize(NULL, SCAN_BLOCK);
  return scan->block ? regex_scratch_new(regex, &scan->scratch) : REIN_MEMORY;
}

void scan_release(struct scan *scan) {
  regex_scratch_free(scan->scratch);
  mem_free(scan->block);
  buf_release(&scan->fixed);
  *scan = (struct scan){.ended = true};
}

void scan_file(struct scan *scan, int fd) {
  scan->fd = fd;
  scan->at = scan->ready = scan->n = 0;
  scan->next_line = 1;
  scan->started = scan->eof = scan->nul = scan->ended = false;
  scan->piece = scan->inside = scan->line_done = false;
  scan->error = 0;
  scan->kind = T_NONE;
}

/* ---- blocks ------------------------------------------------------------- */

static void read_block(struct scan *s) {
  while (s->n < SCAN_BLOCK && !s->eof) {
    ssize_t n = read(s->fd, s->block + s->n, SCAN_BLOCK - s->n);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) s->error = errno;
    s->eof = n <= 0;
    s->n += n > 0 ? (size_t)n : 0;
  }
}

/* The file counts up to the line of its first NUL byte. */
static void stop_at_nul(struct scan *s, size_t fresh) {
  const char *nul = memchr(s->block + fresh, 0, s->n - fresh);
  if (!nul) return;
  const char *end = memrchr(s->block, '\n', (size_t)(nul - s->block));
  s->n = end ? (size_t)(end - s->block) + 1 : 0;
  s->nul = s->eof = true;
  s->kind = T_TOOLS_KIND_OTHER;
}

/* Moves what is left to the front and reads on. SCAN_HIT: there are lines;
 * SCAN_LONG: there is the first piece of one. */
static enum scan_event refill(struct scan *s) {
  if (call_late(&s->clock)) return SCAN_LATE;
  size_t left = s->n - s->at;
  memmove(s->block, s->block + s->at, left);
  s->at = s->ready = 0;
  s->n = left;
  read_block(s);
  if (s->error) return SCAN_ERROR;
  if (!s->started) {
    s->started = true;
    s->kind = kind_of((struct str){s->block, s->n});
    if (s->kind != T_NONE) return SCAN_BINARY;
  }
  stop_at_nul(s, left);
  const char *end = memrchr(s->block, '\n', s->n);
  s->piece = !end && !s->eof;
  s->ready = s->eof || !end ? s->n : (size_t)(end - s->block) + 1;
  if (!s->ready) return s->nul ? SCAN_BINARY : SCAN_END;
  return s->piece && !s->inside ? SCAN_LONG : SCAN_HIT;
}

/* ---- lines -------------------------------------------------------------- */

static int64_t count_ends(const char *from, const char *to) {
  int64_t n = 0;
  while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
    n++;
    from++;
  }
  return n;
}

/* Passes over lines that do not hold the literal; false: none of these does. */
static bool to_literal(struct scan *s) {
  const char *at = s->block + s->at, *ready = s->block + s->ready;
  const char *found = memmem(at, (size_t)(ready - at), s->literal.p, s->literal.n);
  const char *end = found ? memrchr(at, '\n', (size_t)(found - at)) : ready - 1;
  if (!end) return true; /* it is in the line that begins here */
  int64_t ends = count_ends(at, end + 1);
  s->next_line += ends;
  s->at = (size_t)(end + 1 - s->block);
  if (ends) s->inside = s->line_done = false;
  return found;
}

/* Takes the line at `at`; true: its end was there. */
static bool take_line(struct scan *s) {
  const char *at = s->block + s->at;
  const char *end = memchr(at, '\n', s->ready - s->at);
  s->text = (struct str){at, end ? (size_t)(end - at) : s->ready - s->at};
  s->at += s->text.n + (end ? 1 : 0);
  s->line = s->next_line;
  if (end && s->text.n && s->text.p[s->text.n - 1] == '\r') s->text.n--;
  if (s->line == 1 && !s->inside && str_starts(s->text, STR("\xef\xbb\xbf")))
    s->text = str_part(s->text, 3, s->text.n);
  return end;
}

/* A piece may end inside a character, which is no fault of the file's. */
static struct str whole_characters(struct str s) {
  for (size_t back = 1; back <= 3 && back <= s.n; back++)
    if ((unsigned char)s.p[s.n - back] >= 0xc0) return str_part(s, 0, s.n - back);
  return s;
}

/* After a piece its last part stays, as the first part of the next one. */
static void end_piece(struct scan *s) {
  s->at = s->n - SCAN_OVERLAP;
  while (s->at < s->n && ((unsigned char)s->block[s->at] & 0xc0) == 0x80)
    s->at++;
  s->ready = s->at;
  s->inside = true;
  s->piece = false;
}

/* `inside`: the text begins in the middle of its line, where ^ is not. */
static enum scan_event match_line(struct scan *s, bool inside) {
  if (!utf8_valid(s->text)) {
    buf_reset(&s->fixed);
    utf8_repair(&s->fixed, s->text);
    if (s->fixed.fail) return SCAN_MEMORY;
    s->text = buf_str(&s->fixed);
  }
  uint32_t cp;
  size_t from = inside ? utf8_next(s->text, &cp) : 0;
  switch (regex_match(s->regex, s->scratch, s->text, from, &s->match)) {
  case REGEX_NO: return SCAN_END;
  case REGEX_YES: return SCAN_HIT;
  case REGEX_GAVE_UP: return SCAN_COSTLY;
  case REGEX_NO_MEMORY: return SCAN_MEMORY;
  }
  return SCAN_END;
}

/* One line, or one piece of a long one; SCAN_END: nothing to report of it. */
static enum scan_event scan_line(struct scan *s) {
  bool piece = s->piece, inside = s->inside, done = inside && s->line_done;
  s->next_line += take_line(s);
  if (piece) s->text = whole_characters(s->text);
  enum scan_event event = done ? SCAN_END : match_line(s, inside);
  s->inside = false;
  s->line_done = piece && (done || event != SCAN_END);
  if (piece) end_piece(s);
  return event;
}

static bool is_last(enum scan_event event) {
  return event == SCAN_END || event >= SCAN_BINARY;
}

/* What came of one step; SCAN_END: nothing yet, unless `ended`. */
static enum scan_event scan_step(struct scan *s) {
  if (s->at == s->ready) {
    enum scan_event event = refill(s);
    s->line = s->next_line;
    s->ended = is_last(event);
    if (event != SCAN_HIT) return event;
  }
  if (s->literal.n && !to_literal(s)) {
    if (s->piece) end_piece(s);
    return SCAN_END;
  }
  if (call_late(&s->clock)) {
    s->line = s->next_line;
    s->ended = true;
    return SCAN_LATE;
  }
  enum scan_event event = scan_line(s);
  s->ended = event == SCAN_MEMORY;
  return event;
}

enum scan_event scan_next(struct scan *s) {
  enum scan_event event = SCAN_END;
  while (!s->ended && event == SCAN_END)
    event = scan_step(s);
  return event;
}
