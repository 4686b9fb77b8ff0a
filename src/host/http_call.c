/* One exchange: what curl says about it, told to the caller in order. How the
 * request is made is http_setup.c's; when curl runs, http.c's.
 */
#include "host/http_inside.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/text.h"

#define WHY_MAX 1024

static void sent_free(struct http_sent *sent) {
  /* Headers carry keys, the body the conversation. */
  for (struct curl_slist *h = sent->headers; h; h = h->next)
    mem_wipe(h->data, strlen(h->data));
  curl_slist_free_all(sent->headers);
  if (sent->body) mem_wipe(sent->body, sent->body_n);
  mem_free(sent->body);
}

/* What is this exchange's own alone is set anew before it is used again. */
static void easy_release(struct http_call *call) {
  if (!call->spares || call->lane->spare) {
    curl_easy_cleanup(call->easy);
    return;
  }
  (void)curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, NULL);
  (void)curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, NULL);
  (void)curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, NULL);
  call->lane->spare = call->easy;
}

void http_call_free(struct http_call *call) {
  if (call->easy) easy_release(call);
  loop_timer_free(call->slow);
  sent_free(&call->sent);
  buf_release(&call->name);
  mem_free(call);
}

/* Out of the multi handle and the list; nothing of it fires afterwards. */
static void detach(struct http_call *call) {
  struct http *http = call->http;
  if (call->added) (void)curl_multi_remove_handle(call->lane->multi, call->easy);
  call->added = false;
  if (call->chore != CHORE_NONE) http->chores--;
  call->chore = CHORE_NONE;
  if (call->prev)
    call->prev->next = call->next;
  else
    http->calls = call->next;
  if (call->next) call->next->prev = call->prev;
  call->next = call->prev = NULL;
  loop_timer_set(call->slow, INT64_MAX);
}

void http_call_drop(struct http_call *call) {
  /* A shared (HTTP/2) connection would be kept, though it may be what hangs:
   * unless others are on it, it goes too. */
  (void)curl_easy_setopt(call->easy, CURLOPT_FORBID_REUSE, 1L);
  call->spares = false;
  detach(call);
  http_call_free(call);
}

void http_call_end(struct http_call *call, enum http_end end, struct str why) {
  call->ending = true;
  call->spares = call->spares && end == HTTP_WHOLE;
  if (end == HTTP_SLOW) (void)curl_easy_setopt(call->easy, CURLOPT_FORBID_REUSE, 1L);
  detach(call);
  struct buf shown;
  buf_init(&shown, WHY_MAX);
  if (end != HTTP_WHOLE) utf8_show(&shown, why, false);
  call->answer.end(call->answer.ctx, end, buf_str(&shown));
  buf_release(&shown);
  http_call_free(call);
}

static enum http_end end_of(const struct http_call *call, CURLcode code) {
  /* curl takes a connection that closes among the headers for an answer. */
  if (code == CURLE_OK) return call->head == HEAD_DONE ? HTTP_WHOLE : HTTP_BROKEN;
  if (call->big) return HTTP_BIG;
  if (call->head != HEAD_AWAITED) return HTTP_BROKEN;
  if (!call->begun) return HTTP_CONNECT; /* a proxy broke off, or refused: nothing was sent */
  /* A kept connection was dead, and no new one came. A few of curl's codes, which
   * are no list of ours. */
  switch ((int)code) {
  case CURLE_COULDNT_RESOLVE_PROXY:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT:
  case CURLE_OPERATION_TIMEDOUT: /* only connecting has a time of curl's own */
  case CURLE_INTERFACE_FAILED:
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CIPHER:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_SSL_ISSUER_ERROR:
  case CURLE_SSL_INVALIDCERTSTATUS:
  case CURLE_PROXY: return HTTP_CONNECT;
  }
  return HTTP_BROKEN;
}

/* Where curl has no words of its own for it. */
static enum text_id own_words(const struct http_call *call, CURLcode code) {
  if (call->big) return T_HOST_BIG;
  if (call->name.fail) return T_HOST_NO_MEMORY;
  if (call->stale) return T_HOST_STALE;
  bool in_head = call->begun && call->head != HEAD_DONE; /* curl's word for both is memory */
  if (code == CURLE_OUT_OF_MEMORY && in_head) return T_HOST_LONG_HEADER;
  return code == CURLE_OK ? T_HOST_CUT : T_NONE;
}

