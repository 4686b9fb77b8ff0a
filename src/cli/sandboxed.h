/* The sandbox that a run's commands get, by options, config and environment. */
#pragma once

#include "cli/setup.h"

/* Makes setup->sandbox when a tool runs commands, and says in the rows what commands
 * can touch. What this machine cannot give is said, and refused later, call by
 * call. 0, or the exit code after a sentence. */
int setup_sandbox(struct cli *cli, struct setup *setup);
