/* Spreads the table of foldings, which is kept as runs, over all units. The
 * table is written by tests/regex/fold_table.mjs and compared with a JavaScript
 * engine by tests/regex/test_node.py.
 */
#include "regex/fold.h"

#include "regex/set.h"

/* From `from` on every `step`-th unit up to `to` folds to itself plus delta. */
static const struct {
  uint16_t from, to, step;
  int32_t delta;
} runs[] = {
#include "regex/fold.def"
};

void fold_fill(uint16_t *fold) {
  for (uint32_t u = 0; u < UNITS_ALL; u++)
    fold[u] = (uint16_t)u;
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
    for (uint32_t u = runs[i].from; u <= runs[i].to; u += runs[i].step)
      fold[u] = (uint16_t)((int32_t)u + runs[i].delta);
}
