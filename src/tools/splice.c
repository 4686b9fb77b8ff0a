/* Search runs over a copy with CRLF as LF, so that it is memmem's linear one; the
 * places are then found back in the text by counting the CRs left out. */
#include "tools/splice.h"

#include "base/mem.h"

static bool spots_add(struct spots *spots, struct spot spot) {
  if (spots->count == spots->room) {
    size_t room = spots->room ? spots->room * 2 : 8;
    struct spot *list = mem_resize(spots->list, room * sizeof *list);
    if (!list) return false;
    spots->list = list;
    spots->room = room;
  }
  if (spots->count) {
    const struct spot *last = &spots->list[spots->count - 1];
    spots->overlap |= spot.at < last->at + last->n;
  }
  spots->list[spots->count++] = spot;
  return true;
}

void spots_release(struct spots *spots) {
  mem_free(spots->list);
  *spots = (struct spots){0};
}

static void put_plain(struct buf *out, struct str text) {
  while (text.n) {
    size_t n = str_find(text, STR("\r\n"));
    buf_put(out, str_part(text, 0, n));
    text = str_part(text, n + (n < text.n), text.n);
    if (!text.n) break;
    buf_c(out, '\n');
    text = str_part(text, 1, text.n);
  }
}

/* A place in the text that goes along with one in the copy. */
struct along {
  size_t plain, at;
  int64_t line;
};

static void go_to(struct along *a, struct str text, size_t plain) {
  while (a->plain < plain) {
    if (text.p[a->at] == '\r' && a->at + 1 < text.n && text.p[a->at + 1] == '\n') a->at++;
    a->line += text.p[a->at] == '\n';
    a->at++;
    a->plain++;
  }
}

/* `plain` is the text itself, or its copy without CRs. */
static enum rein_code find_in(struct str text, struct str plain, struct str old, size_t most,
                              bool copied, struct spots *spots) {
  struct along from = {.line = 1};
  size_t at = 0;
  const char *found;
  while (old.n <= plain.n - at && (found = memmem(plain.p + at, plain.n - at, old.p, old.n))) {
    at = (size_t)(found - plain.p);
    spots->more = spots->count == most;
    if (spots->more) break;
    struct spot spot = {.at = at, .n = old.n};
    if (copied) {
      go_to(&from, text, at);
      struct along to = from;
      go_to(&to, text, at + old.n);
      spot = (struct spot){from.at, to.at - from.at, from.line};
    } else {
      for (; from.at < at; from.at++)
        from.line += text.p[from.at] == '\n';
      spot.line = from.line;
    }
    if (!spots_add(spots, spot)) return REIN_MEMORY;
    at++;
  }
  return REIN_OK;
}

enum rein_code spots_find(struct str text, struct str old, size_t most, struct spots *spots) {
  struct buf copy;
  *spots = (struct spots){0};
  if (text.n < old.n) return REIN_OK;
  bool loose = str_find_char(old, '\n') < old.n && str_find_char(old, '\r') == old.n &&
               str_find(text, STR("\r\n")) < text.n;
  if (!loose) return find_in(text, text, old, most, false, spots);
  buf_init(&copy, text.n);
  put_plain(&copy, text);
  enum rein_code code = copy.fail;
  if (code == REIN_OK) code = find_in(text, buf_str(&copy), old, most, true, spots);
  buf_release(&copy);
  return code;
}

/* ---- the new text ------------------------------------------------------- */

enum ends { ENDS_NONE, ENDS_LF, ENDS_CRLF, ENDS_MIXED };

static enum ends ends_of(struct str s) {
  enum ends ends = ENDS_NONE;
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] != '\n') continue;
    enum ends one = i && s.p[i - 1] == '\r' ? ENDS_CRLF : ENDS_LF;
    ends = ends == ENDS_NONE || ends == one ? one : ENDS_MIXED;
  }
  return ends;
}

/* Of the place; where it holds no line end, of the line it ends in, or the one
 * before it. */
static enum ends ends_at(struct str text, const struct spot *spot) {
  enum ends ends = ends_of(str_part(text, spot->at, spot->n));
  if (ends != ENDS_NONE) return ends;
  struct str behind = str_part(text, spot->at + spot->n, text.n);
  size_t end = str_find_char(behind, '\n');
  if (end < behind.n) return ends_of(str_part(behind, 0, end + 1));
  struct str before = str_part(text, 0, spot->at), line, rest;
  if (!str_split_last(before, '\n', &line, &rest)) return ENDS_NONE;
  return str_ends(line, STR("\r")) ? ENDS_CRLF : ENDS_LF;
}

void splice_new(struct buf *out, struct str text, const struct spot *spot, struct str new) {
  if (ends_at(text, spot) != ENDS_CRLF) {
    buf_put(out, new);
    return;
  }
  for (size_t i = 0; i < new.n; i++) {
    if (new.p[i] == '\n' && (i == 0 || new.p[i - 1] != '\r')) buf_c(out, '\r');
    buf_c(out, new.p[i]);
  }
}

void splice(struct buf *out, struct str text, const struct spots *spots, struct str new) {
  size_t from = 0;
  for (size_t i = 0; i < spots->count; i++) {
    const struct spot *spot = &spots->list[i];
    buf_put(out, str_part(text, from, spot->at - from));
    splice_new(out, text, spot, new);
    from = spot->at + spot->n;
  }
  buf_put(out, str_part(text, from, text.n));
}
