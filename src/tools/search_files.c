/* search_files: lines that match a pattern, below a folder or in one file. The
 * folder is walked on several threads (host/walk.h), and what they find is put
 * together in the order of the paths; what a file's lines are is scan.h's, how
 * they are shown found.h's. */
#include "tools/folder.h"
#include "tools/found.h"
#include "tools/kind.h"
#include "tools/rows.h"
#include "tools/scan.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define COSTLY_MAX 10 /* lines given up: more of them, and it is the pattern */
#define NOTES_MAX 5   /* of one sort: what is left out is counted */
#define TEXT_MAX (256u << 10)
/* Pieces of a walk weigh their hits, and their lines given up, so that what lies
 * behind enough of them is not begun; a notice weighs a little, for its place. */
#define WEIGHT_HIT 1000
#define WEIGHT_COSTLY (WEIGHT_ENOUGH / COSTLY_MAX)
#define WEIGHT_ENOUGH ((size_t)(FOUND_HITS_MAX + 1) * WEIGHT_HIT)

struct search {
  struct rein_call *call;
  struct folder folder;
  struct scan_pattern pattern;
  struct scan scans[WALK_THREADS_MAX]; /* one a thread, made when it is first used */
  struct call_clock clock;
  struct buf hits, notes;
  int64_t shown, files, costly, pieces, rests;
  struct places unreadable, decoded, unknown;
  int unreadable_error;
  bool more, late;
  bool plain; /* the pattern is ASCII, which is the same in each encoding */
  atomic_bool stop;
  enum rein_code fail;
};

/* ---- one file, on any thread ------------------------------------------------------------- */

static size_t take_late(struct search *s, struct found *f, struct str path) {
  atomic_store(&s->stop, true);
  found_note(f, FOUND_LATE, path, 0, 0);
  return 1;
}

/* A file that is binary from its first bytes was not searched. */
static size_t take_binary(const struct scan *scan, struct found *f, struct str path) {
  if (scan->line == 1) {
    f->files--;
    return 0;
  }
  found_note(f, FOUND_BINARY_REST, path, scan->line, 0);
  return 1;
}

/* Returns the event's weight. */
static size_t take_event(struct search *s, struct scan *scan, enum scan_event event,
                         struct found *f, struct str path) {
  switch (event) {
  case SCAN_END: break;
  case SCAN_HIT: found_hit(f, path, scan); return WEIGHT_HIT;
  case SCAN_COSTLY: found_note(f, FOUND_COSTLY, path, scan->line, 0); return WEIGHT_COSTLY;
  case SCAN_LONG: found_note(f, FOUND_PIECES, path, scan->line, 0); return 1;
  case SCAN_BINARY: return take_binary(scan, f, path);
  case SCAN_LATE: return take_late(s, f, path);
  case SCAN_ERROR: found_note(f, FOUND_UNREADABLE, path, 0, scan->error); return 1;
  case SCAN_MEMORY: f->fail = REIN_MEMORY; return 1;
  }
  return 0;
}

/* What is to be told of its encoding; a guess is told where it shows. */
static size_t note_encoding(const struct search *s, const struct scan *scan, struct found *f,
                            struct str path, bool hit) {
  bool unknown = scan->encoding == ENCODING_OTHER && !s->plain;
  if (unknown) found_note(f, FOUND_UNKNOWN, path, 0, 0);
  if (scan->encoding == ENCODING_CP949 && hit) found_note(f, FOUND_DECODED, path, 0, 0);
  return unknown;
}

static size_t search_file(struct search *s, unsigned thread, struct found *f, int fd, size_t size,
                          struct str path) {
  struct scan *scan = &s->scans[thread];
  size_t weight = 0;
  int64_t hits = f->hits;
  enum scan_event event;
  if (!scan->block && scan_init(scan, &s->pattern, s->clock)) f->fail = REIN_MEMORY;
  if (f->fail) return 1;
  f->files++;
  scan_file(scan, fd, size);
  while (weight < WEIGHT_ENOUGH && !f->fail && (event = scan_next(scan)) != SCAN_END)
    weight += take_event(s, scan, event, f, path);
  return weight + note_encoding(s, scan, f, path, f->hits > hits);
}

static size_t visit_file(struct search *s, unsigned thread, struct found *f,
                         const struct walk_entry *entry) {
  struct stat st;
  /* not blocking: a pipe may have taken the file's place since it was seen */
  int fd = openat(entry->dir_fd, entry->name.p,
                  O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) {
    found_note(f, FOUND_UNREADABLE, entry->path, 0, errno);
    return 1;
  }
  size_t weight = 0;
  if (!fstat(fd, &st) && S_ISREG(st.st_mode))
    weight = search_file(s, thread, f, fd, (size_t)st.st_size, entry->path);
  close(fd);
  return weight;
}

/* ---- the walk ------------------------------------------------------------------------------ */

