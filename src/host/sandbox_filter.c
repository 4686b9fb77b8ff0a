/* The filter of system calls, built once for a sandbox by libseccomp. Everything is
 * allowed but what stands in these tables: what leads out of the sandbox, looks
 * into other processes, or changes the machine. A refused call is an errno that
 * programs know: EPERM, EACCES for sockets, ENOSYS where they then try another way. */
#include "host/sandbox_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILTER_BYTES_MAX 32768 /* 4,096 instructions, which is what the kernel takes */
#define CALLS_KNOWN 463        /* system calls from this number on came after mseal, Linux 6.10 */
#define NEW_NAMESPACES                                                                             \
  (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |    \
   CLONE_NEWNET)

enum when { ALWAYS, HELPER, OLD_SIGNALS }; /* helper: the level; Landlock below ABI 6 there */

/* Refused whatever the arguments. Numbers are of calls that the library's names
 * are too old for; from 424 on all machines have the same. */
static const struct {
  int call, error;
  enum when when;
} refused[] = {
    {SCMP_SYS(ptrace), EPERM, ALWAYS},
    {SCMP_SYS(process_vm_readv), EPERM, ALWAYS},
    {SCMP_SYS(process_vm_writev), EPERM, ALWAYS},
    {SCMP_SYS(pidfd_getfd), EPERM, ALWAYS},
    {SCMP_SYS(kcmp), EPERM, ALWAYS},
    {SCMP_SYS(perf_event_open), EPERM, ALWAYS},
    {SCMP_SYS(bpf), EPERM, ALWAYS},
    {SCMP_SYS(userfaultfd), EPERM, ALWAYS},
    {SCMP_SYS(keyctl), EPERM, ALWAYS},
    {SCMP_SYS(add_key), EPERM, ALWAYS},
    {SCMP_SYS(request_key), EPERM, ALWAYS},
    {SCMP_SYS(mount), EPERM, ALWAYS},
    {SCMP_SYS(umount2), EPERM, ALWAYS},
    {SCMP_SYS(pivot_root), EPERM, ALWAYS},
    {SCMP_SYS(chroot), EPERM, ALWAYS},
    {SCMP_SYS(move_mount), EPERM, ALWAYS},
    {SCMP_SYS(open_tree), EPERM, ALWAYS},
    {SCMP_SYS(fsopen), EPERM, ALWAYS},
    {SCMP_SYS(fsconfig), EPERM, ALWAYS},
    {SCMP_SYS(fsmount), EPERM, ALWAYS},
    {SCMP_SYS(fspick), EPERM, ALWAYS},
    {SCMP_SYS(mount_setattr), EPERM, ALWAYS},
    {SCMP_SYS(unshare), EPERM, ALWAYS},
    {SCMP_SYS(setns), EPERM, ALWAYS},
    {SCMP_SYS(init_module), EPERM, ALWAYS},
    {SCMP_SYS(finit_module), EPERM, ALWAYS},
    {SCMP_SYS(delete_module), EPERM, ALWAYS},
    {SCMP_SYS(kexec_load), EPERM, ALWAYS},
    {SCMP_SYS(kexec_file_load), EPERM, ALWAYS},
    {SCMP_SYS(reboot), EPERM, ALWAYS},
    {SCMP_SYS(swapon), EPERM, ALWAYS},
    {SCMP_SYS(swapoff), EPERM, ALWAYS},
    {SCMP_SYS(settimeofday), EPERM, ALWAYS},
    {SCMP_SYS(clock_settime), EPERM, ALWAYS},
    {SCMP_SYS(sethostname), EPERM, ALWAYS},
    {SCMP_SYS(setdomainname), EPERM, ALWAYS},
    {SCMP_SYS(iopl), EPERM, ALWAYS},
    {SCMP_SYS(ioperm), EPERM, ALWAYS},
    {SCMP_SYS(acct), EPERM, ALWAYS},
    {SCMP_SYS(quotactl), EPERM, ALWAYS},
    {SCMP_SYS(open_by_handle_at), EPERM, ALWAYS},
    {SCMP_SYS(name_to_handle_at), EPERM, ALWAYS},
    {SCMP_SYS(fanotify_init), EPERM, ALWAYS},
    {SCMP_SYS(syslog), EPERM, ALWAYS},
    {SCMP_SYS(vhangup), EPERM, ALWAYS},
    {SCMP_SYS(process_madvise), EPERM, ALWAYS},
    {SCMP_SYS(process_mrelease), EPERM, ALWAYS},
    {SCMP_SYS(move_pages), EPERM, ALWAYS},
    {SCMP_SYS(migrate_pages), EPERM, ALWAYS},
    {SCMP_SYS(io_uring_setup), ENOSYS, ALWAYS}, /* its operations pass no filter */
    {SCMP_SYS(io_uring_enter), ENOSYS, ALWAYS},
    {SCMP_SYS(io_uring_register), ENOSYS, ALWAYS},
    {SCMP_SYS(clone3), ENOSYS, ALWAYS},  /* its flags lie in memory: glibc then uses clone */
    {SCMP_SYS(openat2), ENOSYS, ALWAYS}, /* likewise */
    {452, ENOSYS, ALWAYS},               /* fchmodat2 */
    {SCMP_SYS(truncate), EPERM, HELPER},
    {SCMP_SYS(chmod), EPERM, HELPER},
    {SCMP_SYS(fchmod), EPERM, HELPER},
    {SCMP_SYS(fchmodat), EPERM, HELPER},
    {SCMP_SYS(chown), EPERM, HELPER},
    {SCMP_SYS(fchown), EPERM, HELPER},
    {SCMP_SYS(lchown), EPERM, HELPER},
    {SCMP_SYS(fchownat), EPERM, HELPER},
    {SCMP_SYS(setxattr), EPERM, HELPER},
    {SCMP_SYS(lsetxattr), EPERM, HELPER},
    {SCMP_SYS(fsetxattr), EPERM, HELPER},
    {SCMP_SYS(removexattr), EPERM, HELPER},
    {SCMP_SYS(lremovexattr), EPERM, HELPER},
    {SCMP_SYS(fremovexattr), EPERM, HELPER},
    {SCMP_SYS(utime), EPERM, HELPER},
    {SCMP_SYS(utimes), EPERM, HELPER},
    {SCMP_SYS(futimesat), EPERM, HELPER},
    {SCMP_SYS(utimensat), EPERM, HELPER},
    {SCMP_SYS(mq_open), EPERM, HELPER}, /* the machine's own queues and segments */
    {SCMP_SYS(mq_unlink), EPERM, HELPER},
    {SCMP_SYS(shmget), EPERM, HELPER},
    {SCMP_SYS(shmat), EPERM, HELPER},
    {SCMP_SYS(shmctl), EPERM, HELPER},
    {SCMP_SYS(semget), EPERM, HELPER},
    {SCMP_SYS(semctl), EPERM, HELPER},
    {SCMP_SYS(semop), EPERM, HELPER},
    {SCMP_SYS(semtimedop), EPERM, HELPER},
    {SCMP_SYS(msgget), EPERM, HELPER},
    {SCMP_SYS(msgctl), EPERM, HELPER},
    {SCMP_SYS(msgsnd), EPERM, HELPER},
    {SCMP_SYS(msgrcv), EPERM, HELPER},
    {SCMP_SYS(pidfd_send_signal), EPERM, OLD_SIGNALS},
};

