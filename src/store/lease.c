/* Who may write a run: a lock on one byte of a file beside the database, the
 * byte being the hash of the run's name. The kernel gives it up with the process,
 * however that dies, so there are no stale locks. An open file description's
 * lock, not the process's: the latter would be lost whenever anybody here closed
 * the file, and would not part two stores of one process.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "store/inside.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define OFFSET_MASK (UINT64_MAX >> 2) /* a byte's place is a positive number */
#define OPENING_AT (OFFSET_MASK + 1)  /* no run's byte */

static enum rein_code lock_name(const struct store *store, struct buf *name, struct err *err) {
  buf_init(name, 8192);
  buf_put(name, str_of(store->path));
  buf_lit(name, "-lock");
  return name->fail ? ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY) : REIN_OK;
}

enum rein_code lease_open(struct store *store, struct err *err) {
  struct buf name;
  enum rein_code code = lock_name(store, &name, err);
  if (code == REIN_OK) {
    store->lease_fd = open(buf_z(&name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lease_fd < 0)
      code = ERR(err, REIN_SYSTEM, T_STORE_LOCK, buf_str(&name), str_of(strerror(errno)));
  }
  buf_release(&name);
  return code;
}

void lease_close(struct store *store) {
  if (store->lease_fd >= 0) close(store->lease_fd);
}

static int lock_byte(const struct store *store, uint64_t at, short how, int command) {
  struct flock byte = {.l_type = how, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
  int failed;
  do
    failed = fcntl(store->lease_fd, command, &byte);
  while (failed && errno == EINTR);
  return failed;
}

static int lock_run(const struct store *store, struct str run, short how) {
  return lock_byte(store, hash_str(run) & OFFSET_MASK, how, F_OFD_SETLK);
}

void lease_opening(struct store *store, bool begins) {
  (void)lock_byte(store, OPENING_AT, begins ? F_WRLCK : F_UNLCK, F_OFD_SETLKW);
}

enum rein_code lease_take(struct store *store, struct str run, struct str holder, struct err *err) {
  struct buf name;
  struct num_text self;
  for (struct kept *k = store->open; k; k = k->next) /* our own lock does not part us */
    if (k->fence != FENCE_NONE && str_is(run, k->name))
      return ERR(err, REIN_HELD, T_STORE_HELD, run, str_num(&self, getpid()));
  if (lock_run(store, run, F_WRLCK) == 0) return REIN_OK;
  if (errno == EAGAIN || errno == EACCES) return ERR(err, REIN_HELD, T_STORE_HELD, run, holder);
  int failed = errno;
  enum rein_code code = lock_name(store, &name, err);
  if (code == REIN_OK)
    code = ERR(err, REIN_SYSTEM, T_STORE_LOCK, buf_str(&name), str_of(strerror(failed)));
  buf_release(&name);
  return code;
}

void lease_drop(struct store *store, struct str run) {
  (void)lock_run(store, run, F_UNLCK); /* closing the file gives it up in any case */
}
