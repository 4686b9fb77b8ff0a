/* The loopback server of the tests. Plain sockets and malloc on purpose: what it
 * does must not count as an allocation of what is tested. */
#include "support/peer.h"

#include "json/write.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define REQUESTS_MAX 8192
#define HEAD_MAX 65536

struct kept {
  char *head, *body;
  size_t head_n, body_n;
};

struct peer {
  int fd;
  char url[64];
  peer_fn fn;
  void *ctx;
  pthread_t thread;
  pthread_mutex_t lock;
  bool stopping;
  pthread_t threads[CONNECTIONS_MAX];
  int fds[CONNECTIONS_MAX]; /* -1: closed */
  size_t connections, requests;
  struct kept kept[REQUESTS_MAX];
};

struct line {
  struct peer *peer;
  size_t at;
  int fd;
  char *p;
  size_t n, room;
};

static bool more(struct line *l) {
  if (l->n == l->room) {
    l->room = l->room ? l->room * 2 : HEAD_MAX;
    l->p = realloc(l->p, l->room + 1);
    assert(l->p);
  }
  ssize_t got = recv(l->fd, l->p + l->n, l->room - l->n, 0);
  if (got <= 0) return false;
  l->n += (size_t)got;
  l->p[l->n] = '\0';
  return true;
}

/* Reads one request, with a Content-Length as every client here sends. */
static bool read_request(struct line *l, struct kept *kept) {
  char *end = NULL;
  while (!l->p || !(end = strstr(l->p, "\r\n\r\n")))
    if (!more(l)) return false;
  kept->head_n = (size_t)(end - l->p) + 4;
  kept->head = strndup(l->p, kept->head_n);
  const char *length = strcasestr(kept->head, "\r\ncontent-length:");
  kept->body_n = length ? strtoul(length + 17, NULL, 10) : 0;
  if (strcasestr(kept->head, "\r\nexpect: 100"))
    peer_write(l->fd, STR("HTTP/1.1 100 Continue\r\n\r\n"));
  while (l->n < kept->head_n + kept->body_n)
    if (!more(l)) return false;
  kept->body = malloc(kept->body_n + 1);
  memcpy(kept->body, l->p + kept->head_n, kept->body_n);
  kept->body[kept->body_n] = '\0';
  l->n -= kept->head_n + kept->body_n;
  memmove(l->p, l->p + kept->head_n + kept->body_n, l->n + 1);
  return true;
}

static bool serve_one(struct line *l) {
  struct peer *peer = l->peer;
  struct kept kept = {0};
  if (!read_request(l, &kept)) {
    free(kept.head);
    free(kept.body);
    return false;
  }
  pthread_mutex_lock(&peer->lock);
  assert(peer->requests < REQUESTS_MAX);
  size_t n = peer->requests++;
  peer->kept[n] = kept;
  pthread_mutex_unlock(&peer->lock);
  return peer->fn(peer->ctx, peer, l->fd, n, (struct str){kept.body, kept.body_n});
}

static void *serve(void *ctx) {
  struct line *l = ctx;
  while (serve_one(l))
    ;
  pthread_mutex_lock(&l->peer->lock);
  l->peer->fds[l->at] = -1;
  pthread_mutex_unlock(&l->peer->lock);
  shutdown(l->fd, SHUT_RDWR);
  close(l->fd);
  free(l->p);
  free(l);
  return NULL;
}

static void greet(struct peer *peer, int fd) {
  struct line *l = calloc(1, sizeof *l);
  pthread_attr_t attr;
  assert(l && peer->connections < CONNECTIONS_MAX);
  l->peer = peer;
  l->fd = fd;
  l->at = peer->connections;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* or each reply waits 40 ms */
  peer->fds[peer->connections] = fd;
  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 256 * 1024);
  assert(pthread_create(&peer->threads[peer->connections], &attr, serve, l) == 0);
  pthread_attr_destroy(&attr);
  peer->connections++;
}

static void *listen_on(void *ctx) {
  struct peer *peer = ctx;
  for (;;) {
    int fd = accept4(peer->fd, NULL, NULL, SOCK_CLOEXEC);
    pthread_mutex_lock(&peer->lock);
    bool stopping = peer->stopping;
    if (!stopping && fd >= 0) greet(peer, fd);
    pthread_mutex_unlock(&peer->lock);
    if (!stopping) continue;
    if (fd >= 0) close(fd);
    return NULL;
  }
}

