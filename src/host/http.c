/* Curl's multi handle on the loop: sockets, its timer, and what must wait until
 * curl is off the stack. One exchange is http_call.c's.
 *
 * Inside a callback of curl no multi function may be called. So what a caller
 * starts or aborts there becomes a chore, done when curl has returned; callers'
 * `end` is only ever called with curl off the stack.
 */
#include "host/http_inside.h"

#include "base/mem.h"
#include "text/text.h"

/* HTTP/1 takes a connection per request under way, so this is how many requests
 * of a fleet one provider gets at once; it keeps below the usual 1,024
 * descriptors. HTTP/2 shares: PIPEWAIT (http_setup.c) makes requests wait for
 * the first connection's handshake instead of opening their own. */
#define HOST_CONNECTIONS_MAX 900L
#define WHY_MAX 256
#define IDLE_CONNECTIONS_MAX 256L /* a fleet's connections between two requests */

static void poll_closed(uv_handle_t *uv) {
  mem_free(uv->data);
}

static void poll_close(struct http_poll *poll) {
  if (poll->prev)
    poll->prev->next = poll->next;
  else
    poll->http->polls = poll->next;
  if (poll->next) poll->next->prev = poll->prev;
  uv_close((uv_handle_t *)&poll->uv, poll_closed);
}

static struct http_poll *poll_new(struct http *http, curl_socket_t fd) {
  struct http_poll *poll = mem_zero(sizeof *poll);
  if (!poll) return NULL;
  if (uv_poll_init_socket(loop_uv(http->loop), &poll->uv, fd) != 0) {
    mem_free(poll);
    return NULL;
  }
  poll->uv.data = poll;
  poll->http = http;
  poll->fd = fd;
  poll->next = http->polls;
  if (poll->next) poll->next->prev = poll;
  http->polls = poll;
  return poll;
}

/* ---- Chores and results --------------------------------------------------- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *slot);
static int on_timer(CURLM *multi, long wait_ms, void *ctx);

static enum rein_code multi_need(struct http *http) {
  if (http->multi) return REIN_OK;
  CURLM *multi = curl_multi_init();
  if (!multi) return REIN_MEMORY;
  (void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
  (void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, http);
  (void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
  (void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, http);
  (void)curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, HOST_CONNECTIONS_MAX);
  (void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS_MAX);
  http->multi = multi;
  return REIN_OK;
}

static void multi_free(struct http *http) {
  if (http->multi) (void)curl_multi_cleanup(http->multi);
  http->multi = NULL;
  while (http->polls)
    poll_close(http->polls);
}

static struct http_call *next_chore(struct http *http) {
  if (http->chores == 0) return NULL;
  for (struct http_call *call = http->calls; call; call = call->next)
    if (call->chore != CHORE_NONE) return call;
  return NULL;
}

static void do_chore(struct http_call *call) {
  enum http_chore chore = call->chore;
  call->chore = CHORE_NONE;
  call->http->chores--;
  if (chore == CHORE_DROP) {
    http_call_drop(call);
    return;
  }
  CURLMcode code = CURLM_OUT_OF_MEMORY;
  if (multi_need(call->http) == REIN_OK)
    code = curl_multi_add_handle(call->http->multi, call->easy);
  if (code == CURLM_OK)
    call->added = true;
  else
    http_call_end(call, HTTP_BROKEN, str_of(curl_multi_strerror(code)));
}

static struct http_call *next_added(struct http *http) {
  for (struct http_call *call = http->calls; call; call = call->next)
    if (call->added) return call;
  return NULL;
}

static void collect(struct http *http) {
  int left;
  for (const CURLMsg *msg; http->multi && (msg = curl_multi_info_read(http->multi, &left));) {
    struct http_call *call = NULL;
    (void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&call);
    if (msg->msg == CURLMSG_DONE && call) http_call_done(call, msg->data.result);
  }
}

/* A socket that could not be watched stops curl's multi handle for good: what
 * was under way is told so, and the next request gets a new one. What is
 * started meanwhile must not join the old one, so it becomes a chore. */
static void replace(struct http *http) {
  struct buf why;
  buf_init(&why, WHY_MAX);
  TEXT_PUT(&why, REIN_ENGLISH, T_HOST_SOCKETS);
  http->broken = false;
  http->inside = true;
  for (struct http_call *call; (call = next_added(http));) {
    if (call->chore == CHORE_DROP)
      http_call_drop(call);
    else
      http_call_end(call, HTTP_BROKEN, buf_str(&why));
  }
  multi_free(http);
  http->inside = false;
  buf_release(&why);
}

static void chores(struct http *http) {
  for (struct http_call *call; (call = next_chore(http));)
    do_chore(call);
}

static void settle(struct http *http) {
  chores(http);
  collect(http);
  if (!http->broken) return;
  replace(http);
  chores(http);
}

static void drive(struct http *http, curl_socket_t fd, int events) {
  if (!http->multi) return;
  int running;
  http->inside = true;
  CURLMcode code = curl_multi_socket_action(http->multi, fd, events, &running);
  http->inside = false;
  if (code != CURLM_OK) http->broken = true;
  settle(http);
}

