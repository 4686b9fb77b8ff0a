/* What the two halves of the Messages API share: anthropic_write.c writes
 * requests, anthropic_read.c reads streams. */
#pragma once

#include "core/wire.h"

#define USER_HEAD STR("{\"role\":\"user\",\"content\":[")
#define ASSISTANT_HEAD STR("{\"role\":\"assistant\",\"content\":[")

void anthropic_on_event(struct draft *draft, const struct sse_event *event);
