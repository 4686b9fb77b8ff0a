/* list_files: one folder, or what a glob names below it. Sorted, bounded, and
 * never empty without a word. */
#include "base/mem.h"
#include "base/utf8.h"
#include "tools/rows.h"
#include "tools/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_SHOWN_MAX 1000
#define BYTES_SHOWN_MAX (24u << 10) /* a result of more characters would lose its middle */
#define LIST_BYTES_MAX (BYTES_SHOWN_MAX + (64u << 10))
#define FOLDER_ENTRIES_MAX 100000 /* sorted in memory; more than that wants a glob */
#define NAMES_BYTES_MAX (32u << 20)

struct listing {
  struct buf text;
  int64_t shown, all, seen;
  struct folder *folder;
  struct call_clock clock;
  bool late;
};

/* Counts one more; false: it is not shown. */
static bool has_room(struct listing *l) {
  l->all++;
  if (l->shown < l->all - 1 || l->shown == ENTRIES_SHOWN_MAX || l->text.n > BYTES_SHOWN_MAX)
    return false;
  l->shown++;
  return true;
}

static void put_line(struct listing *l, struct str line) {
  if (!has_room(l)) return;
  buf_put(&l->text, line);
  buf_c(&l->text, '\n');
}

/* Names reach the model on one line each: controls in them are made visible. */
static void put_entry(struct listing *l, struct str folder, struct str name, bool is_dir) {
  if (!has_room(l)) return;
  struct buf b;
  buf_init(&b, 1u << 16);
  utf8_repair(&b, folder);
  if (folder.n) buf_c(&b, '/');
  utf8_repair(&b, name);
  utf8_show(&l->text, buf_str(&b), false);
  buf_put(&l->text, is_dir ? STR("/\n") : STR("\n"));
  if (b.fail) l->text.fail = b.fail;
  buf_release(&b);
}

/* ---- one folder --------------------------------------------------------- */

struct item {
  struct str name;
  bool is_dir;
};

struct items {
  struct arena arena;
  struct item *list;
  size_t n, room;
  bool more;
};

