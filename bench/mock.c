/* A model on loopback that starts its client and measures it: one process, so
 * that the client's start, its CPU clock at each request and its end are read
 * where they are known. The scenario is the request's own: while it holds fewer
 * results than -n, the answer is a short text and a call; then a text.
 *
 *   mock [-n TURNS] [-t TOOL] [-a ARGS] [-k FILE] [-m] -- PROGRAM ARGUMENT...
 *
 * "@URL@" as an argument becomes the address, @K@ in ARGS the turn in three
 * digits. -k keeps the requests' bodies for bare_curl. -m asks for the client's
 * proportional memory at each request, which takes time: such a run is not for
 * timing. Prints one JSON object; times are nanoseconds of CLOCK_MONOTONIC.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILES 60  /* @K@ counts modulo this: so many files does the script make */
#define DELTAS 8  /* text deltas of a turn; four times as many in the last answer */
#define BATCH 256 /* events taken from the kernel at once */

struct bytes {
  char *p;
  size_t n, room;
};

struct peer { /* one connection of the client's */
  int fd;
  struct bytes in, out;
  size_t sent;
};

struct moment { /* one request: it is here, it is answered, CPU used until it was here */
  int64_t came_ns, answered_ns, cpu_ns;
};

struct stage {
  int listener, epoll, pidfd;
  long turns;
  const char *tool, *args;
  FILE *keep;
  bool weigh;
  long pss_kib; /* the largest that was seen */
  pid_t client;
  clockid_t client_clock;
  int64_t began_ns, ended_ns;
  struct moment *moments;
  size_t count, room;
  struct bytes event; /* the one being written */
};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int64_t now(clockid_t clock) {
  struct timespec t;
  return clock_gettime(clock, &t) ? 0 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static char *room_for(struct bytes *b, size_t n) {
  while (b->room < b->n + n) {
    b->room = b->room ? b->room * 2 : 4096;
    b->p = realloc(b->p, b->room);
    if (!b->p) die("memory");
  }
  return b->p + b->n;
}

static void put(struct bytes *b, const char *p, size_t n) {
  memcpy(room_for(b, n), p, n);
  b->n += n;
}

static void put_z(struct bytes *b, const char *text) {
  put(b, text, strlen(text));
}

static void put_num(struct bytes *b, long n, int digits) {
  char text[32];
  put(b, text, (size_t)snprintf(text, sizeof text, "%0*ld", digits, n));
}

/* ---- the model ------------------------------------------------------------- */

/* Each event is a chunk of its own, as providers send them. */
static void put_event(struct stage *s, struct bytes *out, const char *name) {
  char size[32];
  size_t n = strlen("event: \ndata: \n\n") + strlen(name) + s->event.n;
  put(out, size, (size_t)snprintf(size, sizeof size, "%zx\r\n", n));
  put_z(out, "event: ");
  put_z(out, name);
  put_z(out, "\ndata: ");
  put(out, s->event.p, s->event.n);
  put_z(out, "\n\n\r\n");
  s->event.n = 0;
}

static void put_start(struct stage *s, struct bytes *out, size_t body_bytes) {
  put_z(&s->event, "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_");
  put_num(&s->event, (long)s->count, 8);
  put_z(&s->event,
        "\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"mock\",\"content\":[],"
        "\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":");
  put_num(&s->event, (long)(body_bytes / 4), 1);
  put_z(&s->event, ",\"output_tokens\":1}}}");
  put_event(s, out, "message_start");
}

static void put_text(struct stage *s, struct bytes *out, int deltas) {
  static const char *const words[] = {"I ",    "read ", "the ",  "next ",
                                      "one, ", "and ",  "then ", "on. "};
  put_z(&s->event, "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
                   "{\"type\":\"text\",\"text\":\"\"}}");
  put_event(s, out, "content_block_start");
  for (int i = 0; i < deltas; i++) {
    put_z(&s->event, "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                     "{\"type\":\"text_delta\",\"text\":\"");
    put_z(&s->event, words[i % 8]);
    put_z(&s->event, "\"}}");
    put_event(s, out, "content_block_delta");
  }
  put_z(&s->event, "{\"type\":\"content_block_stop\",\"index\":0}");
  put_event(s, out, "content_block_stop");
}

static void put_quoted(struct bytes *b, const char *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '"' || p[i] == '\\') put(b, "\\", 1);
    put(b, p + i, 1);
  }
}

static void put_args(struct stage *s, struct bytes *args, long turn) {
  const char *rest = s->args;
  for (const char *at; (at = strstr(rest, "@K@")); rest = at + 3) {
    put(args, rest, (size_t)(at - rest));
    put_num(args, turn % FILES, 3);
  }
  put_z(args, rest);
}

static void put_call(struct stage *s, struct bytes *out, long turn) {
  struct bytes args = {0};
  put_args(s, &args, turn);
  put_z(&s->event, "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
                   "{\"type\":\"tool_use\",\"id\":\"toolu_");
  put_num(&s->event, (long)s->count, 8);
  put_z(&s->event, "\",\"name\":\"");
  put_z(&s->event, s->tool);
  put_z(&s->event, "\",\"input\":{}}}");
  put_event(s, out, "content_block_start");
  size_t step = args.n / 4 + 1;
  for (size_t i = 0; i < args.n; i += step) {
    put_z(&s->event, "{\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
                     "{\"type\":\"input_json_delta\",\"partial_json\":\"");
    put_quoted(&s->event, args.p + i, args.n - i < step ? args.n - i : step);
    put_z(&s->event, "\"}}");
    put_event(s, out, "content_block_delta");
  }
  put_z(&s->event, "{\"type\":\"content_block_stop\",\"index\":1}");
  put_event(s, out, "content_block_stop");
  free(args.p);
}

static void put_answer(struct stage *s, struct bytes *out, long turn, size_t body_bytes) {
  bool call = turn < s->turns;
  put_z(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_mock\r\n"
             "transfer-encoding: chunked\r\n\r\n");
  put_start(s, out, body_bytes);
  put_text(s, out, call ? DELTAS : 4 * DELTAS);
  if (call) put_call(s, out, turn);
  put_z(&s->event, "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"");
  put_z(&s->event, call ? "tool_use" : "end_turn");
  put_z(&s->event, "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":40}}");
  put_event(s, out, "message_delta");
  put_z(&s->event, "{\"type\":\"message_stop\"}");
  put_event(s, out, "message_stop");
  put_z(out, "0\r\n\r\n");
}

static long count(const char *p, size_t n, const char *what) {
  long found = 0;
  size_t k = strlen(what);
  for (const char *end = p + n; (p = memmem(p, (size_t)(end - p), what, k)); p += k)
    found++;
  return found;
}

/* ---- connections ------------------------------------------------------------- */

static void watch(struct stage *s, int fd, uint32_t events, void *who, int how) {
  struct epoll_event e = {.events = events, .data.ptr = who};
  if (epoll_ctl(s->epoll, how, fd, &e)) die("epoll_ctl");
}

static bool flush(struct stage *s, struct peer *p) {
  while (p->sent < p->out.n) {
    ssize_t n = send(p->fd, p->out.p + p->sent, p->out.n - p->sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) return false;
    if (n < 0) {
      watch(s, p->fd, EPOLLIN | EPOLLOUT, p, EPOLL_CTL_MOD);
      return true;
    }
    p->sent += (size_t)n;
  }
  if (p->out.n) watch(s, p->fd, EPOLLIN, p, EPOLL_CTL_MOD);
  p->out.n = p->sent = 0;
  return true;
}

static void note(struct stage *s, int64_t came_ns, int64_t cpu_ns) {
  if (s->count == s->room) {
    s->room = s->room ? s->room * 2 : 1024;
    s->moments = realloc(s->moments, s->room * sizeof *s->moments);
    if (!s->moments) die("memory");
  }
  s->moments[s->count++] = (struct moment){.came_ns = came_ns, .cpu_ns = cpu_ns};
}

static void keep(struct stage *s, const char *body, uint32_t n) {
  if (!s->keep) return;
  if (fwrite(&n, sizeof n, 1, s->keep) != 1 || fwrite(body, 1, n, s->keep) != n) die("-k");
}

static void weigh(struct stage *s) {
  char line[256];
  long kib;
  snprintf(line, sizeof line, "/proc/%d/smaps_rollup", (int)s->client);
  FILE *f = s->weigh ? fopen(line, "re") : NULL;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "Pss: %ld", &kib) == 1 && kib > s->pss_kib) s->pss_kib = kib;
  if (f) fclose(f);
}

