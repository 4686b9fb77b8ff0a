/* Arguments against a row's schema: required, types, enum; null for an absent
 * optional is dropped. The full validator replaces the inside, not the face.
 */
#pragma once

#include "json/json.h"
#include "text/text.h"

/* Checks `args` (an object) against `schema`. On success *clean holds the
 * bytes to run: the source itself, or a copy without nulls that stood for
 * "absent" (appended to `out`). REIN_INPUT: err names the pointer, what was
 * expected and what came. */
enum rein_code schema_check(const struct json *schema, const struct json *args, struct buf *out,
                            struct str *clean, struct err *err) REIN_CHECKED;
/* A schema that can be sent: an object with type "object". Names what is wrong. */
enum rein_code schema_usable(struct str tool, const struct json *schema, struct err *err)
    REIN_CHECKED;
