/* search_files: lines that match a pattern, below a folder or in one file. A
 * plain walk, one file after the other; what a file's lines are is scan.h's. */
#include "base/utf8.h"
#include "tools/kind.h"
#include "tools/rows.h"
#include "tools/scan.h"
#include "tools/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define HITS_MAX 20
#define POINTS_BEFORE 100 /* of a long line, in front of the match */
#define POINTS_LINE 300
#define COSTLY_MAX 10 /* lines given up: more of them, and it is the pattern */
#define NOTES_MAX 5   /* of one sort: what is left out is counted */
#define TEXT_MAX (256u << 10)
#define PATH_BYTES_MAX (64u << 10) /* repaired and made visible, one of 4 096 bytes */

struct search {
  struct rein_call *call;
  struct folder folder;
  struct scan scan;
  struct buf hits, notes;
  int64_t shown, files, costly, pieces, rests, unreadable;
  struct buf unreadable_path;
  int unreadable_error;
  bool more, late, stop;
  enum rein_code fail;
};

/* ---- hits ---------------------------------------------------------------- */

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

/* The line, or what stands around the match in a long one. Graphemes are only
 * looked for in bytes that could be shown. */
static void put_line(struct buf *out, struct str line, struct str match) {
  size_t at = (size_t)(match.p - line.p);
  if (!match.p || at > line.n) at = 0;
  struct str whole = head_bytes(line, 16 * POINTS_LINE);
  if (whole.n == line.n && utf8_head(line, POINTS_LINE).n == line.n) {
    buf_put(out, line);
    return;
  }
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
  buf_init(&b, PATH_BYTES_MAX);
  utf8_repair(&b, path);
  utf8_show(out, buf_str(&b), false);
  if (b.fail) out->fail = b.fail;
  buf_release(&b);
}

static void put_hit(struct search *s, struct str path) {
  if (s->shown == HITS_MAX) {
    s->more = s->stop = true;
    return;
  }
  put_path(&s->hits, path);
  buf_c(&s->hits, ':');
  buf_num(&s->hits, s->scan.line);
  buf_c(&s->hits, ':');
  put_line(&s->hits, s->scan.text, s->scan.match);
  buf_c(&s->hits, '\n');
  s->shown++;
}

/* ---- notices: behind the hits, each on its line --------------------------- */

static void note_place(struct search *s, enum text_id id, struct str path, int64_t *count) {
  struct num_text line, block;
  if (++*count > NOTES_MAX) return;
  CALL_NOTE(&s->notes, s->call, id, path, str_num(&line, s->scan.line),
            str_num(&block, SCAN_BLOCK));
  buf_c(&s->notes, '\n');
}

static void note_unreadable(struct search *s, struct str path, int error) {
  if (s->unreadable++) return;
  buf_put(&s->unreadable_path, path);
  s->unreadable_error = error;
}

static void note_late(struct search *s, struct str path) {
  struct num_text ms, files;
  s->late = s->stop = true;
  CALL_NOTE(&s->notes, s->call, T_TOOLS_SEARCH_LATE, str_num(&ms, CALL_WORK_MS_MAX), path,
            str_num(&files, s->files));
  buf_c(&s->notes, '\n');
}

static void note_end(struct search *s) {
  struct num_text a, b;
  enum rein_lang lang = call_lang(s->call);
  if (s->costly >= COSTLY_MAX) {
    TEXT_PUT(&s->notes, lang, T_TOOLS_SEARCH_COSTLY_STOP, str_num(&a, s->costly),
             str_num(&b, s->files));
    buf_c(&s->notes, '\n');
  }
  if (s->unreadable) {
    CALL_NOTE(&s->notes, s->call, T_TOOLS_SEARCH_UNREADABLE, str_num(&a, s->unreadable),
              buf_str(&s->unreadable_path), str_of(strerrordesc_np(s->unreadable_error)));
    buf_c(&s->notes, '\n');
  }
  folder_note(&s->folder, s->call, &s->notes);
  if (s->more) {
    TEXT_PUT(&s->notes, lang, T_TOOLS_SEARCH_MORE, str_num(&a, s->shown));
    buf_c(&s->notes, '\n');
  }
}

