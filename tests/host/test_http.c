/* HTTP on the loop against a peer that behaves, and one that does not. */
#include "exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- peers ------------------------------------------------------------------ */

/* Writes ctx, a literal, as the whole answer and closes. */
static bool raw(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer, (void)n, (void)body;
  peer_write(fd, str_of(ctx));
  return false;
}

static bool raw_kept(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)raw(ctx, peer, fd, n, body);
  return true;
}

/* The same, then a reset in place of an orderly end. */
static bool raw_reset(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)raw(ctx, peer, fd, n, body);
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  (void)!connect(fd, &none, sizeof none);
  return false;
}

static bool single_bytes(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer, (void)n, (void)body;
  struct str all = str_of(ctx);
  int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &on, sizeof on);
  for (size_t i = 0; i < all.n; i++)
    peer_write(fd, str_part(all, i, 1));
  return true;
}

/* ---- what an exchange says ---------------------------------------------------- */

static void whole_answer(void **state) {
  (void)state;
  struct world w;
  against(plain, NULL, &w);
  assert_text(buf_str(&w.seen.log), "200 content-length=5 x-kind=plain|hello|whole");
  close_world(&w);
}

static void byte_by_byte(void **state) {
  (void)state;
  struct world w;
  against(single_bytes,
          "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nX-A:  b \r\n"
          "X-Empty:\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n3\r\nbcd\r\n0\r\nX-T: t\r\n\r\n",
          &w);
  assert_text(buf_str(&w.seen.log), "200 x-a=b x-empty= transfer-encoding=chunked|abcd|whole");
  close_world(&w);
}

/* A body whose end is the end of the connection is whole when it ends orderly. */
static void clean_close(void **state) {
  (void)state;
  struct world w;
  against(raw, "HTTP/1.0 200 OK\r\n\r\nuntil the end", &w);
  assert_text(buf_str(&w.seen.log), "200|until the end|whole");
  close_world(&w);
}

static void broken_answers(void **state) {
  (void)state;
  static const struct {
    peer_fn fn;
    const char *bytes, *log;
  } cases[] = {
      {raw, "", "|broken: Empty reply from server"},
      {raw, "HTTP/1.1 200 OK\r\ncontent-le", "200|broken: "},
      {raw, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour",
       "200 content-length=9|four|broken: "},
      {raw, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfour\r\n",
       "200 transfer-encoding=chunked|four|broken: "},
      {raw, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nfo",
       "200 transfer-encoding=chunked|fo|broken: "},
      {raw, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
       "200 transfer-encoding=chunked|broken: "},
      {raw, "SSH-2.0-OpenSSH\r\n", "|broken: "},
      {raw_reset, "", "|broken: Recv failure: Connection reset by peer"},
      {raw_reset, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfour", "200 content-length=9"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct world w;
    against(cases[i].fn, (void *)(uintptr_t)cases[i].bytes, &w);
    assert_int_equal(w.seen.end, HTTP_BROKEN);
    /* A reset may overtake what was sent before it. */
    if (cases[i].fn != raw_reset || !cases[i].bytes[0])
      assert_true(seen_has(&w.seen, cases[i].log));
    close_world(&w);
  }
}

static void slow_head(void **state) {
  (void)state;
  struct world w;
  open_world(&w, hang, NULL);
  struct http_request request = post(&w);
  request.headers_ms = 30;
  int64_t began = loop_now(w.loop);
  carry(&w, &w.seen, &request);
  assert_true(seen_has(&w.seen, "|slow: no answer began"));
  assert_true(loop_now(w.loop) - began >= 30);
  close_world(&w);
}

static bool head_then_hang(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  peer_write(fd, STR("HTTP/1.1 200 OK\r\n"));
  return hang(ctx, peer, fd, n, body);
}

static void abort_seen(void *ctx) {
  struct seen *s = ctx;
  http_abort(s->call);
}

/* headers_ms ends with the status line: what follows may take its time. */
static void slow_after_head(void **state) {
  (void)state;
  struct world w;
  struct loop_timer *timer;
  struct err err = {0};
  open_world(&w, head_then_hang, NULL);
  struct http_request request = post(&w);
  request.headers_ms = 40;
  assert_int_equal(loop_timer_new(w.loop, abort_seen, &w.seen, &timer), REIN_OK);
  assert_int_equal(seen_start(&w.seen, &request, &err), REIN_OK);
  loop_timer_set(timer, loop_now(w.loop) + 120);
  loop_run(w.loop);
  assert_text(buf_str(&w.seen.log), "200");
  loop_timer_free(timer);
  close_world(&w);
}

static void no_connection(void **state) {
  (void)state;
  struct world w;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM, 0); /* bound and not listening: refused */
  assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
  open_world(&w, plain, NULL);
  (void)snprintf(w.url, sizeof w.url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
  struct http_request request = post(&w);
  carry(&w, &w.seen, &request);
  assert_true(seen_has(&w.seen, "|connect: Failed to connect"));
  close(fd);
  close_world(&w);
}

static bool long_body(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)peer, (void)n, (void)body;
  size_t size = *(const size_t *)ctx;
  char *text = malloc(size);
  memset(text, 'x', size);
  peer_answer(fd, 200, "", (struct str){text, size});
  free(text);
  return true;
}