/* Refused when the masked argument is this, or (`other`) is anything else. */
static const struct {
  int call;
  unsigned arg;
  uint64_t mask, value;
  bool other;
  int error;
  enum when when;
} by_argument[] = {
    /* Terminal input forged for whoever reads it next. */
    {SCMP_SYS(ioctl), 1, 0xffffffff, 0x5412, false, EPERM, ALWAYS},     /* TIOCSTI */
    {SCMP_SYS(ioctl), 1, 0xffffffff, 0x541c, false, EPERM, ALWAYS},     /* TIOCLINUX */
    {SCMP_SYS(ioctl), 1, 0xffffffff, 0x40086602, false, EPERM, HELPER}, /* FS_IOC_SETFLAGS */
    {SCMP_SYS(ioctl), 1, 0xffffffff, 0x401c5820, false, EPERM, HELPER}, /* FS_IOC_FSSETXATTR */
    /* Device files; the programs that give another user's rights. */
    {SCMP_SYS(mknod), 1, S_IFMT, S_IFCHR, false, EPERM, ALWAYS},
    {SCMP_SYS(mknod), 1, S_IFMT, S_IFBLK, false, EPERM, ALWAYS},
    {SCMP_SYS(mknodat), 2, S_IFMT, S_IFCHR, false, EPERM, ALWAYS},
    {SCMP_SYS(mknodat), 2, S_IFMT, S_IFBLK, false, EPERM, ALWAYS},
    {SCMP_SYS(mknod), 1, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(mknod), 1, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    {SCMP_SYS(mknodat), 2, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(mknodat), 2, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    {SCMP_SYS(creat), 1, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(creat), 1, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    {SCMP_SYS(chmod), 1, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(chmod), 1, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    {SCMP_SYS(fchmod), 1, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(fchmod), 1, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    {SCMP_SYS(fchmodat), 2, S_ISUID, S_ISUID, false, EPERM, ALWAYS},
    {SCMP_SYS(fchmodat), 2, S_ISGID, S_ISGID, false, EPERM, ALWAYS},
    /* Emptying a file without having it open for writing: Landlock's ABI 2 looks at
     * the mode alone. Mode 3 is neither reading nor writing to it. */
    {SCMP_SYS(open), 1, O_TRUNC | O_ACCMODE, O_TRUNC, false, EPERM, HELPER},
    {SCMP_SYS(openat), 2, O_TRUNC | O_ACCMODE, O_TRUNC, false, EPERM, HELPER},
    {SCMP_SYS(open), 1, O_TRUNC | O_ACCMODE, O_TRUNC | 3, false, EPERM, HELPER},
    {SCMP_SYS(openat), 2, O_TRUNC | O_ACCMODE, O_TRUNC | 3, false, EPERM, HELPER},
    /* Other processes' priority and limits. */
    {SCMP_SYS(setpriority), 0, 0xffffffff, PRIO_PROCESS, true, EPERM, HELPER},
    {SCMP_SYS(setpriority), 1, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(ioprio_set), 1, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(sched_setscheduler), 0, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(sched_setparam), 0, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(sched_setattr), 0, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(sched_setaffinity), 0, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(prlimit64), 0, 0xffffffff, 0, true, EPERM, HELPER},
    {SCMP_SYS(socketpair), 0, 0xffffffff, AF_UNIX, true, EACCES, ALWAYS},
};

static bool holds(const struct sandbox *s, enum when when) {
  bool helper = s->level == SANDBOX_HELPER;
  switch (when) {
  case ALWAYS: return true;
  case HELPER: return helper;
  case OLD_SIGNALS: return helper && s->abi < LANDLOCK_ABI_SIGNALS;
  }
  return true;
}

/* A call that this machine does not have needs no rule. */
static bool went(int rc) {
  return rc == 0 || rc == -EDOM || rc == -EEXIST;
}

static bool refuse_all(scmp_filter_ctx ctx, const struct sandbox *s) {
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof refused / sizeof *refused; i++)
    if (holds(s, refused[i].when))
      ok = went(
          seccomp_rule_add(ctx, SCMP_ACT_ERRNO((uint32_t)refused[i].error), refused[i].call, 0));
  return ok;
}

static bool refuse_by_argument(scmp_filter_ctx ctx, const struct sandbox *s) {
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof by_argument / sizeof *by_argument; i++) {
    if (!holds(s, by_argument[i].when)) continue;
    uint64_t mask = by_argument[i].mask, value = by_argument[i].value;
    struct scmp_arg_cmp cmp = {by_argument[i].arg, SCMP_CMP_MASKED_EQ, mask, value};
    /* MASKED_EQ has no opposite: other numbers are those below and those above. */
    if (by_argument[i].other)
      cmp = (struct scmp_arg_cmp){by_argument[i].arg, SCMP_CMP_NE, value, 0};
    ok = went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO((uint32_t)by_argument[i].error),
                               by_argument[i].call, 1, cmp));
  }
  return ok;
}

static bool refuse_namespaces(scmp_filter_ctx ctx) {
  bool ok = true;
  for (unsigned bit = 0; ok && bit < 32; bit++)
    if (NEW_NAMESPACES >> bit & 1)
      ok = went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 1ull << bit, 1ull << bit)));
  return ok;
}

