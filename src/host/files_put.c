/* Replacing or deleting one name in an open folder, whole or not at all, and only
 * what the caller has seen. Where that name lies is files_place.c's and
 * files_write.c's.
 *
 * All changes by rein in a folder are made under a lock of it (flock), the long
 * part, filling the temporary file, outside of it. Under the lock the file is
 * hashed, exchanged with the new one in one step, and what came out is hashed
 * again: a program that knows no lock may have put another there in between.
 */
#include "host/files_inside.h"

#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_NAMES_MAX 1000   /* of other threads in this folder */
#define SWEEP_NAMES_MAX 10000 /* of a folder looked through for what was left behind */
#define LOCK_MS_MAX 5000      /* it is held for the time of two reads of the file */
#define LOCK_STEP_MS 5
#define BLOCK 65536

struct temp {
  int fd; /* locked as long as it is open: not left behind */
  char name[40];
};

/* ---- Errors ------------------------------------------------------------------------- */

enum rein_code put_fail(struct str path, enum text_id text, int error, struct err *err) {
  struct buf shown;
  buf_init(&shown, PATH_SHOWN_MAX);
  path_show(&shown, path);
  const char *words = strerrordesc_np(error);
  enum rein_code code =
      ERR(err, REIN_SYSTEM, text, buf_str(&shown), words ? str_of(words) : STR("?"));
  buf_release(&shown);
  return code;
}

static enum rein_code failed(const struct put *put, int error, struct err *err) {
  switch (error) {
  case ESTALE: return path_kind_fail(T_HOST_WRITE_CHANGED, put->shown, err);
  case EISDIR: return path_kind_fail(T_HOST_PUT_FOLDER, put->shown, err);
  case ELOOP: return path_kind_fail(T_HOST_PUT_LINK, put->shown, err);
  case EMEDIUMTYPE: return path_kind_fail(T_HOST_WRITE_KIND, put->shown, err);
  case ENOMEM: return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  case EWOULDBLOCK: return path_kind_fail(T_HOST_PUT_BUSY, put->shown, err);
  }
  return put_fail(put->shown, T_HOST_WRITE_FAILED, error, err);
}

/* ---- The folder ----------------------------------------------------------------------- */

int folder_sync(int dir) {
  /* Some file systems have nothing to sync there and say so. */
  return fsync(dir) == 0 || errno == EINVAL || errno == EROFS ? 0 : -errno;
}

/* 0, or a negated errno. A file system without locks: none is held, and what is
 * left against others is the look at what was exchanged. */
static int folder_lock(int dir) {
  for (int waited = 0; flock(dir, LOCK_EX | LOCK_NB) != 0; waited += LOCK_STEP_MS) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return 0;
    if (waited >= LOCK_MS_MAX) return -EWOULDBLOCK;
    (void)poll(NULL, 0, LOCK_STEP_MS);
  }
  return 0;
}

static void folder_unlock(int dir) {
  (void)flock(dir, LOCK_UN);
}

static bool is_temp(const char *name) {
  struct str s = str_of(name);
  return str_starts(s, STR(".rein-")) && str_ends(s, STR(".new"));
}

/* Removes temporary files that nobody holds any more: their process was killed. */
static void sweep(int dir) {
  int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = again >= 0 ? fdopendir(again) : NULL;
  if (!list) {
    if (again >= 0) (void)close(again);
    return;
  }
  const struct dirent *entry;
  for (int n = 0; n < SWEEP_NAMES_MAX && (entry = readdir(list)); n++) {
    if (!is_temp(entry->d_name)) continue;
    int fd = openat(dir, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) (void)unlinkat(dir, entry->d_name, 0);
    (void)close(fd);
  }
  (void)closedir(list);
}

/* ---- The file that is there --------------------------------------------------------------- */

uint64_t files_hash(struct str bytes) {
  return hash_str(bytes);
}

static int hash_file(int dir, const char *name, uint64_t *hash) {
  char block[BLOCK];
  struct stat st;
  int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int bad = fstat(fd, &st) != 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EMEDIUMTYPE;
  uint64_t h = HASH_START;
  while (!bad) {
    ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) bad = -errno;
    if (n <= 0) break;
    h = hash_add(h, (struct str){block, (size_t)n});
  }
  (void)close(fd);
  *hash = hash_end(h);
  return bad;
}

