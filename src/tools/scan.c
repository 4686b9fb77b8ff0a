/* Lines that match, from blocks of a file. What is done with them is
 * search_files.c's business; what a pattern means is src/regex's. */
#include "tools/scan_inside.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "tools/kind.h"

#define JUDGED_FEW 256u         /* bytes that tell UTF-8 */
#define JUDGED_MANY (64u << 10) /* and anything else */

/* ---- patterns ------------------------------------------------------------------------ */

/* Whether the text is the same in all Unicode forms; then so is what it finds. */
static enum rein_code compose(struct str pattern, struct buf *composed, bool *one_form) {
  struct buf apart;
  buf_init(&apart, 16 * REGEX_PATTERN_MAX);
  utf8_form(composed, pattern, UTF8_COMPOSED);
  utf8_form(&apart, pattern, UTF8_APART);
  *one_form = str_eq(buf_str(&apart), buf_str(composed));
  enum rein_code code = composed->fail ? composed->fail : apart.fail;
  buf_release(&apart);
  return code;
}

enum rein_code scan_pattern_new(struct str pattern, unsigned flags, struct scan_pattern *made,
                                struct err *err) {
  struct buf composed;
  bool one_form = true;
  *made = (struct scan_pattern){NULL, NULL};
  buf_init(&composed, 16 * REGEX_PATTERN_MAX);
  bool plain = pattern.n > REGEX_PATTERN_MAX || !utf8_valid(pattern);
  enum rein_code code = plain ? REIN_OK : compose(pattern, &composed, &one_form);
  if (code) code = ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  if (!one_form) flags |= REGEX_FORMS;
  if (!code) code = regex_new(pattern, flags, &made->regex, err);
  if (!code && !one_form) code = regex_new(buf_str(&composed), flags, &made->composed, err);
  buf_release(&composed);
  if (code) scan_pattern_release(made);
  return code;
}

void scan_pattern_release(struct scan_pattern *pattern) {
  regex_free(pattern->regex);
  regex_free(pattern->composed);
  *pattern = (struct scan_pattern){NULL, NULL};
}

/* ---- one scan ------------------------------------------------------------------------ */

enum rein_code scan_init(struct scan *scan, const struct scan_pattern *pattern,
                         struct call_clock clock) {
  *scan = (struct scan){.pattern = pattern, .clock = clock, .ended = true};
  scan->looks = regex_looks(pattern->regex);
  buf_init(&scan->fixed, 3 * SCAN_BLOCK);
  buf_init(&scan->form, 16 * SCAN_BLOCK);
  buf_init(&scan->korean, 4 * SCAN_WIDE_ROOM + SCAN_BLOCK);
  scan->block = mem_resize(NULL, SCAN_BLOCK);
  if (!scan->block) return REIN_MEMORY;
  enum rein_code code = regex_scratch_new(pattern->regex, &scan->scratch);
  if (code || !pattern->composed) return code;
  return regex_scratch_new(pattern->composed, &scan->composed_scratch);
}

void scan_release(struct scan *scan) {
  regex_scratch_free(scan->scratch);
  regex_scratch_free(scan->composed_scratch);
  mem_free(scan->block);
  mem_free(scan->wide_room);
  buf_release(&scan->fixed);
  buf_release(&scan->form);
  buf_release(&scan->korean);
  *scan = (struct scan){.ended = true};
}

void scan_file(struct scan *scan, int fd, size_t size) {
  scan->fd = fd;
  scan->size = size;
  scan->read = 0;
  scan->at = scan->ready = scan->n = scan->counted = 0;
  scan->next_line = 1;
  scan->started = scan->eof = scan->nul = scan->ended = scan->checked = false;
  scan->piece = scan->inside = scan->line_done = false;
  scan->judged = false;
  scan->encoding = ENCODING_UTF8;
  scan->decode_fail = false;
  scan->wide_left = 0;
  scan->error = 0;
  scan->kind = T_NONE;
}

/* ---- blocks -------------------------------------------------------------------------- */

/* Counts the lines up to where the scan stands. */
static void count_lines(struct scan *s) {
  const char *p = s->block + s->counted, *end = s->block + s->at;
  while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
    s->next_line++;
    p++;
  }
  s->counted = s->at;
}

/* How many bytes are ASCII before one that is not; eight at once. */
static size_t ascii_front(struct str s) {
  size_t i = 0;
  for (; i + 32 <= s.n; i += 32) {
    uint64_t w[4];
    memcpy(w, s.p + i, sizeof w);
    if ((w[0] | w[1] | w[2] | w[3]) & UINT64_C(0x8080808080808080)) break;
  }
  while (i < s.n && !((unsigned char)s.p[i] & 0x80))
    i++;
  return i;
}