/* Answers a request that is here whole. False: the connection is done. */
static bool serve(struct stage *s, struct peer *p) {
  char *head_end = p->in.n ? memmem(p->in.p, p->in.n, "\r\n\r\n", 4) : NULL;
  if (!head_end) return true;
  *head_end = '\0';
  const char *length = strcasestr(p->in.p, "\r\ncontent-length:");
  size_t body_n = length ? strtoul(strchr(length, ':') + 1, NULL, 10) : 0;
  *head_end = '\r';
  char *body = head_end + 4;
  if ((size_t)(p->in.p + p->in.n - body) < body_n) return true;
  int64_t cpu_ns = now(s->client_clock), came_ns = now(CLOCK_MONOTONIC);
  note(s, came_ns, cpu_ns);
  keep(s, body, (uint32_t)body_n);
  weigh(s);
  put_answer(s, &p->out, count(body, body_n, "\"type\":\"tool_result\""), body_n);
  p->in.n = 0; /* clients wait for the answer: nothing is behind it */
  bool open = flush(s, p);
  s->moments[s->count - 1].answered_ns = now(CLOCK_MONOTONIC);
  return open;
}

static bool read_more(struct peer *p) {
  for (;;) {
    char *room = room_for(&p->in, 65536);
    ssize_t n = recv(p->fd, room, p->in.room - p->in.n, 0);
    if (n > 0) p->in.n += (size_t)n;
    if (n <= 0) return n < 0 && errno == EAGAIN;
  }
}

