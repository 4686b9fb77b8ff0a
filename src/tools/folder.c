/* Folders and globs, the same for listing and searching. */
#include "tools/folder.h"

#include <unistd.h>

#define PATH_BYTES_MAX 4096 /* Linux takes no longer one */

static const char *const skipped[] = {".git", "node_modules", "dist", "coverage"};

enum rein_code folder_open(const struct rein_call *call, struct folder *folder, struct err *err) {
  struct str dir = call_text(call, "dir"), glob = call_text(call, "glob");
  *folder = (struct folder){.fd = -1};
  buf_init(&folder->prefix, 2 * PATH_BYTES_MAX);
  buf_init(&folder->closed_path, 16 * PATH_BYTES_MAX);
  enum rein_code code = glob.n ? glob_new(glob, &folder->glob, err) : REIN_OK;
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
  glob_free(folder->glob);
  folder->glob = NULL;
  buf_release(&folder->prefix);
  buf_release(&folder->closed_path);
}

bool folder_skip(void *ctx, const struct files_entry *entry) {
  (void)ctx;
  if (!entry->is_dir) return false;
  for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
    if (str_is(entry->name, skipped[i])) return true;
  return false;
}

bool folder_wants(struct folder *folder, const struct files_entry *entry) {
  if (!folder->glob) return true;
  struct str path = entry->path;
  if (folder->prefix.n) path = str_part(path, folder->prefix.n + 1, path.n);
  return glob_match(folder->glob, path);
}

bool folder_closed(struct folder *folder, const struct files_entry *entry) {
  bool closed = entry->unreadable || entry->too_deep;
  if (closed && !folder->closed++) buf_put(&folder->closed_path, entry->path);
  return closed;
}

void folder_note(const struct folder *folder, const struct rein_call *call, struct buf *out) {
  struct num_text count;
  if (!folder->closed) return;
  CALL_NOTE(out, call, T_TOOLS_NOT_ENTERED, str_num(&count, folder->closed),
            buf_str(&folder->closed_path));
  buf_c(out, '\n');
  if (folder->closed_path.fail) out->fail = folder->closed_path.fail;
}
