/* Text for a person who decides by it: nothing in it can move the cursor, turn
 * the direction of writing, or take no room on the screen. */
#pragma once

#include "base/buf.h"

#include <rein.h>

/* Appends s with everything unseen spelled \u{…}; a line end as well, unless
 * `margin` is given, which then begins each further line. */
void reveal(struct buf *out, struct str s, struct str margin);
/* The same, cut in the middle to about `most` characters, with a mark that says
 * how many are left out. True when something was left out. */
bool reveal_cut(struct buf *out, struct str s, size_t most, struct str margin, enum rein_lang lang);
/* For a line of the log: in one line, at most `columns` wide, \n for line ends. */
void reveal_line(struct buf *out, struct str s, size_t columns);
