/* Folders and globs, the same for listing and searching. */
#include "tools/tree.h"

#include <unistd.h>

#define PATH_BYTES_MAX 4096 /* Linux takes no longer one */

static const char *const skipped[] = {".git", "node_modules", "dist", "coverage"};

enum rein_code tree_open(const struct rein_call *call, struct tree *tree, struct err *err) {
  struct str dir = call_text(call, "dir"), glob = call_text(call, "glob");
  *tree = (struct tree){.fd = -1};
  buf_init(&tree->prefix, 2 * PATH_BYTES_MAX);
  enum rein_code code = glob.n ? glob_new(glob, &tree->glob, err) : REIN_OK;
  if (code) return code;
  code = files_open(call->house->files, dir.n ? dir : STR("."), FILES_DIR, &tree->fd, err);
  if (code) return code;
  code = files_path_of(call->house->files, tree->fd, &tree->prefix);
  if (code) return ERR(err, code, T_TOOLS_MEMORY);
  if (str_is(buf_str(&tree->prefix), ".")) buf_reset(&tree->prefix);
  return REIN_OK;
}

void tree_release(struct tree *tree) {
  if (tree->fd >= 0) close(tree->fd);
  tree->fd = -1;
  glob_free(tree->glob);
  tree->glob = NULL;
  buf_release(&tree->prefix);
}

bool tree_skip(void *ctx, const struct files_entry *entry) {
  (void)ctx;
  if (!entry->is_dir) return false;
  for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
    if (str_is(entry->name, skipped[i])) return true;
  return false;
}

bool tree_wants(struct tree *tree, const struct files_entry *entry) {
  if (!tree->glob) return true;
  struct str path = entry->path;
  if (tree->prefix.n) path = str_part(path, tree->prefix.n + 1, path.n);
  return glob_match(tree->glob, path);
}
