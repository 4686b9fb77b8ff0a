/* Writes the log. A log that can no longer be written is said once; the run
 * goes on, since its own journal is kept elsewhere. */
#include "cli/log.h"

#include "json/write.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOG_LINE_MAX (1u << 30) /* a record of the largest result, escaped */

int log_open(struct log *log, struct cli *cli) {
  const struct value *path = cli_value(cli, OPTION_ID_LOG);
  struct str path_z;
  *log = (struct log){.cli = cli, .fd = -1};
  if (path->from == FROM_DEFAULT) return 0;
  if (!arena_str(&cli->arena, path->text, &path_z)) return cli_no_memory(cli);
  /* Without O_NONBLOCK a pipe that nobody reads would hang the start. */
  log->fd = open(path_z.p, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
  if (log->fd >= 0) return 0;
  return cli_usage(cli, T_CLI_LOG_OPEN, path->text, str_of(strerror(errno)));
}

void log_close(struct log *log) {
  if (log->fd >= 0) close(log->fd);
  log->fd = -1;
}

static void failed(struct log *log, int error) {
  cli_say(log->cli, T_CLI_LOG_FAILED, cli_value(log->cli, OPTION_ID_LOG)->text,
          str_of(strerror(error)));
  log_close(log);
}

static void write_line(struct log *log, struct str s) {
  while (s.n && log->fd >= 0) {
    ssize_t n = write(log->fd, s.p, s.n);
    if (n >= 0)
      s = str_part(s, (size_t)n, SIZE_MAX);
    else if (errno != EINTR)
      failed(log, errno);
  }
}

static void put_time(struct json_out *w) {
  struct timespec now = {0};
  struct tm tm = {0};
  struct buf text;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &tm);
  buf_init(&text, 64);
  buf_fmt(&text, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", tm.tm_year + 1900, tm.tm_mon + 1,
          tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000);
  json_key(w, "at");
  json_put_text(w, buf_str(&text));
  buf_release(&text);
}

void log_json(struct log *log, const char *key, struct str json) {
  struct buf b, masked;
  if (log->fd < 0) return;
  buf_init(&b, LOG_LINE_MAX);
  buf_init(&masked, LOG_LINE_MAX);
  struct json_out w = json_out(&b);
  json_open(&w, '{');
  put_time(&w);
  json_key(&w, key);
  json_put_raw(&w, json);
  json_close(&w, '}');
  buf_c(&b, '\n');
  secrets_mask(&log->cli->secrets, &masked, buf_str(&b));
  if (b.fail || masked.fail)
    failed(log, ENOMEM);
  else
    write_line(log, buf_str(&masked));
  buf_release(&b);
  buf_release(&masked);
}

void log_text(struct log *log, const char *key, struct str text) {
  struct buf quoted;
  if (log->fd < 0) return;
  buf_init(&quoted, LOG_LINE_MAX);
  json_quote(&quoted, text);
  if (quoted.fail)
    failed(log, ENOMEM);
  else
    log_json(log, key, buf_str(&quoted));
  buf_release(&quoted);
}
