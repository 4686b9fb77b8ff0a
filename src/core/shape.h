/* What the model is told of a result: cut to size, mended, never empty. */
#pragma once

#include "base/buf.h"

#include <rein.h>

#define ERROR_POINTS_MAX 200    /* code points of an error, the mark included */
#define RESULT_POINTS_MAX 30000 /* code points of a result: head and tail */

/* The first line that is not blank, at most 200 code points, cut between
 * graphemes with the mark " …". */
void shape_error(struct buf *out, struct str raw);
/* The text, or its head and tail with a notice between that says how much is
 * left out; empty becomes "(no output)". */
void shape_result(struct buf *out, struct str raw, enum rein_lang lang);
/* Head and tail of well-formed text that has more than `most` code points, and the notice. */
void shape_cut(struct buf *out, struct str text, size_t most, enum rein_lang lang);
