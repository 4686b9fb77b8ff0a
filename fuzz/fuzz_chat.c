/* An answer of Chat Completions. */
#include "wire/wires.h"

static const struct wire *const fuzz_wire = &wire_chat;

#include "answer.h"
