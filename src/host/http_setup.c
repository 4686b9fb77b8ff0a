/* How a request is made: what is refused, and every option of curl that makes
 * an exchange plain, explicit and private. The exchange itself is http_call.c's.
 */
#include "host/http_inside.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/text.h"

#include <ctype.h>
#include <dirent.h>

#define HEADER_BYTES_MAX 65536 /* of one line; servers take 8 to 16 KiB of all */
#define METHOD_BYTES_MAX 16
#define NAME_BYTES_MAX (100 * 1024) /* of an answer's header: curl's own ceiling of a line */
#define SHOWN_BYTES_MAX 512

static bool token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool token_ok(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!token_char(s.p[i])) return false;
  return s.n > 0;
}

bool http_header_ok(struct str line) {
  struct str name, value;
  if (line.n > HEADER_BYTES_MAX || !str_split(line, ':', &name, &value) || !token_ok(name))
    return false;
  for (size_t i = 0; i < value.n; i++)
    if (value.p[i] != '\t' && (value.p[i] < ' ' || value.p[i] > '~')) return false;
  return true;
}

/* Written by HTTP itself: a second one could end or split the request early. */
static bool header_reserved(struct str name) {
  static const char *const reserved[] = {
      "host",    "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te",
      "trailer", "expect",         "accept-encoding"};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (str_eq_nocase(name, str_of(reserved[i]))) return true;
  return false;
}

/* Names the header without its value, which may be a key. */
static enum rein_code header_bad(struct str line, enum text_id text, struct err *err) {
  struct buf shown;
  buf_init(&shown, SHOWN_BYTES_MAX);
  struct str name = str_part(line, 0, str_find_char(line, ':'));
  utf8_show(&shown, name.n < line.n ? str_part(name, 0, 80) : STR("(no colon)"), false);
  enum rein_code code = ERR(err, REIN_INPUT, text, buf_str(&shown));
  buf_release(&shown);
  return code;
}

static bool url_reads(const char *url) {
  bool ok = false;
  char *scheme = NULL, *host = NULL;
  CURLU *parts = curl_url();
  if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
      curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
      curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK)
    ok = (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && host[0];
  curl_free(scheme);
  curl_free(host);
  curl_url_cleanup(parts);
  return ok;
}

/* Shown without what may be secret: a password before '@', keys after '?'. */
static enum rein_code url_bad(const char *url, struct err *err) {
  struct str plain = str_part(str_of(url), 0, strcspn(url, "?#")), secret;
  struct str scheme = str_part(plain, 0, str_find(plain, STR("//")));
  if (!str_split_last(plain, '@', &secret, &plain) || scheme.n > secret.n) scheme = STR_NONE;
  struct buf shown;
  buf_init(&shown, SHOWN_BYTES_MAX);
  utf8_show(&shown, str_part(scheme, 0, 20), false);
  if (scheme.n) buf_lit(&shown, "//");
  utf8_show(&shown, str_part(plain, 0, 200), false);
  enum rein_code code = ERR(err, REIN_INPUT, T_HOST_URL, buf_str(&shown));
  buf_release(&shown);
  return code;
}

/* Without memory to remember it, it is read anew. */
static bool url_ok(struct http *http, const char *url) {
  if (http->good_url && strcmp(http->good_url, url) == 0) return true;
  if (!url_reads(url)) return false;
  size_t n = strlen(url) + 1;
  char *good = mem_resize(http->good_url, n);
  if (good) http->good_url = memcpy(good, url, n);
  return true;
}

enum rein_code http_request_check(struct http *http, const struct http_request *request,
                                  struct err *err) {
  struct str method = str_of(request->method);
  if (!token_ok(method) || method.n > METHOD_BYTES_MAX) return ERR(err, REIN_INPUT, T_HOST_METHOD);
  for (const char *const *h = request->headers; h && *h; h++) {
    struct str line = str_of(*h);
    if (!http_header_ok(line)) return header_bad(line, T_HOST_HEADER, err);
    if (header_reserved(str_part(line, 0, str_find_char(line, ':'))))
      return header_bad(line, T_HOST_HEADER_OWN, err);
  }
  return url_ok(http, request->url) ? REIN_OK : url_bad(request->url, err);
}

/* ---- Copies ------------------------------------------------------------------ */

static bool line_add(struct http_sent *sent, const char *line) {
  struct curl_slist *longer = curl_slist_append(sent->headers, line);
  if (longer) sent->headers = longer;
  return longer != NULL;
}

/* "name:" asks curl to leave a header out; an empty one is written "name;". */
static bool header_add(struct http_sent *sent, const char *line) {
  struct str name, value;
  if (!str_split(str_of(line), ':', &name, &value)) return false;
  if (!str_blank(value)) return line_add(sent, line);
  char *empty = mem_zero(name.n + 2);
  if (!empty) return false;
  memcpy(empty, name.p, name.n);
  empty[name.n] = ';';
  bool added = line_add(sent, empty);
  mem_free(empty);
  return added;
}