/* 0: what stands under this name is what the caller has seen; -ESTALE: not. */
static int want_check(int dir, const char *name, const struct files_want *want) {
  struct stat st;
  uint64_t hash;
  if (want->state == FILES_ANY) return 0;
  bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
  if (!there && errno != ENOENT) return -errno;
  if (want->state == FILES_NONE) return there ? -ESTALE : 0;
  if (!there) return -ESTALE;
  if (S_ISLNK(st.st_mode)) return -ELOOP;
  int bad = hash_file(dir, name, &hash);
  if (bad) return bad == -ENOENT ? -ESTALE : bad;
  return hash == want->hash ? 0 : -ESTALE;
}

/* st->st_mode is 0 where there is none. */
static int old_check(const struct put *put, struct stat *st) {
  *st = (struct stat){0};
  if (fstatat(put->dir, put->name, st, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? 0 : -errno;
  if (S_ISLNK(st->st_mode)) return -ELOOP;
  if (S_ISDIR(st->st_mode)) return -EISDIR;
  if (!S_ISREG(st->st_mode)) return -EMEDIUMTYPE;
  /* A rename would replace a file that may not be written. */
  bool may = faccessat(put->dir, put->name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
  return may ? 0 : -EACCES;
}

/* ---- The temporary file ------------------------------------------------------------------- */

/* Under the folder's lock, so that no sweep finds it before it is locked. */
static int temp_open(int dir, mode_t mode, struct temp *temp) {
  for (int i = 0; i < TEMP_NAMES_MAX; i++) {
    (void)snprintf(temp->name, sizeof temp->name, ".rein-%ld-%d.new", (long)getpid(), i);
    temp->fd = openat(dir, temp->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      mode ? S_IRUSR | S_IWUSR : 0666);
    if (temp->fd < 0 && errno == EEXIST) continue;
    if (temp->fd < 0) return -errno;
    (void)flock(temp->fd, LOCK_EX | LOCK_NB);
    return 0;
  }
  return -EEXIST;
}

static int temp_make(int dir, mode_t mode, struct temp *temp) {
  int bad = folder_lock(dir);
  if (bad) return bad;
  sweep(dir);
  bad = temp_open(dir, mode, temp);
  folder_unlock(dir);
  return bad;
}

static int dress_attrs(const struct put *put, int fd, struct files_done *done) {
  int from = openat(put->dir, put->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (from < 0) return errno == ENOENT ? -ESTALE : -errno;
  int bad = attrs_carry(from, fd, &done->attrs_lost);
  (void)close(from);
  return bad;
}

/* The old file's owner, permissions and attributes; without the bits that a write
 * takes away (setuid, setgid). */
static int dress(const struct put *put, int fd, const struct stat *old, struct files_done *done) {
  struct stat st;
  if (!old->st_mode) return 0;
  if (fstat(fd, &st) != 0) return -errno;
  int bad = attrs_clear(fd);
  if (bad) return bad;
  if (st.st_uid != old->st_uid || st.st_gid != old->st_gid) {
    done->owner_lost = fchown(fd, old->st_uid, old->st_gid) != 0;
    if (done->owner_lost) (void)!fchown(fd, (uid_t)-1, old->st_gid);
  }
  return fchmod(fd, old->st_mode & 0777) == 0 ? dress_attrs(put, fd, done) : -errno;
}

static int fill(const struct put *put, int fd, struct str content, const struct stat *old,
                struct files_done *done) {
  while (content.n > 0) {
    ssize_t n = write(fd, content.p, content.n);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -errno;
    content = str_part(content, (size_t)n, content.n);
  }
  int bad = dress(put, fd, old, done);
  if (bad) return bad;
  return fsync(fd) == 0 ? 0 : -errno;
}

/* ---- Putting it in place --------------------------------------------------------------------- */

/* A new name: fails where something stands there by now. */
static int place_new(int dir, const char *temp, const char *name) {
  if (renameat2(dir, temp, dir, name, RENAME_NOREPLACE) == 0) return 0;
  if (errno == EEXIST) return -ESTALE;
  if (errno != EINVAL && errno != ENOSYS) return -errno;
  /* A file system without it: a link refuses just so. */
  if (linkat(dir, temp, dir, name, 0) != 0) return errno == EEXIST ? -ESTALE : -errno;
  return unlinkat(dir, temp, 0) == 0 ? 0 : -errno;
}

static bool is_same(int dir, const char *name, int fd) {
  struct stat a, b;
  return fstatat(dir, name, &a, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &b) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Gives the name back what was taken from it. Where another program has put a
 * newer file there meanwhile, that one came out now and goes back again. */
static int take_back(const struct put *put, const struct temp *temp) {
  for (int i = 0; i < 2; i++) {
    if (renameat2(put->dir, temp->name, put->dir, put->name, RENAME_EXCHANGE) != 0) return -errno;
    if (is_same(put->dir, temp->name, temp->fd)) break;
  }
  return 0;
}

/* Exchanges the two, looks at what came out, and takes it back where that is not
 * what the caller has seen. */
static int place_over(const struct put *put, const struct temp *new,
                      const struct files_want *want) {
  int dir = put->dir;
  const char *temp = new->name, *name = put->name;
  if (renameat2(dir, temp, dir, name, RENAME_EXCHANGE) != 0) {
    if (errno == ENOENT) return -ESTALE;
    if (errno != EINVAL && errno != ENOSYS) return -errno;
    return renameat(dir, temp, dir, name) == 0 ? 0 : -errno; /* looked at just before */
  }
  int bad = want_check(dir, temp, want);
  if (bad && take_back(put, new) != 0) bad = -EIO;
  if (!bad) (void)unlinkat(dir, temp, 0); /* the old file: swept later, were it to stay */
  return bad;
}

static int place_it(const struct put *put, const struct temp *temp, const struct files_want *want) {
  int bad = folder_lock(put->dir);
  if (bad) return bad;
  bad = want_check(put->dir, put->name, want);
  if (!bad) {
    switch (want->state) {
    case FILES_ANY:
      bad = renameat(put->dir, temp->name, put->dir, put->name) == 0 ? 0 : -errno;
      break;
    case FILES_NONE: bad = place_new(put->dir, temp->name, put->name); break;
    case FILES_SAME: bad = place_over(put, temp, want); break;
    }
  }
  if (bad) (void)unlinkat(put->dir, temp->name, 0);
  folder_unlock(put->dir);
  return bad;
}

enum rein_code put_write(const struct put *put, struct str content, const struct files_want *want,
                         struct files_done *done, struct err *err) {
  struct stat old;
  struct temp temp = {.fd = -1};
  *done = (struct files_done){0};
  int bad = old_check(put, &old);
  if (bad == -EACCES) return path_kind_fail(T_HOST_WRITE_RIGHTS, put->shown, err);
  if (!bad) bad = temp_make(put->dir, old.st_mode, &temp);
  if (bad) return failed(put, -bad, err);
  done->links = old.st_mode ? (unsigned)old.st_nlink : 0;
  bad = fill(put, temp.fd, content, &old, done);
  if (bad)
    (void)unlinkat(put->dir, temp.name, 0);
  else
    bad = place_it(put, &temp, want);
  (void)close(temp.fd);
  if (bad) return failed(put, -bad, err);
  bad = folder_sync(put->dir);
  return bad ? put_fail(put->shown, T_HOST_WRITE_SYNC, -bad, err) : REIN_OK;
}

enum rein_code put_delete(const struct put *put, const struct files_want *want, struct err *err) {
  int bad = folder_lock(put->dir);
  if (!bad) bad = want_check(put->dir, put->name, want);
  if (!bad && unlinkat(put->dir, put->name, 0) != 0) bad = errno == ENOENT ? -ESTALE : -errno;
  folder_unlock(put->dir);
  if (bad == -ESTALE || bad == -EISDIR || bad == -EWOULDBLOCK) return failed(put, -bad, err);
  if (bad) return put_fail(put->shown, T_HOST_DELETE_FAILED, -bad, err);
  bad = folder_sync(put->dir);
  return bad ? put_fail(put->shown, T_HOST_DELETE_SYNC, -bad, err) : REIN_OK;
}
