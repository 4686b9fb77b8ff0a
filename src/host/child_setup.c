/* What the guard is told: rights by level, limits, folder, arguments, environment. */
#include "host/child_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <dirent.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define PROCS_MAX 1024 /* processes and threads of one command: a big build takes some 100 */
#define FILE_BYTES (4ull << 30) /* the longest file a command may write */
#define OPEN_FILES 4096
#define CPU_S 3600 /* of one process; the time limit is the wall's */
#define GRACE_MS 500

/* Landlock's rights by the version that brought them (linux/landlock.h of 6.12). */
#define FS_ABI_1 0x1fffull
#define FS_REFER (1ull << 13)    /* 2 */
#define FS_TRUNCATE (1ull << 14) /* 3 */
#define NET_TCP 0x3ull           /* 4: bind, connect */
#define FS_IOCTL (1ull << 15)    /* 5 */
#define SCOPED 0x3ull            /* 6: abstract sockets, signals */

/* -- lists of texts, behind the struct -- */

static void put(struct buf *b, const char *text, uint32_t *count) {
  buf_put(b, str_of(text));
  buf_c(b, '\0');
  ++*count;
}

static void put_list(struct buf *b, const char *const *list, uint32_t *count) {
  for (size_t i = 0; list && list[i]; i++)
    put(b, list[i], count);
}

static bool is_hidden(const struct sandbox *s, struct str path) {
  for (size_t i = 0; s->hidden[i]; i++)
    if (str_is(path, s->hidden[i])) return true;
  return str_is(path, "/dev"); /* terminals and disks: those few that are needed can be written */
}

static bool holds_hidden(const struct sandbox *s, struct str path) {
  for (size_t i = 0; s->hidden[i]; i++)
    if (str_starts(str_of(s->hidden[i]), path) && s->hidden[i][path.n] == '/') return true;
  return false;
}

/* Landlock can only add: so every folder beside the hidden ones, level by level. What
 * a link leads to is allowed, or not, where it lies. */
static void put_readable(const struct sandbox *s, struct buf *b, struct str folder,
                         uint32_t *count) {
  struct buf path;
  buf_init(&path, 8192);
  buf_put(&path, folder);
  buf_c(&path, '/');
  size_t base = path.n;
  DIR *dir = opendir(buf_z(&path));
  for (struct dirent *e; dir && (e = readdir(dir));) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || e->d_type == DT_LNK) continue;
    buf_cut(&path, base);
    buf_put(&path, str_of(e->d_name));
    if (path.fail || is_hidden(s, buf_str(&path))) continue;
    if (holds_hidden(s, buf_str(&path)))
      put_readable(s, b, buf_str(&path), count); /* as deep as the hidden paths */
    else
      put(b, buf_z(&path), count);
  }
  if (dir) (void)closedir(dir);
  if (path.fail) b->fail = path.fail;
  buf_release(&path);
}

static void put_writable(const struct child *c, struct buf *b, uint32_t *count) {
  static const char *const devices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                        "/dev/urandom", "/dev/tty",  NULL};
  static const char *const own[] = {"/tmp", "/var/tmp", "/dev/shm", "/dev/ptmx", "/dev/pts", NULL};
  put_list(b, devices, count);
  if (!c->spec->read_only) put(b, c->spec->root, count);
  if (c->sandbox->level == SANDBOX_FULL) put_list(b, own, count);
  if (c->tmp) put(b, c->tmp, count);
}

static void put_env(const struct child *c, struct buf *b, uint32_t *count) {
  static const char *const fixed[] = {
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      "TERM=dumb", /* so that git and others start no editor */
      "PAGER=cat",
      "GIT_PAGER=cat",
      "GIT_TERMINAL_PROMPT=0",
      NULL};
  put_list(b, c->spec->env, count);
  put_list(b, fixed, count);
  if (c->inside) {
    buf_lit(b, "TMPDIR=");
    put(b, c->inside, count);
  }
  put_list(b, c->sandbox->env, count);
}

/* -- the numbers -- */

static void confine(const struct child *c, struct guard_setup *s) {
  const struct sandbox *box = c->sandbox;
  bool full = box->level == SANDBOX_FULL;
  struct sysinfo now = {0};
  s->confine = 1;
  s->fs = FS_ABI_1 | FS_REFER;
  if (box->abi >= 3) s->fs |= FS_TRUNCATE;
  if (box->abi >= 5) s->fs |= FS_IOCTL;
  if (box->abi >= 4 && !full && (!box->network || c->spec->read_only)) s->net = NET_TCP;
  if (box->abi >= LANDLOCK_ABI_SIGNALS) s->scoped = SCOPED;
  s->kill_shared = !full && box->abi < LANDLOCK_ABI_SIGNALS;
  s->parent = (int32_t)getpid();
  /* The kernel counts all processes of the user where there is no namespace, and
   * none of root's: those are watched. */
  s->procs = PROCS_MAX;
  if (!full && sysinfo(&now) == 0) s->procs += now.procs;
  s->watch_procs = PROCS_MAX;
  s->data_bytes = (uint64_t)box->data_bytes;
  s->file_bytes = FILE_BYTES;
  s->open_files = OPEN_FILES;
  s->cpu_s = CPU_S;
  s->filter_count = (uint32_t)box->filter_count;
}

int child_file(struct str bytes, struct err *err) {
  int fd = memfd_create("rein-child", MFD_CLOEXEC);
  struct str rest = bytes;
  while (fd >= 0 && rest.n) {
    ssize_t n = write(fd, rest.p, rest.n);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    rest = str_part(rest, (size_t)n, SIZE_MAX);
  }
  if (fd >= 0 && !rest.n && lseek(fd, 0, SEEK_SET) == 0) return fd;
  (void)ERR(err, REIN_SYSTEM, T_HOST_CHILD_START, STR("memfd_create"), str_of(strerror(errno)));
  if (fd >= 0) close(fd);
  return -1;
}

int child_setup(struct child *c, struct err *err) {
  const struct sandbox *box = c->sandbox;
  struct guard_setup s = {.magic = GUARD_MAGIC, .grace_ms = GRACE_MS};
  struct buf b;
  uint32_t folder = 0;
  if (box->level != SANDBOX_OFF) confine(c, &s);
  buf_init(&b, GUARD_BYTES_MAX);
  buf_put(&b, (struct str){(const char *)&s, sizeof s});
  buf_put(&b, (struct str){(const char *)box->filter, 8 * (size_t)s.filter_count});
  put(&b, c->spec->root, &folder);
  if (box->level == SANDBOX_FULL) put(&b, "/", &s.read_count);
  if (box->level == SANDBOX_HELPER) put_readable(box, &b, STR_NONE, &s.read_count);
  if (box->level != SANDBOX_OFF) put_writable(c, &b, &s.write_count);
  put_list(&b, c->spec->argv, &s.arg_count);
  put_env(c, &b, &s.env_count);
  s.bytes = (uint32_t)b.n;
  int fd = -1;
  if (b.fail) {
    struct num_text room;
    (void)ERR(err, REIN_INPUT, T_HOST_CHILD_BIG, str_num(&room, GUARD_BYTES_MAX));
  } else {
    memcpy(b.p, &s, sizeof s);
    fd = child_file(buf_str(&b), err);
  }
  buf_release(&b);
  return fd;
}
