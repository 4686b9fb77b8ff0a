/* HTTP dates (RFC 9110 §5.6.7), for a retry-after that names a moment. */
#pragma once

#include "base/str.h"

/* Any of the three forms, always GMT; `now_s` settles the century of a year of
 * two digits. Seconds since 1970; false on anything else. */
bool http_date(struct str text, int64_t now_s, int64_t *seconds);
