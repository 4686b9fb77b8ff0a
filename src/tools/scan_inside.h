/* Between scan.c, which finds lines in a block, and scan_read.c, which fills it. */
#pragma once

#include "tools/scan.h"

#define SCAN_WIDE_ROOM (32u << 10) /* of another encoding, before it becomes UTF-8 */
#define SCAN_ROOM_LEAST 64         /* of a block; in less of it nothing is decoded */

/* Fills the block behind s->n with at least one byte, or sets eof; error is set
 * where reading failed. False: no memory. */
bool scan_read(struct scan *s);
/* What stands in the block from `from` on, byte `offset` of the file, is in this
 * encoding: takes it out of the block, to be read anew as UTF-8. */
void scan_decode(struct scan *s, enum encoding encoding, size_t from, size_t offset);
/* Whether what is read is turned into UTF-8. */
static inline bool scan_decodes(const struct scan *s) {
  return s->encoding != ENCODING_UTF8 && s->encoding != ENCODING_OTHER;
}
