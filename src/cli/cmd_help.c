/* rein help [COMMAND]; and, for the project's own pages, --man, --schema and
 * --completion SHELL. */
#include "cli/command.h"
#include "cli/help.h"

#define PAGE_BYTES_MAX (1u << 20)

static int print_page(struct cli *cli, void (*page)(struct buf *out)) {
  struct buf out;
  buf_init(&out, PAGE_BYTES_MAX);
  page(&out);
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

static int print_completion(struct cli *cli, struct str shell) {
  struct buf out;
  buf_init(&out, PAGE_BYTES_MAX);
  page_completion(&out, shell);
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

static int run(struct cli *cli) {
  if (cli_value(cli, OPTION_ID_MAN)->num) return print_page(cli, page_man);
  if (cli_value(cli, OPTION_ID_SCHEMA)->num) return print_page(cli, page_schema);
  if (cli_value(cli, OPTION_ID_COMPLETION)->from)
    return print_completion(cli, cli_value(cli, OPTION_ID_COMPLETION)->text);
  if (!cli->word_count) return help_print(cli, commands[0]);
  const struct command *command = command_by_name(cli->words[0]);
  if (command) return help_print(cli, command);
  enum text_id id = command_is_later(cli->words[0]) ? T_CLI_LATER_COMMAND : T_CLI_UNKNOWN_COMMAND;
  return cli_usage(cli, id, cli->words[0]);
}

const struct command command_help = {
    .name = "help",
    .summary = T_CLI_CMD_HELP,
    .usage = "[COMMAND]",
    .takes = TAKES(MAN) | TAKES(SCHEMA) | TAKES(COMPLETION),
    .run = run,
};