/* ---- files ---------------------------------------------------------------- */

/* A file that is binary from its first bytes was not searched. */
static void take_binary(struct search *s, struct str path) {
  if (s->scan.line > 1)
    note_place(s, T_TOOLS_SEARCH_BINARY_REST, path, &s->rests);
  else
    s->files--;
}

static void take_event(struct search *s, enum scan_event event, struct str path) {
  switch (event) {
  case SCAN_END: break;
  case SCAN_HIT: put_hit(s, path); break;
  case SCAN_COSTLY:
    note_place(s, T_TOOLS_SEARCH_COSTLY, path, &s->costly);
    s->stop |= s->costly >= COSTLY_MAX;
    break;
  case SCAN_LONG: note_place(s, T_TOOLS_SEARCH_PIECES, path, &s->pieces); break;
  case SCAN_BINARY: take_binary(s, path); break;
  case SCAN_LATE: note_late(s, path); break;
  case SCAN_ERROR: note_unreadable(s, path, s->scan.error); break;
  case SCAN_MEMORY: s->fail = REIN_MEMORY; break;
  }
}

static void search_file(struct search *s, int fd, struct str path) {
  enum scan_event event;
  s->files++;
  scan_file(&s->scan, fd);
  while (!s->stop && !s->fail && (event = scan_next(&s->scan)) != SCAN_END)
    take_event(s, event, path);
}

