/* The tools that a policy may name: those there are, and those that are to
 * come, so that a rule for one of them is no slip and `rein policy explain`
 * judges its calls already. */
#pragma once

#include "cli/packs.h"

/* Fills rows[0..n) and returns n. */
size_t named_rows(const struct cli *cli, struct rein_tool rows[ROWS_MAX]);
