/* The exchange. Redirects are told, not followed: the rule that let the call
 * through names a host, not where that host points. */
#include "tools/outside.h"

#include "base/utf8.h"
#include "tools/outside_body.h"
#include "tools/outside_url.h"
#include "tools/reach.h"

#define BODY_MAX (2u << 20) /* some 100 times what a model is shown of a result */
#define HEADERS_MAX (64u << 10)
#define ANSWER_MAX (CALL_RESULT_MAX + (64u << 10))
#define WAIT_MS 30000    /* for the status line; the row's limit holds for all of it */
#define ERROR_POINTS 200 /* longer errors are cut for the model (core/shape.h) */
#define IP_BYTES_MAX 64

struct exchange {
  struct rein_call *call;
  struct url_host host;
  struct buf url, headers, body, target;
  struct http_result result;
  /* the last address that was not let through */
  char refused[IP_BYTES_MAX];
  enum reach_says why;
  enum text_id kind;
};

static bool cancelled(void *ctx) {
  const struct exchange *x = ctx;
  return rein_call_cancelled(x->call);
}

/* ---- where it goes ----------------------------------------------------------- */

static enum reach_says judge(const struct exchange *x, struct str ip, struct str port,
                             enum text_id kind) {
  const struct url_host real = {ip, port};
  return reach_judge(x->call->house->reach, &x->host, &real, kind == T_NONE,
                     kind == T_HOST_AT_LOOPBACK);
}

/* On the loop's thread, while this one waits. */
static bool may(void *ctx, const struct http_place *place) {
  struct exchange *x = ctx;
  enum reach_says says = judge(x, place->ip, place->port, place->kind);
  if (says == REACH_YES) return true;
  struct str ip = str_part(place->ip, 0, IP_BYTES_MAX - 1);
  memcpy(x->refused, ip.p, ip.n);
  x->refused[ip.n] = '\0';
  x->why = says;
  x->kind = place->kind;
  return false;
}

static enum rein_code fail_place(const struct exchange *x, struct str ip, enum reach_says says,
                                 enum text_id kind, struct err *err) {
  if (says == REACH_FORBIDDEN)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_FORBIDDEN, x->host.name, ip);
  struct str words = str_of(text_raw(kind, call_lang(x->call)));
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_INSIDE, x->host.name, ip, words,
                  reach_lift(&x->host, ip, kind == T_HOST_AT_LOOPBACK));
}

/* A proxy looks names up itself: what it connects to is not seen from here. */
static enum rein_code check_proxy(const struct exchange *x, struct err *err) {
  enum text_id kind;
  if (!http_by_proxy(x->call->house->http, x->host.name)) return REIN_OK;
  if (http_literal(x->host.name, &kind)) {
    enum reach_says says = judge(x, x->host.name, x->host.port, kind);
    return says == REACH_YES ? REIN_OK : fail_place(x, x->host.name, says, kind, err);
  }
  if (reach_spells(x->call->house->reach, &x->host)) return REIN_OK;
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_PROXY, x->host.name);
}

/* ---- the exchange -------------------------------------------------------------- */

static enum rein_code fetch(struct exchange *x, const struct outside_request *r, struct err *err) {
  const char *const headers[] = {r->content_type, NULL};
  const struct http_guard guard = {may, x};
  struct http_request request = {.method = r->method,
                                 .url = buf_z(&x->url),
                                 .headers = headers,
                                 .body = r->body,
                                 .headers_ms = WAIT_MS,
                                 .body_max = BODY_MAX,
                                 .guard = &guard};
  x->result.headers = &x->headers;
  x->result.body = &x->body;
  enum rein_code code = http_wait(x->call->house->http, &request, cancelled, x, &x->result, err);
  if (rein_call_cancelled(x->call))
    return ERR(err, REIN_CANCELLED, T_TOOLS_CANCELLED, str_of(x->call->row->name));
  return code;
}

static struct str header(const struct exchange *x, const char *name) {
  struct str rest = buf_str(&x->headers), line, key, value;
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &key, &value) && str_is(key, name)) return str_trim(value);
  return STR_NONE;
}

/* A cut body is told, not an error. */
static enum rein_code check_end(const struct exchange *x, struct err *err) {
  struct str host = x->host.name, why = str_of(x->result.why);
  struct num_text room;
  if (x->refused[0] && x->result.status == 0)
    return fail_place(x, str_of(x->refused), x->why, x->kind, err);
  switch (x->result.end) {
  case HTTP_WHOLE:
  case HTTP_BIG: break;
  case HTTP_CONNECT: return CALL_ERR(err, REIN_PEER, T_TOOLS_HTTP_CONNECT, host, why);
  case HTTP_BROKEN: return CALL_ERR(err, REIN_PEER, T_TOOLS_HTTP_BROKEN, host, why);
  case HTTP_SLOW:
    return CALL_ERR(err, REIN_PEER, T_TOOLS_HTTP_SLOW, host, str_num(&room, WAIT_MS / 1000));
  }
  return REIN_OK;
}

