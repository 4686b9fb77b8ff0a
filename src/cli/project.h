/* A folder's own config, .rein/config.json below the root: its policy narrows
 * what the user's says, and may widen it once the user trusts it as it is. */
#pragma once

#include "cli/kept.h"
#include "cli/setup.h"

/* What stands there; empty where nothing does. 0, or the exit code. */
int project_read(struct cli *cli, const struct setup *setup, struct str *text);
bool project_trusted(const struct kept *kept, struct str root, struct str text);
/* Adds its rules, and the calls allowed in this folder, to the policy. */
int project_apply(struct cli *cli, struct setup *setup);