static bool headers_copy(struct http_sent *sent, const struct http_request *request) {
  bool typed = false;
  for (const char *const *h = request->headers; h && *h; h++) {
    typed = typed || str_eq_nocase(str_part(str_of(*h), 0, 13), STR("content-type:"));
    if (!header_add(sent, *h)) return false;
  }
  /* No waiting for "100 Continue", no form type that nobody asked for. */
  return line_add(sent, "Expect:") && (typed || line_add(sent, "Content-Type:"));
}

static bool body_copy(struct http_sent *sent, struct str body) {
  if (body.n == 0) return true;
  sent->body = mem_resize(NULL, body.n);
  if (!sent->body) return false;
  memcpy(sent->body, body.p, body.n);
  sent->body_n = body.n;
  return true;
}

/* ---- Options ------------------------------------------------------------------ */

/* Each option is set; the first refusal is remembered in `bad`. */
#define SET(easy, option, value)                                                                   \
  do {                                                                                             \
    CURLcode set_code = curl_easy_setopt((easy), (option), (value));                               \
    if (bad == CURLE_OK) bad = set_code;                                                           \
  } while (0)

static CURLcode set_method(CURL *easy, const struct http_request *request,
                           const struct http_sent *sent) {
  CURLcode bad = CURLE_OK;
  struct str method = str_of(request->method);
  if (str_is(method, "HEAD")) {
    SET(easy, CURLOPT_NOBODY, 1L);
    return bad;
  }
  if (str_is(method, "GET") && request->body.n == 0) {
    SET(easy, CURLOPT_HTTPGET, 1L);
    return bad;
  }
  SET(easy, CURLOPT_POST, 1L);
  if (!str_is(method, "POST")) SET(easy, CURLOPT_CUSTOMREQUEST, request->method);
  /* Not through a reader: so headers and a short body leave in one piece. */
  SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sent->body_n);
  SET(easy, CURLOPT_POSTFIELDS, sent->body ? sent->body : "");
  return bad;
}