/* ---- the answer ------------------------------------------------------------------ */

/* Where a redirect points, whole; empty: it is none. */
static enum rein_code read_target(struct exchange *x, struct err *err) {
  struct buf raw;
  struct str location = header(x, "location");
  if (x->result.status < 300 || x->result.status > 399 || !location.n) return REIN_OK;
  buf_init(&raw, HEADERS_MAX);
  buf_put(&raw, location);
  enum rein_code code = raw.fail;
  if (code == REIN_OK) code = http_url_join(buf_z(&x->url), buf_z(&raw), &x->target);
  if (code == REIN_INPUT) {
    buf_reset(&x->target);
    buf_put(&x->target, location);
    code = x->target.fail;
  }
  buf_release(&raw);
  return code == REIN_OK ? REIN_OK : ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
}

/* An error, since nothing was fetched; but an error is cut to 200 characters, and
 * the address is of no use without its end: then it is a result. */
static int give_redirect(struct exchange *x, struct buf *out) {
  struct num_text room;
  struct buf shown;
  buf_init(&shown, 4 * HEADERS_MAX);
  utf8_show(&shown, buf_str(&x->target), false);
  TEXT_PUT(out, call_lang(x->call), T_TOOLS_HTTP_REDIRECT, str_num(&room, x->result.status),
           buf_str(&shown));
  if (shown.fail) out->fail = shown.fail;
  buf_release(&shown);
  if (out->fail || utf8_count(buf_str(out)) > ERROR_POINTS) return call_give(x->call, out);
  return rein_call_error(x->call, out->p, out->n);
}

static int give_answer(struct exchange *x, struct buf *out) {
  struct num_text a, b;
  struct str type = header(x, "content-type");
  struct outside_body body = {type, buf_str(&x->body), x->result.end == HTTP_BIG};
  struct str status = str_num(&a, x->result.status), size = str_num(&b, (int64_t)body.bytes.n);
  if (x->target.n) return give_redirect(x, out);
  if (!body.bytes.n) {
    CALL_NOTE(out, x->call, T_TOOLS_HTTP_EMPTY, status);
    return call_give(x->call, out);
  }
  if (type.n)
    CALL_NOTE(out, x->call, T_TOOLS_HTTP_HEAD, status, type, size);
  else
    CALL_NOTE(out, x->call, T_TOOLS_HTTP_HEAD_UNTYPED, status, size);
  buf_c(out, '\n');
  if (body.cut) {
    CALL_NOTE(out, x->call, T_TOOLS_HTTP_CUT, size);
    buf_c(out, '\n');
  }
  enum rein_code code = outside_body(x->call, &body, out);
  if (code == REIN_OK || code == REIN_MEMORY) return code ? (int)code : call_give(x->call, out);
  return CALL_FAIL(x->call, REIN_SYSTEM, T_TOOLS_HTTP_UNREADABLE, type);
}

/* ---- the call ---------------------------------------------------------------------- */

static enum rein_code ask(struct exchange *x, const struct outside_request *request,
                          struct err *err) {
  struct rein_call *call = x->call;
  if (!call->house->http) return ERR(err, REIN_INPUT, T_TOOLS_NO_HTTP, str_of(call->row->name));
  enum rein_code code = outside_url(&call->arena, call_text(call, "url"), &x->url, &x->host, err);
  if (code == REIN_OK) code = check_proxy(x, err);
  if (code == REIN_OK) code = fetch(x, request, err);
  if (code == REIN_OK) code = check_end(x, err);
  return code == REIN_OK ? read_target(x, err) : code;
}

int outside_run(struct rein_call *call, const struct outside_request *request) {
  struct err err = {0};
  struct exchange x = {.call = call};
  struct buf out;
  buf_init(&out, ANSWER_MAX);
  buf_init(&x.url, 4 * URL_BYTES_MAX);
  buf_init(&x.headers, HEADERS_MAX);
  buf_init(&x.body, BODY_MAX);
  buf_init(&x.target, 4 * HEADERS_MAX);
  int answer = ask(&x, request, &err) ? call_fail(call, &err) : give_answer(&x, &out);
  buf_release(&x.target);
  buf_release(&x.body);
  buf_release(&x.headers);
  buf_release(&x.url);
  buf_release(&out);
  return answer;
}
