/* The guard: starts one command, confined, and sees to its end. It is rein's
 * child, or bubblewrap's; what it is told and tells stands in setup.h. It holds no
 * key and no secret, and does nothing else. */
#include "child/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINGER_MS 200 /* what a command left behind may still say its last words */
#define COUNT_MS 100  /* between two looks at the number of processes */

static void report(enum guard_end end, int number, enum guard_stage stage, bool left) {
  const struct guard_report r = {end, number, stage, left};
  (void)!write(GUARD_FD_REPORT, &r, sizeof r);
}

/* ---- the setup ---------------------------------------------------------------- */

static char **texts(char **at, const char *end, uint32_t count) {
  char **list = calloc((size_t)count + 1, sizeof *list);
  for (uint32_t i = 0; list && i < count; i++) {
    size_t n = strnlen(*at, (size_t)(end - *at));
    if (*at + n >= end) return NULL; /* not terminated; the guard ends, and its memory too */
    list[i] = *at;
    *at += n + 1;
  }
  return list;
}

static bool fits(const struct guard_setup *s, size_t size) {
  uint64_t count = (uint64_t)s->read_count + s->write_count + s->arg_count + s->env_count;
  return s->magic == GUARD_MAGIC && s->bytes == size && s->filter_count <= 4096 &&
         s->arg_count > 0 && count < size && sizeof *s + 8ull * s->filter_count < size;
}

static bool read_texts(struct guard *g, char *at, const char *end) {
  const struct guard_setup *s = &g->setup;
  char **folder = texts(&at, end, 1);
  if (!folder || !(g->reads = texts(&at, end, s->read_count)) ||
      !(g->writes = texts(&at, end, s->write_count)) ||
      !(g->args = texts(&at, end, s->arg_count)) || !(g->env = texts(&at, end, s->env_count)))
    return false;
  g->folder = folder[0];
  return true;
}

static bool read_setup(struct guard *g) {
  struct stat st;
  if (fstat(GUARD_FD_SETUP, &st) || st.st_size < (off_t)sizeof g->setup ||
      st.st_size > GUARD_BYTES_MAX)
    return false;
  size_t size = (size_t)st.st_size;
  char *all = malloc(size + 1);
  if (!all || pread(GUARD_FD_SETUP, all, size, 0) != (ssize_t)size) return false;
  memcpy(&g->setup, all, sizeof g->setup);
  if (!fits(&g->setup, size)) return false;
  g->filter = all + sizeof g->setup;
  return read_texts(g, all + sizeof g->setup + 8 * (size_t)g->setup.filter_count, all + size);
}

/* ---- the command -------------------------------------------------------------- */

/* When memory runs out, the kernel takes the command first. */
static void be_first_to_go(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, "1000", 4);
  close(fd);
}

static void become(const struct guard *g, pid_t guard_pid, int tell) {
  struct {
    int32_t stage, error;
  } failed = {STAGE_EXEC, 0};
  sigset_t none;
  for (int i = 1; i < NSIG; i++)
    (void)signal(i, SIG_DFL);
  (void)sigemptyset(&none);
  (void)sigprocmask(SIG_SETMASK, &none, NULL);
  (void)setsid(); /* no terminal, and no group that the guard is in */
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (getppid() != guard_pid) _exit(127);
  be_first_to_go();
  (void)close_range(GUARD_FD_CONTROL, (unsigned)tell - 1, 0);
  (void)close_range((unsigned)tell + 1, ~0u, 0);
  enum guard_stage stage = confine(g, guard_pid);
  if (stage == 0) (void)execvpe(g->args[0], g->args, g->env);
  if (stage) failed.stage = (int32_t)stage;
  failed.error = errno;
  (void)!write(tell, &failed, sizeof failed);
  _exit(127);
}

