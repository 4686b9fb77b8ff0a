/* The numbers of the valves: defaults, checks. */
#pragma once

#include "base/err.h"

#include <rein.h>

#define TURNS_DEFAULT 30
#define TOKENS_DEFAULT 300000
#define COMPACT_AT_DEFAULT 80 /* percent: the summary's own request must still fit */

/* Defaults in place of zeroes, REIN_ZERO resolved; after it every limit is a
 * number >= 0 or REIN_OFF. REIN_INPUT when a number is negative, or when turns,
 * tokens, cost and time are all off. */
enum rein_code limits_fill(struct rein_limits *limits, struct err *err) REIN_CHECKED;
