/* Reads the task. What is piped in beside an argument is data: it is fenced and
 * named so, and never an answer to a question.
 *
 * A caller may leave stdin as a pipe that stays open and silent. Beside a task
 * in the argument it is given STDIN_SILENT_MS to say something. Then a person at
 * a terminal is told what is waited for; without one stdin is left alone, and
 * that is said. "-" waits for it in any case.
 */
#include "cli/task.h"

#include "base/utf8.h"
#include "cli/ends.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum piped { PIPED_WHOLE, PIPED_SILENT, PIPED_BIG, PIPED_FAILED, PIPED_SIGNAL };

struct piped_in {
  struct buf *data;
  struct ends ends;
  int silent_ms; /* -1: waits for ever */
  int failed;    /* errno */
  int signum;
};

/* Waits until stdin has something. */
static enum piped wait_for(struct piped_in *in, int wait_ms) {
  struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                          {.fd = in->ends.fd, .events = POLLIN}};
  int n;
  do
    n = poll(fds, 2, wait_ms);
  while (n < 0 && errno == EINTR);
  if (n == 0) return PIPED_SILENT;
  in->signum = fds[1].revents ? ends_take(&in->ends) : 0;
  return in->signum ? PIPED_SIGNAL : PIPED_WHOLE;
}

static enum piped read_all(struct piped_in *in) {
  int wait_ms = in->silent_ms;
  while (in->data->n <= STDIN_BYTES_MAX) {
    enum piped waited = wait_for(in, wait_ms);
    if (waited != PIPED_WHOLE) return waited;
    char *room = buf_room(in->data, 65536);
    ssize_t n = room ? read(STDIN_FILENO, room, 65536) : -1;
    in->failed = room ? errno : ENOMEM;
    if (n == 0) return PIPED_WHOLE;
    if (n < 0 && room && (in->failed == EINTR || in->failed == EAGAIN)) continue;
    if (n < 0) return PIPED_FAILED;
    buf_grown(in->data, (size_t)n);
    wait_ms = -1; /* it speaks: then all of it is wanted */
  }
  return PIPED_BIG;
}

/* Signals are read like data while the program waits, so that an interrupted
 * wait is told in the same words as an interrupted run. */
static enum piped read_watched(struct piped_in *in) {
  ends_open(&in->ends);
  enum piped piped = read_all(in);
  ends_close(&in->ends);
  return piped;
}

static int refuse(struct cli *cli, enum piped piped, const struct piped_in *in) {
  struct num_text room;
  if (piped == PIPED_SIGNAL) return 128 + in->signum;
  if (in->failed == ENOMEM) return cli_no_memory(cli);
  if (piped == PIPED_BIG) return cli_usage(cli, T_CLI_STDIN_BIG, str_num(&room, STDIN_BYTES_MAX));
  return cli_usage(cli, T_CLI_STDIN_FAILED, str_of(strerror(in->failed)));
}

static int check_utf8(struct cli *cli, struct str text, struct str what) {
  struct num_text room;
  size_t at = 0, n;
  uint32_t cp;
  while (at < text.n && (n = utf8_next(str_part(text, at, SIZE_MAX), &cp)) > 0)
    at += n;
  if (at == text.n) return 0;
  return cli_usage(cli, T_CLI_NOT_UTF8, what, str_num(&room, (int64_t)at + 1));
}

/* Behind the argument, fenced by a name that the data does not hold. */
static void put_data(struct buf *out, enum rein_lang lang, struct str data) {
  struct buf name;
  buf_init(&name, 64);
  buf_lit(&name, "stdin");
  for (int64_t i = 2; str_has(data, buf_str(&name)) && i < 1000; i++) {
    buf_cut(&name, 5);
    buf_c(&name, '-');
    buf_num(&name, i);
  }
  buf_lit(out, "\n\n");
  TEXT_PUT(out, lang, T_CLI_STDIN_IS_DATA);
  buf_fmt(out, "\n<%s>\n", buf_z(&name));
  buf_put(out, data);
  if (!str_ends(data, STR("\n"))) buf_c(out, '\n');
  buf_fmt(out, "</%s>", buf_z(&name));
  buf_release(&name);
}

static int join(struct cli *cli, struct str said, struct str data, struct str *task) {
  struct buf b;
  enum rein_lang lang =
      str_is(cli_value(cli, OPTION_ID_MODEL_LANG)->text, "ko") ? REIN_KOREAN : REIN_ENGLISH;
  buf_init(&b, said.n + STDIN_BYTES_MAX + 4096);
  buf_put(&b, said);
  if (!str_blank(data)) put_data(&b, lang, data);
  bool ok = !b.fail && arena_str(&cli->arena, buf_str(&b), task);
  buf_release(&b);
  return ok ? 0 : cli_no_memory(cli);
}

/* stdin's bytes, or none where it is a terminal. */
static int read_stdin(struct cli *cli, struct buf *data, bool has_words, bool insists,
                      int *signum) {
  struct stat st;
  struct num_text room;
  struct str seconds = str_num(&room, STDIN_SILENT_MS / 1000);
  struct piped_in in = {.data = data, .silent_ms = has_words && !insists ? STDIN_SILENT_MS : -1};
  if (!insists && (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &st))) return 0;
  enum piped piped = read_watched(&in);
  if (piped == PIPED_SILENT && cli->screen.err_tty) {
    cli_say(cli, T_CLI_STDIN_WAITS);
    in.silent_ms = -1;
    piped = read_watched(&in);
  }
  *signum = in.signum;
  if (piped == PIPED_SILENT) cli_say(cli, T_CLI_STDIN_SILENT, seconds);
  if (piped == PIPED_SILENT || piped == PIPED_WHOLE) return 0;
  return refuse(cli, piped, &in);
}

/* What the words behind the command say. */
struct said {
  struct str task;
  bool any;     /* there is an argument */
  bool insists; /* "-": stdin is waited for */
};

static int read_words(struct cli *cli, struct said *said) {
  *said = (struct said){0};
  for (size_t i = 0; i < cli->word_count; i++) {
    if (str_is(cli->words[i], "-")) {
      said->insists = true;
      continue;
    }
    if (said->any) return cli_usage(cli, T_CLI_TASK_UNQUOTED, cli->words[i]);
    said->any = true;
    said->task = cli->words[i];
  }
  if (said->any && str_blank(said->task)) return cli_usage(cli, T_CLI_TASK_BLANK);
  return check_utf8(cli, said->task, str_of(text_raw(T_CLI_THE_TASK, cli->lang)));
}

int task_read(struct cli *cli, struct str *task, int *signum) {
  struct said said;
  struct buf data;
  *signum = 0;
  int exit = read_words(cli, &said);
  if (exit) return exit;
  buf_init(&data, STDIN_BYTES_MAX + 65537);
  exit = read_stdin(cli, &data, said.any, said.insists, signum);
  if (!exit) exit = check_utf8(cli, buf_str(&data), STR("stdin"));
  if (!exit && !said.any && str_blank(buf_str(&data))) exit = cli_usage(cli, T_CLI_TASK_NONE);
  if (!exit && said.any)
    exit = join(cli, said.task, buf_str(&data), task);
  else if (!exit && !arena_str(&cli->arena, buf_str(&data), task))
    exit = cli_no_memory(cli);
  buf_release(&data);
  return exit;
}
