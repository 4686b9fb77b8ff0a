/* One request of a pack's tool. It goes to the pack's own address, whatever the
 * arguments are; redirects are not followed, so neither does a secret go elsewhere.
 *
 * Sent again, at most twice: what was refused for its pace (429) or never reached the
 * service, for every request; what broke or met an error of the server, only
 * where the request reads or is declared idempotent. Of any other it is then not
 * known whether it was done, and the model is told so.
 */
#include "tools/declared_inside.h"

#include "base/mem.h"

#define TRIES_MAX 3
#define WAIT_MS 30000 /* for the status line */
#define WAIT_S_MAX 60 /* a service that wants more is not worth a thread */
#define HEADERS_MAX 48
#define HEADER_BYTES_MAX 8192

struct ask {
  struct rein_call *call;
  const struct declared_tool *ctx;
  const struct pack_request *request;
  struct fill_from from;
  struct buf url, body;
  struct buf headers[HEADERS_MAX];
  const char *lines[HEADERS_MAX + 1];
  size_t header_count;
  struct http_result result;
};

static bool cancelled(void *ctx) {
  return rein_call_cancelled(ctx);
}

static struct str tool_name(const struct ask *a) {
  return a->ctx->tool->name;
}

/* ---- the request ------------------------------------------------------------------------ */

static enum rein_code add_header(struct ask *a, struct str name, struct str text, struct err *err) {
  struct num_text room;
  if (a->header_count == HEADERS_MAX)
    return CALL_ERR(err, REIN_LIMIT, T_TOOLS_PACK_HEADERS, str_num(&room, HEADERS_MAX));
  struct buf *line = &a->headers[a->header_count];
  bool absent = false;
  buf_init(line, HEADER_BYTES_MAX);
  buf_put(line, name);
  buf_lit(line, ": ");
  a->from.field = name;
  a->header_count++;
  enum rein_code code = template_fill(line, text, FILL_HEADER, &a->from, &absent, err);
  if (!code && absent) a->header_count--;
  if (code || absent) buf_release(line);
  return code;
}

static bool has_header(const struct ask *a, struct str name) {
  struct str key, value;
  for (size_t i = 0; i < a->header_count; i++)
    if (str_split(buf_str(&a->headers[i]), ':', &key, &value) && str_eq_nocase(key, name))
      return true;
  return false;
}

static enum rein_code add_default(struct ask *a, struct str name, struct str text,
                                  struct err *err) {
  return has_header(a, name) ? REIN_OK : add_header(a, name, text, err);
}

static enum rein_code add_list(struct ask *a, const struct json *list, struct err *err) {
  enum rein_code code = REIN_OK;
  for (const struct json *h = list ? list->first : NULL; !code && h; h = h->next)
    code = add_default(a, h->key, json_text(h), err);
  return code;
}

/* The request's own beat the pack's. */
static enum rein_code add_headers(struct ask *a, struct err *err) {
  enum rein_code code = add_list(a, a->request->headers, err);
  if (!code) code = add_list(a, a->ctx->tool->pack->headers, err);
  if (!code) code = add_default(a, STR("accept"), STR("application/json"), err);
  if (!code) code = add_default(a, STR("user-agent"), STR("rein/" REIN_VERSION), err);
  if (!code && a->body.n) code = add_default(a, STR("content-type"), STR("application/json"), err);
  for (size_t i = 0; i < a->header_count; i++)
    a->lines[i] = buf_z(&a->headers[i]);
  return code;
}

/* A page's value in a query: a text without its quotes. */
static enum rein_code add_page(struct ask *a, const struct body_extra *extra, struct err *err) {
  struct json *value = NULL;
  enum rein_code code = json_parse(&a->call->arena, extra->value, JSON_STRICT, &value, err);
  if (!code) query_put(&a->url, extra->name, value->text.n ? value->text : value->source);
  return code;
}

static enum rein_code build(struct ask *a, const struct body_extra *extra, struct err *err) {
  bool in_body = a->request->body && !str_is(a->request->method, "GET");
  static const struct body_extra none;
  buf_put(&a->url, a->ctx->tool->pack->url);
  enum rein_code code =
      template_path(&a->url, a->request, in_body ? STR_NONE : extra->name, &a->from, err);
  if (!code && extra->name.n && !in_body) code = add_page(a, extra, err);
  a->from.field = STR("body");
  if (!code && a->request->body)
    code = template_body(&a->body, a->request->body, in_body ? extra : &none, &a->from, err);
  if (!code) code = add_headers(a, err);
  if (!code && a->url.fail) code = ERR(err, a->url.fail, T_PACK_LONG, STR("path"));
  return code;
}

/* ---- its answer --------------------------------------------------------------------------- */

static struct str header(const struct ask *a, const char *name) {
  struct str rest = buf_str(a->result.headers), line, key, value;
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &key, &value) && str_eq_nocase(str_trim(key), str_of(name)))
      return str_trim(value);
  return STR_NONE;
}

/* What the service says went wrong, by the pack's pointers; else what came. */
static struct str words(const struct ask *a, const struct answer *answer, struct str *code) {
  const struct pack *pack = a->ctx->tool->pack;
  *code = json_text(json_point(answer->doc, pack->error_code));
  struct str message = json_text(json_point(answer->doc, pack->error_message));
  return message.n && pack->error_message.n ? message : str_trim(buf_str(&answer->body));
}

static bool may_repeat(const struct ask *a) {
  return a->request->reads || a->ctx->tool->idempotent;
}

