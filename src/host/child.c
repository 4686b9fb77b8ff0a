/* Starts a command behind its guard, takes its output, waits for its end. */
#include "host/child_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHILD_ARENA_MAX (1u << 20)
#define LOOK_MS 50         /* between two looks at the cancel flag */
#define GUARD_WAIT_MS 5000 /* the guard's own grace is half a second */
#define BLOCK 65536

enum { PIPE_OUT, PIPE_ERR, PIPE_CONTROL, PIPE_REPORT, PIPES };

struct live {
  struct child *child;
  int ends[PIPES][2];
  int setup, pidfd;
  int input; /* -1: /dev/null */
  pid_t pid;
  int64_t began_ms, until_ms; /* INT64_MAX: never */
  bool told;                  /* to end */
  enum child_how why;
  char *block;
};

static int64_t now_ms(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void shut(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static enum rein_code no_start(struct err *err, const char *what, int error) {
  return ERR(err, REIN_SYSTEM, T_HOST_CHILD_START, str_of(what), str_of(strerror(error)));
}

/* ---- a folder for temporary files, where /tmp is everybody's ---------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  (void)remove(path);
  return 0;
}

static enum rein_code make_tmp(struct child *c, struct err *err) {
  struct str name;
  if (c->sandbox->level == SANDBOX_FULL) c->inside = "/tmp";
  if (c->sandbox->level != SANDBOX_HELPER) return REIN_OK;
  if (!arena_str(&c->arena, STR(P_tmpdir "/rein-exec-XXXXXX"), &name))
    return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  if (!mkdtemp((char *)(uintptr_t)name.p)) return no_start(err, "/tmp", errno);
  c->tmp = c->inside = name.p;
  return REIN_OK;
}

/* ---- start ------------------------------------------------------------------------ */

static enum rein_code open_ends(struct live *l, struct err *err) {
  for (int i = 0; i < PIPES; i++)
    if (pipe2(l->ends[i], O_CLOEXEC)) return no_start(err, "pipe", errno);
  for (int i = 0; i < PIPES; i++) {
    int mine = l->ends[i][i == PIPE_CONTROL];
    if (fcntl(mine, F_SETFL, O_NONBLOCK)) return no_start(err, "fcntl", errno);
  }
  struct str input = l->child->spec->input;
  if (input.n && (l->input = child_file(input, err)) < 0) return err->code;
  l->setup = child_setup(l->child, err);
  return l->setup < 0 ? err->code : REIN_OK;
}

/* Descriptors for the child: first moved above all of them, so that none is written
 * over before it was taken. */
static int plan(const struct live *l, posix_spawn_file_actions_t *actions) {
  const struct {
    int from, to;
  } moves[] = {
      {l->ends[PIPE_OUT][1], 1},
      {l->ends[l->child->spec->errors ? PIPE_ERR : PIPE_OUT][1], 2},
      {l->ends[PIPE_CONTROL][0], GUARD_FD_CONTROL},
      {l->ends[PIPE_REPORT][1], GUARD_FD_REPORT},
      {l->setup, GUARD_FD_SETUP},
      {l->child->sandbox->image, GUARD_FD_IMAGE},
  };
  enum { MOVES = sizeof moves / sizeof *moves };
  int high = GUARD_FD_IMAGE + 1;
  for (int i = 0; i < MOVES; i++)
    if (moves[i].from >= high) high = moves[i].from + 1;
  int bad = l->input < 0 ? posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0)
                         : posix_spawn_file_actions_adddup2(actions, l->input, 0);
  for (int i = 0; !bad && i < MOVES; i++)
    bad = posix_spawn_file_actions_adddup2(actions, moves[i].from, high + i);
  for (int i = 0; !bad && i < MOVES; i++)
    bad = posix_spawn_file_actions_adddup2(actions, high + i, moves[i].to);
  return bad ? bad : posix_spawn_file_actions_addclosefrom_np(actions, GUARD_FD_IMAGE + 1);
}

static int attributes(posix_spawnattr_t *attr) {
  sigset_t all, none;
  (void)sigfillset(&all);
  (void)sigemptyset(&none);
  int bad = posix_spawnattr_setsigdefault(attr, &all);
  if (!bad) bad = posix_spawnattr_setsigmask(attr, &none);
  if (!bad)
    bad = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSID);
  return bad;
}

