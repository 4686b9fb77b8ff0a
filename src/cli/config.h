/* The config: JSON with comments, in the user's config folder or where --config
 * says. A flag beats it; it beats the defaults. */
#pragma once

#include "cli/cli.h"

/* Reads it into the options that no flag set, and the policy into
 * cli->policy. 0, or the exit code after a sentence was said. */
int config_load(struct cli *cli);
