/* github_repo_info against a real server on loopback: what is asked, what is
 * told of each answer, and that the token stands in none of it. */
#include "house.h"

#include "host/loop.h"
#include "support/oom.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define TOKEN "ghp-canary-of-the-test"

struct server {
  int listener, port;
  pthread_t thread;
  const char *answer; /* NULL: the connection is closed without one */
  char request[8192]; /* the last one */
  int served;
};

static void serve(struct server *s, int fd) {
  size_t n = 0;
  ssize_t got;
  while (n < sizeof s->request - 1 &&
         (got = read(fd, s->request + n, sizeof s->request - 1 - n)) > 0) {
    n += (size_t)got;
    s->request[n] = 0;
    if (strstr(s->request, "\r\n\r\n")) break;
  }
  s->served++;
  for (size_t at = 0, all = s->answer ? strlen(s->answer) : 0; at < all;) {
    ssize_t sent = send(fd, s->answer + at, all - at, MSG_NOSIGNAL);
    if (sent <= 0) break;
    at += (size_t)sent;
  }
}

static void *serve_all(void *ctx) {
  struct server *s = ctx;
  int fd;
  while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
    serve(s, fd);
    close(fd);
  }
  return NULL;
}

static void server_start(struct server *s) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof address;
  s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(s->listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(s->listener, 8), 0);
  assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &n), 0);
  s->port = ntohs(address.sin_port);
  assert_int_equal(pthread_create(&s->thread, NULL, serve_all, s), 0);
}

static void server_stop(struct server *s) {
  shutdown(s->listener, SHUT_RDWR);
  pthread_join(s->thread, NULL);
  close(s->listener);
}

/* ---- a call on a pool thread, with the loop running beside it ---- */

struct bench {
  struct house h;
  struct server server;
  struct loop *loop;
  struct http *http;
  char url[128];
  const char *args;
};

static void bench_open(struct bench *b) {
  struct err err = {0};
  struct http_options options = {0};
  memset(b, 0, sizeof *b);
  server_start(&b->server);
  house_build(&b->h, "proj");
  assert_int_equal(loop_new(&b->loop, &err), REIN_OK);
  assert_int_equal(http_new(b->loop, &options, &b->http, &err), REIN_OK);
  snprintf(b->url, sizeof b->url, "http://127.0.0.1:%d/", b->server.port);
  b->h.house.http = b->http;
  b->h.house.github_url = b->url;
  b->h.house.github_token = TOKEN;
}

static void bench_close(struct bench *b) {
  http_free(b->http);
  loop_free(b->loop, 1000);
  server_stop(&b->server);
  house_drop(&b->h);
}

static void work(void *ctx) {
  struct bench *b = ctx;
  house_call(&b->h, "github_repo_info", str_of(b->args));
}

static void done(void *ctx) {
  loop_stop(((struct bench *)ctx)->loop);
}

static const char *look_up(struct bench *b, const char *args, const char *answer) {
  b->args = args;
  b->server.answer = answer;
  assert_int_equal(loop_work(b->loop, work, done, NULL, b), REIN_OK);
  loop_run(b->loop);
  assert_has_not(buf_z(&b->h.answer), TOKEN);
  return buf_z(&b->h.answer);
}

#define LODASH "{\"owner\":\"lodash\",\"repo\":\"lodash.js\"}"

static void found(void **state) {
  (void)state;
  struct bench b;
  bench_open(&b);
  look_up(&b, LODASH,
          "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
          "{\"id\":1,\"full_name\":\"lodash/lodash\",\"description\":\"\\ud55c\\uae00 \\ud800\",\n"
          "\"owner\":{\"login\":\"lodash\"},\"archived\":false,\"stargazers_count\":"
          "2512292042121000001,"
          "\"forks_count\":7100,\"license\":{\"key\":\"mit\",\"spdx_id\":\"MIT\"},\"topics\":["
          "\"a\",7,\"b\"],"
          "\"language\":null,\"pushed_at\":\"2026-01-02T03:04:05Z\"}");
  assert_false(b.h.is_error);
  assert_string_equal(
      buf_z(&b.h.answer),
      "{\"full_name\":\"lodash/lodash\",\"description\":\"한글 \xef\xbf\xbd\",\"language\":null,"
      "\"archived\":false,\"stargazers_count\":2512292042121000001,\"forks_count\":7100,"
      "\"license\":\"MIT\",\"topics\":[\"a\",\"b\"],\"pushed_at\":\"2026-01-02T03:04:05Z\"}");
  assert_int_equal(strncmp(b.server.request, "GET /repos/lodash/lodash.js HTTP/1.1\r\n", 38), 0);
  assert_has(b.server.request, "ccept: application/vnd.github+json\r\n");
  assert_has(b.server.request, "x-github-api-version: 2022-11-28\r\n");
  assert_has(b.server.request, "authorization: Bearer " TOKEN "\r\n");
  b.h.house.github_token = NULL;
  look_up(&b, LODASH, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"license\":null}");
  assert_string_equal(buf_z(&b.h.answer), "{\"license\":null}");
  assert_has_not(b.server.request, "uthorization");
  bench_close(&b);
}