/* Reads until there is a whole line, the block is full, or the file ends. */
static bool read_lines(struct scan *s) {
  size_t fresh = s->n;
  while (!s->eof && !s->error && s->n < SCAN_BLOCK) {
    size_t before = s->n;
    if (!scan_read(s)) return false;
    if (s->n == before && scan_decodes(s) && SCAN_BLOCK - s->n < SCAN_ROOM_LEAST) break;
    if (!s->started && s->n >= 2) return true;
    if (memchr(s->block + fresh, '\n', s->n - fresh)) break;
  }
  return true;
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

/* What the first bytes say; false: no memory. */
static bool begin_file(struct scan *s) {
  struct str head = {s->block, s->n};
  size_t mark = 0, seen = s->n < KIND_HEAD ? s->n : KIND_HEAD;
  s->started = true;
  s->kind = kind_by_magic(head);
  bool zero = s->kind == T_NONE && memchr(s->block, 0, seen);
  if (zero || s->kind == T_TOOLS_KIND_UTF16) {
    enum encoding encoding = encoding_of(head, s->size && s->read == s->size, &mark);
    bool wide = encoding == ENCODING_UTF16LE || encoding == ENCODING_UTF16BE;
    s->kind = wide ? T_NONE : T_TOOLS_KIND_OTHER;
    if (wide) scan_decode(s, encoding, 0, mark);
    return !wide || read_lines(s);
  }
  bool line = s->kind != T_NONE || memchr(s->block, '\n', s->n);
  return line || read_lines(s);
}

/* How far the block holds whole lines, or its piece of one */
static void mark_lines(struct scan *s) {
  const char *end = s->n ? memrchr(s->block, '\n', s->n) : NULL;
  s->piece = !end && !s->eof;
  s->ready = s->eof || !end ? s->n : (size_t)(end - s->block) + 1;
}

/* Of these bytes, all whole lines or one piece, which begin with one that is not
 * ASCII. UTF-8 is told by a few of them; anything else is looked at longer. */
static enum encoding judge(const struct scan *s, struct str bytes) {
  size_t mark = 0;
  struct str few = str_part(bytes, 0, JUDGED_FEW), many = str_part(bytes, 0, JUDGED_MANY);
  size_t bad = utf8_bad(few);
  if (bad == few.n || (few.n < bytes.n && few.n - bad < 4)) return ENCODING_UTF8;
  bool whole = many.n == bytes.n && !s->piece;
  switch (encoding_of(many, whole, &mark)) {
  case ENCODING_CP949: return ENCODING_CP949;
  case ENCODING_UTF8: return ENCODING_UTF8;
  case ENCODING_UTF16LE:
  case ENCODING_UTF16BE:
  case ENCODING_BINARY:
  case ENCODING_OTHER: break;
  }
  return ENCODING_OTHER;
}

/* The first byte that is not ASCII tells what the file's text is in. False: no
 * memory. */
static bool judge_lines(struct scan *s) {
  struct str lines = {s->block, s->ready};
  size_t from = s->judged ? lines.n : ascii_front(lines);
  if (from == lines.n) return true;
  s->judged = true;
  enum encoding encoding = judge(s, str_part(lines, from, lines.n));
  if (encoding != ENCODING_CP949) {
    s->encoding = encoding;
    return true;
  }
  scan_decode(s, encoding, from, s->read - (s->n - from));
  if (!read_lines(s)) return false;
  stop_at_nul(s, from);
  mark_lines(s);
  return true;
}

/* Reads on behind what is left, which stands at the front. SCAN_HIT: it did. */
static enum scan_event read_on(struct scan *s) {
  size_t left = s->n;
  if (!read_lines(s)) return SCAN_MEMORY;
  if (!s->started && !s->error && !begin_file(s)) return SCAN_MEMORY;
  if (s->error) return SCAN_ERROR;
  if (s->kind != T_NONE && !s->nul) return SCAN_BINARY;
  stop_at_nul(s, left);
  return SCAN_HIT;
}

/* Moves what is left to the front and reads on. SCAN_HIT: there are lines;
 * SCAN_LONG: there is the first piece of one. */
static enum scan_event refill(struct scan *s) {
  if (call_late(&s->clock)) return SCAN_LATE;
  count_lines(s);
  s->n -= s->at;
  if (s->n) memmove(s->block, s->block + s->at, s->n);
  s->at = s->ready = s->counted = 0;
  enum scan_event event = read_on(s);
  if (event != SCAN_HIT) return event;
  mark_lines(s);
  if (!judge_lines(s)) return SCAN_MEMORY;
  if (s->error) return SCAN_ERROR;
  if (s->ready == 0) return s->nul ? SCAN_BINARY : SCAN_END;
  struct str lines = {s->block, s->ready};
  if (s->looks && !regex_look_at(s->pattern->regex, s->scratch, lines)) return SCAN_MEMORY;
  return s->piece && !s->inside ? SCAN_LONG : SCAN_HIT;
}

/* ---- lines --------------------------------------------------------------------------- */

/* Passes over lines that do not match; false: none of these does. */
static bool pass_over(struct scan *s) {
  size_t found = regex_look_next(s->pattern->regex, s->scratch, s->at);
  if (found == s->ready) {
    if (memchr(s->block + s->at, '\n', s->ready - s->at)) s->inside = s->line_done = false;
    s->at = s->ready;
    return false;
  }
  const char *at = s->block + s->at;
  const char *end = memrchr(at, '\n', found - s->at);
  if (!end) return true; /* it is in the line that begins here */
  s->at = (size_t)(end + 1 - s->block);
  s->inside = s->line_done = false;
  return true;
}

/* Takes the line at `at`; true: its end was there. */
static bool take_line(struct scan *s) {
  const char *at = s->block + s->at;
  const char *end = memchr(at, '\n', s->ready - s->at);
  count_lines(s);
  s->text = (struct str){at, end ? (size_t)(end - at) : s->ready - s->at};
  s->at += s->text.n + (end ? 1 : 0);
  s->line = s->next_line;
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
  s->ready = s->counted = s->at;
  s->inside = true;
  s->piece = false;
}

/* ---- matching ------------------------------------------------------------------------ */

static enum scan_event event_of(enum regex_hit hit) {
  switch (hit) {
  case REGEX_NO: return SCAN_END;
  case REGEX_YES: return SCAN_HIT;
  case REGEX_GAVE_UP: return SCAN_COSTLY;
  case REGEX_NO_MEMORY: return SCAN_MEMORY;
  }
  return SCAN_END;
}

/* The line composed, where it is not: a name or a text from macOS. */
static enum scan_event match_form(struct scan *s, bool inside) {
  uint32_t cp;
  if (!s->pattern->composed || ascii_front(s->text) == s->text.n) return SCAN_END;
  buf_reset(&s->form);
  utf8_form(&s->form, s->text, UTF8_COMPOSED);
  if (s->form.fail) return SCAN_MEMORY;
  struct str text = buf_str(&s->form);
  size_t from = inside ? utf8_next(text, &cp) : 0;
  enum scan_event event =
      event_of(regex_match(s->pattern->composed, s->composed_scratch, text, from, &s->match));
  if (event == SCAN_HIT) s->text = text;
  return event;
}

/* `inside`: the text begins in the middle of its line, where ^ is not. `ended`:
 * the line's end is there, and the CR of a CR LF belongs to it. */
static enum scan_event match_line(struct scan *s, bool inside, bool ended) {
  if (!utf8_valid(s->text)) {
    buf_reset(&s->fixed);
    utf8_repair(&s->fixed, s->text);
    if (s->fixed.fail) return SCAN_MEMORY;
    s->text = buf_str(&s->fixed);
  }
  struct str with_cr = s->text;
  bool cr = ended && str_ends(s->text, STR("\r"));
  s->text.n -= cr;
  s->raw = s->text;
  uint32_t cp;
  size_t from = inside ? utf8_next(s->text, &cp) : 0;
  enum scan_event event =
      event_of(regex_match(s->pattern->regex, s->scratch, s->text, from, &s->match));
  if (event == SCAN_END && cr && regex_names_cr(s->pattern->regex))
    event = event_of(regex_match(s->pattern->regex, s->scratch, with_cr, from, &s->match));
  return event == SCAN_END ? match_form(s, inside) : event;
}

/* One line, or one piece of a long one; SCAN_END: nothing to report of it. */
static enum scan_event scan_line(struct scan *s) {
  bool piece = s->piece, inside = s->inside, done = inside && s->line_done;
  bool ended = take_line(s);
  if (piece) s->text = whole_characters(s->text);
  enum scan_event event = done ? SCAN_END : match_line(s, inside, ended);
  s->inside = false;
  s->line_done = piece && (done || event != SCAN_END);
  if (piece) end_piece(s);
  return event;
}

/* Before the first line that may match is shown: what no text holds. */
static bool is_no_text(struct scan *s) {
  if (s->checked) return false;
  s->checked = true;
  s->kind = kind_of((struct str){s->block, s->ready});
  return s->kind != T_NONE;
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
  if (s->looks && !pass_over(s)) {
    if (s->piece) end_piece(s);
    return SCAN_END;
  }
  bool late = call_late(&s->clock);
  if (late || is_no_text(s)) {
    count_lines(s);
    s->line = s->next_line;
    s->ended = true;
    return late ? SCAN_LATE : SCAN_BINARY;
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