/* Its pid; 0: it could not be started, which was reported. */
static pid_t start(const struct guard *g) {
  int tell[2];
  struct {
    int32_t stage, error;
  } failed;
  if (pipe2(tell, O_CLOEXEC)) {
    report(GUARD_UNSTARTED, errno, STAGE_FORK, false);
    return 0;
  }
  pid_t self = getpid(), pid = fork();
  if (pid == 0) become(g, self, tell[1]);
  close(tell[1]);
  ssize_t n = pid < 0 ? -1 : read(tell[0], &failed, sizeof failed);
  if (pid < 0) report(GUARD_UNSTARTED, errno, STAGE_FORK, false);
  close(tell[0]);
  if (n != (ssize_t)sizeof failed) return pid < 0 ? 0 : pid;
  report(GUARD_UNSTARTED, failed.error, (enum guard_stage)failed.stage, false);
  return 0;
}

/* ---- until it ends ------------------------------------------------------------- */

/* True when the command ended; *others: processes are left. */
static bool reaped(pid_t command, int *status, bool *others) {
  bool ended = false;
  for (;;) {
    int s;
    pid_t pid = waitpid(-1, &s, WNOHANG);
    *others = pid == 0;
    if (pid <= 0) return ended;
    if (pid != command) continue;
    *status = s;
    ended = true;
  }
}

static bool too_many(const struct guard *g, unsigned before) {
  struct sysinfo now;
  unsigned most = g->setup.watch_procs;
  if (most == 0 || sysinfo(&now) || now.procs < before + most) return false;
  return tree_count(most) >= most;
}

struct watch {
  struct pollfd fds[2]; /* SIGCHLD, rein's end of the control pipe */
  unsigned before;      /* processes of the machine, when it started */
};

enum seen { SEEN_ENDED, SEEN_GONE, SEEN_BOMB };

static enum seen watch(const struct guard *g, struct watch *w, pid_t command, int *status,
                       bool *others) {
  for (;;) {
    if (reaped(command, status, others)) return SEEN_ENDED;
    int n = poll(w->fds, 2, g->setup.watch_procs ? COUNT_MS : -1);
    if (n > 0 && w->fds[1].revents) return SEEN_GONE;
    if (n > 0 && w->fds[0].revents) {
      struct signalfd_siginfo info;
      (void)!read(w->fds[0].fd, &info, sizeof info);
    }
    if (too_many(g, w->before)) return SEEN_BOMB;
  }
}

/* The command has ended and others have not: a moment for their last words. */
static void linger(struct watch *w, bool *others) {
  for (int waited = 0; *others && waited < LINGER_MS; waited += 20) {
    int n = poll(w->fds + 1, 1, 20);
    int status;
    if (n > 0) return;
    (void)reaped(0, &status, others);
  }
}

static int guard(const struct guard *g) {
  struct sysinfo now = {0};
  sigset_t child;
  int status = 0;
  bool others = false;
  (void)sigemptyset(&child);
  (void)sigaddset(&child, SIGCHLD);
  (void)sigprocmask(SIG_SETMASK, &child, NULL);
  (void)sysinfo(&now);
  struct watch w = {{{signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0},
                     {GUARD_FD_CONTROL, POLLIN, 0}},
                    now.procs};
  pid_t command = w.fds[0].fd < 0 ? 0 : start(g);
  if (command == 0) {
    tree_end(g, true);
    return 1;
  }
  enum seen seen = watch(g, &w, command, &status, &others);
  if (seen == SEEN_ENDED) linger(&w, &others);
  if (seen == SEEN_ENDED && WIFSIGNALED(status))
    report(GUARD_SIGNALLED, WTERMSIG(status), 0, others);
  else if (seen == SEEN_ENDED)
    report(GUARD_EXITED, WEXITSTATUS(status), 0, others);
  else if (seen == SEEN_BOMB)
    report(GUARD_PROCS, (int)g->setup.watch_procs, 0, true);
  if (seen != SEEN_ENDED || others) tree_end(g, seen == SEEN_BOMB);
  return 0;
}

int main(void) {
  struct guard g = {.folder = NULL};
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  for (unsigned i = 0; i < sizeof ignored / sizeof *ignored; i++)
    (void)signal(ignored[i], SIG_IGN);
  (void)setsid();
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (!read_setup(&g)) {
    report(GUARD_UNSTARTED, EINVAL, STAGE_SETUP, false);
    return 1;
  }
  (void)close_range(GUARD_FD_SETUP, ~0u, 0);
  return guard(&g);
}
