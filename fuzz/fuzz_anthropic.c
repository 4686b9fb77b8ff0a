/* An answer of the Messages API. */
#include "wire/wires.h"

static const struct wire *const fuzz_wire = &wire_anthropic;

#include "answer.h"
