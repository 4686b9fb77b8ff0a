/* Preloaded into ./rein by tests: kills the process at its n-th flush to disk, as a
 * lost machine would. KILL_AT counts from 1; KILL_BEFORE kills before the flush.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

int fdatasync(int fd);
int fsync(int fd);

static int flush(const char *name, int fd) {
  static atomic_int count;
  int (*real)(int);
  const char *at = getenv("KILL_AT");
  *(void **)&real = dlsym(RTLD_NEXT, name);
  int now = atomic_fetch_add(&count, 1) + 1;
  bool due = at && now == (int)strtol(at, NULL, 10);
  if (due && getenv("KILL_BEFORE")) raise(SIGKILL);
  int failed = real(fd);
  if (due) raise(SIGKILL);
  return failed;
}

int fdatasync(int fd) {
  return flush("fdatasync", fd);
}

int fsync(int fd) {
  return flush("fsync", fd);
}
