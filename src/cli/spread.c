/* Quantiles by nearest rank, so that each is a run's own number: see spread.h. */
#include "cli/spread.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t rank(const int64_t *sorted, size_t count, size_t percent) {
  size_t at = (count * percent + 99) / 100;
  return sorted[at > 0 ? at - 1 : 0];
}

struct spread spread_of(int64_t *values, size_t count) {
  struct spread s = {.count = count};
  if (count == 0) return s;
  qsort(values, count, sizeof *values, compare);
  s.least = values[0];
  s.quarter = rank(values, count, 25);
  s.half = rank(values, count, 50);
  s.three_quarters = rank(values, count, 75);
  s.nine_tenths = rank(values, count, 90);
  s.most = values[count - 1];
  double wide = (double)s.most - (double)s.least;
  for (size_t i = 0; i < count; i++) {
    double part = wide > 0 ? ((double)values[i] - (double)s.least) / wide : 0;
    size_t at = (size_t)(part * SPREAD_BARS);
    s.bars[at < SPREAD_BARS ? at : SPREAD_BARS - 1]++;
  }
  return s;
}

int64_t spread_limit(const struct spread *spread, int64_t unit) {
  static const int64_t steps[] = {10, 15, 20, 25, 30, 40, 50, 60, 80, 100};
  const size_t last = sizeof steps / sizeof *steps - 1;
  if (spread->nine_tenths > INT64_MAX / 4) return INT64_MAX;
  int64_t need = (spread->nine_tenths + spread->nine_tenths / 2 + unit) / unit;
  if (need < 10) return need * unit;
  int64_t scale = 1;
  while (need > 100 * scale)
    scale *= 10;
  for (size_t i = 0; i < last; i++)
    if (steps[i] * scale >= need) return steps[i] * scale * unit;
  return steps[last] * scale * unit;
}

size_t spread_above(const int64_t *sorted, size_t count, int64_t limit) {
  size_t n = 0;
  while (n < count && sorted[count - 1 - n] > limit)
    n++;
  return n;
}