static CURLcode set_connection(CURL *easy, const struct http *http) {
  CURLcode bad = CURLE_OK;
  SET(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  SET(easy, CURLOPT_FOLLOWLOCATION, 0L);
  /* Set even when there is none: unset, curl asks the environment. */
  SET(easy, CURLOPT_PROXY, http->proxy ? http->proxy : "");
  SET(easy, CURLOPT_NOPROXY, http->no_proxy ? http->no_proxy : "");
  SET(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  SET(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
  SET(easy, CURLOPT_NOSIGNAL, 1L);
  /* Dropping a request must not wait for a name server. */
  SET(easy, CURLOPT_QUICK_EXIT, 1L);
  SET(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  SET(easy, CURLOPT_TCP_KEEPIDLE, 60L);
  SET(easy, CURLOPT_TCP_KEEPINTVL, 30L);
  SET(easy, CURLOPT_USERAGENT, "rein/" REIN_VERSION);
  return bad;
}

/* Entries of a hashed CA folder are named like "2e5ac55d.0". */
static bool folder_hashed(const char *path) {
  bool hashed = false;
  DIR *dir = path ? opendir(path) : NULL;
  for (const struct dirent *entry; dir && !hashed && (entry = readdir(dir));) {
    const char *name = entry->d_name;
    size_t hex = strspn(name, "0123456789abcdef");
    hashed = hex == 8 && name[8] == '.' && isdigit((unsigned char)name[9]);
  }
  if (dir) (void)closedir(dir);
  return hashed;
}

/* With both a hashed folder and a bundle file, curl would parse the file, which
 * takes OpenSSL 3.0 20 to 35 ms; the folder is asked for what is needed. */
static CURLcode set_tls(CURL *easy, const struct http *http) {
  CURLcode bad = CURLE_OK;
  SET(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(easy, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  if (http->ca_dir || http->ca_file) {
    SET(easy, CURLOPT_CAPATH, http->ca_dir);
    SET(easy, CURLOPT_CAINFO, http->ca_file);
    SET(easy, CURLOPT_PROXY_CAPATH, http->ca_dir);
    SET(easy, CURLOPT_PROXY_CAINFO, http->ca_file);
  } else if (folder_hashed(curl_version_info(CURLVERSION_NOW)->capath)) {
    SET(easy, CURLOPT_CAINFO, NULL);
    SET(easy, CURLOPT_PROXY_CAINFO, NULL);
  }
  return bad;
}

/* PIPEWAIT: a request waits for a handshake under way, and so learns whether it
 * may share that connection (HTTP/2). Not on plain HTTP, where curl would learn
 * it from the first answer alone, which may take minutes. */
static CURLcode set_version(CURL *easy, bool tls) {
  CURLcode bad = CURLE_OK;
  SET(easy, CURLOPT_HTTP_VERSION, (long)(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  SET(easy, CURLOPT_PIPEWAIT, tls ? 1L : 0L);
  return bad;
}

/* A connection that others use was opened for them, not for this one; and curl
 * must think of the proxy what the guard's owner was told. */
static CURLcode set_guard(struct http_call *call, const struct http_request *request) {
  CURLcode bad = CURLE_OK;
  CURL *easy = call->easy;
  struct buf host;
  if (!request->guard) return bad;
  buf_init(&host, HEADER_BYTES_MAX);
  if (http_url_host(request->url, &host) != REIN_OK) bad = CURLE_OUT_OF_MEMORY;
  call->guard = *request->guard;
  call->proxied = http_by_proxy(call->http, buf_str(&host));
  SET(easy, CURLOPT_PROXY, call->proxied ? call->http->proxy : "");
  SET(easy, CURLOPT_NOPROXY, "");
  SET(easy, CURLOPT_FRESH_CONNECT, 1L);
  SET(easy, CURLOPT_FORBID_REUSE, 1L);
  buf_release(&host);
  return bad;
}

static CURLcode set_exchange(struct http_call *call, const struct http_request *request) {
  CURLcode bad = set_guard(call, request);
  CURL *easy = call->easy;
  SET(easy, CURLOPT_URL, request->url);
  SET(easy, CURLOPT_PRIVATE, call);
  SET(easy, CURLOPT_ERRORBUFFER, call->words);
  SET(easy, CURLOPT_HTTPHEADER, call->sent.headers);
  SET(easy, CURLOPT_HEADERFUNCTION, http_on_header);
  SET(easy, CURLOPT_HEADERDATA, call);
  SET(easy, CURLOPT_WRITEFUNCTION, http_on_bytes);
  SET(easy, CURLOPT_WRITEDATA, call);
  SET(easy, CURLOPT_PREREQFUNCTION, http_on_begin);
  SET(easy, CURLOPT_PREREQDATA, call);
  SET(easy, CURLOPT_SOCKOPTFUNCTION, lane_on_open);
  SET(easy, CURLOPT_SOCKOPTDATA, call->lane);
  SET(easy, CURLOPT_CLOSESOCKETFUNCTION, lane_on_close);
  SET(easy, CURLOPT_CLOSESOCKETDATA, call->lane);
  SET(easy, CURLOPT_OPENSOCKETFUNCTION, call->guard.may ? http_on_socket : NULL);
  SET(easy, CURLOPT_OPENSOCKETDATA, call);
  int64_t connect_ms = request->connect_ms > 0 ? request->connect_ms : HTTP_CONNECT_MS;
  SET(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms < LONG_MAX ? (long)connect_ms : LONG_MAX);
  return bad;
}

/* What all exchanges of a lane share, once for each easy handle. */
static CURLcode set_lane(CURL *easy, const struct http_lane *lane) {
  const struct http *http = lane->http;
  bool tls = lane == &http->lanes[LANE_TLS];
  CURLcode bad = set_connection(easy, http);
  if (bad == CURLE_OK) bad = set_version(easy, tls);
  if (bad == CURLE_OK && (tls || http->proxy)) bad = set_tls(easy, http);
  return bad;
}

/* A spare one is set for its lane, and for POST: other methods leave marks. */
static CURLcode take_easy(struct http_call *call, const struct http_request *request) {
  struct http_lane *lane = call->lane;
  bool post = str_is(str_of(request->method), "POST") && !request->guard;
  call->easy = post ? lane->spare : NULL;
  if (post) lane->spare = NULL;
  CURLcode bad = CURLE_OK;
  if (!call->easy) {
    call->easy = curl_easy_init();
    bad = call->easy ? set_lane(call->easy, lane) : CURLE_OUT_OF_MEMORY;
  }
  return bad;
}

static void slow(void *ctx) {
  struct http_call *call = ctx;
  struct buf why;
  buf_init(&why, SHOWN_BYTES_MAX);
  TEXT_PUT(&why, REIN_ENGLISH, T_HOST_SLOW);
  http_call_end(call, HTTP_SLOW, buf_str(&why));
  buf_release(&why);
}

enum rein_code http_setup(struct http_call *call, const struct http_request *request,
                          struct err *err) {
  struct http *http = call->http;
  bool tls = str_eq_nocase(str_part(str_of(request->url), 0, 6), STR("https:"));
  call->lane = &http->lanes[tls ? LANE_TLS : LANE_PLAIN];
  buf_init(&call->name, NAME_BYTES_MAX);
  CURLcode bad = take_easy(call, request);
  bool made = call->easy && headers_copy(&call->sent, request) &&
              body_copy(&call->sent, request->body) &&
              loop_timer_new(http->loop, slow, call, &call->slow) == REIN_OK;
  if (!made) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  if (bad == CURLE_OK) bad = set_exchange(call, request);
  if (bad == CURLE_OK) bad = set_method(call->easy, request, &call->sent);
  if (bad != CURLE_OK) return ERR(err, REIN_SYSTEM, T_HOST_CURL, str_of(curl_easy_strerror(bad)));
  call->spares = !request->guard && str_is(str_of(request->method), "POST");
  int64_t headers_ms = request->headers_ms > 0 ? request->headers_ms : HTTP_HEADERS_MS;
  loop_timer_set(call->slow, loop_now(http->loop) + headers_ms);
  return REIN_OK;
}
