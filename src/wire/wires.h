/* The wires by name. Adding one is adding a row here and a file beside it. */
#pragma once

#include "core/wire.h"

extern const struct wire wire_anthropic;

extern const struct wire *const wires[]; /* NULL at the end */
const struct wire *wire_by_name(struct str name); /* NULL none */
