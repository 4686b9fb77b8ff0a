/* HTTP's life: what is started, dropped and ended, and what must wait until curl
 * is off the stack. Sockets are http_lane.c's, one exchange http_call.c's.
 *
 * Inside a callback of curl no multi function may be called. So what a caller
 * starts or aborts there becomes a chore, done when curl has returned; callers'
 * `end` is only ever called with curl off the stack.
 */
#include "host/http_inside.h"

#include "base/mem.h"
#include "text/text.h"

/* HTTP/1 takes a connection per request under way: so many requests of a fleet
 * does one provider get at once. Below the usual 1,024 descriptors. */
#define HTTP1_CONNECTIONS_MAX 900L
/* HTTP/2 shares: curl puts 100 requests on a connection, or what the server
 * says, so this is 800 at once. But whenever all connections are full or still
 * in their handshake, curl opens one more for each request, up to this. */
#define HTTP2_CONNECTIONS_MAX 8L
#define WHY_MAX 256

/* ---- Chores and results --------------------------------------------------- */

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
  CURLMcode code = lane_add(call);
  if (code != CURLM_OK) http_call_end(call, HTTP_BROKEN, str_of(curl_multi_strerror(code)));
}

static void chores(struct http *http) {
  for (struct http_call *call; (call = next_chore(http));)
    do_chore(call);
}

/* A TLS server speaks HTTP/1: each request needs its connection there, and
 * those that wait for one under the low ceiling are started anew. */
static void widen(struct http *http) {
  struct http_lane *lane = &http->lanes[LANE_TLS];
  http->widen = false;
  lane_set_max(lane, HTTP1_CONNECTIONS_MAX);
  for (struct http_call *call = http->calls; call; call = call->next) {
    if (call->lane != lane || !call->added || call->begun) continue;
    (void)curl_multi_remove_handle(lane->multi, call->easy);
    call->added = false;
    if (call->chore != CHORE_NONE) continue;
    call->chore = CHORE_ADD;
    http->chores++;
  }
}

static void collect(struct http_lane *lane) {
  for (const CURLMsg *msg; (msg = lane_next(lane));) {
    struct http_call *call = NULL;
    (void)curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&call);
    if (msg->msg == CURLMSG_DONE && call) http_call_done(call, msg->data.result);
  }
}

static struct http_call *next_added(const struct http_lane *lane) {
  for (struct http_call *call = lane->http->calls; call; call = call->next)
    if (call->added && call->lane == lane) return call;
  return NULL;
}

/* A socket that could not be watched stops curl's multi handle for good: what
 * was under way is told so, and the next request gets a new one. What is
 * started meanwhile must not join the old one, so it becomes a chore. */
static void replace(struct http_lane *lane) {
  struct http *http = lane->http;
  struct buf why;
  buf_init(&why, WHY_MAX);
  TEXT_PUT(&why, REIN_ENGLISH, T_HOST_SOCKETS);
  http->inside = true;
  for (struct http_call *call; (call = next_added(lane));) {
    if (call->chore == CHORE_DROP)
      http_call_drop(call);
    else
      http_call_end(call, HTTP_BROKEN, buf_str(&why));
  }
  lane_drop_multi(lane);
  http->inside = false;
  buf_release(&why);
}

void http_settle(struct http *http) {
  if (http->widen) widen(http);
  chores(http);
  for (size_t i = 0; i < LANES; i++) {
    struct http_lane *lane = &http->lanes[i];
    collect(lane);
    if (!lane->broken) continue;
    replace(lane);
    chores(http);
  }
}

/* ---- Life ------------------------------------------------------------------ */

static void lanes_release(struct http *http) {
  for (size_t i = 0; i < LANES; i++)
    lane_release(&http->lanes[i]);
}

static void options_free(struct http *http) {
  mem_free(http->ca_dir);
  mem_free(http->ca_file);
  mem_free(http->no_proxy);
  mem_free(http->good_url);
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
  enum rein_code code = lane_init(&http->lanes[LANE_PLAIN], http, HTTP1_CONNECTIONS_MAX);
  if (code == REIN_OK) code = lane_init(&http->lanes[LANE_TLS], http, HTTP2_CONNECTIONS_MAX);
  return code;
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
  lanes_release(h);
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
  lanes_release(http);
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
  enum rein_code code = http_request_check(http, request, err);
  if (code != REIN_OK) return code;
  code = call_new(http, request, answer, call, err);
  if (code != REIN_OK) return code;
  if (http->inside) {
    (*call)->chore = CHORE_ADD;
    http->chores++;
    return REIN_OK;
  }
  CURLMcode added = lane_add(*call);
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
