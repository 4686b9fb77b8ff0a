/* Between scan.c, which finds lines in a block, and scan_read.c, which fills it. */
#pragma once

#include "tools/scan.h"

#define SCAN_WIDE_ROOM (32u << 10) /* of UTF-16, before it becomes UTF-8 */

/* Fills the block behind s->n with at least one byte, or sets eof; error is set
 * where reading failed. False: no memory. */
bool scan_read(struct scan *s);
/* The file begins with UTF-16's mark: reads it anew, as UTF-8. */
void scan_go_wide(struct scan *s, bool big);
