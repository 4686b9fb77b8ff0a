/* rein fork: a new run that begins as a copy of another, up to one of its records. */
#include "cli/command.h"
#include "cli/going_on.h"

/* ID@SEQ, where a file's name may hold an @ of its own. */
static int split(struct cli *cli, struct str word, struct str *from, size_t *count) {
  struct str number;
  int64_t n;
  *from = word;
  *count = 0;
  if (!str_split_last(word, '@', from, &number)) return 0;
  if (!str_to_num(number, &n) || n < 1) return cli_usage(cli, T_CLI_FORK_SEQ, word);
  *count = (size_t)n;
  return 0;
}

static int run(struct cli *cli) {
  struct going_on on = {0};
  struct str from;
  size_t count;
  if (cli->word_count == 0) return cli_usage(cli, T_CLI_NO_RUN_NAMED, STR("fork"));
  int exit = split(cli, cli->words[0], &from, &count);
  if (exit) return exit;
  for (size_t i = 1; i < cli->word_count; i++)
    cli->words[i - 1] = cli->words[i];
  cli->word_count--;
  exit = going_on_open(cli, &on);
  if (!exit) exit = going_on_fork(cli, from, count, &on);
  if (!exit) cli_say(cli, T_CLI_FORKED, on.run, from);
  if (!exit) exit = going_on_carry(cli, &on);
  going_on_release(&on);
  return exit;
}

const struct command command_fork = {
    .name = "fork",
    .summary = T_CLI_CMD_FORK,
    .usage = "ID[@SEQ]|FILE[@SEQ] [options] [\"text\"]",
    .takes = TAKES_TO_GO_ON,
    .adds = TAKES(MAX_TURNS) | TAKES(TOKEN_BUDGET) | TAKES(COST_LIMIT) | TAKES(TIME_LIMIT),
    .configured = true,
    .run = run,
};
