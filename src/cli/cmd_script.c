/* rein script FILE|demo [--port N]: serves a script of model replies over HTTP
 * on loopback, for tests of any client that speaks a provider's protocol. Which
 * reply a request gets is src/wire/script.c's. Ends with a signal. */
#include "base/mem.h"
#include "cli/command.h"
#include "driver/provider.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <signal.h>

#define BODY_MAX (32u << 20) /* what providers take of one request */
#define CONNECTIONS_MAX 64   /* a test's clients; more wait */

/* One request while its body comes in. */
struct incoming {
  struct buf body;
};

static enum MHD_Result add_header(struct MHD_Response *response, struct str name,
                                  struct str value) {
  struct buf b;
  buf_init(&b, BODY_MAX);
  buf_put(&b, name);
  buf_c(&b, '\0');
  buf_put(&b, str_trim(value));
  enum MHD_Result added =
      b.fail ? MHD_NO : MHD_add_response_header(response, buf_z(&b), buf_z(&b) + name.n + 1);
  buf_release(&b);
  return added;
}

static enum MHD_Result send_bytes(struct MHD_Connection *connection, int status, struct str type,
                                  const struct buf *headers, const struct buf *body) {
  struct MHD_Response *response =
      MHD_create_response_from_buffer(body->n, (void *)buf_z(body), MHD_RESPMEM_MUST_COPY);
  struct str rest = headers ? buf_str(headers) : STR_NONE, line, name, value;
  if (!response) return MHD_NO;
  enum MHD_Result sent = add_header(response, STR("content-type"), type);
  while (sent == MHD_YES && str_next(&rest, '\n', &line))
    if (str_split(line, ':', &name, &value)) sent = add_header(response, name, value);
  if (sent == MHD_YES) sent = MHD_queue_response(connection, (unsigned)status, response);
  MHD_destroy_response(response);
  return sent;
}

static enum MHD_Result send_words(struct MHD_Connection *connection, int status,
                                  const char *words) {
  struct buf body;
  buf_init(&body, 256);
  buf_put(&body, str_of(words));
  enum MHD_Result sent = send_bytes(connection, status, STR("text/plain"), NULL, &body);
  buf_release(&body);
  return sent;
}

static enum MHD_Result answer(const struct script *script, struct MHD_Connection *connection,
                              const char *path, struct str body) {
  struct script_answer a = {0};
  struct err err = {0};
  enum MHD_Result sent;
  if (script_answer(script, str_of(path), body, &a, &err))
    sent = send_words(connection, 500, "no memory for the answer\n");
  else
    sent = send_bytes(connection, a.status, a.content_type, &a.headers, &a.body);
  buf_release(&a.headers);
  buf_release(&a.body);
  return sent;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *size, void **kept) {
  struct incoming *in = *kept;
  (void)version;
  if (!in) {
    in = mem_zero(sizeof *in);
    if (!in) return MHD_NO;
    buf_init(&in->body, BODY_MAX);
    *kept = in;
    return MHD_YES;
  }
  if (*size) {
    buf_put(&in->body, (struct str){bytes, *size});
    *size = 0;
    return MHD_YES;
  }
  if (strcmp(method, "POST")) return send_words(connection, 405, "a script answers POST alone\n");
  if (in->body.fail) return send_words(connection, 413, "the request is longer than 32 MiB\n");
  return answer(ctx, connection, path, buf_str(&in->body));
}

static void on_request_end(void *ctx, struct MHD_Connection *connection, void **kept,
                           enum MHD_RequestTerminationCode code) {
  struct incoming *in = *kept;
  (void)ctx, (void)connection, (void)code;
  if (!in) return;
  buf_release(&in->body);
  mem_free(in);
  *kept = NULL;
}

static struct MHD_Daemon *start(const struct script *script, uint16_t port) {
  struct sockaddr_in here = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, on_request,
                          (void *)script, MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_NOTIFY_COMPLETED,
                          on_request_end, NULL, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
                          MHD_OPTION_END);
}

static int say_address(struct cli *cli, struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  struct buf out;
  buf_init(&out, 256);
  buf_lit(&out, "http://127.0.0.1:");
  buf_num(&out, info ? info->port : 0);
  cli_say(cli, T_CLI_SCRIPT_SERVED, buf_str(&out));
  buf_c(&out, '\n');
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

/* Until a signal says stop; the signals are blocked before the server's thread
 * starts, so that they come here and nowhere else. */
static int serve(struct cli *cli, const struct script *script, uint16_t port) {
  struct num_text room;
  sigset_t stop, before;
  int signum = 0;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGHUP);
  (void)pthread_sigmask(SIG_BLOCK, &stop, &before);
  struct MHD_Daemon *daemon = start(script, port);
  int exit = daemon ? say_address(cli, daemon)
                    : cli_usage(cli, T_CLI_SCRIPT_PORT, str_num(&room, port),
                                str_of(strerrordesc_np(errno)));
  if (daemon && exit == 0) {
    while (sigwait(&stop, &signum))
      ;
    exit = 128 + signum;
  }
  if (daemon) MHD_stop_daemon(daemon);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return exit;
}

static int run(struct cli *cli) {
  struct str path = cli->word_count ? cli->words[0] : STR_NONE, text = STR_NONE;
  struct script *script = NULL;
  struct err err = {0};
  if (cli->word_count != 1) return cli_usage(cli, T_CLI_SCRIPT_FILE, STR_NONE);
  bool demo = str_is(path, "demo");
  if (demo)
    text = str_of(script_demo);
  else if (cli_read_file(cli, path, SCRIPT_BYTES_MAX, &text, &err))
    return cli_fail(cli, &err);
  if (script_new(text, &script, &err)) {
    if (err.code != REIN_INPUT) return cli_fail(cli, &err);
    cli_say_at(cli, path, &err);
    return 2;
  }
  int exit = serve(cli, script, (uint16_t)cli_value(cli, OPTION_ID_PORT)->num);
  script_free(script);
  return exit;
}

const struct command command_script = {
    .name = "script",
    .summary = T_CLI_CMD_SCRIPT,
    .usage = "FILE|demo",
    .takes = TAKES(PORT) | TAKES(QUIET),
    .run = run,
};
