/* The longest text that every match of a pattern holds. */
#pragma once

#include "base/buf.h"
#include "regex/tree.h"

/* Longer ones do not find faster. */
#define LITERAL_BYTES_MAX 128

/* Appends it to *out (nothing when there is none); only for trees that do not
 * ignore case. Failures stay in out. */
void literal_find(const struct tree *tree, struct buf *out);
