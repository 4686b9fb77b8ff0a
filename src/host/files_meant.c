/* A name that is not there, but that one name beside it is the same as: written
 * in another Unicode form (archives from macOS bring 한글 taken apart), or not
 * writable as text at all, so that the model can only repeat how it was shown.
 * The exact name always wins; where two could be meant, none is.
 */
#include "host/files_inside.h"

#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define NAMES_MAX 10000 /* of a folder that are looked through */

/* As list_files shows it: well-formed, controls visible. */
static void put_shown(struct buf *out, struct str name) {
  struct buf whole;
  buf_init(&whole, 4 * NAME_MAX);
  utf8_repair(&whole, name);
  utf8_show(out, buf_str(&whole), false);
  if (whole.fail) out->fail = whole.fail;
  buf_release(&whole);
}

static bool alike(struct str found, struct str name) {
  if (utf8_same(found, name)) return true;
  struct buf shown;
  buf_init(&shown, 16 * NAME_MAX);
  put_shown(&shown, found);
  bool same = !shown.fail && str_eq(buf_str(&shown), name);
  buf_release(&shown);
  return same;
}

/* The one name in the folder that is meant; false: none, or more. Takes fd. */
static bool find(int fd, struct str name, char meant[NAME_MAX + 1]) {
  DIR *dir = fdopendir(fd);
  if (!dir) {
    (void)close(fd);
    return false;
  }
  const struct dirent *entry;
  int matches = 0, seen = 0;
  for (; matches < 2 && seen < NAMES_MAX && (entry = readdir(dir)); seen++) {
    struct str found = str_of(entry->d_name);
    if (!alike(found, name)) continue;
    memcpy(meant, found.p, found.n);
    meant[found.n] = '\0';
    matches++;
  }
  (void)closedir(dir);
  return matches == 1 && seen < NAMES_MAX;
}

static bool append(char path[PATH_MAX], size_t *n, struct str name) {
  if (*n + 1 + name.n >= PATH_MAX) return false;
  if (*n) path[(*n)++] = '/';
  memcpy(path + *n, name.p, name.n);
  *n += name.n;
  path[*n] = '\0';
  return true;
}

/* Is there something of this name in the folder that `path` leads to? */
static int look(const struct files *files, const char path[PATH_MAX]) {
  char copy[PATH_MAX]; /* may be rewritten */
  memcpy(copy, path, strlen(path) + 1);
  int fd = files_beneath(files, copy, O_PATH | O_NOFOLLOW);
  if (fd >= 0) (void)close(fd);
  return fd;
}

bool files_meant(const struct files *files, char path[PATH_MAX]) {
  char made[PATH_MAX], folder[PATH_MAX], meant[NAME_MAX + 1];
  size_t n = 0;
  bool changed = false;
  struct str rest = str_of(path), name;
  while (path_next(&rest, &name)) {
    memcpy(folder, n ? made : ".", n ? n + 1 : 2);
    size_t before = n;
    if (!append(made, &n, name)) return false;
    int there = look(files, made);
    if (there >= 0) continue;
    if (there != -ENOENT || name.n > NAME_MAX * 8) return false;
    int fd = files_beneath(files, folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0 || !find(fd, name, meant)) return false;
    n = before;
    if (!append(made, &n, str_of(meant))) return false;
    changed = true;
  }
  if (changed) memcpy(path, made, n + 1);
  return changed;
}
