/* The cache meter of `rein show`: per request how much of its prompt was read from the
 * provider's cache, written to it and fresh, and what broke a prefix: the first place
 * where a request differs from what the last one said, and the rewrite before it. */
#pragma once

#include "base/buf.h"
#include "store/journal.h"

/* Appends a line per request, made again from the journal. */
enum rein_code meter_put(struct buf *out, enum rein_lang lang, struct journal *journal,
                         struct err *err) REIN_CHECKED;
