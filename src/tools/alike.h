/* Why a text was not found: where it would stand, were it not for blanks, line
 * ends, a Unicode form, quotation marks or the case of letters. For the sentence
 * that says so; nothing is ever changed by likeness.
 */
#pragma once

#include "base/buf.h"
#include "text/text.h"

/* The id of a sentence with {0} the line, *line from 1; T_NONE: nothing is like
 * it. REIN_MEMORY alone is an error. */
enum rein_code alike_find(struct str text, struct str old, enum text_id *why, int64_t *line)
    REIN_CHECKED;
