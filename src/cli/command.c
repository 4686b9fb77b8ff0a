/* The list of commands, and the names that are promised but not built. */
#include "cli/command.h"

const struct command *const commands[] = {&command_run,
                                          &command_resume,
                                          &command_runs,
                                          &command_show,
                                          &command_replay,
                                          &command_fork,
                                          &command_stats,
                                          &command_ask,
                                          &command_tools,
                                          &command_policy,
                                          &command_lint,
                                          &command_pack,
                                          &command_init,
                                          &command_models,
                                          &command_script,
                                          &command_help,
                                          NULL};

static const char *const later[] = {"submit", "worker", "approve", "mcp", NULL};

const struct command *command_by_name(struct str name) {
  for (size_t i = 0; commands[i]; i++)
    if (str_is(name, commands[i]->name)) return commands[i];
  return NULL;
}

bool command_is_later(struct str name) {
  for (size_t i = 0; later[i]; i++)
    if (str_is(name, later[i])) return true;
  return false;
}
