/* Folders and globs, the same for listing and searching. */
#include "tools/folder.h"

#include <unistd.h>

#define PATH_BYTES_MAX 4096 /* Linux takes no longer one */

/* Folders that hold what others made. */
static const char *const skipped[] = {".git", "node_modules", "dist", "coverage", NULL};

/* ---- what was not entered ------------------------------------------------------------- */

void places_init(struct places *p) {
  *p = (struct places){0};
  buf_init(&p->first, 16 * PATH_BYTES_MAX);
}

void places_release(struct places *p) {
  buf_release(&p->first);
}

void places_add(struct places *p, struct str path) {
  if (p->n++ == 0) buf_put(&p->first, path);
}

void places_merge(struct places *into, const struct places *p) {
  if (into->n == 0 && p->n) buf_put(&into->first, buf_str(&p->first));
  if (p->first.fail) into->first.fail = p->first.fail;
  into->n += p->n;
}

void closed_init(struct closed *c) {
  places_init(&c->folders);
  places_init(&c->rules);
}

void closed_release(struct closed *c) {
  places_release(&c->folders);
  places_release(&c->rules);
}

void closed_merge(struct closed *into, const struct closed *c) {
  places_merge(&into->folders, &c->folders);
  places_merge(&into->rules, &c->rules);
}

bool closed_add(struct closed *c, const struct walk_entry *entry) {
  bool closed = entry->unreadable || entry->too_deep;
  if (entry->rules_lost) places_add(&c->rules, entry->path);
  if (closed) places_add(&c->folders, entry->path);
  return closed;
}

/* ---- the folder ----------------------------------------------------------------------- */

static enum rein_code make_globs(struct folder *folder, struct str glob, struct err *err) {
  enum rein_code code = REIN_OK;
  for (unsigned i = 0; glob.n && i < folder->threads && !code; i++)
    code = glob_new(glob, &folder->globs[i], err);
  return code;
}

enum rein_code folder_open(const struct rein_call *call, struct folder *folder, struct err *err) {
  struct str dir = call_text(call, "dir");
  *folder = (struct folder){.fd = -1, .threads = walk_threads(call->house->walk_threads)};
  buf_init(&folder->prefix, 2 * PATH_BYTES_MAX);
  closed_init(&folder->closed);
  enum rein_code code = make_globs(folder, call_text(call, "glob"), err);
  if (code) return code;
  code = files_open(call->house->files, dir.n ? dir : STR("."), FILES_DIR, &folder->fd, NULL, err);
  if (code) return code;
  code = files_path_of(call->house->files, folder->fd, &folder->prefix);
  if (code) return ERR(err, code, T_TOOLS_MEMORY);
  if (str_is(buf_str(&folder->prefix), ".")) buf_reset(&folder->prefix);
  return REIN_OK;
}

void folder_release(struct folder *folder) {
  if (folder->fd >= 0) close(folder->fd);
  folder->fd = -1;
  for (unsigned i = 0; i < WALK_THREADS_MAX; i++)
    glob_free(folder->globs[i]);
  memset(folder->globs, 0, sizeof folder->globs);
  buf_release(&folder->prefix);
  closed_release(&folder->closed);
}

struct walk_plan folder_plan(const struct rein_call *call, const struct folder *folder) {
  return (struct walk_plan){.files = call->house->files,
                            .path = buf_str(&folder->prefix),
                            .threads = folder->threads,
                            .ignore = true,
                            .skip = skipped};
}

bool folder_wants(struct folder *folder, unsigned thread, const struct walk_entry *entry) {
  if (!folder->globs[thread]) return true;
  struct str path = entry->path;
  if (folder->prefix.n) path = str_part(path, folder->prefix.n + 1, path.n);
  return glob_match(folder->globs[thread], path);
}

static void put_places(const struct places *p, enum text_id id, const struct rein_call *call,
                       struct buf *out) {
  struct num_text count;
  if (!p->n) return;
  CALL_NOTE(out, call, id, str_num(&count, p->n), buf_str(&p->first));
  buf_c(out, '\n');
  if (p->first.fail) out->fail = p->first.fail;
}

void folder_note(const struct folder *folder, const struct rein_call *call, struct buf *out) {
  put_places(&folder->closed.folders, T_TOOLS_NOT_ENTERED, call, out);
  put_places(&folder->closed.rules, T_TOOLS_RULES_LOST, call, out);
  if (!call->house->files->guard) return;
  TEXT_PUT(out, call_lang(call), T_TOOLS_POLICY_LEFT_OUT);
  buf_c(out, '\n');
}
