/* The spread of a number over many runs, and the limit that it suggests. Knows no run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPREAD_BARS 20 /* of the picture */

struct spread {
  size_t count;
  int64_t least, quarter, half, three_quarters, nine_tenths, most; /* numbers that occurred */
  size_t bars[SPREAD_BARS]; /* how many lie in each part between least and most */
};

/* Sorts the values. None: all is 0. */
struct spread spread_of(int64_t *values, size_t count);
/* Half as much again as nine tenths of the runs need, rounded up to a number of one or two
 * digits and zeros, of this unit. */
int64_t spread_limit(const struct spread *spread, int64_t unit);
/* How many of the sorted values lie above it. */
size_t spread_above(const int64_t *sorted, size_t count, int64_t limit);
