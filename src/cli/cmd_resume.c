/* rein resume: a run of the past goes on, with new words or as it stood. */
#include "cli/command.h"
#include "cli/going_on.h"

static int run(struct cli *cli) {
  struct going_on on;
  int exit = going_on_take(cli, STR_NONE, &on);
  if (!exit) exit = going_on_carry(cli, &on);
  going_on_release(&on);
  return exit;
}

const struct command command_resume = {
    .name = "resume",
    .summary = T_CLI_CMD_RESUME,
    .usage = "ID|--last [options] [\"text\"]",
    .takes = TAKES_TO_GO_ON | TAKES(LAST),
    .adds = TAKES(MAX_TURNS) | TAKES(TOKEN_BUDGET) | TAKES(COST_LIMIT) | TAKES(TIME_LIMIT),
    .configured = true,
    .run = run,
};