static bool visit(void *ctx, const struct files_entry *entry) {
  struct search *s = ctx;
  char name[NAME_MAX + 1];
  struct stat st;
  if (call_late(&s->scan.clock)) {
    note_late(s, entry->path);
    return false;
  }
  if (folder_closed(&s->folder, entry) || !entry->is_file || entry->name.n >= sizeof name ||
      !folder_wants(&s->folder, entry))
    return true;
  memcpy(name, entry->name.p, entry->name.n);
  name[entry->name.n] = 0;
  /* not blocking: a pipe may have taken the file's place since it was seen */
  int fd = openat(entry->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    note_unreadable(s, entry->path, errno);
  else if (!fstat(fd, &st) && S_ISREG(st.st_mode))
    search_file(s, fd, entry->path);
  if (fd >= 0) close(fd);
  return !s->stop && !s->fail;
}

/* ---- the call ------------------------------------------------------------- */

static struct str shown_dir(const struct rein_call *call) {
  struct str dir = call_text(call, "dir");
  return dir.n ? dir : STR(".");
}

/* What is said when no line matched. */
static void put_none(struct search *s) {
  struct num_text files;
  struct str glob = call_text(s->call, "glob");
  if (s->files || s->late || s->unreadable)
    CALL_NOTE(&s->hits, s->call, T_TOOLS_SEARCH_NONE, call_text(s->call, "pattern"),
              str_num(&files, s->files));
  else
    CALL_NOTE(&s->hits, s->call, T_TOOLS_SEARCH_NO_FILES, shown_dir(s->call),
              glob.n ? glob : STR("-"));
  buf_c(&s->hits, '\n');
}

static int give(struct search *s) {
  if (rein_call_cancelled(s->call))
    return CALL_FAIL(s->call, REIN_CANCELLED, T_TOOLS_CANCELLED, STR("search_files"));
  if (!s->shown) put_none(s);
  note_end(s);
  buf_put(&s->hits, buf_str(&s->notes));
  if (s->hits.n) buf_cut(&s->hits, s->hits.n - 1);
  if (s->notes.fail) s->fail = s->notes.fail;
  if (s->unreadable_path.fail) s->fail = s->unreadable_path.fail;
  return s->fail ? (int)s->fail : call_give(s->call, &s->hits);
}

/* One file that `dir` names; why it is not searched stands in the answer. */
static int search_alone(struct search *s, int fd) {
  struct buf path;
  buf_init(&path, PATH_BYTES_MAX);
  enum rein_code code = files_path_of(s->call->house->files, fd, &path);
  if (!code && (!s->folder.glob || glob_match(s->folder.glob, buf_str(&path))))
    search_file(s, fd, buf_str(&path));
  buf_release(&path);
  if (code) return (int)code;
  if (s->fail || s->scan.kind == T_NONE || s->scan.line != 1) return give(s);
  enum rein_lang lang = call_lang(s->call);
  CALL_NOTE(&s->hits, s->call, T_TOOLS_SEARCH_BINARY_ALONE, shown_dir(s->call),
            str_of(text_raw(s->scan.kind, lang)));
  return call_give(s->call, &s->hits);
}

static int search(struct search *s) {
  struct err err = {0}, other = {0};
  int fd = -1;
  const struct files *files = s->call->house->files;
  enum rein_code code = folder_open(s->call, &s->folder, &err);
  bool glob_ok = s->folder.glob || !call_text(s->call, "glob").n;
  if (code == REIN_INPUT && glob_ok &&
      !files_open(files, shown_dir(s->call), FILES_READ, &fd, NULL, &other)) {
    int answer = search_alone(s, fd);
    close(fd);
    return answer;
  }
  if (!code) code = files_walk(files, buf_str(&s->folder.prefix), folder_skip, visit, s, &err);
  return code ? call_fail(s->call, &err) : give(s);
}

static int search_with(struct rein_call *call, const struct regex *regex) {
  struct search s = {.call = call, .folder.fd = -1};
  buf_init(&s.hits, TEXT_MAX);
  buf_init(&s.notes, TEXT_MAX);
  buf_init(&s.unreadable_path, PATH_BYTES_MAX);
  enum rein_code code = scan_init(&s.scan, regex, call_clock(call));
  int answer = code ? (int)code : search(&s);
  scan_release(&s.scan);
  folder_release(&s.folder);
  buf_release(&s.unreadable_path);
  buf_release(&s.notes);
  buf_release(&s.hits);
  return answer;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct regex *regex = NULL;
  unsigned flags = rein_call_bool(call, "ignore_case", false) ? REGEX_IGNORE_CASE : 0;
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("search_files"));
  if (regex_new(call_text(call, "pattern"), flags, &regex, &err)) return call_fail(call, &err);
  int answer = search_with(call, regex);
  regex_free(regex);
  return answer;
}

const struct rein_tool tool_search_files = {
    .name = "search_files",
    .description =
        "Searches the project's text files for lines that match a regular expression. Use it to "
        "find where something is named, defined or used. The result is one path:line:text per "
        "matching line, in the order of the paths, at most 20; long lines are cut around the "
        "match. It skips binary files, links, and folders named .git, node_modules, dist or "
        "coverage (name such a folder as dir to search in it). When nothing matches it says so, "
        "with "
        "the number of files searched; lines in square brackets at the end say what was left out.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"pattern\":{\"type\":\"string\",\"description\":\"Regular expression as in JavaScript "
        "without flags, matched against each line, for example deprecated or ^import .* from. "
        "Escape "
        "characters such as ( [ . * to mean themselves.\"},"
        "\"dir\":{\"type\":\"string\",\"description\":\"Folder to search below, or one file, "
        "relative to the project root, as list_files writes it. Leave out for the whole "
        "project.\"},"
        "\"glob\":{\"type\":\"string\",\"description\":\"Only files that match: *.c for names at "
        "any depth, src/**/*.{c,h} for paths below dir. Leave out for all files.\"},"
        "\"ignore_case\":{\"type\":\"boolean\",\"description\":\"true: letters match in upper and "
        "lower case. Leave out for exact case.\"}},"
        "\"required\":[\"pattern\"],\"additionalProperties\":false}",
    .touches = REIN_READS_PRIVATE,
    .paths = "dir",
    .verdict = REIN_ALLOW,
    .run = run,
};
