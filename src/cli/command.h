/* The commands of the program: one file each (cmd_NAME.c), one list.
 *
 *   const struct command command_tools = {
 *     .name = "tools", .summary = T_CLI_CMD_TOOLS, .usage = "[options]",
 *     .takes = TAKES(LANG) | TAKES(OUTPUT), .run = run };
 */
#pragma once

#include "cli/cli.h"

#define TAKES(id) (UINT64_C(1) << OPTION_ID_##id)
#define TAKES_ALWAYS (TAKES(HELP) | TAKES(VERSION) | TAKES(LANG))

struct command {
  const char *name;
  int summary;                 /* enum text_id */
  const char *usage;           /* what stands behind the name */
  uint64_t takes;              /* options, beside TAKES_ALWAYS */
  uint64_t adds;               /* limits that may be given as +N: to what the run has */
  bool configured;             /* reads the config before it runs */
  int (*run)(struct cli *cli); /* the exit code */
};

extern const struct command *const commands[]; /* NULL at the end; the first is the default */
const struct command *command_by_name(struct str name); /* NULL none */
/* A command that is meant to come and is not built. */
bool command_is_later(struct str name);

/* What a run of the past takes. */
#define TAKES_TO_GO_ON                                                                             \
  (TAKES(MODEL) | TAKES(BASE_URL) | TAKES(ROOT) | TAKES(MAX_TURNS) | TAKES(TOKEN_BUDGET) |         \
   TAKES(COST_LIMIT) | TAKES(WRAP_UP) | TAKES(TIME_LIMIT) | TAKES(NO_PROGRESS) |                   \
   TAKES(COMPACT_AT) | TAKES(CONTEXT_WINDOW) | TAKES(IDLE_LIMIT) | TAKES(CONFIG) | TAKES(OUTPUT) | \
   TAKES(LOG) | TAKES(STORE) | TAKES(QUIET) | TAKES(PACK))

extern const struct command command_resume, command_runs, command_show, command_replay,
    command_fork, command_stats;
extern const struct command command_run, command_ask, command_tools, command_lint, command_script,
    command_help, command_policy, command_models, command_pack, command_init;
