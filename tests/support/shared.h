/* The handed cases and data, below REIN_SHARED (../shared): a checkout may be
 * without them, and then the test that wants them says "skipped".
 */
#pragma once

#include "support/test.h"

#include <stdlib.h>

#define SHARED_FILE_MAX (64u << 20)

/* Where `path` lies; skips the test when nothing is handed at all. Borrowed
 * until the next call. */
static inline const char *shared_path(const char *path) {
  static char whole[4096];
  const char *root = getenv("REIN_SHARED");
  snprintf(whole, sizeof whole, "%s/wire/README.md", root ? root : "../shared");
  FILE *f = fopen(whole, "rb");
  if (!f)
    skip();
  else
    fclose(f);
  snprintf(whole, sizeof whole, "%s/%s", root ? root : "../shared", path);
  return whole;
}

/* A handed file. Release the buffer. Call it before anything is held: it may
 * skip. */
static inline void shared_read(struct buf *file, const char *path) {
  const char *whole = shared_path(path);
  FILE *f = fopen(whole, "rb");
  if (!f) fail_msg("%s is missing", whole);
  buf_init(file, SHARED_FILE_MAX);
  size_t n = 1;
  while (n > 0) {
    char *room = buf_room(file, 65536);
    assert_non_null(room);
    n = fread(room, 1, 65536, f);
    buf_grown(file, n);
  }
  fclose(f);
}
