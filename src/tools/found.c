/* Hits as lines of text: path:line:text, long ones cut around the match. */
#include "tools/found.h"

#include "base/mem.h"
#include "base/utf8.h"

#define POINTS_BEFORE 100 /* of a long line, in front of the match */
#define POINTS_LINE 300
#define TEXT_MAX (1u << 20)

struct found *found_new(void) {
  struct found *f = mem_zero(sizeof *f);
  if (!f) return NULL;
  buf_init(&f->text, TEXT_MAX);
  closed_init(&f->closed);
  return f;
}

void found_free(struct found *f) {
  while (f->first) {
    struct found_note *n = f->first;
    f->first = n->next;
    mem_free(n);
  }
  closed_release(&f->closed);
  buf_release(&f->text);
  mem_free(f);
}

/* ---- hits --------------------------------------------------------------------------------- */

/* At most `back` bytes from the end, beginning with a whole character. */
static struct str tail_bytes(struct str s, size_t back) {
  size_t from = s.n > back ? s.n - back : 0;
  while (from < s.n && ((unsigned char)s.p[from] & 0xc0) == 0x80)
    from++;
  return str_part(s, from, s.n);
}

static struct str head_bytes(struct str s, size_t n) {
  if (n >= s.n) return s;
  while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
    n--;
  return str_part(s, 0, n);
}

static bool is_short(struct str line) {
  struct str whole = head_bytes(line, 16 * POINTS_LINE);
  return whole.n == line.n && utf8_head(line, POINTS_LINE).n == line.n;
}

/* The line as the file has it, or of a long one what stands around the match.
 * Graphemes are only looked for in bytes that could be shown. */
static void put_line(struct buf *out, const struct scan *scan) {
  struct str line = scan->text;
  size_t at = (size_t)(scan->match.p - line.p);
  if (is_short(scan->raw)) {
    buf_put(out, scan->raw);
    return;
  }
  if (!scan->match.p || at > line.n) at = 0;
  struct str before = tail_bytes(str_part(line, 0, at), 16 * POINTS_BEFORE);
  before = utf8_tail(before, POINTS_BEFORE);
  size_t from = at - before.n;
  struct str rest = head_bytes(str_part(line, from, line.n), 16 * POINTS_LINE);
  struct str part = utf8_head(rest, POINTS_LINE);
  if (from) buf_lit(out, "…");
  buf_put(out, part);
  if (from + part.n < line.n) buf_lit(out, "…");
}

/* A path on its line: a control in it must not make two lines of one. */
static void put_path(struct buf *out, struct str path) {
  struct buf b;
  buf_init(&b, FOUND_PATH_MAX);
  utf8_repair(&b, path);
  utf8_show(out, buf_str(&b), false);
  if (b.fail) out->fail = b.fail;
  buf_release(&b);
}

void found_hit(struct found *f, struct str path, const struct scan *scan) {
  if (++f->hits > FOUND_HITS_MAX + 1) return; /* one more says that there are more */
  put_path(&f->text, path);
  buf_c(&f->text, ':');
  buf_num(&f->text, scan->line);
  buf_c(&f->text, ':');
  put_line(&f->text, scan);
  buf_c(&f->text, '\n');
  if (f->text.fail) f->fail = f->text.fail;
}

void found_note(struct found *f, enum found_sort sort, struct str path, int64_t line, int error) {
  struct found_note *n = mem_resize(NULL, sizeof *n + path.n);
  if (!n) {
    f->fail = REIN_MEMORY;
    return;
  }
  *n = (struct found_note){.sort = sort, .line = line, .error = error, .path_n = path.n};
  if (path.n) memcpy(n->path, path.p, path.n);
  if (f->last)
    f->last->next = n;
  else
    f->first = n;
  f->last = n;
}