static void big_bodies(void **state) {
  (void)state;
  size_t size = 3u << 20;
  for (size_t max = size - 1; max <= size; max++) {
    struct world w;
    open_world(&w, long_body, &size);
    struct http_request request = post(&w);
    request.body_max = max;
    carry(&w, &w.seen, &request);
    assert_int_equal(w.seen.end, max < size ? HTTP_BIG : HTTP_WHOLE);
    struct str head, body;
    assert_true(str_split(buf_str(&w.seen.log), '|', &head, &body));
    assert_int_equal(str_find_char(body, '|'), max);
    if (max < size)
      assert_true(seen_ends(&w.seen, "|big: the answer is longer than the 3145727 "
                                     "bytes that were allowed"));
    close_world(&w);
  }
}

static bool echo_size(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n;
  struct num_text num;
  peer_answer(fd, 200, "", str_num(&num, (int64_t)body.n));
  return true;
}

static void long_request(void **state) {
  (void)state;
  struct world w;
  size_t size = (5u << 20) + 3;
  char *text = malloc(size);
  memset(text, 'y', size);
  open_world(&w, echo_size, NULL);
  struct http_request request = post(&w);
  request.body = (struct str){text, size};
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|5242883|whole"));
  assert_true(str_eq(peer_body(w.peer, 0), request.body));
  free(text);
  close_world(&w);
}

static bool moved(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n, (void)body;
  peer_answer(fd, 302, "location: /elsewhere\r\nset-cookie: a=b\r\n", STR(""));
  return true;
}

static void no_redirect_no_cookie(void **state) {
  (void)state;
  struct world w;
  open_world(&w, moved, NULL);
  struct http_request request = post(&w);
  for (int i = 0; i < 2; i++)
    carry(&w, &w.seen, &request);
  assert_int_equal(peer_count(w.peer), 2);
  assert_int_equal(w.seen.status, 302);
  assert_false(str_has(peer_head(w.peer, 1), STR("ookie")));
  close_world(&w);
}

/* ---- what is sent ---------------------------------------------------------------- */

static void request_bytes(void **state) {
  (void)state;
  struct world w;
  static const char *const headers[] = {"x-key: k", "X-Empty:", "content-type: application/json",
                                        NULL};
  char want[512];
  open_world(&w, plain, NULL);
  struct http_request request = post(&w);
  request.headers = headers;
  carry(&w, &w.seen, &request);
  (void)snprintf(want, sizeof want,
                 "POST /v1/x HTTP/1.1\r\nHost: %s\r\nUser-Agent: rein/" REIN_VERSION
                 "\r\nAccept: */*\r\nx-key: k\r\nX-Empty:\r\ncontent-type: application/json\r\n"
                 "Content-Length: 7\r\n\r\n",
                 strchr(peer_url(w.peer), '/') + 2);
  assert_str(peer_head(w.peer, 0), str_of(want));
  assert_text(peer_body(w.peer, 0), "{\"a\":1}");
  close_world(&w);
}

