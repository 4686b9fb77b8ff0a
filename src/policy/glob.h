/* Patterns of rules against texts of calls. `*` stops at a slash, `**` crosses
 * it, and `**` with a slash behind it also stands for no folder at all; all
 * else is itself.
 *
 * A text may hold ANY_TEXT, a byte that stands for any text at all: what a
 * shell will put there is not known. Then the answer is whether it could match.
 * Costs at most length of the text times length of the pattern.
 */
#pragma once

#include "base/str.h"

#define ANY_TEXT '\0'     /* no path, host or word can hold this byte */
#define PATTERN_MAX 512   /* bytes; longer is an accident */
#define MATCHED_MAX 65536 /* bytes of a text; above it nothing is allowed, all is denied */

enum glob_star {
  GLOB_PATH, /* stars as above */
  GLOB_FLAT, /* `*` crosses too: hosts, and options */
};

bool glob_fits(struct str pattern, struct str text, enum glob_star star);
bool glob_is_plain(struct str pattern); /* without a star */
