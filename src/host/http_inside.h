/* The inside of HTTP: http_lane.c drives curl's multi handles on the loop's
 * sockets, http.c says when, http_call.c is one exchange, http_setup.c how a
 * request is to be made, http_guard.c where it may go, http_wait.c serves pool
 * threads.
 */
#pragma once

#include "host/http.h"
#include "host/loop_inside.h"

#include <curl/curl.h>

#define HTTP_CONNECT_MS 10000
#define HTTP_HEADERS_MS 600000 /* a local server may read the prompt for minutes first */

enum http_lane_kind { LANE_PLAIN, LANE_TLS, LANES };

/* One multi handle of curl. Two of them, since its ceiling of connections to a
 * host must be high where each request takes one, and low where they share. */
struct http_lane {
  struct http *http;
  CURLM *multi; /* NULL until it is needed */
  CURL *spare;  /* carried a POST to its end and is set for the next; NULL none */
  struct loop_timer *timer;
  struct http_poll *polls;
  long host_max; /* connections to one host */
  bool broken;   /* the multi handle lost a socket and must go */
};

/* Watches a socket. A connection's lives as long as its socket, watched on while
 * it is idle, since beginning to watch takes more calls than a request's rest;
 * of other sockets curl does not say when they close, only when to look away. */
struct http_poll {
  uv_poll_t uv;
  struct http_lane *lane;
  curl_socket_t fd;
  int wanted;      /* by curl: UV_READABLE, UV_WRITABLE; 0: idle */
  int watched;     /* on the loop */
  bool connection; /* goes with its socket */
  struct http_poll *next, *prev;
};

enum http_chore {
  CHORE_NONE,
  CHORE_ADD,  /* started while curl was on the stack */
  CHORE_DROP, /* aborted while curl was on the stack */
};

enum http_head { /* of the answer */
                 HEAD_AWAITED,
                 HEAD_INTERIM, /* a 1xx answer's lines */
                 HEAD_FINAL,
                 HEAD_DONE,
};

struct http_sent { /* owned copies of what goes out */
  struct curl_slist *headers;
  char *body;
  size_t body_n;
};

struct http_call {
  struct http *http;
  struct http_lane *lane;
  struct http_call *next, *prev;
  CURL *easy;
  bool spares;             /* easy may become its lane's spare */
  struct loop_timer *slow; /* headers_ms */
  struct http_sent sent;
  struct http_answer answer;
  enum http_head head;
  enum http_chore chore;
  bool added, ending, big;
  struct http_guard guard; /* may NULL: none */
  bool proxied;            /* of a guarded one */
  bool begun;              /* has a connection and sends on it */
  bool stale;              /* lost it, and is not sent again */
  size_t body_max, body_n;
  struct buf name; /* of the header at hand, lower-case */
  char words[CURL_ERROR_SIZE];
};

struct http_wait;

struct http {
  struct loop_kept kept; /* pool threads may hold it until they end */
  struct loop *loop;
  struct http_lane lanes[LANES];
  struct http_call *calls;
  char *ca_dir, *ca_file, *proxy, *no_proxy; /* NULL none */
  char *good_url; /* the last that could be read: a run asks one again and again */
  size_t chores;
  bool inside;          /* curl is on the stack: no multi function may be called */
  bool widen;           /* a TLS server turned out not to share connections */
  pthread_mutex_t lock; /* guards what is below, for http_wait.c */
  struct http_wait *waits;
  bool closed;
};

/* http_lane.c */
enum rein_code lane_init(struct http_lane *lane, struct http *http, long host_max);
void lane_release(struct http_lane *lane);
void lane_set_max(struct http_lane *lane, long host_max);
CURLMcode lane_add(struct http_call *call);
/* curl opened a socket, and is about to close one; for every easy handle. */
int lane_on_open(void *lane, curl_socket_t fd, curlsocktype what);
int lane_on_close(void *lane, curl_socket_t fd);
const CURLMsg *lane_next(struct http_lane *lane); /* a result; NULL none */
void lane_drop_multi(struct http_lane *lane);     /* made anew when it is needed */

/* http.c: what waited until curl was off the stack. */
void http_settle(struct http *http);

/* http_setup.c: checks the request; copies it into `sent` and the easy handle. */
enum rein_code http_request_check(struct http *http, const struct http_request *request,
                                  struct err *err);
enum rein_code http_setup(struct http_call *call, const struct http_request *request,
                          struct err *err);

/* http_call.c */
void http_call_free(struct http_call *call); /* unlinked and not in the multi */
/* Takes it out of everything, tells `end`, frees it. */
void http_call_end(struct http_call *call, enum http_end end, struct str why);
/* curl is done with it. */
void http_call_done(struct http_call *call, CURLcode code);
/* Takes it out of everything, frees it. */
void http_call_drop(struct http_call *call);
size_t http_on_header(char *line, size_t size, size_t n, void *ctx);
size_t http_on_bytes(char *bytes, size_t size, size_t n, void *ctx);
int http_on_begin(void *ctx, char *ip, char *own_ip, int port, int own_port);

/* http_guard.c: the socket, unless the guard refuses it; then whether the request
 * may go where it is connected. */
curl_socket_t http_on_socket(void *call, curlsocktype what, struct curl_sockaddr *address);
bool http_guarded_ok(const struct http_call *call, const char *ip, int port);

/* http_wait.c: ends all waiting. */
void http_waits_close(struct http *http);
