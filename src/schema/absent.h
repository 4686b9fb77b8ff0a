/* Nulls that stand for "absent": strict modes of providers make every member
 * required, and a model says null for what it leaves out. */
#pragma once

#include "schema/made.h"

/* Where there is one, appends the arguments without them to `out` and sets
 * *dropped. A null is one where the schema names the member, does not require
 * it, and has no null for it. */
enum rein_code absent_drop(struct schema *schema, const struct json *args, struct buf *out,
                           bool *dropped, struct err *err) REIN_CHECKED;
