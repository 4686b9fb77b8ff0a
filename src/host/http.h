/* HTTP on the loop: libcurl's multi interface. One connection per host serves a
 * whole run. Nothing is followed, nothing retried, no file or environment is
 * read: proxies, CA folder and the rest come in as options.
 */
#pragma once

#include "base/buf.h"
#include "host/loop.h"

struct http;     /* a pool of connections on a loop */

struct http_options {
  const char *ca_dir;   /* hashed CA folder; NULL: the system's */
  const char *ca_file;  /* NULL none */
  const char *proxy;    /* explicit; NULL none */
  const char *no_proxy; /* hosts that go direct */
};

enum rein_code http_new(struct loop *loop, const struct http_options *options, struct http **http,
                        struct err *err) REIN_CHECKED;
void http_free(struct http *http); /* drops what is under way, without callbacks */

/* One request. Everything is copied. A header with a CR, LF or NUL in name or
 * value is refused. */
struct http_request {
  const char *method; /* "GET", "POST" */
  const char *url;    /* http or https */
  const char *const *headers; /* "name: value", NULL at the end */
  struct str body;
  int64_t connect_ms;  /* 0: 10 000 */
  int64_t headers_ms;  /* until the status line; 0: 600 000 */
  size_t body_max;     /* ceiling of the answer's bytes; 0: none */
};

enum http_end {
  HTTP_WHOLE,   /* the answer ended as its framing says */
  HTTP_CONNECT, /* no connection: name, connect, TLS */
  HTTP_BROKEN,  /* it broke before its end */
  HTTP_SLOW,    /* headers_ms or connect_ms passed */
  HTTP_BIG,     /* body_max passed */
};

/* Called on the loop's thread, in this order; after `end` never again. */
struct http_answer {
  void (*status)(void *ctx, int status);
  void (*header)(void *ctx, struct str name, struct str value);
  void (*bytes)(void *ctx, struct str bytes);
  void (*end)(void *ctx, enum http_end end, struct str why); /* why: curl's words; secrets never in */
  void *ctx;
};

struct http_call;
enum rein_code http_start(struct http *http, const struct http_request *request,
                          const struct http_answer *answer, struct http_call **call,
                          struct err *err) REIN_CHECKED;
/* Closes it without further callbacks. NULL is fine. */
void http_abort(struct http_call *call);

/* For tools, from a pool thread: the exchange runs on the loop, the caller
 * waits. `cancelled` is looked at every 50 ms. The body is collected. */
struct http_result {
  int status; /* 0: none came */
  struct buf *headers; /* "name: value\n" lines, lower-case names; caller's */
  struct buf *body;    /* caller's, with its ceiling */
  enum http_end end;
  char why[256];
};
enum rein_code http_wait(struct http *http, const struct http_request *request,
                         bool (*cancelled)(void *ctx), void *ctx, struct http_result *result,
                         struct err *err) REIN_CHECKED;
/* Header names and values that may be sent. */
bool http_header_ok(struct str line);
