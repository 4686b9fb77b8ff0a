/* The list of built-in tools: one row each, in tools.c. */
#pragma once

#include <rein.h>

extern const struct rein_tool *const builtin_tools[]; /* NULL at the end */
/* The row by name; NULL none. */
const struct rein_tool *builtin_tool(const char *name);