static void methods(void **state) {
  (void)state;
  static const char *const names[] = {"GET", "POST", "PUT", "DELETE", "HEAD"};
  struct world w;
  open_world(&w, raw_kept, "HTTP/1.1 204 No Content\r\n\r\n");
  struct http_request request = post(&w);
  request.body = STR_NONE;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    request.method = names[i];
    carry(&w, &w.seen, &request);
    assert_true(seen_ends(&w.seen, "204|whole"));
    struct str head = peer_head(w.peer, i), method;
    assert_true(str_split(head, ' ', &method, &head));
    assert_true(str_is(method, names[i]));
    assert_false(str_has(head, STR("Content-Type")));
  }
  assert_int_equal(peer_connections(w.peer), 1);
  close_world(&w);
}

static void header_lines(void **state) {
  (void)state;
  static const char *const good[] = {"a: b", "a:", "X-A_b.1!: visible ~ and\ttab", "a: b: c"};
  static const struct str bad[] = {STR(""),        STR("a"),       STR(": b"),
                                   STR("a b: c"),  STR("a : b"),   STR("a: b\r\nc: d"),
                                   STR("a: b\n"),  STR("a: b\rc"), STR("a\r: b"),
                                   STR("a: \0b"),  STR("a\0: b"),  STR("a: \x1b[m"),
                                   STR("a: \x7f"), STR("한글: b"), STR("a: 경로"),
                                   STR("a(: b"),   STR("a: \x80")};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    assert_true(http_header_ok(str_of(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(http_header_ok(bad[i]));
}

static void refused_requests(void **state) {
  (void)state;
  static const struct {
    const char *method, *url, *header, *text;
  } cases[] = {
      {"POST", NULL, "x-key: secret\r\nx: y", "the header \"x-key\" cannot be sent"},
      {"POST", NULL, "x-key: secret\n", "the header \"x-key\" cannot be sent"},
      {"POST", NULL, "secret", "the header \"(no colon)\" cannot be sent"},
      {"POST", NULL, "x\x1b[1m: secret", "the header \"x\\u{1b}[1m\" cannot be sent"},
      {"POST", NULL, "Content-Length: 0", "the header \"Content-Length\" is written by rein"},
      {"POST", NULL, "transfer-encoding: chunked", "is written by rein itself"},
      {"POST", NULL, "HOST: secret", "is written by rein itself"},
      {"GET / HTTP/1.1\r\nx:", NULL, "a: b", "one word"},
      {"", NULL, "a: b", "one word"},
      {"POST", "file:///etc/passwd", "a: b", "\"file:///etc/passwd\" is not an address"},
      {"POST", "ftp://u:secret@x/?k=secret", "a: b", "\"ftp://x/\" is not an address"},
      {"POST", "http://", "a: b", "is not an address"},
      {"POST", "", "a: b", "\"\" is not an address"},
      {"POST", "http://x/\r\nx: secret", "a: b", "is not an address"},
      {"POST", "127.0.0.1/x", "a: b", "is not an address"},
  };
  struct world w;
  struct buf text;
  buf_init(&text, 4096);
  open_world(&w, plain, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *headers[] = {"fine: yes", cases[i].header, NULL};
    struct http_request request = post(&w);
    struct err err = {0};
    request.method = cases[i].method;
    request.headers = headers;
    if (cases[i].url) request.url = cases[i].url;
    assert_int_equal(seen_start(&w.seen, &request, &err), REIN_INPUT);
    err_text(&err, &text);
    if (!str_has(buf_str(&text), str_of(cases[i].text))) fail_msg("case %zu: %s", i, buf_z(&text));
    if (i != 13) assert_false(str_has(buf_str(&text), STR("secret")));
  }
  loop_run(w.loop);
  assert_int_equal(peer_count(w.peer), 0);
  buf_release(&text);
  close_world(&w);
}

/* ---- connections ------------------------------------------------------------------- */

static void one_connection(void **state) {
  (void)state;
  struct world w;
  open_world(&w, raw_kept, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello");
  struct http_request request = post(&w);
  for (int i = 0; i < 50; i++)
    carry(&w, &w.seen, &request);
  assert_int_equal(w.seen.ends, 50);
  assert_int_equal(peer_count(w.peer), 50);
  assert_int_equal(peer_connections(w.peer), 1);
  close_world(&w);
}

#define MANY 200

static void many_at_once(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  static struct seen many[MANY];
  open_world(&w, plain, NULL);
  struct http_request request = post(&w);
  for (size_t i = 0; i < MANY; i++) {
    seen_init(&many[i], w.http);
    assert_int_equal(seen_start(&many[i], &request, &err), REIN_OK);
  }
  loop_run(w.loop);
  for (size_t i = 0; i < MANY; i++) {
    assert_text(buf_str(&many[i].log), "200 content-length=5 x-kind=plain|hello|whole");
    buf_release(&many[i].log);
  }
  assert_int_equal(peer_count(w.peer), MANY);
  close_world(&w);
}

/* Answers the first request, and closes at the second without a word. */
static bool then_closes(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  if (n == 1) return false;
  return plain(ctx, peer, fd, n, body);
}

/* curl would send both again; a body that left is not sent twice. */
static void stale_connection(void **state) {
  (void)state;
  struct world w;
  open_world(&w, then_closes, NULL);
  struct http_request request = post(&w);
  carry(&w, &w.seen, &request);
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|broken: the kept-alive connection broke before any answer; the "
                                 "request was not sent again"));
  assert_int_equal(peer_count(w.peer), 2);
  close_world(&w);

  open_world(&w, then_closes, NULL);
  request = post(&w);
  request.method = "GET";
  request.body = STR_NONE;
  carry(&w, &w.seen, &request);
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|hello|whole"));
  assert_int_equal(peer_count(w.peer), 3);
  close_world(&w);
}

static void proxies(void **state) {
  (void)state;
  static const char *const names[] = {"http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY",
                                      "all_proxy"};
  struct world w;
  /* The environment's would be refused: port 1. */
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    assert_int_equal(setenv(names[i], "http://127.0.0.1:1", 1), 0);
  assert_int_equal(setenv("no_proxy", "*", 1), 0);
  against(plain, NULL, &w);
  assert_true(seen_ends(&w.seen, "|hello|whole"));

  struct http *through = NULL;
  struct err err = {0};
  struct http_options options = {.proxy = peer_url(w.peer), .no_proxy = "localhost"};
  assert_int_equal(http_new(w.loop, &options, &through, &err), REIN_OK);
  struct http_request request = post(&w);
  request.url = "http://nowhere.invalid/there";
  w.seen.http = through;
  carry(&w, &w.seen, &request);
  assert_true(seen_ends(&w.seen, "|hello|whole"));
  assert_true(str_starts(peer_head(w.peer, 1), STR("POST http://nowhere.invalid/there HTTP/1.1")));
  http_free(through);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    unsetenv(names[i]);
  unsetenv("no_proxy");
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_answer),     cmocka_unit_test(byte_by_byte),
      cmocka_unit_test(clean_close),      cmocka_unit_test(broken_answers),
      cmocka_unit_test(slow_head),        cmocka_unit_test(slow_after_head),
      cmocka_unit_test(no_connection),    cmocka_unit_test(big_bodies),
      cmocka_unit_test(long_request),     cmocka_unit_test(no_redirect_no_cookie),
      cmocka_unit_test(request_bytes),    cmocka_unit_test(methods),
      cmocka_unit_test(header_lines),     cmocka_unit_test(refused_requests),
      cmocka_unit_test(one_connection),   cmocka_unit_test(many_at_once),
      cmocka_unit_test(stale_connection), cmocka_unit_test(proxies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
