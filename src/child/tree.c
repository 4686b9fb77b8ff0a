/* Ending what came of a command. A process whose parent ends becomes a child of
 * the guard (the subreaper), so all of them are found below it, whatever session
 * or group they moved to. They are stopped first, until no new one shows: what is
 * stopped starts nothing. */
#include "child/inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCS_MAX 65536    /* looked at in one pass; a bomb is ended in several */
#define PIDS_MAX (1 << 22) /* PID_MAX_LIMIT of Linux */
#define ROUNDS_MAX 400     /* passes of ending; each takes some milliseconds */
#define STAT_BYTES 512     /* name and parent stand at its beginning */

struct look {
  struct {
    pid_t pid, parent;
  } procs[PROCS_MAX];
  unsigned count;
  unsigned char ours[PIDS_MAX / 8]; /* a bit for each pid that came of the guard */
};

/* The parent stands behind the name, which may hold anything, brackets too. */
static pid_t parent_of(const char *pid) {
  char path[64], text[STAT_BYTES];
  (void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = '\0';
  const char *end = strrchr(text, ')');
  bool zombie = end && end[1] == ' ' && end[2] == 'Z';
  return end && strlen(end) > 4 && !zombie ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

static void look(struct look *l) {
  DIR *dir = opendir("/proc");
  l->count = 0;
  memset(l->ours, 0, sizeof l->ours);
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir)) && l->count < PROCS_MAX;) {
    if (e->d_name[0] < '1' || e->d_name[0] > '9') continue;
    pid_t parent = parent_of(e->d_name), pid = (pid_t)strtol(e->d_name, NULL, 10);
    if (parent <= 0 || pid >= PIDS_MAX) continue;
    l->procs[l->count].pid = pid;
    l->procs[l->count++].parent = parent;
  }
  (void)closedir(dir);
}

static bool is_ours(const struct look *l, pid_t pid) {
  return pid >= 0 && pid < PIDS_MAX && l->ours[pid / 8] >> pid % 8 & 1;
}

/* Marks what came of the guard; how many. /proc lists in the order of pids, and a
 * child's is mostly the larger one, so two passes are usual. */
static unsigned mark(struct look *l) {
  pid_t self = getpid();
  unsigned ours = 0, before;
  do {
    before = ours;
    for (unsigned i = 0; i < l->count; i++) {
      pid_t pid = l->procs[i].pid, parent = l->procs[i].parent;
      if (is_ours(l, pid) || (parent != self && !is_ours(l, parent))) continue;
      l->ours[pid / 8] |= (unsigned char)(1u << pid % 8);
      ours++;
    }
  } while (ours > before);
  return ours;
}

static void send_all(const struct look *l, int signum) {
  for (unsigned i = 0; i < l->count; i++)
    if (is_ours(l, l->procs[i].pid)) (void)kill(l->procs[i].pid, signum);
}

static void pause_ms(long ms) {
  const struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
  (void)nanosleep(&wait, NULL);
}

/* False: no child is left. */
static bool reap(void) {
  pid_t pid;
  while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {}
  return pid == 0;
}

static bool ends_in(uint32_t ms) {
  for (uint32_t waited = 0; waited < ms; waited += 10) {
    if (!reap()) return true;
    pause_ms(10);
  }
  return !reap();
}

/* Stops, until a pass finds none that was not there before. */
static void stop_all(struct look *l) {
  for (unsigned before = 0, pass = 0; pass < 20; pass++) {
    look(l);
    unsigned now = mark(l);
    send_all(l, SIGSTOP);
    if (now <= before) return;
    before = now;
  }
}

unsigned tree_count(unsigned most) {
  struct look *l = calloc(1, sizeof *l);
  if (!l) return most; /* cannot look: as good as too many */
  look(l);
  unsigned n = mark(l);
  free(l);
  return n < most ? n : most;
}

static void ask_to_end(struct look *l) {
  look(l);
  (void)mark(l);
  send_all(l, SIGTERM);
  send_all(l, SIGCONT);
}

void tree_end(const struct guard *g, bool at_once) {
  struct look *l = calloc(1, sizeof *l);
  if (!l) return; /* the command dies with its guard; what it left is the namespace's */
  if (!at_once) ask_to_end(l);
  bool rest = at_once || !ends_in(g->setup.grace_ms);
  for (unsigned round = 0; rest && round < ROUNDS_MAX && reap(); round++) {
    stop_all(l);
    send_all(l, SIGKILL);
    pause_ms(2);
  }
  free(l);
}