/* Creating a file with these bits; open has three arguments, or two and no mode. */
static bool refuse_setid_files(scmp_filter_ctx ctx) {
  static const uint64_t bits[] = {S_ISUID, S_ISGID};
  bool ok = true;
  for (size_t i = 0; ok && i < 2; i++)
    ok = went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), 2,
                               SCMP_A1(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT),
                               SCMP_A2(SCMP_CMP_MASKED_EQ, bits[i], bits[i]))) &&
         went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 2,
                               SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT),
                               SCMP_A3(SCMP_CMP_MASKED_EQ, bits[i], bits[i])));
  return ok;
}

/* Families that may be had: those that a network namespace holds, or that the open
 * network means. AF_UNIX reaches services of the machine by a path, past any
 * namespace; AF_VSOCK and others know no namespace. */
static bool refuse_sockets(scmp_filter_ctx ctx, const struct sandbox *s) {
  static const int kept[] = {AF_INET, AF_INET6, AF_NETLINK};
  bool some = s->level == SANDBOX_FULL || s->network;
  if (!some) return went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 0));
  bool ok = true;
  uint64_t from = 0;
  for (size_t i = 0; ok && i < 3; i++) {
    for (uint64_t f = from; ok && f < (uint64_t)kept[i]; f++)
      ok = went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, f)));
    from = (uint64_t)kept[i] + 1;
  }
  return ok && went(seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                                     SCMP_A0(SCMP_CMP_GT, AF_NETLINK, 0)));
}