static void errors(void **state) {
  (void)state;
  struct bench b;
  bench_open(&b);
  static const struct {
    const char *answer, *says;
  } rows[] = {
      {"HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n{\"message\":\"Not Found\"}",
       "GitHub knows no repository lodash/lodash.js"},
      {"HTTP/1.1 301 Moved\r\nconnection: close\r\nlocation: "
       "https://api.github.com/repositories/42\r\n\r\n{}",
       "GitHub points to https://api.github.com/repositories/42"},
      {"HTTP/1.1 403 No\r\nconnection: close\r\nx-ratelimit-remaining: 0\r\nX-RateLimit-Reset: "
       "1800000000\r\n\r\n{}",
       "limit of requests is used up until 2027-01-15T"},
      {"HTTP/1.1 429 No\r\nconnection: close\r\nretry-after: 60\r\n\r\n{}", "60 seconds from now"},
      {"HTTP/1.1 403 No\r\nconnection: close\r\nx-ratelimit-remaining: "
       "10\r\n\r\n{\"message\":\"Repository access blocked\"}",
       "HTTP 403 for lodash/lodash.js: Repository access blocked"},
      {"HTTP/1.1 401 No\r\nconnection: close\r\n\r\n{\"message\":\"Bad credentials\"}",
       "the user must check GITHUB_TOKEN"},
      {"HTTP/1.1 502 Bad\r\nconnection: close\r\n\r\n<html>\x1b[2J</html>",
       "HTTP 502 for lodash/lodash.js: <html>"},
      {"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n[1]", "is not what its API promises"},
      {"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>", "is not what its API promises"},
      {"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"full_", "broke off"},
      {"nonsense", "GitHub"},
      {NULL, "GitHub"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    look_up(&b, LODASH, rows[i].answer);
    assert_int_equal(b.h.code, REIN_OK);
    assert_true(b.h.is_error);
    assert_has(buf_z(&b.h.answer), rows[i].says);
    assert_has_not(buf_z(&b.h.answer), "\x1b");
    assert_has_not(buf_z(&b.h.answer), "\n");
  }
  bench_close(&b);
}

static void too_big(void **state) {
  (void)state;
  struct bench b;
  struct buf answer;
  bench_open(&b);
  buf_init(&answer, 4u << 20);
  buf_lit(&answer, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"x\":\"");
  for (int i = 0; i < 2000; i++)
    buf_fmt(&answer, "%01000d", i);
  look_up(&b, LODASH, buf_z(&answer));
  assert_has(buf_z(&b.h.answer), "larger than 1048576 bytes");
  buf_release(&answer);
  bench_close(&b);
}

static void nobody_there(void **state) {
  (void)state;
  struct bench b;
  bench_open(&b);
  server_stop(&b.server);
  look_up(&b, LODASH, NULL);
  assert_true(b.h.is_error);
  assert_has(buf_z(&b.h.answer), "could not be reached for lodash/lodash.js");
  server_start(&b.server);
  bench_close(&b);
}

static void strict_names(void **state) {
  (void)state;
  struct bench b;
  bench_open(&b);
  static const char *const bad[] = {
      "{\"owner\":\"\",\"repo\":\"a\"}",
      "{\"owner\":\"-a\",\"repo\":\"a\"}",
      "{\"owner\":\"a/b\",\"repo\":\"a\"}",
      "{\"owner\":\"a\\n\",\"repo\":\"a\"}",
      "{\"owner\":\"a.b\",\"repo\":\"a\"}",
      "{\"owner\":\"가\",\"repo\":\"a\"}",
      "{\"owner\":\"a\\u0000\",\"repo\":\"a\"}",
      "{\"owner\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"repo\":\"a\"}",
      "{\"owner\":\"a\",\"repo\":\"\"}",
      "{\"owner\":\"a\",\"repo\":\".\"}",
      "{\"owner\":\"a\",\"repo\":\"..\"}",
      "{\"owner\":\"a\",\"repo\":\"a/b\"}",
      "{\"owner\":\"a\",\"repo\":\"a?b\"}",
      "{\"owner\":\"a\",\"repo\":\"a%2e\"}",
      "{\"owner\":\"a\",\"repo\":\"a\\n\"}",
      "{\"owner\":\"a\",\"repo\":\"a b\"}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    look_up(&b, bad[i], NULL);
    assert_true(b.h.is_error);
    assert_has(buf_z(&b.h.answer), "is not a GitHub name");
  }
  assert_int_equal(b.server.served, 0);
  bench_close(&b);
}

static bool scenario(void *ctx) {
  struct bench *b = ctx;
  b->args = LODASH;
  if (loop_work(b->loop, work, done, NULL, b)) return false;
  loop_run(b->loop);
  bool ok = !b->h.code && !b->h.is_error && !b->h.answer.fail;
  if (ok) assert_string_equal(buf_z(&b->h.answer), "{\"full_name\":\"a\"}");
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  struct bench b;
  bench_open(&b);
  buf_room(&b.h.answer, ANSWER_MAX);
  b.server.answer = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"full_name\":\"a\"}";
  assert_true(oom_each(scenario, &b) > 0);
  bench_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(found),        cmocka_unit_test(errors),       cmocka_unit_test(too_big),
      cmocka_unit_test(nobody_there), cmocka_unit_test(strict_names), cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