static enum rein_code fail_transport(const struct ask *a, struct err *err) {
  struct str why = str_of(a->result.why), host = a->ctx->tool->pack->url;
  struct num_text room;
  switch (a->result.end) {
  case HTTP_WHOLE: break;
  case HTTP_CONNECT: return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_CONNECT, tool_name(a), host, why);
  case HTTP_BIG:
    return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_BIG, tool_name(a),
                    str_num(&room, DECLARED_BODY_MAX));
  case HTTP_BROKEN:
  case HTTP_SLOW:
    return CALL_ERR(err, REIN_PEER, may_repeat(a) ? T_TOOLS_PACK_BROKEN : T_TOOLS_PACK_UNKNOWN,
                    tool_name(a), why.n ? why : STR("timeout"));
  }
  return REIN_OK;
}

static enum rein_code fail_key(const struct ask *a, struct str status, struct str said,
                               struct err *err) {
  const struct pack *pack = a->ctx->tool->pack;
  struct str name = pack->secret_count ? pack->secrets[0].name : STR("-");
  return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_KEY, tool_name(a), status, name, said);
}

static enum rein_code fail_status(const struct ask *a, const struct answer *answer,
                                  struct err *err) {
  struct num_text room;
  int status = a->result.status;
  struct str number = str_num(&room, status), code, said = words(a, answer, &code);
  if (status >= 300 && status < 400)
    return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_MOVED, tool_name(a), header(a, "location"));
  if (status == 401 || status == 403) return fail_key(a, number, said, err);
  if (status == 429)
    return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_RATE, tool_name(a), header(a, "retry-after"),
                    said);
  if (status >= 500 && !may_repeat(a))
    return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_UNKNOWN, tool_name(a), number);
  return code.n
             ? CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_STATUS_CODE, tool_name(a), number, code, said)
             : CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_STATUS, tool_name(a), number, said);
}

static bool is_good(const struct ask *a) {
  return a->result.end == HTTP_WHOLE && a->result.status >= 200 && a->result.status < 300;
}

/* ---- again? ---------------------------------------------------------------------------------- */

static bool worth_another(const struct ask *a) {
  int status = a->result.status;
  if (a->result.end == HTTP_CONNECT) return true;
  if (a->result.end == HTTP_BIG) return false;
  if (a->result.end != HTTP_WHOLE) return may_repeat(a);
  if (status == 429) return true;
  return may_repeat(a) && (status == 408 || status >= 500) && status != 501;
}

static int64_t wait_ms(const struct ask *a, int tries) {
  int64_t seconds = 0;
  if (str_to_num(header(a, "retry-after"), &seconds) && seconds >= 0) return seconds * 1000;
  if (a->result.status == 429) return a->ctx->tool->pack->wait_s * 1000;
  return (int64_t)500 << tries;
}

static void parse(struct ask *a, struct answer *answer) {
  struct err ignored = {0};
  struct json *doc = NULL;
  answer->doc = NULL;
  if (!json_parse(&a->call->arena, buf_str(&answer->body), JSON_STRICT, &doc, &ignored))
    answer->doc = doc;
}

static enum rein_code send_once(struct ask *a, struct answer *answer, struct err *err) {
  struct http_request request = {.method = a->request->method.p,
                                 .url = buf_z(&a->url),
                                 .headers = a->lines,
                                 .body = buf_str(&a->body),
                                 .headers_ms = WAIT_MS,
                                 .body_max = DECLARED_BODY_MAX};
  buf_reset(&answer->headers);
  buf_reset(&answer->body);
  a->result = (struct http_result){.headers = &answer->headers, .body = &answer->body};
  if (!pace_wait(a->ctx->pace, cancelled, a->call))
    return ERR(err, REIN_CANCELLED, T_TOOLS_CANCELLED, tool_name(a));
  const struct call_watch *watch = a->call->house->watch;
  if (watch) watch->sent(watch->ctx, &request);
  enum rein_code code =
      http_wait(a->call->house->http, &request, cancelled, a->call, &a->result, err);
  if (code == REIN_CANCELLED) return ERR(err, REIN_CANCELLED, T_TOOLS_CANCELLED, tool_name(a));
  if (!code && watch) watch->came(watch->ctx, &a->result);
  if (!code) parse(a, answer);
  return code;
}

static enum rein_code send(struct ask *a, struct answer *answer, struct err *err) {
  enum rein_code code = REIN_OK;
  for (int tries = 0; !code; tries++) {
    code = send_once(a, answer, err);
    if (code || is_good(a)) return code;
    int64_t wait = wait_ms(a, tries);
    if (tries + 1 == TRIES_MAX || !worth_another(a) || wait > WAIT_S_MAX * 1000) break;
    if (!pace_sleep(wait, cancelled, a->call))
      return ERR(err, REIN_CANCELLED, T_TOOLS_CANCELLED, tool_name(a));
  }
  return a->result.end == HTTP_WHOLE ? fail_status(a, answer, err) : fail_transport(a, err);
}

enum rein_code declared_ask(struct rein_call *call, const struct pack_request *request,
                            const struct body_extra *extra, struct answer *answer,
                            struct err *err) {
  const struct declared_tool *ctx = call->row->ctx;
  struct ask a = {.call = call,
                  .ctx = ctx,
                  .request = request,
                  .from = {.pack = ctx->tool->pack, .args = call->doc}};
  buf_init(&a.url, DECLARED_URL_MAX);
  buf_init(&a.body, DECLARED_REQUEST_MAX);
  enum rein_code code = build(&a, extra, err);
  if (!code) code = send(&a, answer, err);
  for (size_t i = 0; i < a.header_count; i++) {
    if (a.headers[i].p) mem_wipe(a.headers[i].p, a.headers[i].n);
    buf_release(&a.headers[i]);
  }
  buf_release(&a.body);
  buf_release(&a.url);
  return code;
}
