/* Talking, failing and reading files for all commands. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SENTENCE_BYTES_MAX 65536 /* a sentence with a provider's whole error in it */

static void say(struct cli *cli, struct buf *b) {
  if (b->fail)
    screen_talk(&cli->screen, STR("rein: no memory for a sentence"));
  else
    screen_talk(&cli->screen, buf_str(b));
  buf_release(b);
}

void cli_say_args(struct cli *cli, enum text_id id, const struct str *args, size_t n) {
  struct buf b;
  buf_init(&b, SENTENCE_BYTES_MAX);
  buf_lit(&b, "rein: ");
  text_put(&b, cli->lang, id, args, n);
  say(cli, &b);
}

int cli_fail(struct cli *cli, const struct err *err) {
  struct buf b;
  buf_init(&b, SENTENCE_BYTES_MAX);
  buf_lit(&b, "rein: ");
  err_put(&b, cli->lang, err);
  say(cli, &b);
  return err->code == REIN_INPUT ? 2 : 1;
}

void cli_say_at(struct cli *cli, struct str path, const struct err *err) {
  struct buf b, place, why;
  struct num_text line, column;
  buf_init(&b, 2 * SENTENCE_BYTES_MAX);
  buf_init(&place, 256);
  buf_init(&why, SENTENCE_BYTES_MAX);
  buf_lit(&b, "rein: ");
  buf_put(&b, path);
  if (err->line)
    TEXT_PUT(&place, cli->lang, T_CLI_PLACE, str_num(&line, err->line),
             str_num(&column, err->column));
  err_put(&why, cli->lang, err);
  buf_put(&b, err->line ? STR(", ") : STR(": "));
  /* Sentences of the JSON reader begin with the place themselves. */
  if (!str_starts(buf_str(&why), buf_str(&place))) buf_put(&b, buf_str(&place));
  buf_put(&b, buf_str(&why));
  if (why.fail) b.fail = why.fail;
  buf_release(&place);
  buf_release(&why);
  say(cli, &b);
}

int cli_no_memory(struct cli *cli) {
  cli_say(cli, T_CLI_NO_MEMORY);
  return 1;
}

int cli_exit(struct cli *cli, int exit) {
  struct num_text room;
  int signum = cli->screen.signum;
  if (signum && cli->screen.out_errno) cli_say(cli, T_CLI_STDOUT_LEFT, str_num(&room, signum));
  if (signum) return 128 + signum;
  if (!cli->screen.out_errno) return exit;
  cli_say(cli, T_CLI_STDOUT_FAILED, str_of(strerror(cli->screen.out_errno)));
  return 1;
}

int cli_print(struct cli *cli, const struct buf *text) {
  if (text->fail) return cli_no_memory(cli);
  screen_answer(&cli->screen, buf_str(text));
  return cli_exit(cli, 0);
}

/* Reads to the end, or one byte past `max`; the errno, 0 fine. */
static int read_all(int fd, size_t max, struct buf *b) {
  while (b->n <= max) {
    char *room = buf_room(b, 65536);
    if (!room) return ENOMEM;
    ssize_t n = read(fd, room, 65536);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    if (n == 0) return 0;
    buf_grown(b, (size_t)n);
  }
  return EFBIG;
}

enum rein_code cli_read_file(struct cli *cli, struct str path, size_t max, struct str *text,
                             struct err *err) {
  struct str path_z;
  struct num_text room;
  struct buf b;
  enum rein_code code = REIN_OK;
  if (!arena_str(&cli->arena, path, &path_z)) return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  int fd = open(path_z.p, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ERR(err, REIN_INPUT, T_CLI_CANNOT_READ, path, str_of(strerror(errno)));
  buf_init(&b, max + 65537);
  int failed = read_all(fd, max, &b);
  if (failed == EFBIG)
    code = ERR(err, REIN_INPUT, T_CLI_FILE_TOO_BIG, path, str_num(&room, (int64_t)max));
  else if (failed == ENOMEM)
    code = ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  else if (failed)
    code = ERR(err, REIN_INPUT, T_CLI_CANNOT_READ, path, str_of(strerror(failed)));
  else if (!arena_str(&cli->arena, buf_str(&b), text))
    code = ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  buf_release(&b);
  close(fd);
  return code;
}