static int spawn_words(struct live *l, const struct words *w) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  char *const no_env[] = {NULL};
  int bad = posix_spawn_file_actions_init(&actions);
  if (bad) return bad;
  bad = posix_spawnattr_init(&attr);
  if (!bad) {
    bad = plan(l, &actions);
    if (!bad) bad = attributes(&attr);
    if (!bad)
      bad = posix_spawn(&l->pid, w->v[0], &actions, &attr, (char *const *)(uintptr_t)w->v, no_env);
    (void)posix_spawnattr_destroy(&attr);
  }
  (void)posix_spawn_file_actions_destroy(&actions);
  return bad;
}

static enum rein_code spawn(struct live *l, struct err *err) {
  struct child *c = l->child;
  struct words *w = arena_new(&c->arena, struct words);
  bool full = c->sandbox->level == SANDBOX_FULL;
  if (!w) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  enum rein_code code = full ? bwrap_words(c, w, err) : REIN_OK;
  if (code) return code;
  words_add(w, GUARD_IMAGE_PATH);
  int bad = spawn_words(l, w);
  if (bad) return no_start(err, full ? "bwrap" : "guard", bad);
  l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
  return l->pidfd < 0 ? no_start(err, "pidfd_open", errno) : REIN_OK;
}

/* ---- while it runs ----------------------------------------------------------------- */

static void take(struct live *l, int which, struct child_out *out) {
  int *fd = &l->ends[which][0];
  ssize_t n = read(*fd, l->block, BLOCK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0)
    shut(fd);
  else
    child_out_add(out, (struct str){l->block, (size_t)n});
}

static void tell_end(struct live *l, enum child_how why) {
  if (l->told) return;
  l->told = true;
  l->why = why;
  l->until_ms = now_ms() + GUARD_WAIT_MS;
  shut(&l->ends[PIPE_CONTROL][1]);
}

static void look(struct live *l) {
  const struct child_spec *spec = l->child->spec;
  int64_t now = now_ms();
  if (l->told && now >= l->until_ms) {
    /* The guard itself hangs: what it kept together, the namespace or Landlock still holds. */
    (void)kill(l->pid, SIGKILL);
    l->until_ms = INT64_MAX;
  }
  if (spec->cancelled && spec->cancelled(spec->ctx)) tell_end(l, CHILD_CANCELLED);
  if (!l->told && now >= l->until_ms) tell_end(l, CHILD_LATE);
  int64_t bytes = spec->out->bytes + (spec->errors ? spec->errors->bytes : 0);
  if (bytes > CHILD_FLOOD_BYTES) tell_end(l, CHILD_FLOODED);
}

static int wait_ms(const struct live *l) {
  int64_t left = l->until_ms - now_ms();
  int most = l->child->spec->cancelled ? LOOK_MS : 1000;
  return left < most ? (int)(left > 0 ? left : 0) : most;
}

/* One wait, and what it brought; false: nothing more can come. */
static bool turn(struct live *l, bool *ended) {
  const struct child_spec *spec = l->child->spec;
  struct pollfd fds[3] = {{l->ends[PIPE_OUT][0], POLLIN, 0},
                          {l->ends[PIPE_ERR][0], POLLIN, 0},
                          {*ended ? -1 : l->pidfd, POLLIN, 0}};
  /* Once it ended nothing of it runs: who still holds a pipe is no part of it. */
  int n = poll(fds, 3, *ended ? 0 : wait_ms(l));
  if (n <= 0) return !*ended;
  if (fds[0].revents) take(l, PIPE_OUT, spec->out);
  if (fds[1].revents) take(l, PIPE_ERR, spec->errors);
  *ended = *ended || fds[2].revents;
  return !*ended || l->ends[PIPE_OUT][0] >= 0 || l->ends[PIPE_ERR][0] >= 0;
}

/* Until the guard, or bubblewrap around it, has ended and all output is here. */
static void attend(struct live *l) {
  bool ended = false;
  while (turn(l, &ended))
    look(l);
}

/* ---- what came of it ----------------------------------------------------------------- */

