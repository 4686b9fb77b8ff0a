/* read_file: a page of lines. Streams, so the size of the file does not matter;
 * what it shows is bounded in characters, what it passes over in time. */
#include "base/mem.h"
#include "base/utf8.h"
#include "tools/call.h"
#include "tools/kind.h"
#include "tools/rows.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (64u << 10)
#define POINTS_MAX 20000
#define FOUND_BYTES_MAX 4096        /* PATH_MAX */
#define COUNT_BYTES_MAX (64u << 20) /* read behind the page to learn how many lines there are */

struct source {
  int fd;
  struct call_clock clock;
  char *block;
  size_t at, n;
  uint64_t read; /* bytes taken from the file */
  bool ended;    /* or failed: it is not asked again */
  bool looking;  /* a NUL in a block is looked for: the page is not full yet */
  bool binary, late;
  int error; /* errno of a failed read */
};

struct page {
  int64_t first, limit, shown;
  size_t points_max, points;
  struct buf text, line, fixed;
  struct buf taken; /* the path that was opened, where it is spelled otherwise */
  bool more, cut, broken;
};

/* ---- lines from a descriptor -------------------------------------------- */

static bool fill(struct source *s) {
  ssize_t n;
  if (s->ended) return false;
  do
    n = read(s->fd, s->block, BLOCK);
  while (n < 0 && errno == EINTR);
  if (n < 0) s->error = errno;
  s->ended = n <= 0;
  if (s->ended) return false;
  s->at = 0;
  s->n = (size_t)n;
  s->read += s->n;
  s->late = call_late(&s->clock);
  s->binary |= s->looking && memchr(s->block, 0, s->n);
  return !s->late && !s->binary;
}

/* One line with its end, at most `keep` bytes of it; false: there is none, or
 * the source says why not. */
static bool next_line(struct source *s, struct buf *line, size_t keep, bool *cut) {
  bool any = false;
  *cut = false;
  while (s->at < s->n || fill(s)) {
    const char *from = s->block + s->at;
    const char *end = memchr(from, '\n', s->n - s->at);
    size_t n = end ? (size_t)(end - from) + 1 : s->n - s->at;
    size_t room = keep - (keep ? line->n : 0);
    if (keep) buf_put(line, (struct str){from, n < room ? n : room});
    *cut |= n > room;
    s->at += n;
    any = true;
    if (end) break;
  }
  return any && !s->late && !s->binary && !s->error;
}

static bool skip_line(struct source *s) {
  bool cut;
  return next_line(s, NULL, 0, &cut);
}

/* ---- the page ----------------------------------------------------------- */

/* A cut line ends in a whole character, so that the cut looks like no fault of
 * the file's. */
static struct str without_half(struct str s) {
  for (size_t back = 1; back <= 3 && back <= s.n; back++) {
    unsigned char c = (unsigned char)s.p[s.n - back];
    if (c >= 0xc0) return str_part(s, 0, s.n - back);
    if (c < 0x80) break;
  }
  return s;
}

/* The line goes onto the page; false: there was no room for it. */
static bool put_line(struct page *p, struct str raw) {
  p->broken |= !utf8_valid(raw);
  buf_reset(&p->fixed);
  utf8_repair(&p->fixed, raw);
  struct str text = buf_str(&p->fixed);
  size_t points = utf8_count(text);
  if (p->points + points > p->points_max) {
    if (p->shown) return false;
    text = utf8_head(text, p->points_max);
    p->cut = true;
  }
  buf_put(&p->text, text);
  p->points += points;
  p->shown++;
  return true;
}

static void fill_page(struct source *s, struct page *p) {
  size_t keep = 4 * p->points_max + 8; /* more characters than the page has room for */
  while (p->shown < p->limit && !p->cut) {
    bool cut;
    buf_reset(&p->line);
    if (!next_line(s, &p->line, keep, &cut)) return;
    struct str raw = cut ? without_half(buf_str(&p->line)) : buf_str(&p->line);
    if (p->first + p->shown == 1 && str_starts(raw, STR("\xef\xbb\xbf")))
      raw = str_part(raw, 3, raw.n);
    if (!put_line(p, raw)) {
      p->more = true;
      return;
    }
  }
}