static bool fill(scmp_filter_ctx ctx, const struct sandbox *s) {
  return went(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2)) &&
         went(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS))) &&
         refuse_all(ctx, s) && refuse_by_argument(ctx, s) && refuse_namespaces(ctx) &&
         refuse_setid_files(ctx) && refuse_sockets(ctx, s);
}

/* The instructions, behind two that refuse calls which came after this was
 * written: what is not known is not allowed. */
static bool export(scmp_filter_ctx ctx, struct sock_filter **code, size_t *count) {
  const struct sock_filter first[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 2, 0), /* x32: the rest refuses it */
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, CALLS_KNOWN, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0x00050000u | ENOSYS),
  };
  int fd = memfd_create("filter", MFD_CLOEXEC);
  if (fd < 0) return false;
  off_t size = seccomp_export_bpf(ctx, fd) ? -1 : lseek(fd, 0, SEEK_END);
  struct sock_filter *all = NULL;
  bool ok = size > 0 && (size_t)size + sizeof first <= FILTER_BYTES_MAX &&
            (all = mem_resize(NULL, (size_t)size + sizeof first)) &&
            pread(fd, all + sizeof first / sizeof *first, (size_t)size, 0) == size;
  close(fd);
  if (!ok) {
    mem_free(all);
    return false;
  }
  memcpy(all, first, sizeof first);
  *code = all;
  *count = ((size_t)size + sizeof first) / sizeof *all;
  return true;
}

enum rein_code filter_build(const struct sandbox *sandbox, struct sock_filter **code, size_t *count,
                            struct err *err) {
  scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
  bool ok = ctx && fill(ctx, sandbox) && export(ctx, code, count);
  seccomp_release(ctx);
  return ok ? REIN_OK : ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_FILTER);
}