static bool stopped(void *ctx) {
  struct search *s = ctx;
  return atomic_load_explicit(&s->stop, memory_order_relaxed) || rein_call_cancelled(s->call);
}

static void *begin(void *ctx) {
  (void)ctx;
  return found_new();
}

static size_t visit(void *ctx, unsigned thread, void *piece, const struct walk_entry *entry) {
  struct search *s = ctx;
  struct found *f = piece;
  if (call_late(&s->clock)) return take_late(s, f, entry->path);
  if (closed_add(&f->closed, entry) || entry->rules_lost) return 1;
  if (f->fail || f->hits > FOUND_HITS_MAX || !entry->is_file) return 0;
  return folder_wants(&s->folder, thread, entry) ? visit_file(s, thread, f, entry) : 0;
}

/* ---- putting together, one piece after the other ------------------------------------------- */

static void note_place(struct search *s, enum text_id id, const struct found_note *n,
                       int64_t *count) {
  struct num_text line, block;
  if (++*count > NOTES_MAX) return;
  CALL_NOTE(&s->notes, s->call, id, found_note_path(n), str_num(&line, n->line),
            str_num(&block, SCAN_BLOCK));
  buf_c(&s->notes, '\n');
}

static void note_late(struct search *s, struct str path) {
  struct num_text ms, files;
  if (s->late) return;
  s->late = true;
  CALL_NOTE(&s->notes, s->call, T_TOOLS_SEARCH_LATE, str_num(&ms, CALL_WORK_MS_MAX), path,
            str_num(&files, s->files));
  buf_c(&s->notes, '\n');
}

static void take_note(struct search *s, const struct found_note *n) {
  switch (n->sort) {
  case FOUND_COSTLY: note_place(s, T_TOOLS_SEARCH_COSTLY, n, &s->costly); return;
  case FOUND_PIECES: note_place(s, T_TOOLS_SEARCH_PIECES, n, &s->pieces); return;
  case FOUND_BINARY_REST: note_place(s, T_TOOLS_SEARCH_BINARY_REST, n, &s->rests); return;
  case FOUND_LATE: note_late(s, found_note_path(n)); return;
  case FOUND_UNREADABLE:
    if (s->unreadable.n == 0) s->unreadable_error = n->error;
    places_add(&s->unreadable, found_note_path(n));
    return;
  case FOUND_DECODED: places_add(&s->decoded, found_note_path(n)); return;
  case FOUND_UNKNOWN: places_add(&s->unknown, found_note_path(n)); return;
  }
}

static void take_hits(struct search *s, const struct found *f) {
  struct str rest = buf_str(&f->text), line;
  while (!s->more && str_next(&rest, '\n', &line)) {
    if (!rest.n && !line.n) break;
    s->more = s->shown == FOUND_HITS_MAX;
    if (s->more) break;
    buf_put(&s->hits, line);
    buf_c(&s->hits, '\n');
    s->shown++;
  }
}

static bool end(void *ctx, void *piece, bool wanted) {
  struct search *s = ctx;
  struct found *f = piece;
  if (wanted) {
    s->files += f->files;
    take_hits(s, f);
    for (const struct found_note *n = f->first; n && s->costly < COSTLY_MAX; n = n->next)
      take_note(s, n);
    closed_merge(&s->folder.closed, &f->closed);
    if (f->fail) s->fail = f->fail;
  }
  found_free(f);
  return !s->more && !s->fail && s->costly < COSTLY_MAX;
}

/* ---- the answer ---------------------------------------------------------------------------- */

static struct str shown_dir(const struct rein_call *call) {
  struct str dir = call_text(call, "dir");
  return dir.n ? dir : STR(".");
}

static void note_places(struct search *s, enum text_id id, const struct places *p) {
  struct num_text n;
  if (!p->n) return;
  CALL_NOTE(&s->notes, s->call, id, str_num(&n, p->n), buf_str(&p->first));
  buf_c(&s->notes, '\n');
  if (p->first.fail) s->fail = p->first.fail;
}

static void note_end(struct search *s) {
  struct num_text a, b;
  enum rein_lang lang = call_lang(s->call);
  if (s->costly >= COSTLY_MAX) {
    TEXT_PUT(&s->notes, lang, T_TOOLS_SEARCH_COSTLY_STOP, str_num(&a, s->costly),
             str_num(&b, s->files));
    buf_c(&s->notes, '\n');
  }
  if (s->unreadable.n) {
    CALL_NOTE(&s->notes, s->call, T_TOOLS_SEARCH_UNREADABLE, str_num(&a, s->unreadable.n),
              buf_str(&s->unreadable.first), str_of(strerrordesc_np(s->unreadable_error)));
    buf_c(&s->notes, '\n');
  }
  note_places(s, T_TOOLS_SEARCH_DECODED, &s->decoded);
  note_places(s, T_TOOLS_SEARCH_UNKNOWN, &s->unknown);
  folder_note(&s->folder, s->call, &s->notes);
  if (s->more) {
    TEXT_PUT(&s->notes, lang, T_TOOLS_SEARCH_MORE, str_num(&a, s->shown));
    buf_c(&s->notes, '\n');
  }
}

