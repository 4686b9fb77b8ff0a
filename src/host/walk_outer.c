/* The rules that lie above the root: of the repository that the root is a folder of.
 * Git applies them, so a run in packages/app leaves out what the repository does.
 * They decide what is left out, and nothing of them is shown.
 */
#include "host/walk_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder above, "/" at last; false: there is none. */
static bool go_up(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash || !slash[1]) return false;
  slash[slash == path] = '\0';
  return true;
}

static bool has_git(const char *path) {
  struct stat st;
  int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool has = dir >= 0 && fstatat(dir, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
  if (dir >= 0) (void)close(dir);
  return has;
}

/* One folder's list; `base` is where paths below it begin in a path from the top. */
static int add_folder(struct outer *o, const char *path, size_t base, const char *name) {
  int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (dir < 0) return 0;
  struct ignore *own = NULL;
  int bad = rules_add(dir, name, base, &o->rules, &own, &o->lost);
  (void)close(dir);
  return bad;
}

/* From the top, whose path has `top` bytes, down to the folder above the root. */
static int read_lists(struct outer *o, const char *root, size_t top) {
  char path[PATH_MAX + sizeof "/.git/info"];
  (void)snprintf(path, sizeof path, "%.*s/.git/info", (int)top, root);
  int bad = add_folder(o, path, 0, "exclude");
  for (size_t at = top; !bad && root[at]; at += strcspn(root + at + 1, "/") + 1) {
    (void)snprintf(path, sizeof path, "%.*s/", (int)at, root);
    bad = add_folder(o, path, at - top, ".gitignore");
  }
  return bad;
}

int outer_read(struct outer *o, const char *root) {
  char path[PATH_MAX];
  *o = (struct outer){.prefix = STR_NONE};
  if (has_git(root) || strlen(root) >= sizeof path) return 0;
  memcpy(path, root, strlen(root) + 1);
  while (go_up(path))
    if (has_git(path)) {
      size_t top = path[1] ? strlen(path) : 0;
      o->prefix = str_of(root + top + 1);
      return read_lists(o, root, top);
    }
  return 0;
}

void outer_release(struct outer *o) {
  ignore_free_all(o->rules);
  o->rules = NULL;
}
