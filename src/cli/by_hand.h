/* rein tools test TOOL JSON: one call of one tool, without a model: what was sent
 * (secrets masked), what came back, and what the model would read.
 */
#pragma once

#include "cli/cli.h"

int by_hand(struct cli *cli); /* the exit code: 0, or 3 where the tool answers with an error */
