/* --dry-run: what would be sent, and under which rules. Nothing is. */
#pragma once

#include "cli/setup.h"

/* Prints it, as text or as one object; the exit code. */
int dry_run(struct cli *cli, struct setup *setup, struct str task);