static void drop(struct peer *p) {
  close(p->fd);
  free(p->in.p);
  free(p->out.p);
  free(p);
}

static void take_in(struct stage *s) {
  int one = 1;
  for (int fd; (fd = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    struct peer *p = calloc(1, sizeof *p);
    if (!p) die("memory");
    p->fd = fd;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(s, fd, EPOLLIN, p, EPOLL_CTL_ADD);
  }
}

static void attend(struct stage *s, struct peer *p, uint32_t events) {
  bool open = !(events & EPOLLOUT) || flush(s, p);
  if (open && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) open = read_more(p) && serve(s, p);
  if (!open) drop(p);
}

/* ---- the client ---------------------------------------------------------------- */

static void open_stage(struct stage *s, char url[64]) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof here;
  s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  s->epoll = epoll_create1(EPOLL_CLOEXEC);
  if (s->listener < 0 || s->epoll < 0 || bind(s->listener, (struct sockaddr *)&here, n) ||
      listen(s->listener, 1024) || getsockname(s->listener, (struct sockaddr *)&here, &n))
    die("a socket on loopback");
  snprintf(url, 64, "http://127.0.0.1:%d", ntohs(here.sin_port));
  watch(s, s->listener, EPOLLIN, &s->listener, EPOLL_CTL_ADD);
}

static void start_client(struct stage *s, char **argv, char *url) {
  for (char **arg = argv; *arg; arg++)
    if (!strcmp(*arg, "@URL@")) *arg = url;
  s->began_ns = now(CLOCK_MONOTONIC);
  s->client = fork();
  if (s->client < 0) die("fork");
  if (s->client == 0) {
    int nowhere = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
      if (dup2(nowhere, fd) < 0) _exit(127);
    execv(argv[0], argv);
    _exit(127);
  }
  s->pidfd = pidfd_open(s->client, 0);
  if (s->pidfd < 0 || clock_getcpuclockid(s->client, &s->client_clock)) die("the client");
  watch(s, s->pidfd, EPOLLIN, &s->pidfd, EPOLL_CTL_ADD);
}

static void run(struct stage *s) {
  struct epoll_event events[BATCH];
  while (!s->ended_ns) {
    int n = epoll_wait(s->epoll, events, BATCH, -1);
    for (int i = 0; i < n; i++) {
      void *who = events[i].data.ptr;
      if (who == &s->pidfd)
        s->ended_ns = now(CLOCK_MONOTONIC);
      else if (who == &s->listener)
        take_in(s);
      else
        attend(s, who, events[i].events);
    }
  }
}

static int64_t ns_of(struct timeval t) {
  return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static int report(struct stage *s) {
  struct rusage use;
  int status;
  if (wait4(s->client, &status, 0, &use) < 0) die("wait4");
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  printf("{\"exit\":%d,\"began\":%lld,\"ended\":%lld,\"cpu\":%lld,", code, (long long)s->began_ns,
         (long long)s->ended_ns, (long long)(ns_of(use.ru_utime) + ns_of(use.ru_stime)));
  printf("\"rss_kib\":%ld,\"pss_kib\":%ld,\"requests\":[", use.ru_maxrss, s->pss_kib);
  for (size_t i = 0; i < s->count; i++)
    printf("%s[%lld,%lld,%lld]", i ? "," : "", (long long)s->moments[i].came_ns,
           (long long)s->moments[i].answered_ns, (long long)s->moments[i].cpu_ns);
  printf("]}\n");
  return s->keep && fclose(s->keep) ? 1 : 0;
}

int main(int argc, char **argv) {
  static struct stage s = {.tool = "read_file", .args = "{\"path\":\"f@K@.txt\"}"};
  char url[64];
  for (int option; (option = getopt(argc, argv, "+n:t:a:k:m")) != -1;) {
    if (option == 'n') s.turns = strtol(optarg, NULL, 10);
    if (option == 't') s.tool = optarg;
    if (option == 'a') s.args = optarg;
    if (option == 'k' && !(s.keep = fopen(optarg, "wbe"))) die(optarg);
    if (option == 'm') s.weigh = true;
    if (option == '?') return 2;
  }
  if (optind == argc) return fprintf(stderr, "mock: which program is to be started?\n"), 2;
  open_stage(&s, url);
  start_client(&s, argv + optind, url);
  run(&s);
  return report(&s);
}
