/* Curl's multi handle on the loop: its sockets, its timer, and its ceilings.
 * When what is started or dropped is http.c's.
 */
#include "host/http_inside.h"

#include "base/mem.h"

#include <unistd.h>

#define IDLE_CONNECTIONS_MAX 256L /* a fleet's connections between two requests */

static void poll_closed(uv_handle_t *uv) {
  mem_free(uv->data);
}

static void poll_close(struct http_poll *poll) {
  if (poll->prev)
    poll->prev->next = poll->next;
  else
    poll->lane->polls = poll->next;
  if (poll->next) poll->next->prev = poll->prev;
  uv_close((uv_handle_t *)&poll->uv, poll_closed);
}

static struct http_poll *poll_find(const struct http_lane *lane, curl_socket_t fd) {
  struct http_poll *poll = lane->polls;
  while (poll && poll->fd != fd)
    poll = poll->next;
  return poll;
}

static struct http_poll *poll_new(struct http_lane *lane, curl_socket_t fd) {
  struct http_poll *poll = mem_zero(sizeof *poll);
  if (!poll) return NULL;
  if (uv_poll_init_socket(loop_uv(lane->http->loop), &poll->uv, fd) != 0) {
    mem_free(poll);
    return NULL;
  }
  poll->uv.data = poll;
  poll->lane = lane;
  poll->fd = fd;
  poll->next = lane->polls;
  if (poll->next) poll->next->prev = poll;
  lane->polls = poll;
  return poll;
}

static void drive(struct http_lane *lane, curl_socket_t fd, int events) {
  struct http *http = lane->http;
  if (!lane->multi) return;
  int running;
  http->inside = true;
  CURLMcode code = curl_multi_socket_action(lane->multi, fd, events, &running);
  http->inside = false;
  if (code != CURLM_OK) lane->broken = true;
  http_settle(http);
}

static void timer_fires(void *ctx) {
  drive(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long wait_ms, void *ctx) {
  struct http_lane *lane = ctx;
  (void)multi;
  loop_timer_set(lane->timer, wait_ms < 0 ? INT64_MAX : loop_now(lane->http->loop) + wait_ms);
  return 0;
}

static void poll_fires(uv_poll_t *uv, int status, int events);

/* Watches for what curl wants. Starting anew is dear: only where that changed.
 * An idle connection stays watched, and is no reason for the loop to run. */
static bool poll_set(struct http_poll *poll, int wanted) {
  uv_handle_t *handle = (uv_handle_t *)&poll->uv;
  poll->wanted = wanted;
  if (wanted)
    uv_ref(handle);
  else
    uv_unref(handle);
  if (!wanted || wanted == poll->watched) return true;
  bool started = uv_poll_start(&poll->uv, wanted, poll_fires) == 0;
  poll->watched = started ? wanted : 0;
  return started;
}

static void poll_fires(uv_poll_t *uv, int status, int events) {
  struct http_poll *poll = uv->data;
  int wanted = poll->wanted;
  if (status < 0) poll->watched = 0; /* so libuv does after an error */
  if (!wanted) {
    /* Mostly its server closed it: curl looks before it uses it again. */
    (void)uv_poll_stop(uv);
    poll->watched = 0;
    return;
  }
  /* An error: curl reads or writes, and so learns which (told that there is one,
   * it would only say that polling failed). */
  if (status < 0) events = wanted;
  drive(poll->lane, poll->fd,
        (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
            (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0));
  /* curl does not know that nobody watches any more: go on if it does. */
  bool open = !uv_is_closing((uv_handle_t *)uv);
  if (open && poll->wanted && !poll->watched) (void)poll_set(poll, poll->wanted);
}

/* A connection whose socket is still open, and so will be closed by lane_on_close.
 * Curl 7.88 closes a socket that never became one without a word. */
static bool lives_on(const struct http_poll *poll) {
  struct sockaddr_storage peer;
  socklen_t n = sizeof peer;
  return poll->connection && getpeername(poll->fd, (struct sockaddr *)&peer, &n) == 0;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *slot) {
  struct http_lane *lane = ctx;
  struct http_poll *poll = slot;
  (void)easy;
  if (!poll) poll = poll_find(lane, fd);
  if (what == CURL_POLL_REMOVE) {
    if (poll && lives_on(poll))
      (void)poll_set(poll, 0);
    else if (poll)
      poll_close(poll);
    return 0;
  }
  if (!poll) poll = poll_new(lane, fd);
  if (!poll) return -1;
  (void)curl_multi_assign(lane->multi, fd, poll);
  int wanted = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
  return poll_set(poll, wanted) ? 0 : -1;
}

/* The last socket of this number was closed without a word, and curl takes the new
 * one for it: it is watched for what the old one was. */
static int take_over(struct http_poll *old, curl_socket_t fd) {
  struct http_lane *lane = old->lane;
  int wanted = old->wanted;
  poll_close(old);
  struct http_poll *poll = poll_new(lane, fd);
  (void)curl_multi_assign(lane->multi, fd, poll);
  if (!poll || !poll_set(poll, wanted)) return CURL_SOCKOPT_ERROR;
  poll->connection = true;
  return CURL_SOCKOPT_OK;
}

/* Without memory it is watched like any other socket. */
int lane_on_open(void *ctx, curl_socket_t fd, curlsocktype what) {
  struct http_poll *old = poll_find(ctx, fd);
  (void)what;
  if (old) return take_over(old, fd);
  struct http_poll *poll = poll_new(ctx, fd);
  if (poll) poll->connection = true;
  return CURL_SOCKOPT_OK;
}

int lane_on_close(void *ctx, curl_socket_t fd) {
  struct http_poll *poll = poll_find(ctx, fd);
  if (poll) poll_close(poll);
  return close(fd);
}

static CURLMcode multi_need(struct http_lane *lane) {
  if (lane->multi) return CURLM_OK;
  CURLM *multi = curl_multi_init();
  if (!multi) return CURLM_OUT_OF_MEMORY;
  (void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  (void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, lane);
  (void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  (void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, lane);
  (void)curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, lane->host_max);
  (void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS_MAX);
  lane->multi = multi;
  return CURLM_OK;
}

void lane_set_max(struct http_lane *lane, long host_max) {
  lane->host_max = host_max;
  if (lane->multi) (void)curl_multi_setopt(lane->multi, CURLMOPT_MAX_HOST_CONNECTIONS, host_max);
}

CURLMcode lane_add(struct http_call *call) {
  CURLMcode code = multi_need(call->lane);
  if (code == CURLM_OK) code = curl_multi_add_handle(call->lane->multi, call->easy);
  call->added = code == CURLM_OK;
  return code;
}

const CURLMsg *lane_next(struct http_lane *lane) {
  int left;
  return lane->multi ? curl_multi_info_read(lane->multi, &left) : NULL;
}

void lane_drop_multi(struct http_lane *lane) {
  if (lane->multi) (void)curl_multi_cleanup(lane->multi);
  lane->multi = NULL;
  lane->broken = false;
  while (lane->polls)
    poll_close(lane->polls);
}

enum rein_code lane_init(struct http_lane *lane, struct http *http, long host_max) {
  lane->http = http;
  lane->host_max = host_max;
  return loop_timer_new(http->loop, timer_fires, lane, &lane->timer);
}

void lane_release(struct http_lane *lane) {
  lane_drop_multi(lane);
  if (lane->spare) curl_easy_cleanup(lane->spare);
  lane->spare = NULL;
  loop_timer_free(lane->timer);
  lane->timer = NULL;
}
