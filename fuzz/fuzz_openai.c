/* An answer of the Responses API. */
#include "wire/wires.h"

static const struct wire *const fuzz_wire = &wire_openai;

#include "answer.h"
