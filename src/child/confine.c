/* What a command may do, taken away before it runs: rlimits, Landlock, no new
 * privileges, capabilities, descriptors, and last the filter of system calls.
 * Which rights and which filter are rein's choice (host/sandbox*.c). */
#include "child/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Debian 12's header ends at ABI 2; the numbers are the kernel's (landlock.h of 6.12). */
#define FS_FILE_RIGHTS                                                                             \
  ((1ull << 0) | (1ull << 1) | (1ull << 2) | (1ull << 14) | (1ull << 15)) /* of a plain file */
#define FS_READ ((1ull << 0) | (1ull << 2) | (1ull << 3)) /* execute, read file, read folder */
#define FS_LIST (1ull << 3)                               /* read folder: names alone */
#define FS_MAKE_DEVICE ((1ull << 6) | (1ull << 11))       /* character and block devices */
#define CAP_WORDS 2

struct ruleset_attr { /* as of ABI 6; an older kernel takes a shorter one */
  uint64_t fs, net, scoped;
};

struct path_beneath {
  uint64_t allowed;
  int32_t parent;
} __attribute__((packed));

static bool limit(int what, uint64_t most) {
  struct rlimit now;
  if (most == 0) return true;
  if (getrlimit((__rlimit_resource_t)what, &now)) return false;
  struct rlimit want = {most, most};
  if (now.rlim_max < want.rlim_max) want.rlim_cur = want.rlim_max = now.rlim_max;
  return setrlimit((__rlimit_resource_t)what, &want) == 0;
}

static bool limits(const struct guard_setup *s) {
  const struct rlimit none = {0, 0};
  return limit(RLIMIT_NPROC, s->procs) && limit(RLIMIT_DATA, s->data_bytes) &&
         limit(RLIMIT_FSIZE, s->file_bytes) && limit(RLIMIT_NOFILE, s->open_files) &&
         limit(RLIMIT_CPU, s->cpu_s) && setrlimit(RLIMIT_CORE, &none) == 0;
}

/* ---- Landlock -------------------------------------------------------------- */

static bool allow_below(int ruleset, const char *path, uint64_t rights) {
  struct stat st;
  int fd = open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT || errno == EACCES; /* nothing to allow */
  struct path_beneath rule = {rights, fd};
  bool ok = fstat(fd, &st) == 0;
  if (ok && !S_ISDIR(st.st_mode)) rule.allowed &= FS_FILE_RIGHTS;
  ok = ok && syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0) == 0;
  close(fd);
  return ok;
}

static bool landlock(const struct guard *g) {
  struct ruleset_attr attr = {g->setup.fs, g->setup.net, g->setup.scoped};
  size_t size = sizeof attr;
  if (!attr.scoped) size = offsetof(struct ruleset_attr, scoped);
  if (!attr.scoped && !attr.net) size = offsetof(struct ruleset_attr, net);
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
  if (ruleset < 0) return false;
  bool ok = allow_below(ruleset, "/", attr.fs & FS_LIST);
  for (char **r = g->reads; ok && *r; r++)
    ok = allow_below(ruleset, *r, attr.fs & FS_READ);
  for (char **w = g->writes; ok && *w; w++)
    ok = allow_below(ruleset, *w, attr.fs & ~FS_MAKE_DEVICE);
  ok = ok && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return ok;
}

/* ---- rights of the process --------------------------------------------------- */

static bool no_capabilities(void) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[CAP_WORDS] = {{0, 0, 0}, {0, 0, 0}};
  /* Lowered where it may be. Where not, no new privileges keeps a program of uid 0
   * from taking them from there. */
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) && errno != EPERM) return false;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL) return false;
  return syscall(SYS_capset, &head, none) == 0;
}

static bool install(const struct sock_filter *code, unsigned count) {
  struct sock_fprog program = {(unsigned short)count, (struct sock_filter *)(uintptr_t)code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), (yes), (no))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))

/* Below Landlock's ABI 6 nothing else keeps a command from ending its guard, or
 * rein; other processes of the same user it can reach (docs/SANDBOX.md). */
static bool keep_signals(const struct guard *g, pid_t guard_pid) {
  const struct sock_filter code[] = {
      LOAD(nr),
      IS(SYS_kill, 5, 0),
      IS(SYS_tkill, 4, 0),
      IS(SYS_tgkill, 3, 0),
      IS(SYS_rt_sigqueueinfo, 2, 0),
      IS(SYS_rt_tgsigqueueinfo, 1, 0),
      ANSWER(SECCOMP_RET_ALLOW),
      LOAD(args[0]),
      IS(guard_pid, 4, 0),
      IS(-guard_pid, 3, 0),
      IS(g->setup.parent, 2, 0),
      IS(-1, 1, 0),
      ANSWER(SECCOMP_RET_ALLOW),
      ANSWER(SECCOMP_RET_ERRNO | EPERM),
  };
  return install(code, sizeof code / sizeof *code);
}

static bool filter(const struct guard *g, pid_t guard_pid) {
  if (g->setup.kill_shared && !keep_signals(g, guard_pid)) return false;
  return install((const struct sock_filter *)(const void *)g->filter, g->setup.filter_count);
}

enum guard_stage confine(const struct guard *g, pid_t guard_pid) {
  const struct guard_setup *s = &g->setup;
  if (chdir(g->folder)) return STAGE_FOLDER;
  if (!s->confine) return 0;
  if (!limits(s)) return STAGE_LIMITS;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return STAGE_CAPS;
  if (!no_capabilities()) return STAGE_CAPS;
  if (!landlock(g)) return STAGE_LANDLOCK;
  return filter(g, guard_pid) ? 0 : STAGE_FILTER;
}
