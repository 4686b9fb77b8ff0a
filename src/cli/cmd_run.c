/* rein [run]: a task carried to its outcome, with tools. */
#include "cli/cmd_run.h"

#include "cli/dry_run.h"
#include "cli/session.h"
#include "cli/task.h"

int run_task(struct cli *cli, enum setup_kind kind) {
  struct setup setup = {0};
  struct str task;
  int signum = 0;
  if (cli_value(cli, OPTION_ID_MODEL)->from == FROM_DEFAULT) return cli_usage(cli, T_CLI_NO_MODEL);
  int exit = setup_make(cli, kind, &setup);
  if (!exit) exit = task_read(cli, &task, &signum);
  if (signum)
    exit = session_none(cli, REIN_OUTCOME_CANCELLED, signum);
  else if (exit == 1)
    exit = session_none(cli, REIN_OUTCOME_INTERNAL, 0);
  else if (!exit && cli_value(cli, OPTION_ID_DRY_RUN)->num)
    exit = dry_run(cli, &setup, task);
  else if (!exit)
    exit = session_run(cli, &setup, task);
  setup_release(&setup);
  return exit;
}

static int run(struct cli *cli) {
  return run_task(cli, SETUP_TOOLS);
}

const struct command command_run = {
    .name = "run",
    .summary = T_CLI_CMD_RUN,
    .usage = "[options] \"task\"",
    .takes = TAKES_OF_RUNS | TAKES(WIRE) | TAKES(STRICT) | TAKES(SKIP_BAD_TOOLS) | TAKES(ROOT) |
             TAKES(TOOLS) | TAKES(MAX_TURNS) | TAKES(NO_PROGRESS) | TAKES(POLICY) | TAKES(SANDBOX) |
             TAKES(EXEC_NETWORK) | TAKES(PACK),
    .configured = true,
    .run = run,
};
