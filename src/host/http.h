/* HTTP on the loop: libcurl's multi interface. One connection per host serves a
 * whole run. Nothing is followed, no file is read but the CA's, no environment:
 * proxies, CA folder and the rest come in as options.
 *
 * Nothing is sent twice behind the caller's back. curl itself sends a request
 * again when a kept-alive connection turns out to be dead before any answer; it
 * may do so here as long as no byte of a body has left (so a GET, too). Once a
 * body began to leave, the exchange ends as HTTP_BROKEN: the server may have
 * worked on it, and whether to pay for it twice is the caller's decision.
 *
 *   http_new(loop, &(struct http_options){.proxy = proxy}, &http, &err);
 *   http_start(http, &request, &answer, &call, &err);   // then loop_run
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "host/loop.h"
#include "text/text.h"

struct http; /* a pool of connections on a loop */

/* Strings are copied. */
struct http_options {
  const char *ca_dir;   /* hashed CA folder; NULL: the system's, unless ca_file is given */
  const char *ca_file;  /* CAs that are trusted, alone or beside ca_dir's; NULL none */
  const char *proxy;    /* explicit; NULL none */
  const char *no_proxy; /* hosts that go direct, comma separated; NULL none */
};

enum rein_code http_new(struct loop *loop, const struct http_options *options, struct http **http,
                        struct err *err) REIN_CHECKED;
/* Drops what is under way, without callbacks; whoever waits in http_wait gets
 * REIN_CANCELLED. Not from a callback of its own. NULL is fine. */
void http_free(struct http *http);

/* An address that a request is about to go to: as in a URL (IPv6 in brackets), and
 * what kind it is (T_NONE: of the public internet; address.h). */
struct http_place {
  struct str ip, port;
  enum text_id kind;
};
/* Asked before a socket is opened, and before the request is sent. A guarded
 * exchange has a connection of its own. Through a proxy nobody is asked: that
 * one looks the name up, see http_by_proxy. */
struct http_guard {
  bool (*may)(void *ctx, const struct http_place *place);
  void *ctx;
};

/* One request. Everything is copied. Refused with REIN_INPUT: a URL that is not
 * http or https, a method that is no word, a header that http_header_ok does
 * not take or that HTTP itself writes (Host, Content-Length, Connection, …). */
struct http_request {
  const char *method;         /* "GET", "POST" */
  const char *url;            /* http or https */
  const char *const *headers; /* "name: value", NULL at the end */
  struct str body;
  int64_t connect_ms; /* 0: 10 000 */
  int64_t headers_ms; /* until the status line; 0: 600 000 */
  size_t body_max;    /* ceiling of the answer's bytes; 0: none */
  /* NULL: anywhere. What it points to must live until `end`; in http_wait it is
   * asked while the caller waits, and never later. */
  const struct http_guard *guard;
};

enum http_end {
  HTTP_WHOLE,   /* the answer ended as its framing says; without one, with the connection */
  HTTP_CONNECT, /* no connection: name, connect, TLS */
  HTTP_BROKEN,  /* it broke before its end */
  HTTP_SLOW,    /* headers_ms passed before the status line */
  HTTP_BIG,     /* body_max passed */
};

/* Called on the loop's thread, in this order, none may be NULL; after `end`
 * never again. From each of them requests may be started and aborted, their own
 * too. Header names come in lower case; those of interim (1xx) answers and
 * trailers do not come. A body is not decoded (none is asked for encoded).
 * `why`: curl's words in English, controls made visible, never a header that
 * was sent; empty for HTTP_WHOLE. */
struct http_answer {
  void (*status)(void *ctx, int status);
  void (*header)(void *ctx, struct str name, struct str value);
  void (*bytes)(void *ctx, struct str bytes);
  void (*end)(void *ctx, enum http_end end, struct str why);
  void *ctx;
};

/* On REIN_OK callbacks follow, from the loop, never from in here; *call is good
 * until `end` or http_abort. */
struct http_call;
enum rein_code http_start(struct http *http, const struct http_request *request,
                          const struct http_answer *answer, struct http_call **call,
                          struct err *err) REIN_CHECKED;
/* Closes it without further callbacks. NULL is fine. */
void http_abort(struct http_call *call);

/* For tools, from a pool thread: the exchange runs on the loop, the caller
 * waits. `cancelled` (may be NULL) is looked at every 50 ms, on this thread.
 * The body is collected, up to its buffer's ceiling: more is HTTP_BIG.
 * REIN_OK: the exchange ended as `end` says, a refused connection too. Else
 * REIN_INPUT, REIN_MEMORY, REIN_LIMIT (headers' ceiling), or REIN_CANCELLED: by
 * `cancelled`, or because the http was freed. */
struct http_result {
  int status;          /* 0: none came */
  struct buf *headers; /* "name: value\n" lines, lower-case names; caller's */
  struct buf *body;    /* caller's, with its ceiling */
  enum http_end end;
  char why[256];
};
enum rein_code http_wait(struct http *http, const struct http_request *request,
                         bool (*cancelled)(void *ctx), void *ctx, struct http_result *result,
                         struct err *err) REIN_CHECKED;
/* Header lines that may be sent: a token, a colon, and a value of visible ASCII,
 * blanks and tabs. Bytes over 127 are no header text: names of files, and keys
 * typed with the wrong keyboard, must not get there. */
bool http_header_ok(struct str line);

/* -- an address as curl reads it; a name is not looked up -- */

/* Appends the host, numbers in their plain form (0x7f.1 is 127.0.0.1), IPv6 in
 * brackets. REIN_INPUT: no address. */
enum rein_code http_url_host(const char *url, struct buf *host) REIN_CHECKED;
/* Appends `location` (of a redirect) as it stands against `base`. */
enum rein_code http_url_join(const char *base, const char *location, struct buf *url) REIN_CHECKED;
/* Whether the host is an address already; its kind as in struct http_place. */
bool http_literal(struct str host, enum text_id *kind);
/* Whether a guarded request to this host goes through the proxy. From any thread. */
bool http_by_proxy(const struct http *http, struct str host);
