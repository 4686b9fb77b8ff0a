/* The tools that a policy may name: the built-in ones, and those that are to
 * come, so that a rule for one of them is no slip and `rein policy explain`
 * judges its calls already. */
#pragma once

#include <rein.h>
#include <stddef.h>

#define NAMED_ROWS_MAX 64

/* Fills rows[0..n) and returns n. */
size_t named_rows(struct rein_tool rows[NAMED_ROWS_MAX]);
