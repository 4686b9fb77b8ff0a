/* TLS and HTTP/2 against a server on Node, with a CA made for the test. */
#include "seen.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 600

extern char **environ;

/* The certificates, made once: a CA in a file and in a hashed folder, and a
 * server of that CA whose only name is 127.0.0.1. */
static char top[256];

static const char *in_top(const char *name, char room[PATH_BYTES]) {
  if (snprintf(room, PATH_BYTES, "%s/%s", top, name) >= PATH_BYTES) abort();
  return room;
}

static int run(const char *const *argv) {
  pid_t child;
  int status;
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", 1 /* O_WRONLY */, 0);
  int bad = posix_spawnp(&child, argv[0], &quiet, NULL, (char *const *)(uintptr_t)argv, environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (bad) return -1;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_text(const char *name, const char *text) {
  char path[PATH_BYTES];
  FILE *f = fopen(in_top(name, path), "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  fclose(f);
}

static int make_certificates(void **state) {
  (void)state;
  const char *tmp = getenv("TMPDIR");
  (void)snprintf(top, sizeof top, "%s/rein-tls-XXXXXX", tmp ? tmp : P_tmpdir);
  if (!mkdtemp(top)) return -1;
  char ca[PATH_BYTES], ca_key[PATH_BYTES], key[PATH_BYTES], request[PATH_BYTES], cert[PATH_BYTES];
  char names[PATH_BYTES], folder[PATH_BYTES], copy[PATH_BYTES];
  in_top("ca.pem", ca), in_top("ca.key", ca_key), in_top("key.pem", key);
  in_top("request.pem", request), in_top("cert.pem", cert), in_top("names", names);
  in_top("folder", folder), in_top("folder/ca.pem", copy);
  write_text("names", "subjectAltName=IP:127.0.0.1\n");
  const char *const steps[][20] = {
      {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
       "-days", "30", "-subj", "/CN=rein test CA", "-keyout", ca_key, "-out", ca, NULL},
      {"openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
       "/CN=server", "-keyout", key, "-out", request, NULL},
      {"openssl", "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
       "-days", "30", "-extfile", names, "-out", cert, NULL},
      {"openssl", "x509", "-in", ca, "-out", copy, NULL},
      {"openssl", "rehash", folder, NULL},
  };
  if (mkdir(folder, 0755) != 0) return -1;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (run(steps[i]) != 0) return -1;
  return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

static int remove_certificates(void **state) {
  (void)state;
  return nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the server -------------------------------------------------------------------- */

struct world {
  struct loop *loop;
  struct http *http;
  struct seen seen;
  pid_t server;
  FILE *in, *out; /* its stdin and stdout */
  int port;
  char url[128];
};

static void server_start(struct world *w, const char *mode) {
  char script[PATH_BYTES], key[PATH_BYTES], cert[PATH_BYTES];
  const char *root = getenv("REIN_ROOT");
  int to[2], from[2];
  (void)snprintf(script, sizeof script, "%s/tests/host/tls_server.mjs", root ? root : ".");
  const char *const argv[] = {"node", script, in_top("key.pem", key), in_top("cert.pem", cert),
                              mode,   NULL};
  assert_int_equal(pipe(to), 0);
  assert_int_equal(pipe(from), 0);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, to[0], 0);
  posix_spawn_file_actions_adddup2(&files, from[1], 1);
  posix_spawn_file_actions_addclose(&files, to[1]);
  posix_spawn_file_actions_addclose(&files, from[0]);
  assert_int_equal(
      posix_spawnp(&w->server, "node", &files, NULL, (char *const *)(uintptr_t)argv, environ), 0);
  posix_spawn_file_actions_destroy(&files);
  close(to[0]);
  close(from[1]);
  w->in = fdopen(to[1], "w");
  w->out = fdopen(from[0], "r");
  assert_int_equal(fscanf(w->out, "%d", &w->port), 1);
}

/* Ends it and tells how many connections and requests it saw. */
static void server_stop(struct world *w, int *connections, int *requests) {
  fclose(w->in);
  assert_int_equal(fscanf(w->out, "%d %d", connections, requests), 2);
  fclose(w->out);
  assert_int_equal(waitpid(w->server, NULL, 0), w->server);
}

static void open_world(struct world *w, const char *mode, const struct http_options *options) {
  struct err err = {0};
  char ca[PATH_BYTES];
  struct http_options usual = {.ca_file = in_top("ca.pem", ca)};
  *w = (struct world){0};
  server_start(w, mode);
  assert_int_equal(loop_new(&w->loop, &err), REIN_OK);
  assert_int_equal(http_new(w->loop, options ? options : &usual, &w->http, &err), REIN_OK);
  seen_init(&w->seen, w->http);
}

static struct http_request post(struct world *w, const char *path) {
  (void)snprintf(w->url, sizeof w->url, "https://127.0.0.1:%d%s", w->port, path);
  return (struct http_request){.method = "POST", .url = w->url, .body = STR("{\"a\":1}")};
}

static void carry(struct world *w, const struct http_request *request) {
  struct err err = {0};
  buf_reset(&w->seen.log);
  assert_int_equal(seen_start(&w->seen, request, &err), REIN_OK);
  loop_run(w->loop);
}

static void close_world(struct world *w, int want_connections, int want_requests) {
  int connections, requests;
  http_free(w->http);
  loop_free(w->loop, 0);
  buf_release(&w->seen.log);
  server_stop(w, &connections, &requests);
  if (want_connections >= 0) assert_int_equal(connections, want_connections);
  if (want_requests >= 0) assert_int_equal(requests, want_requests);
}

/* ---- trust ---------------------------------------------------------------------------- */

static void trusted(void **state) {
  (void)state;
  static const char *const modes[] = {"h2", "h1"}, *const versions[] = {"2.0", "1.1"};
  for (int i = 0; i < 2; i++) {
    struct world w;
    char tail[32];
    open_world(&w, modes[i], NULL);
    struct http_request request = post(&w, "/");
    for (int n = 0; n < 10; n++) {
      carry(&w, &request);
      (void)snprintf(tail, sizeof tail, "|%s|whole", versions[i]);
      assert_true(seen_ends(&w.seen, tail));
    }
    close_world(&w, 1, 10);
  }
}

static void hashed_folder(void **state) {
  (void)state;
  struct world w;
  char folder[PATH_BYTES];
  open_world(&w, "h1", &(struct http_options){.ca_dir = in_top("folder", folder)});
  struct http_request request = post(&w, "/");
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|1.1|whole"));
  close_world(&w, 1, 1);
}

static void not_trusted(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h1", &(struct http_options){0});
  struct http_request request = post(&w, "/");
  carry(&w, &request);
  assert_true(seen_has(&w.seen, "|connect: SSL certificate problem: unable to get local issuer"));
  close_world(&w, 1, 0);
}

static void other_name(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h1", NULL);
  struct http_request request = post(&w, "/");
  (void)snprintf(w.url, sizeof w.url, "https://localhost:%d/", w.port);
  carry(&w, &request);
  assert_true(seen_has(&w.seen, "|connect: SSL: no alternative certificate subject name matches"));
  close_world(&w, -1, 0);
}

static void old_version(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "old", NULL);
  struct http_request request = post(&w, "/");
  carry(&w, &request);
  assert_int_equal(w.seen.end, HTTP_CONNECT);
  close_world(&w, -1, 0);
}

/* ---- sharing a connection ------------------------------------------------------------------ */

#define MANY 250

static void at_once(struct world *w, size_t n) {
  static struct seen many[MANY];
  struct err err = {0};
  char path[32];
  (void)snprintf(path, sizeof path, "/hold/%zu", n);
  struct http_request request = post(w, path);
  for (size_t i = 0; i < n; i++) {
    seen_init(&many[i], w->http);
    assert_int_equal(seen_start(&many[i], &request, &err), REIN_OK);
  }
  loop_run(w->loop);
  for (size_t i = 0; i < n; i++) {
    assert_true(seen_ends(&many[i], "|held|whole"));
    buf_release(&many[i].log);
  }
}

static int saw_connections(struct world *w, int want_requests) {
  int connections, requests;
  http_free(w->http);
  loop_free(w->loop, 0);
  buf_release(&w->seen.log);
  server_stop(w, &connections, &requests);
  assert_int_equal(requests, want_requests);
  return connections;
}

/* All under way at the same time, on a connection that nobody had opened. */
static void one_connection(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h2", NULL);
  at_once(&w, 100);
  assert_int_equal(saw_connections(&w, 100), 1);
}

/* More than a connection takes: a few more connections, not one each. */
static void full_connection(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h2", NULL);
  at_once(&w, MANY);
  int n = saw_connections(&w, MANY);
  assert_true(n >= 3 && n <= 8);
}

/* A server without HTTP/2 gets a connection for each, from the first answer on. */
static void many_connections(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h1", NULL);
  struct http_request request = post(&w, "/");
  carry(&w, &request);
  at_once(&w, 60);
  assert_int_equal(saw_connections(&w, 61), 60);
}

/* And where all start before that is known: one answer among the first eight is
 * enough. */
static void first_answer(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  open_world(&w, "h1", NULL);
  struct http_request request = post(&w, "/");
  assert_int_equal(seen_start(&w.seen, &request, &err), REIN_OK);
  at_once(&w, 40);
  assert_true(seen_ends(&w.seen, "|1.1|whole"));
  int n = saw_connections(&w, 41);
  assert_true(n >= 40 && n <= 55);
}

static void abort_one(void **state) {
  (void)state;
  struct world w;
  struct err err = {0};
  struct seen hung;
  open_world(&w, "h2", NULL);
  seen_init(&hung, w.http);
  char url[128];
  struct http_request request = post(&w, "/hang");
  (void)snprintf(url, sizeof url, "%s", w.url);
  request.url = url;
  assert_int_equal(seen_start(&hung, &request, &err), REIN_OK);
  request = post(&w, "/");
  w.seen.abort_at = AT_BYTES;
  w.seen.other = &hung;
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|2.0|whole"));
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|2.0|whole"));
  assert_text(buf_str(&hung.log), "");
  buf_release(&hung.log);
  /* How many connections is curl's matter: where the server's frames of the stream that was
   * dropped wait to be read, it may take the connection for dead and open another. */
  close_world(&w, -1, 3);
}

/* ---- breaking ----------------------------------------------------------------------- */

static void broken(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h2", NULL);
  struct http_request request = post(&w, "/reset");
  carry(&w, &request);
  assert_true(seen_has(&w.seen, "|part|broken: HTTP/2 stream"));
  assert_true(seen_has(&w.seen, "INTERNAL_ERROR"));
  request = post(&w, "/");
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|2.0|whole"));
  close_world(&w, -1, 2);

  open_world(&w, "h1", NULL);
  request = post(&w, "/cut");
  carry(&w, &request);
  assert_true(seen_has(&w.seen, "|part|broken: "));
  close_world(&w, 1, 1);
}

/* A stream the server says it did not work on: with a body that left, sending
 * it again is still the caller's decision. */
static void refused_stream(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h2", NULL);
  struct http_request request = post(&w, "/refuse");
  carry(&w, &request);
  assert_int_equal(w.seen.end, HTTP_BROKEN);
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|2.0|whole"));
  close_world(&w, -1, 2);
}

/* A connection that did not answer is not given to the next request. */
static void slow(void **state) {
  (void)state;
  struct world w;
  open_world(&w, "h2", NULL);
  struct http_request request = post(&w, "/");
  carry(&w, &request);
  request = post(&w, "/hang");
  request.headers_ms = 50;
  carry(&w, &request);
  assert_true(seen_has(&w.seen, "|slow: "));
  request = post(&w, "/");
  carry(&w, &request);
  assert_true(seen_ends(&w.seen, "|2.0|whole"));
  close_world(&w, 2, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trusted),
      cmocka_unit_test(hashed_folder),
      cmocka_unit_test(not_trusted),
      cmocka_unit_test(other_name),
      cmocka_unit_test(old_version),
      cmocka_unit_test(one_connection),
      cmocka_unit_test(full_connection),
      cmocka_unit_test(many_connections),
      cmocka_unit_test(first_answer),
      cmocka_unit_test(abort_one),
      cmocka_unit_test(broken),
      cmocka_unit_test(refused_stream),
      cmocka_unit_test(slow),
  };
  return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