/* What is said when no line matched. */
static void put_none(struct search *s) {
  struct num_text files;
  struct str glob = call_text(s->call, "glob");
  if (s->files || s->late || s->unreadable.n)
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
  if (s->unreadable.first.fail) s->fail = s->unreadable.first.fail;
  return s->fail ? (int)s->fail : call_give(s->call, &s->hits);
}

/* One file that `dir` names; why it is not searched stands in the answer. */
static int search_alone(struct search *s, int fd) {
  struct buf path;
  struct stat st;
  struct found *f = found_new();
  buf_init(&path, FOUND_PATH_MAX);
  enum rein_code code = f ? files_path_of(s->call->house->files, fd, &path) : REIN_MEMORY;
  struct glob *glob = s->folder.globs[0];
  if (!code && (!glob || glob_match(glob, buf_str(&path))) && !fstat(fd, &st))
    search_file(s, 0, f, fd, (size_t)st.st_size, buf_str(&path));
  buf_release(&path);
  if (f) (void)end(s, f, true);
  if (code) return (int)code;
  const struct scan *scan = &s->scans[0];
  if (s->fail || !scan->block || scan->kind == T_NONE || scan->line != 1) return give(s);
  CALL_NOTE(&s->hits, s->call, T_TOOLS_SEARCH_BINARY_ALONE, shown_dir(s->call),
            str_of(text_raw(scan->kind, call_lang(s->call))));
  return call_give(s->call, &s->hits);
}

static enum rein_code search_below(struct search *s, struct err *err) {
  struct walk_plan plan = folder_plan(s->call, &s->folder);
  plan.enough = WEIGHT_ENOUGH;
  plan.ctx = s;
  plan.stopped = stopped;
  plan.begin = begin;
  plan.visit = visit;
  plan.end = end;
  return walk(&plan, err);
}

static int search(struct search *s) {
  struct err err = {0}, other = {0};
  int fd = -1;
  enum rein_code code = folder_open(s->call, &s->folder, &err);
  bool glob_ok = s->folder.globs[0] || !call_text(s->call, "glob").n;
  if (code == REIN_INPUT && glob_ok &&
      !files_open(s->call->house->files, shown_dir(s->call), FILES_READ, &fd, NULL, &other)) {
    int answer = search_alone(s, fd);
    close(fd);
    return answer;
  }
  if (!code) code = search_below(s, &err);
  return code ? call_fail(s->call, &err) : give(s);
}

/* Whether the pattern names no character outside of ASCII, nor one by its number. */
static bool is_plain(struct str pattern) {
  for (size_t i = 0; i < pattern.n; i++)
    if ((unsigned char)pattern.p[i] >= 0x80) return false;
  return !str_has(pattern, STR("\\u")) && !str_has(pattern, STR("\\x"));
}

static int search_with(struct rein_call *call, const struct scan_pattern *pattern) {
  struct search *s = mem_zero(sizeof *s);
  if (!s) return REIN_MEMORY;
  s->call = call;
  s->folder.fd = -1;
  s->pattern = *pattern;
  s->clock = call_clock(call);
  atomic_init(&s->stop, false);
  buf_init(&s->hits, TEXT_MAX);
  buf_init(&s->notes, TEXT_MAX);
  places_init(&s->unreadable);
  places_init(&s->decoded);
  places_init(&s->unknown);
  s->plain = is_plain(call_text(call, "pattern"));
  int answer = search(s);
  for (unsigned i = 0; i < WALK_THREADS_MAX; i++)
    scan_release(&s->scans[i]);
  folder_release(&s->folder);
  places_release(&s->unreadable);
  places_release(&s->decoded);
  places_release(&s->unknown);
  buf_release(&s->notes);
  buf_release(&s->hits);
  mem_free(s);
  return answer;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct scan_pattern pattern;
  unsigned flags = rein_call_bool(call, "ignore_case", false) ? REGEX_IGNORE_CASE : 0;
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("search_files"));
  if (scan_pattern_new(call_text(call, "pattern"), flags, &pattern, &err))
    return call_fail(call, &err);
  int answer = search_with(call, &pattern);
  scan_pattern_release(&pattern);
  return answer;
}

const struct rein_tool tool_search_files = {
    .name = "search_files",
    .description =
        "Searches the project's text files for lines that match a regular expression. Use it to "
        "find where something is named, defined or used. The result is one path:line:text per "
        "matching line, in the order of the paths, at most 20; long lines are cut around the "
        "match. It skips binary files, links, what .gitignore names, and folders named .git, "
        "node_modules, dist or coverage (name such a file or folder as dir to search in it). CP949 "
        "and UTF-16 are searched decoded. When "
        "nothing matches it says so, with the number of files searched; lines in square brackets "
        "at the end say what was left out.",
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
