/* What the tests of HTTP share: an exchange that writes down all it is told,
 * and may abort itself, or start another, at any of its callbacks.
 */
#pragma once

#include "support/test.h"

#include "host/http.h"
#include "text/text.h"

#include <stdlib.h>

enum at { AT_NEVER, AT_STATUS, AT_HEADER, AT_BYTES, AT_END };

struct seen {
  struct http *http;
  struct http_call *call;
  struct buf log; /* "200 name=value … | body | end" */
  int status;
  size_t pieces, ends;
  enum http_end end;
  enum at abort_at, next_at; /* abort `call`, or `other`'s; start `next` */
  struct seen *other, *next;
  const struct http_request *next_request;
};

static inline void seen_init(struct seen *s, struct http *http) {
  *s = (struct seen){.http = http};
  buf_init(&s->log, 64u << 20);
}

static inline enum rein_code seen_start(struct seen *s, const struct http_request *request,
                                        struct err *err);

static inline void seen_at(struct seen *s, enum at at) {
  if (s->next_at == at && s->next) {
    struct err err = {0};
    assert_int_equal(seen_start(s->next, s->next_request, &err), REIN_OK);
    s->next_at = AT_NEVER;
  }
  if (s->abort_at != at) return;
  struct seen *whose = s->other ? s->other : s;
  http_abort(whose->call);
  s->abort_at = AT_NEVER;
}

static inline void seen_status(void *ctx, int status) {
  struct seen *s = ctx;
  s->status = status;
  buf_num(&s->log, status);
  seen_at(s, AT_STATUS);
}

static inline void seen_header(void *ctx, struct str name, struct str value) {
  struct seen *s = ctx;
  buf_c(&s->log, ' ');
  buf_put(&s->log, name);
  buf_c(&s->log, '=');
  buf_put(&s->log, value);
  seen_at(s, AT_HEADER);
}

static inline void seen_bytes(void *ctx, struct str bytes) {
  struct seen *s = ctx;
  if (s->pieces++ == 0) buf_c(&s->log, '|');
  buf_put(&s->log, bytes);
  seen_at(s, AT_BYTES);
}

static inline void seen_end(void *ctx, enum http_end end, struct str why) {
  static const char *const words[] = {"whole", "connect", "broken", "slow", "big"};
  struct seen *s = ctx;
  s->ends++;
  s->end = end;
  buf_c(&s->log, '|');
  buf_put(&s->log, str_of(words[end]));
  if (why.n) buf_lit(&s->log, ": ");
  buf_put(&s->log, why);
  seen_at(s, AT_END);
}

static inline enum rein_code seen_start(struct seen *s, const struct http_request *request,
                                        struct err *err) {
  s->pieces = 0;
  struct http_answer answer = {seen_status, seen_header, seen_bytes, seen_end, s};
  return http_start(s->http, request, &answer, &s->call, err);
}

static inline bool seen_ends(const struct seen *s, const char *tail) {
  bool does = str_ends(buf_str(&s->log), str_of(tail));
  if (!does) print_error("log: %s\nwant its end: %s\n", buf_z(&s->log), tail);
  return does;
}

static inline bool seen_has(const struct seen *s, const char *part) {
  bool has = str_has(buf_str(&s->log), str_of(part));
  if (!has) print_error("log: %s\nwant in it: %s\n", buf_z(&s->log), part);
  return has;
}

static inline void err_text(const struct err *err, struct buf *out) {
  buf_reset(out);
  err_put(out, REIN_ENGLISH, err);
}