static int by_name(const void *a, const void *b) {
  return str_cmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static bool is_folder(DIR *dir, const struct dirent *entry) {
  struct stat st;
  if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
  return !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static struct item *new_item(struct items *items) {
  if (items->n == items->room) {
    size_t room = items->room ? 2 * items->room : 256;
    struct item *list = mem_resize(items->list, room * sizeof *list);
    if (!list) return NULL;
    items->list = list;
    items->room = room;
  }
  return &items->list[items->n];
}

static enum rein_code read_items(DIR *dir, struct items *items) {
  const struct dirent *entry;
  while ((entry = readdir(dir))) {
    struct str name = str_of(entry->d_name);
    if (str_is(name, ".") || str_is(name, "..")) continue;
    if (items->n == FOLDER_ENTRIES_MAX) {
      items->more = true;
      break;
    }
    struct item *item = new_item(items);
    if (!item || !arena_str(&items->arena, name, &item->name)) return REIN_MEMORY;
    item->is_dir = is_folder(dir, entry);
    items->n++;
  }
  if (items->n) qsort(items->list, items->n, sizeof *items->list, by_name);
  return REIN_OK;
}

static enum rein_code list_folder(struct listing *l, bool *more, struct err *err) {
  struct items items = {0};
  DIR *dir = fdopendir(l->folder->fd);
  if (!dir)
    return CALL_ERR(err, REIN_SYSTEM, T_TOOLS_READ_FAILED, buf_str(&l->folder->prefix),
                    str_of(strerrordesc_np(errno)));
  l->folder->fd = -1; /* closedir closes it */
  arena_init(&items.arena, NAMES_BYTES_MAX);
  enum rein_code code = read_items(dir, &items);
  if (code) (void)ERR(err, code, T_TOOLS_MEMORY);
  for (size_t i = 0; !code && i < items.n; i++)
    put_entry(l, buf_str(&l->folder->prefix), items.list[i].name, items.list[i].is_dir);
  *more = items.more;
  mem_free(items.list);
  arena_release(&items.arena);
  closedir(dir);
  return code;
}

/* ---- below a folder ----------------------------------------------------- */

/* Of one piece of the walk. */
struct listed {
  struct listing listing;
  struct closed closed;
};

static bool stopped(void *ctx) {
  const struct listing *l = ctx;
  return call_late(&l->clock);
}

static void *begin(void *ctx) {
  (void)ctx;
  struct listed *p = mem_zero(sizeof *p);
  if (!p) return NULL;
  buf_init(&p->listing.text, LIST_BYTES_MAX);
  closed_init(&p->closed);
  return p;
}

static size_t visit(void *ctx, unsigned thread, void *piece, const struct walk_entry *entry) {
  struct listing *l = ctx;
  struct listed *p = piece;
  if (entry->dir_fd < 0) { /* the start itself: nothing but its rules */
    (void)closed_add(&p->closed, entry);
    return 1;
  }
  p->listing.seen++;
  size_t weight = closed_add(&p->closed, entry) || entry->rules_lost;
  if (!folder_wants(l->folder, thread, entry)) return weight;
  put_entry(&p->listing, STR_NONE, entry->path, entry->is_dir);
  return 1;
}

static bool end(void *ctx, void *piece, bool wanted) {
  struct listing *l = ctx;
  struct listed *p = piece;
  struct str rest = buf_str(&p->listing.text), line;
  while (wanted && rest.n && str_next(&rest, '\n', &line))
    put_line(l, line);
  if (wanted) {
    l->all += p->listing.all - p->listing.shown; /* those that it had no room for */
    l->seen += p->listing.seen;
    closed_merge(&l->folder->closed, &p->closed);
    if (p->listing.text.fail) l->text.fail = p->listing.text.fail;
  }
  closed_release(&p->closed);
  buf_release(&p->listing.text);
  mem_free(p);
  return !l->text.fail;
}

static enum rein_code list_below(const struct rein_call *call, struct listing *l, struct err *err) {
  struct walk_plan plan = folder_plan(call, l->folder);
  plan.enough = SIZE_MAX; /* all are counted */
  plan.ctx = l;
  plan.stopped = stopped;
  plan.begin = begin;
  plan.visit = visit;
  plan.end = end;
  enum rein_code code = walk(&plan, err);
  l->late = call_late(&l->clock);
  return code;
}

/* ---- the call ----------------------------------------------------------- */

static struct str shown_dir(const struct rein_call *call) {
  struct str dir = call_text(call, "dir");
  return dir.n ? dir : STR(".");
}

static void end_line(struct buf *b) {
  if (b->n && b->p[b->n - 1] != '\n') buf_c(b, '\n');
}

/* What is said when there is nothing to list. */
static void put_none(const struct rein_call *call, struct listing *l) {
  struct num_text seen;
  if (l->folder->globs[0])
    CALL_NOTE(&l->text, call, T_TOOLS_LIST_NONE, shown_dir(call), call_text(call, "glob"),
              str_num(&seen, l->seen));
  else
    CALL_NOTE(&l->text, call, T_TOOLS_FOLDER_EMPTY, shown_dir(call));
}

static void put_notices(const struct rein_call *call, struct listing *l, bool more) {
  struct num_text a, b;
  enum rein_lang lang = call_lang(call);
  if (!l->all && !l->late) put_none(call, l);
  if (l->shown < l->all)
    TEXT_PUT(&l->text, lang, T_TOOLS_LIST_MORE, str_num(&a, l->shown), str_num(&b, l->all));
  end_line(&l->text);
  folder_note(l->folder, call, &l->text);
  if (more) TEXT_PUT(&l->text, lang, T_TOOLS_LIST_LONG, str_num(&a, FOLDER_ENTRIES_MAX));
  if (l->late)
    TEXT_PUT(&l->text, lang, T_TOOLS_LIST_LATE, str_num(&a, CALL_WORK_MS_MAX),
             str_num(&b, l->seen));
  end_line(&l->text);
  if (l->text.n) buf_cut(&l->text, l->text.n - 1);
}

static int list(struct rein_call *call, struct folder *folder) {
  struct listing l = {.folder = folder, .clock = call_clock(call)};
  struct err err = {0};
  bool more = false;
  buf_init(&l.text, LIST_BYTES_MAX);
  enum rein_code code =
      folder->globs[0] ? list_below(call, &l, &err) : list_folder(&l, &more, &err);
  if (!code && rein_call_cancelled(call))
    code = ERR(&err, REIN_CANCELLED, T_TOOLS_CANCELLED, STR("list_files"));
  if (code) {
    buf_release(&l.text);
    return call_fail(call, &err);
  }
  put_notices(call, &l, more);
  return call_give(call, &l.text);
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct folder folder = {.fd = -1};
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("list_files"));
  int code = folder_open(call, &folder, &err) ? call_fail(call, &err) : list(call, &folder);
  folder_release(&folder);
  return code;
}

const struct rein_tool tool_list_files = {
    .name = "list_files",
    .description =
        "Lists files and folders of the project. Use it to learn what is there before reading. "
        "Without glob it lists one folder; with glob it lists everything below the folder whose "
        "path matches, links not followed, skipping what .gitignore names, .git, node_modules, "
        "dist "
        "and coverage. The result is one path a line, sorted, relative to the project root, "
        "folders with a slash at "
        "the end; at most 1000 entries, and then a last line in square brackets says how many "
        "there are. An empty folder, or a glob that nothing matches, is answered with a sentence "
        "that says so, with how many were looked at.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"dir\":{\"type\":\"string\",\"description\":\"Folder to list, relative to the project "
        "root, for example src. Leave out for the root.\"},"
        "\"glob\":{\"type\":\"string\",\"description\":\"Pattern for paths below dir: * within a "
        "name, ** across folders, ?, [a-c], {a,b}. Without a slash it is matched against names at "
        "any depth: *.md. With a slash, against the whole path: src/**/*.c.\"}},"
        "\"required\":[],\"additionalProperties\":false}",
    .touches = REIN_READS_PRIVATE,
    .paths = "dir",
    .verdict = REIN_ALLOW,
    .run = run,
};
