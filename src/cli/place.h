/* Where runs are kept: --store, else rein/runs.db in the user's state folder. */
#pragma once

#include "cli/cli.h"
#include "store/store.h"

/* Opens it; NULL with --no-store. 0, or the exit code after a sentence was said:
 * 2 for what the user gave, 23 where the store fails. */
int place_open(struct cli *cli, struct loop *loop, struct store **store);