/* How many lines the file has, `seen` of them read; -1: too many to count. */
static int64_t count_lines(struct source *s, int64_t seen) {
  uint64_t stop = s->read + COUNT_BYTES_MAX;
  s->looking = false;
  while (s->read < stop && skip_line(s))
    seen++;
  return s->read < stop && !s->late && !s->error ? seen : -1;
}

/* ---- notices: outside the data, each on a line of its own ---------------- */

static void notice_lines(struct page *p, struct source *s, enum rein_lang lang) {
  struct num_text a, b, c, d;
  int64_t last = p->first + p->shown - 1;
  int64_t all = count_lines(s, last + p->more);
  if (all == last && p->first == 1) return;
  struct str from = str_num(&a, p->first), to = str_num(&b, last);
  struct str next = str_num(&c, last + 1), count = str_num(&d, all);
  if (all < 0)
    TEXT_PUT(&p->text, lang, T_TOOLS_LINES_MORE_UNCOUNTED, from, to, next);
  else if (all == last)
    TEXT_PUT(&p->text, lang, T_TOOLS_LINES_END, from, to, count);
  else
    TEXT_PUT(&p->text, lang, T_TOOLS_LINES_MORE, from, to, count, next);
  buf_c(&p->text, '\n');
}

/* A file that was taken for one whose name is written in another Unicode form. */
static void note_form(struct rein_call *call, struct page *p) {
  struct str path = call_text(call, "path"), taken = buf_str(&p->taken);
  struct str before, asked = path, real = taken;
  (void)str_split_last(path, '/', &before, &asked);
  (void)str_split_last(taken, '/', &before, &real);
  if (!taken.n || str_eq(real, asked) || !utf8_same(real, asked)) return;
  CALL_NOTE(&p->text, call, T_TOOLS_OTHER_FORM, path, taken);
  buf_c(&p->text, '\n');
}

static void put_notices(struct rein_call *call, struct page *p, struct source *s,
                        enum rein_lang lang) {
  struct num_text a, b;
  size_t data = p->text.n;
  bool blank = str_blank(buf_str(&p->text));
  if (data && p->text.p[data - 1] != '\n') buf_c(&p->text, '\n');
  size_t start = p->text.n;
  if (blank) {
    TEXT_PUT(&p->text, lang, T_TOOLS_BLANK_PART);
    buf_c(&p->text, '\n');
  }
  if (p->cut) {
    TEXT_PUT(&p->text, lang, T_TOOLS_LINE_CUT, str_num(&a, p->first),
             str_num(&b, (int64_t)p->points_max));
    buf_c(&p->text, '\n');
  }
  if (p->broken) {
    TEXT_PUT(&p->text, lang, T_TOOLS_NOT_UTF8);
    buf_c(&p->text, '\n');
  }
  note_form(call, p);
  notice_lines(p, s, lang);
  buf_cut(&p->text, p->text.n > start ? p->text.n - 1 : data);
}

/* ---- the call ----------------------------------------------------------- */

static int give_binary(struct rein_call *call, int fd, enum text_id kind) {
  struct stat st = {0};
  struct num_text room;
  struct buf b;
  if (fstat(fd, &st)) st.st_size = 0;
  buf_init(&b, 4096);
  TEXT_PUT(&b, call_lang(call), T_TOOLS_BINARY, str_of(text_raw(kind, call_lang(call))),
           str_num(&room, (int64_t)st.st_size));
  return call_give(call, &b);
}

/* Why there are no lines to show. */
static int fail_page(struct rein_call *call, const struct source *s, const struct page *p,
                     int64_t reached) {
  struct num_text a, b, c;
  if (s->error)
    return CALL_FAIL(call, REIN_SYSTEM, T_TOOLS_READ_FAILED, call_text(call, "path"),
                     str_of(strerrordesc_np(s->error)));
  if (rein_call_cancelled(call))
    return CALL_FAIL(call, REIN_CANCELLED, T_TOOLS_CANCELLED, STR("read_file"));
  if (s->late)
    return CALL_FAIL(call, REIN_LIMIT, T_TOOLS_TOO_FAR, str_num(&a, p->first),
                     str_num(&b, CALL_WORK_MS_MAX), str_num(&c, reached));
  return CALL_FAIL(call, REIN_INPUT, T_TOOLS_BEHIND_END, str_num(&a, reached),
                   str_num(&b, p->first));
}