static struct str words_of(const struct http_call *call, CURLcode code, struct buf *room) {
  enum text_id text = own_words(call, code);
  if (text == T_NONE) return str_of(call->words[0] ? call->words : curl_easy_strerror(code));
  struct num_text num;
  TEXT_PUT(room, REIN_ENGLISH, text, str_num(&num, (int64_t)call->body_max));
  return buf_str(room);
}

void http_call_done(struct http_call *call, CURLcode code) {
  struct buf room;
  buf_init(&room, WHY_MAX);
  http_call_end(call, end_of(call, code), words_of(call, code, &room));
  buf_release(&room);
}

/* ---- What curl hands over; a result other than n stops the exchange -------- */

static bool head_starts(struct http_call *call, struct str line) {
  struct str version, rest;
  int64_t status;
  /* "HTTP/2 200 ", "HTTP/1.1 404 Not Found" */
  bool read = str_split(line, ' ', &version, &rest) && str_to_num(str_part(rest, 0, 3), &status);
  if (!read) return false;
  call->head = status < 200 ? HEAD_INTERIM : HEAD_FINAL;
  if (call->head == HEAD_INTERIM) return true;
  bool http1 = str_starts(version, STR("HTTP/1"));
  if (http1 && call->lane == &call->http->lanes[LANE_TLS]) call->http->widen = true;
  loop_timer_set(call->slow, INT64_MAX);
  call->answer.status(call->answer.ctx, (int)status);
  return true;
}

static bool header_came(struct http_call *call, struct str line) {
  struct str name, value;
  /* Lines that go on from the last one are not sent by today's servers
   * (RFC 9112, 5.2); half a value is no value. */
  if (line.p[0] == ' ' || line.p[0] == '\t' || !str_split(line, ':', &name, &value)) return true;
  buf_reset(&call->name);
  char *lower = buf_room(&call->name, name.n);
  if (!lower) return false;
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
  }
  buf_grown(&call->name, name.n);
  call->answer.header(call->answer.ctx, str_trim(buf_str(&call->name)), str_trim(value));
  return true;
}

size_t http_on_header(char *line, size_t size, size_t n, void *ctx) {
  struct http_call *call = ctx;
  struct str text = str_trim((struct str){line, size * n});
  bool going = call->chore != CHORE_DROP;
  if (!going) return 0;
  if (call->head == HEAD_AWAITED)
    going = head_starts(call, text);
  else if (text.n == 0)
    call->head = call->head == HEAD_INTERIM ? HEAD_AWAITED : HEAD_DONE;
  else if (call->head == HEAD_FINAL)
    going = header_came(call, (struct str){line, size * n});
  return going && call->chore != CHORE_DROP ? size * n : 0;
}

size_t http_on_bytes(char *bytes, size_t size, size_t n, void *ctx) {
  struct http_call *call = ctx;
  struct str piece = {bytes, size * n};
  if (call->chore == CHORE_DROP) return CURL_WRITEFUNC_ERROR;
  call->big = piece.n > call->body_max - call->body_n;
  if (call->big) piece.n = call->body_max - call->body_n;
  call->body_n += piece.n;
  if (piece.n) call->answer.bytes(call->answer.ctx, piece);
  return call->big || call->chore == CHORE_DROP ? CURL_WRITEFUNC_ERROR : size * n;
}

/* Comes again when curl would send anew what a kept-alive connection lost. A
 * body of which anything left is not sent twice: that is the caller's to decide. */
int http_on_begin(void *ctx, char *ip, char *own_ip, int port, int own_port) {
  struct http_call *call = ctx;
  long left = 0;
  (void)own_ip, (void)own_port;
  if (!http_guarded_ok(call, ip, port)) return CURL_PREREQFUNC_ABORT;
  (void)curl_easy_getinfo(call->easy, CURLINFO_REQUEST_SIZE, &left);
  call->stale = call->begun && left > 0 && call->sent.body_n > 0;
  call->begun = true;
  return call->stale ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
