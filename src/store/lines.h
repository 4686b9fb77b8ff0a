/* A journal that was written out as lines of JSON (rein show, --output stream-json)
 * and is read back: torn ends are cut off, NULs are passed over, records that were
 * glued together are parted. Nothing is passed over unsaid: see the members.
 */
#pragma once

#include "store/journal.h"

struct lines_found {
  size_t records;    /* that can be used: those before the first damage */
  size_t torn_bytes; /* of an incomplete end; 0: it is whole */
  size_t nul_bytes;  /* passed over */
  size_t damaged;    /* line, from 1, that no record can be made of; 0: none */
};

/* The journal is in memory. */
enum rein_code lines_open(struct str text, struct journal **journal, struct lines_found *found,
                          struct err *err) REIN_CHECKED;
