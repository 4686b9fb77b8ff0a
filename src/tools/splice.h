/* Where a piece of text stands in another, and the text with a new one in its
 * place: edit_file's search and replace. Works on text without a byte order mark.
 *
 * A line end in `old` (LF) stands for LF or CRLF, so that what was read from a
 * file with CRLF is found again; `new` takes the line ends of the place it goes
 * to. All else is equal byte for byte, and nothing in `new` is a pattern.
 */
#pragma once

#include "base/buf.h"

#define SPOTS_MAX 100000 /* places changed by one call */
#define SPOTS_SHOWN 100  /* found of an `old` that should stand once */

struct spot {
  size_t at, n; /* in the text */
  int64_t line; /* from 1 */
};

struct spots {
  struct spot *list;
  size_t count, room;
  bool overlap; /* two of them share bytes */
  bool more;    /* than the most that were asked for */
};

/* All places, in order, overlapping ones too; at most `most`. `old` is not empty.
 * REIN_MEMORY. Release them in any case. */
enum rein_code spots_find(struct str text, struct str old, size_t most, struct spots *spots)
    REIN_CHECKED;
void spots_release(struct spots *spots);
/* The text with `new` at each place (which do not overlap). */
void splice(struct buf *out, struct str text, const struct spots *spots, struct str new);
/* `new` with the line ends that it takes at this place. */
void splice_new(struct buf *out, struct str text, const struct spot *spot, struct str new);