struct peer *peer_start(peer_fn fn, void *ctx) {
  struct peer *peer = calloc(1, sizeof *peer);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  assert(peer);
  peer->fn = fn;
  peer->ctx = ctx;
  peer->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert(peer->fd >= 0);
  assert(bind(peer->fd, (struct sockaddr *)&at, n) == 0);
  assert(listen(peer->fd, 1024) == 0);
  assert(getsockname(peer->fd, (struct sockaddr *)&at, &n) == 0);
  snprintf(peer->url, sizeof peer->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
  pthread_mutex_init(&peer->lock, NULL);
  assert(pthread_create(&peer->thread, NULL, listen_on, peer) == 0);
  return peer;
}

void peer_stop(struct peer *peer) {
  pthread_mutex_lock(&peer->lock);
  peer->stopping = true;
  shutdown(peer->fd, SHUT_RDWR);
  for (size_t i = 0; i < peer->connections; i++)
    if (peer->fds[i] >= 0) shutdown(peer->fds[i], SHUT_RDWR);
  pthread_mutex_unlock(&peer->lock);
  pthread_join(peer->thread, NULL);
  for (size_t i = 0; i < peer->connections; i++)
    pthread_join(peer->threads[i], NULL);
  for (size_t i = 0; i < peer->requests; i++) {
    free(peer->kept[i].head);
    free(peer->kept[i].body);
  }
  close(peer->fd);
  pthread_mutex_destroy(&peer->lock);
  free(peer);
}

const char *peer_url(const struct peer *peer) {
  return peer->url;
}

size_t peer_count(struct peer *peer) {
  pthread_mutex_lock(&peer->lock);
  size_t n = peer->requests;
  pthread_mutex_unlock(&peer->lock);
  return n;
}

size_t peer_connections(struct peer *peer) {
  pthread_mutex_lock(&peer->lock);
  size_t n = peer->connections;
  pthread_mutex_unlock(&peer->lock);
  return n;
}

struct str peer_body(struct peer *peer, size_t n) {
  return (struct str){peer->kept[n].body, peer->kept[n].body_n};
}

struct str peer_head(struct peer *peer, size_t n) {
  return (struct str){peer->kept[n].head, peer->kept[n].head_n};
}

/* -- answers -- */

void peer_write(int fd, struct str bytes) {
  while (bytes.n > 0) {
    ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.p += n;
    bytes.n -= (size_t)n;
  }
}

void peer_answer(int fd, int status, const char *headers, struct str body) {
  char head[1024];
  int n = snprintf(head, sizeof head, "HTTP/1.1 %d Word\r\ncontent-length: %zu\r\n%s\r\n", status,
                   body.n, headers);
  peer_write(fd, (struct str){head, (size_t)n});
  peer_write(fd, body);
}

void peer_stream_begin(int fd) {
  peer_write(fd, STR("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                     "request-id: req_loopback\r\ntransfer-encoding: chunked\r\n\r\n"));
}

void peer_stream(int fd, struct str piece) {
  char size[32];
  int n = snprintf(size, sizeof size, "%zx\r\n", piece.n);
  if (piece.n == 0) return;
  peer_write(fd, (struct str){size, (size_t)n});
  peer_write(fd, piece);
  peer_write(fd, STR("\r\n"));
}

void peer_stream_end(int fd) {
  peer_write(fd, STR("0\r\n\r\n"));
}

void peer_reset(int fd) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
  (void)connect(fd, &none, sizeof none);
}

void peer_wait(int fd) {
  struct pollfd p = {.fd = fd, .events = POLLRDHUP};
  while (poll(&p, 1, -1) <= 0)
    ;
}

/* -- replies -- */

void reply_begin(struct reply_text *r) {
  buf_init(&r->b, 1u << 20);
  r->index = 0;
  buf_lit(&r->b, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
                 "\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\","
                 "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{"
                 "\"input_tokens\":100,\"output_tokens\":1}}}\n\n");
}

static void block_start(struct reply_text *r, const char *what) {
  buf_fmt(&r->b,
          "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,"
          "\"content_block\":",
          r->index);
  buf_put(&r->b, str_of(what));
}

static void block_delta(struct reply_text *r, const char *type, const char *key, const char *text) {
  buf_fmt(&r->b,
          "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,"
          "\"delta\":{\"type\":\"%s\",\"%s\":",
          r->index, type, key);
  json_quote(&r->b, str_of(text));
  buf_lit(&r->b, "}}\n\n");
}

static void block_stop(struct reply_text *r) {
  buf_fmt(&r->b,
          "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}"
          "\n\n",
          r->index++);
}

void reply_say(struct reply_text *r, const char *text) {
  block_start(r, "{\"type\":\"text\",\"text\":\"\"}}\n\n");
  block_delta(r, "text_delta", "text", text);
  block_stop(r);
}

void reply_call(struct reply_text *r, const char *id, const char *name, const char *args) {
  block_start(r, "{\"type\":\"tool_use\",\"id\":");
  json_quote(&r->b, str_of(id));
  buf_lit(&r->b, ",\"name\":");
  json_quote(&r->b, str_of(name));
  buf_lit(&r->b, ",\"input\":{}}}\n\n");
  block_delta(r, "input_json_delta", "partial_json", args);
  block_stop(r);
}

void reply_end(struct reply_text *r, const char *stop) {
  buf_fmt(&r->b,
          "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
          "\"stop_reason\":\"%s\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":20}}"
          "\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
          stop);
}

size_t count_in(struct str text, const char *needle) {
  size_t n = 0;
  for (size_t at; (at = str_find(text, str_of(needle))) < text.n; n++)
    text = str_part(text, at + 1, text.n);
  return n;
}