static enum rein_code unstarted(const struct live *l, const struct guard_report *r,
                                struct err *err) {
  static const char *const names[] = {"",         "setup",        "fork",    "chdir", "rlimit",
                                      "Landlock", "capabilities", "seccomp", "exec"};
  struct str why = str_of(strerror(r->number));
  const struct child_spec *spec = l->child->spec;
  if (r->stage == STAGE_EXEC)
    return ERR(err, REIN_INPUT, T_HOST_CHILD_EXEC, str_of(spec->argv[0]), why);
  if (r->stage == STAGE_FOLDER)
    return ERR(err, REIN_INPUT, T_HOST_CHILD_FOLDER, str_of(spec->root), why);
  const char *name = r->stage < sizeof names / sizeof *names ? names[r->stage] : "?";
  return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_STAGE, str_of(sandbox_word(l->child->sandbox->level)),
             str_of(name), why);
}

/* The guard said nothing: bubblewrap did not get that far, and its words are in the
 * output. */
static enum rein_code silent(const struct live *l, struct err *err) {
  const struct child_spec *spec = l->child->spec;
  const struct child_out *said = spec->errors ? spec->errors : spec->out;
  struct str words = str_trim(buf_str(&said->head));
  return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_REFUSED,
             str_of(sandbox_word(l->child->sandbox->level)), str_part(words, 0, 300));
}

static enum rein_code tell(const struct live *l, struct child_end *end, struct err *err) {
  struct guard_report r = {0};
  bool said = read(l->ends[PIPE_REPORT][0], &r, sizeof r) == (ssize_t)sizeof r;
  *end = (struct child_end){.ms = now_ms() - l->began_ms, .left = r.left, .number = r.number};
  if (l->told && (!said || r.end != GUARD_UNSTARTED)) {
    end->how = l->why;
    end->number = 0;
    return REIN_OK;
  }
  if (!said) return silent(l, err);
  if (r.end == GUARD_UNSTARTED) return unstarted(l, &r, err);
  end->how = r.end == GUARD_EXITED      ? CHILD_EXITED
             : r.end == GUARD_SIGNALLED ? CHILD_SIGNALLED
                                        : CHILD_PROCS;
  return REIN_OK;
}

static enum rein_code carry(struct live *l, struct child_end *end, struct err *err) {
  const struct child_spec *spec = l->child->spec;
  enum rein_code code = open_ends(l, err);
  if (!code) code = spawn(l, err);
  if (code) return code;
  for (int i = 0; i < PIPES; i++)
    shut(&l->ends[i][i == PIPE_CONTROL ? 0 : 1]);
  if (!spec->errors) shut(&l->ends[PIPE_ERR][0]);
  attend(l);
  (void)waitpid(l->pid, NULL, 0);
  child_out_end(spec->out);
  if (spec->errors) child_out_end(spec->errors);
  bool lost = child_out_failed(spec->out) || (spec->errors && child_out_failed(spec->errors));
  return lost ? ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY) : tell(l, end, err);
}

static enum rein_code run(struct child *c, struct child_end *end, struct err *err) {
  struct live l = {.child = c, .setup = -1, .pidfd = -1, .input = -1, .began_ms = now_ms()};
  for (int i = 0; i < PIPES; i++)
    l.ends[i][0] = l.ends[i][1] = -1;
  int64_t limit = c->spec->limit_ms;
  l.until_ms = limit == REIN_OFF ? INT64_MAX : l.began_ms + limit;
  l.block = mem_resize(NULL, BLOCK);
  enum rein_code code = l.block ? carry(&l, end, err) : ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  for (int i = 0; i < PIPES; i++) {
    shut(&l.ends[i][0]);
    shut(&l.ends[i][1]);
  }
  shut(&l.setup);
  shut(&l.input);
  shut(&l.pidfd);
  mem_free(l.block);
  return code;
}

enum rein_code child_run(const struct child_spec *spec, struct child_end *end, struct err *err) {
  struct child c = {.spec = spec, .sandbox = spec->sandbox};
  bool keeps = spec->sandbox->level == SANDBOX_FULL && !spec->read_only;
  enum rein_code code = sandbox_make(spec->sandbox, err);
  if (code) return code;
  arena_init(&c.arena, CHILD_ARENA_MAX);
  code = make_tmp(&c, err);
  if (!code && keeps) code = kept_open(&c, err);
  if (!code) code = run(&c, end, err);
  kept_close(&c);
  if (c.tmp) (void)nftw(c.tmp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  arena_release(&c.arena);
  return code;
}
