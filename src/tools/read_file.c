/* read_file: a page of lines. Streams, so the size of the file does not matter;
 * what it shows is bounded in characters, what it passes over in time. Other
 * encodings than UTF-8 are decoded block by block (encoding.h). */
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tools/change.h"
#include "tools/encoding.h"
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
  const char *text; /* block, or what it was decoded to */
  size_t at, n;     /* in text */
  size_t held;      /* bytes at the start of the block that are half a character */
  enum encoding encoding;
  struct buf decoded;
  uint64_t read;   /* bytes taken from the file */
  uint64_t hash;   /* of them */
  bool eof, ended; /* ended: or failed; it is not asked again */
  bool broken;
  bool looking; /* a NUL in a block is looked for: the page is not full yet */
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

/* How many of the n bytes in the block are whole characters of its encoding. */
static size_t whole_part(const struct source *s, size_t n) {
  const unsigned char *p = (const unsigned char *)s->block;
  size_t i = 0;
  if (s->encoding != ENCODING_CP949) {
    i = n & ~(size_t)1;
    bool big = s->encoding == ENCODING_UTF16BE;
    /* The first half of a surrogate pair waits for the second. */
    if (i >= 2 && (p[i - (big ? 2 : 1)] & 0xfc) == 0xd8) i -= 2;
    return i;
  }
  while (i < n && (p[i] < 0x81 || i + 1 < n))
    i += p[i] < 0x81 || p[i + 1] < 0x41 ? 1 : 2;
  return i;
}

static bool decodes(const struct source *s) {
  return s->encoding == ENCODING_CP949 || s->encoding == ENCODING_UTF16LE ||
         s->encoding == ENCODING_UTF16BE;
}

/* The n bytes of the block as text; half a character at their end is held. */
static bool decode(struct source *s, size_t skip, size_t n) {
  size_t whole = s->eof ? n : whole_part(s, n);
  buf_reset(&s->decoded);
  enum rein_code code = encoding_show(s->encoding, (struct str){s->block + skip, whole - skip},
                                      &s->decoded, &s->broken);
  s->held = n - whole;
  memmove(s->block, s->block + whole, s->held);
  s->text = s->decoded.p;
  s->n = s->decoded.n;
  if (code != REIN_OK && !s->decoded.fail) s->error = ENOSYS;
  return code == REIN_OK;
}

/* The next bytes, behind what is held; false: none, or the source says why. */
static bool take(struct source *s) {
  ssize_t n;
  if (s->ended) {
    s->n = s->at = 0;
    return false;
  }
  do
    n = read(s->fd, s->block + s->held, BLOCK - s->held);
  while (n < 0 && errno == EINTR);
  if (n < 0) s->error = errno;
  s->ended = n <= 0;
  s->eof = n == 0;
  s->at = 0;
  s->n = 0;
  if (n <= 0) return false;
  if (s->read <= CHANGE_BYTES_MAX)
    s->hash = hash_add(s->hash, (struct str){s->block + s->held, (size_t)n});
  s->read += (size_t)n;
  s->n = s->held + (size_t)n;
  s->late = call_late(&s->clock);
  s->text = s->block;
  return !s->late;
}

static bool fill(struct source *s) {
  size_t held = s->held;
  bool more = take(s);
  if (decodes(s)) {
    if (!more && !(s->eof && held)) return false;
    if (!more) return decode(s, 0, held) && s->n;
    s->held = 0;
    /* Less than a character: the next bytes may complete it. */
    return decode(s, 0, s->n) && (s->n || fill(s));
  }
  s->binary |= s->looking && memchr(s->block, 0, s->n);
  return more && !s->binary;
}

/* One line with its end, at most `keep` bytes of it; false: there is none, or
 * the source says why not. */
static bool next_line(struct source *s, struct buf *line, size_t keep, bool *cut) {
  bool any = false;
  *cut = false;
  while (s->at < s->n || fill(s)) {
    const char *from = s->text + s->at;
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
  struct str text = raw;
  if (!utf8_valid(raw)) {
    p->broken = true;
    buf_reset(&p->fixed);
    utf8_repair(&p->fixed, raw);
    text = buf_str(&p->fixed);
  }
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
  if (decodes(s)) {
    TEXT_PUT(&p->text, lang,
             s->encoding == ENCODING_CP949 ? T_TOOLS_DECODED_GUESS : T_TOOLS_DECODED,
             encoding_name(s->encoding));
    buf_c(&p->text, '\n');
  }
  if (p->broken || s->broken) {
    TEXT_PUT(&p->text, lang, decodes(s) ? T_TOOLS_NOT_DECODED : T_TOOLS_NOT_UTF8);
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

/* The file was read to its end: what it holds is what this run has seen of it. */
static bool note_seen(struct rein_call *call, const struct source *s) {
  struct buf path;
  if (!s->eof || s->read > CHANGE_BYTES_MAX) return true;
  buf_init(&path, FOUND_BYTES_MAX);
  enum rein_code code = files_path_of(call->house->files, s->fd, &path);
  bool ok = code == REIN_OK ? call_saw(call, buf_str(&path), hash_end(s->hash))
                            : code != REIN_MEMORY; /* moved meanwhile: nothing is known of it */
  buf_release(&path);
  return ok;
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
  if (s->decoded.fail || !note_seen(call, s)) fail = REIN_MEMORY;
  return fail ? (int)fail : call_give(call, &p->text);
}

/* What the file is, by its first block, which is read. */
static bool begin(struct source *s, enum text_id *kind) {
  struct stat st = {0};
  size_t mark;
  *kind = T_NONE;
  bool any = take(s);
  if (!any) return s->read > 0;
  struct str head = {s->block, s->n};
  bool whole = fstat(s->fd, &st) == 0 && st.st_size == (off_t)s->n;
  s->encoding = encoding_of(head, whole, &mark);
  if (s->encoding == ENCODING_BINARY)
    *kind = kind_of(head) == T_NONE ? T_TOOLS_KIND_OTHER : kind_of(head);
  if (decodes(s)) (void)decode(s, mark, s->n);
  return true;
}

static int give_page(struct rein_call *call, struct source *s, struct page *p) {
  enum text_id kind;
  bool any = begin(s, &kind);
  if (kind != T_NONE) return give_binary(call, s->fd, kind);
  if (any || s->error) return give_text(call, s, p);
  return note_seen(call, s) ? give_empty(call) : REIN_MEMORY;
}

static int read_page(struct rein_call *call, int fd, struct page *p) {
  struct source s = {.fd = fd, .looking = true, .clock = call_clock(call), .hash = HASH_START};
  s.block = mem_resize(NULL, BLOCK);
  if (!s.block) return REIN_MEMORY;
  if (call->house->read_points_max) p->points_max = call->house->read_points_max;
  size_t bytes = 4 * p->points_max + 8;
  buf_init(&p->line, bytes);
  buf_init(&p->fixed, 3 * bytes);
  buf_init(&p->text, bytes + 4096);
  buf_init(&s.decoded, 6 * BLOCK);
  int code = give_page(call, &s, p);
  buf_release(&s.decoded);
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
    .paths = "path",
    .verdict = REIN_ALLOW,
    .run = run,
};
