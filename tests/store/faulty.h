/* A file system that fails: SQLite's own, with the n-th read, write, flush or size
 * failing, once or from then on. Registered as the default of the test program.
 */
#pragma once

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

struct faulty_file {
  sqlite3_file base;
  sqlite3_file *real; /* behind this struct, in the same memory */
};

static atomic_int faulty_left; /* calls until it fails; 0: never */
static atomic_int faulty_code;
static atomic_bool faulty_stays, faulty_hit;

static inline void faulty_set(int at, int code, bool stays) {
  atomic_store(&faulty_left, at);
  atomic_store(&faulty_code, code);
  atomic_store(&faulty_stays, stays);
  atomic_store(&faulty_hit, false);
}

static inline bool faulty_now(void) {
  if (atomic_load(&faulty_hit) && atomic_load(&faulty_stays)) return true;
  if (atomic_load(&faulty_left) == 0) return false;
  if (atomic_fetch_sub(&faulty_left, 1) > 1) return false;
  atomic_store(&faulty_hit, true);
  return true;
}

static inline sqlite3_file *real_of(sqlite3_file *f) {
  return ((struct faulty_file *)f)->real;
}

#define FAULTY(code)                                                                               \
  if (faulty_now()) return atomic_load(&faulty_code) ? atomic_load(&faulty_code) : (code)

static int f_close(sqlite3_file *f) {
  return real_of(f)->pMethods->xClose(real_of(f));
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
  if (faulty_now()) return SQLITE_IOERR_READ;
  return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}
static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
  FAULTY(SQLITE_IOERR_WRITE);
  return real_of(f)->pMethods->xWrite(real_of(f), p, n, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 n) {
  FAULTY(SQLITE_IOERR_TRUNCATE);
  return real_of(f)->pMethods->xTruncate(real_of(f), n);
}
static int f_sync(sqlite3_file *f, int flags) {
  FAULTY(SQLITE_IOERR_FSYNC);
  (void)f, (void)flags;
  return SQLITE_OK; /* the machine is not lost here: no need to wait for the disk */
}
static int f_size(sqlite3_file *f, sqlite3_int64 *n) {
  return real_of(f)->pMethods->xFileSize(real_of(f), n);
}
static int f_lock(sqlite3_file *f, int how) {
  return real_of(f)->pMethods->xLock(real_of(f), how);
}
static int f_unlock(sqlite3_file *f, int how) {
  return real_of(f)->pMethods->xUnlock(real_of(f), how);
}
static int f_reserved(sqlite3_file *f, int *out) {
  return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}
static int f_control(sqlite3_file *f, int op, void *arg) {
  return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}
static int f_sector(sqlite3_file *f) {
  return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int f_device(sqlite3_file *f) {
  return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **p) {
  return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, p);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) {
  return real_of(f)->pMethods->xShmLock(real_of(f), at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) {
  real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int f_shm_unmap(sqlite3_file *f, int drop) {
  return real_of(f)->pMethods->xShmUnmap(real_of(f), drop);
}

static const sqlite3_io_methods faulty_methods = {
    2,          f_close,       f_read,      f_write,   f_truncate, f_sync,   f_size,
    f_lock,     f_unlock,      f_reserved,  f_control, f_sector,   f_device, f_shm_map,
    f_shm_lock, f_shm_barrier, f_shm_unmap, NULL,      NULL};

static sqlite3_vfs *faulty_real;

static int f_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
  struct faulty_file *file = (struct faulty_file *)f;
  (void)vfs;
  memset(file, 0, sizeof *file);
  file->real = (sqlite3_file *)(file + 1);
  int rc = faulty_real->xOpen(faulty_real, name, file->real, flags, out);
  if (file->real->pMethods) file->base.pMethods = &faulty_methods;
  return rc;
}

static inline void faulty_register(void) {
  static sqlite3_vfs vfs;
  faulty_real = sqlite3_vfs_find(NULL);
  vfs = *faulty_real;
  vfs.zName = "faulty";
  vfs.szOsFile = (int)sizeof(struct faulty_file) + faulty_real->szOsFile;
  vfs.xOpen = f_open;
  sqlite3_vfs_register(&vfs, 1);
}
