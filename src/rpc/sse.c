/* The event-stream reader: lines out of pieces, fields out of lines, events out
 * of fields. Knows nothing of JSON or of what an event means (src/wire does).
 *
 * A line that lies whole in one piece is read in place; only a cut one is
 * gathered, so feeding byte by byte costs no more than a copy.
 */
#include "rpc/sse.h"

#include <assert.h>

#define SSE_NAME_MAX 4096 /* event names and ids are words; longer ones count as none */

void sse_init(struct sse *s) {
  *s = (struct sse){0};
  buf_init(&s->line, SSE_LINE_MAX);
  buf_init(&s->data, SSE_EVENT_MAX);
  buf_init(&s->name, SSE_NAME_MAX);
  buf_init(&s->id, SSE_NAME_MAX);
}

void sse_release(struct sse *s) {
  buf_release(&s->line);
  buf_release(&s->data);
  buf_release(&s->name);
  buf_release(&s->id);
}

void sse_feed(struct sse *s, struct str bytes) {
  assert(s->in.n == 0 && !s->ended);
  if (!s->fail) s->in = bytes;
}

void sse_end(struct sse *s) {
  s->ended = true;
}

static void fail(struct sse *s, enum rein_code code) {
  s->fail = code;
  s->in = STR_NONE;
  s->has_data = false;
}

/* Where the line ends, or in.n. One pass, whichever of the two ends lines. */
static size_t line_end(struct str in) {
  size_t n = 0;
  while (n < in.n && in.p[n] != '\n' && in.p[n] != '\r')
    n++;
  return n;
}

/* The LF of a CRLF, also where a piece ended between the two. */
static void skip_tail(struct sse *s) {
  if (!s->cr || s->in.n == 0) return;
  s->cr = false;
  if (s->in.p[0] == '\n') s->in = str_part(s->in, 1, s->in.n);
}

/* Takes the next whole line: in place, or gathered in s->line. */
static bool take_line(struct sse *s, struct str *line) {
  skip_tail(s);
  size_t n = line_end(s->in);
  struct str piece = str_part(s->in, 0, n);
  bool whole = n < s->in.n;
  if (whole && s->in.p[n] == '\r') s->cr = true;
  s->in = str_part(s->in, whole ? n + 1 : n, s->in.n);
  if (whole && s->line.n == 0 && n <= SSE_LINE_MAX) {
    *line = piece;
    return true;
  }
  buf_put(&s->line, piece);
  if (s->line.fail) {
    fail(s, s->line.fail);
    return false;
  }
  *line = buf_str(&s->line);
  return whole || (s->ended && s->line.n);
}

/* One that is no word is as good as none: nobody here knows it. */
static void set_word(struct sse *s, struct buf *word, struct str value) {
  buf_reset(word);
  buf_put(word, value);
  if (word->fail == REIN_LIMIT)
    buf_reset(word);
  else if (word->fail)
    fail(s, word->fail);
}

static void add_data(struct sse *s, struct str value) {
  if (s->has_data) buf_c(&s->data, '\n');
  buf_put(&s->data, value);
  s->has_data = true;
  if (s->data.fail) fail(s, s->data.fail);
}

static void read_field(struct sse *s, struct str line) {
  struct str field = line, value = STR_NONE;
  if (line.p[0] == ':') {
    s->comments++;
    return;
  }
  if (str_split(line, ':', &field, &value) && value.n && value.p[0] == ' ')
    value = str_part(value, 1, value.n);
  if (str_is(field, "data"))
    add_data(s, value);
  else if (str_is(field, "event"))
    set_word(s, &s->name, value);
  else if (str_is(field, "id") && str_find_char(value, '\0') == value.n)
    set_word(s, &s->id, value);
}

static struct str skip_bom(struct sse *s, struct str line) {
  bool first = !s->started;
  s->started = true;
  return first && str_starts(line, STR("\xEF\xBB\xBF")) ? str_part(line, 3, line.n) : line;
}

/* Gives the event out if its lines made one; an event without data is none. */
static bool give(struct sse *s, struct sse_event *event, bool open) {
  s->given = true;
  if (!s->has_data) return false;
  *event = (struct sse_event){
      .name = buf_str(&s->name), .data = buf_str(&s->data), .id = buf_str(&s->id), .open = open};
  return true;
}

static void drop_given(struct sse *s) {
  if (!s->given) return;
  s->given = s->has_data = false;
  buf_reset(&s->name);
  buf_reset(&s->data);
}

bool sse_next(struct sse *s, struct sse_event *event) {
  struct str line;
  drop_given(s);
  while (!s->fail && take_line(s, &line)) {
    line = skip_bom(s, line);
    bool blank = line.n == 0;
    if (!blank) read_field(s, line);
    buf_reset(&s->line);
    if (blank && give(s, event, false)) return true;
    drop_given(s);
  }
  return !s->fail && s->ended && give(s, event, true);
}