static void timer_fires(void *ctx) {
  drive(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long wait_ms, void *ctx) {
  struct http *http = ctx;
  (void)multi;
  loop_timer_set(http->timer, wait_ms < 0 ? INT64_MAX : loop_now(http->loop) + wait_ms);
  return 0;
}

static void poll_fires(uv_poll_t *uv, int status, int events) {
  struct http_poll *poll = uv->data;
  /* An error: curl reads or writes, and so learns which (told that there is one,
   * it would only say that polling failed). */
  if (status < 0) events = poll->events;
  drive(poll->http, poll->fd,
        (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
            (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0));
  /* libuv stops watching after an error, curl does not know: go on if it does. */
  bool open = !uv_is_closing((uv_handle_t *)uv);
  if (status < 0 && open) (void)uv_poll_start(uv, poll->events, poll_fires);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *slot) {
  struct http *http = ctx;
  struct http_poll *poll = slot;
  (void)easy;
  if (what == CURL_POLL_REMOVE) {
    if (poll) poll_close(poll);
    return 0;
  }
  if (!poll) poll = poll_new(http, fd);
  if (!poll) return -1;
  (void)curl_multi_assign(http->multi, fd, poll);
  poll->events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
  return uv_poll_start(&poll->uv, poll->events, poll_fires) == 0 ? 0 : -1;
}

/* ---- Life ------------------------------------------------------------------ */

static void options_free(struct http *http) {
  mem_free(http->ca_dir);
  mem_free(http->ca_file);
  mem_free(http->no_proxy);
  if (http->proxy) mem_wipe(http->proxy, strlen(http->proxy)); /* may hold a password */
  mem_free(http->proxy);
}

static bool copy(char **to, const char *from) {
  if (!from) return true;
  size_t n = strlen(from) + 1;
  *to = mem_resize(NULL, n);
  if (*to) memcpy(*to, from, n);
  return *to != NULL;
}

static void shell_free(struct loop_kept *kept) {
  struct http *http = (struct http *)kept;
  (void)pthread_mutex_destroy(&http->lock);
  mem_free(http);
}

static enum rein_code http_init(struct http *http, const struct http_options *o) {
  bool copied = copy(&http->ca_dir, o->ca_dir) && copy(&http->ca_file, o->ca_file) &&
                copy(&http->proxy, o->proxy) && copy(&http->no_proxy, o->no_proxy);
  if (!copied) return REIN_MEMORY;
  return loop_timer_new(http->loop, timer_fires, http, &http->timer);
}

enum rein_code http_new(struct loop *loop, const struct http_options *options, struct http **http,
                        struct err *err) {
  struct http *h = mem_zero(sizeof *h);
  if (!h) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  if (pthread_mutex_init(&h->lock, NULL) != 0) {
    mem_free(h);
    return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  }
  h->loop = loop;
  h->kept.release = shell_free;
  /* Counted by curl itself and, since 7.84, safe from any thread: no global of
   * ours is needed to call it once. */
  CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (code == CURLE_OK && http_init(h, options) == REIN_OK) {
    loop_keep(loop, &h->kept);
    *http = h;
    return REIN_OK;
  }
  loop_timer_free(h->timer);
  options_free(h);
  shell_free(&h->kept);
  if (code != CURLE_OK) return ERR(err, REIN_SYSTEM, T_HOST_CURL, str_of(curl_easy_strerror(code)));
  curl_global_cleanup();
  return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
}

void http_free(struct http *http) {
  if (!http) return;
  http_waits_close(http);
  while (http->calls)
    http_call_drop(http->calls);
  multi_free(http);
  loop_timer_free(http->timer);
  http->timer = NULL;
  options_free(http);
  curl_global_cleanup();
}

static enum rein_code call_new(struct http *http, const struct http_request *request,
                               const struct http_answer *answer, struct http_call **call,
                               struct err *err) {
  struct http_call *c = mem_zero(sizeof *c);
  if (!c) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  c->http = http;
  c->answer = *answer;
  c->body_max = request->body_max ? request->body_max : SIZE_MAX;
  enum rein_code code = http_setup(c, request, err);
  if (code != REIN_OK) {
    http_call_free(c);
    return code;
  }
  c->next = http->calls;
  if (c->next) c->next->prev = c;
  http->calls = c;
  *call = c;
  return REIN_OK;
}

enum rein_code http_start(struct http *http, const struct http_request *request,
                          const struct http_answer *answer, struct http_call **call,
                          struct err *err) {
  enum rein_code code = http_request_check(request, err);
  if (code != REIN_OK) return code;
  if (multi_need(http) != REIN_OK) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  code = call_new(http, request, answer, call, err);
  if (code != REIN_OK) return code;
  if (http->inside) {
    (*call)->chore = CHORE_ADD;
    http->chores++;
    return REIN_OK;
  }
  CURLMcode added = curl_multi_add_handle(http->multi, (*call)->easy);
  (*call)->added = added == CURLM_OK;
  if (added == CURLM_OK) return REIN_OK;
  http_call_drop(*call);
  *call = NULL;
  return ERR(err, REIN_SYSTEM, T_HOST_CURL, str_of(curl_multi_strerror(added)));
}

void http_abort(struct http_call *call) {
  if (!call || call->ending) return;
  struct http *http = call->http;
  if (!http->inside) {
    http_call_drop(call);
    return;
  }
  if (call->chore == CHORE_NONE) http->chores++;
  call->chore = CHORE_DROP;
}
