/* Between load.c and check.c. */
#pragma once

#include "pack/pack.h"
#include "text/text.h"

/* What a tool's templates may name, and where. `schema`: of its arguments. */
enum rein_code pack_check_tool(struct arena *arena, const struct pack_tool *tool,
                               const struct json *schema, struct err *err) REIN_CHECKED;
