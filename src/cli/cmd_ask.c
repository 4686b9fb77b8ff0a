/* rein ask: one request, no tools, no loop. */
#include "cli/cmd_run.h"

static int run(struct cli *cli) {
  return run_task(cli, SETUP_BARE);
}

const struct command command_ask = {
    .name = "ask",
    .summary = T_CLI_CMD_ASK,
    .usage = "[options] \"question\"",
    .takes = TAKES_OF_RUNS,
    .configured = true,
    .run = run,
};
