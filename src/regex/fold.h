/* What JavaScript's i flag (without u) takes for equal: each UTF-16 unit has
 * one folded form, and two units are equal when their forms are. Pattern and
 * subject are both folded, so PCRE2 never ignores case itself. */
#pragma once

#include <stdint.h>

/* Fills 65,536 entries; each form folds to itself. */
void fold_fill(uint16_t *fold);
