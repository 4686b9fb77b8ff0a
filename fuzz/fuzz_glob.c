/* Globs on paths: the first line is the glob, the rest the path. It must end
 * soon, and a glob without specials matches itself alone. */
#include "tools/glob.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_plain(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (strchr("*?[]{},\\/.", s.p[i])) return false; /* a NUL too */
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str all = {(const char *)data, size}, pattern = all, path = STR_NONE;
  struct glob *glob = NULL;
  struct err err = {0};
  str_split(all, '\n', &pattern, &path);
  if (glob_new(pattern, &glob, &err)) return 0;
  bool yes = glob_match(glob, path);
  if (yes != glob_match(glob, path)) abort();
  if (is_plain(pattern) && !str_has(path, STR("/")) && yes != str_eq(pattern, path)) abort();
  glob_free(glob);
  return 0;
}
