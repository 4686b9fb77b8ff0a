/* rein init --pack NAME: a skeleton of a pack to fill in, as NAME.json in this folder. A
 * file that is there is never written over. */
#include "cli/command.h"
#include "cli/packs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES_MAX (64u << 10)

/* The schema's own rule for names of packs; upper-case, it names variables. */
static bool is_name(struct str name) {
  if (!name.n || name.n > 32 || name.p[0] < 'a' || name.p[0] > 'z') return false;
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
  }
  return true;
}

static void put_upper(struct buf *out, struct str name) {
  for (size_t i = 0; i < name.n; i++)
    buf_c(out, name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 'a' + 'A') : name.p[i]);
}

/* NAME becomes the name, NAME_ the beginning of a variable; tools get it in front. */
static void put_skeleton(struct buf *out, struct str name) {
  struct str rest = pack_skeleton();
  size_t at;
  while ((at = str_find(rest, STR("NAME"))) < rest.n) {
    buf_put(out, str_part(rest, 0, at));
    rest = str_part(rest, at + 4, SIZE_MAX);
    if (str_starts(rest, STR("_")))
      put_upper(out, name);
    else
      buf_put(out, name);
  }
  buf_put(out, rest);
}

static int write_new(struct cli *cli, const char *path, const struct buf *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) return cli_usage(cli, T_CLI_INIT_THERE, str_of(path));
  bool ok = fd >= 0 && write(fd, text->p, text->n) == (ssize_t)text->n;
  int error = errno;
  if (fd >= 0) close(fd);
  if (!ok) return cli_usage(cli, T_CLI_INIT_FAILED, str_of(path), str_of(strerror(error)));
  cli_say(cli, T_CLI_INIT_MADE, str_of(path));
  return 0;
}

static int run(struct cli *cli) {
  const struct value *named = cli_value(cli, OPTION_ID_PACK);
  struct str name = str_trim(named->text);
  struct buf text, path;
  if (cli->word_count || named->from != FROM_FLAG) return cli_usage(cli, T_CLI_INIT_USAGE);
  if (!is_name(name)) return cli_usage(cli, T_CLI_INIT_NAME, name);
  buf_init(&text, TEXT_BYTES_MAX);
  buf_init(&path, 64);
  put_skeleton(&text, name);
  buf_put(&path, name);
  buf_lit(&path, ".json");
  int exit = text.fail || path.fail ? cli_no_memory(cli) : write_new(cli, buf_z(&path), &text);
  buf_release(&path);
  buf_release(&text);
  return exit;
}

const struct command command_init = {
    .name = "init",
    .summary = T_CLI_CMD_INIT,
    .usage = "--pack NAME",
    .takes = TAKES(PACK),
    .run = run,
};