static int give_empty(struct rein_call *call) {
  struct buf b;
  buf_init(&b, 256);
  TEXT_PUT(&b, call_lang(call), T_TOOLS_EMPTY_FILE);
  return call_give(call, &b);
}

static int give_text(struct rein_call *call, struct source *s, struct page *p) {
  int64_t passed = 0;
  while (passed < p->first - 1 && skip_line(s))
    passed++;
  if (passed == p->first - 1) fill_page(s, p);
  if (s->binary) return give_binary(call, s->fd, T_TOOLS_KIND_OTHER);
  if (!p->shown || s->error) return fail_page(call, s, p, passed);
  put_notices(call, p, s, call_lang(call));
  enum rein_code fail = p->line.fail ? p->line.fail : p->fixed.fail;
  if (!fail) fail = p->taken.fail;
  return fail ? (int)fail : call_give(call, &p->text);
}

static int give_page(struct rein_call *call, struct source *s, struct page *p) {
  bool any = fill(s) || s->read;
  enum text_id kind = any ? kind_of((struct str){s->block, s->n}) : T_NONE;
  if (kind != T_NONE) return give_binary(call, s->fd, kind);
  return any || s->error ? give_text(call, s, p) : give_empty(call);
}

static int read_page(struct rein_call *call, int fd, struct page *p) {
  struct source s = {.fd = fd, .looking = true, .clock = call_clock(call)};
  s.block = mem_resize(NULL, BLOCK);
  if (!s.block) return REIN_MEMORY;
  if (call->house->read_points_max) p->points_max = call->house->read_points_max;
  size_t bytes = 4 * p->points_max + 8;
  buf_init(&p->line, bytes);
  buf_init(&p->fixed, 3 * bytes);
  buf_init(&p->text, bytes + 4096);
  int code = give_page(call, &s, p);
  buf_release(&p->text);
  buf_release(&p->fixed);
  buf_release(&p->line);
  mem_free(s.block);
  return code;
}

/* Errors of the house know paths, not tools: where another tool is the way out,
 * it is named here. */
static int fail_open(struct rein_call *call, const struct err *err) {
  struct str path = call_text(call, "path");
  if (err->text == T_HOST_PATH_FOLDER) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_IS_FOLDER, path);
  if (err->text == T_HOST_PATH_ABSENT) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_FILE, path);
  return call_fail(call, err);
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct page page = {.points_max = POINTS_MAX};
  int fd = -1;
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("read_file"));
  if (!call_whole(call, "offset", 1, 1, &page.first, &err) ||
      !call_whole(call, "limit", 1, INT64_MAX, &page.limit, &err))
    return call_fail(call, &err);
  buf_init(&page.taken, FOUND_BYTES_MAX);
  int code =
      files_open(call->house->files, call_text(call, "path"), FILES_READ, &fd, &page.taken, &err);
  code = code ? fail_open(call, &err) : read_page(call, fd, &page);
  if (fd >= 0) close(fd);
  buf_release(&page.taken);
  return code;
}

const struct rein_tool tool_read_file = {
    .name = "read_file",
    .description =
        "Reads a text file of the project. Use it to look at a file whose path you know; find "
        "paths with list_files or search_files first. The result is the text itself, at most "
        "20000 characters of whole lines per call. When lines are left out, a last line in square "
        "brackets says which lines were shown and with which offset to read on. Binary files are "
        "named by kind and size, not shown; bytes that are not UTF-8 are shown as U+FFFD.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"File to read, relative to the project "
        "root, as list_files and search_files write it, for example src/main.c.\"},"
        "\"offset\":{\"type\":\"integer\",\"description\":\"First line to read, counted from 1. "
        "Leave out to start at the beginning.\"},"
        "\"limit\":{\"type\":\"integer\",\"description\":\"How many lines to read, at least 1. "
        "Leave out to read as much as fits.\"}},"
        "\"required\":[\"path\"],\"additionalProperties\":false}",
    .touches = REIN_READS_PRIVATE,
    .verdict = REIN_ALLOW,
    .run = run,
};
