/* The wires by name. Adding one is adding a row here and a file beside it. */
#pragma once

#include "core/wire.h"

extern const struct wire wire_anthropic;
extern const struct wire wire_openai; /* Responses */
extern const struct wire wire_chat;   /* Chat Completions, whoever serves it */

extern const struct wire *const wires[];          /* NULL at the end */
const struct wire *wire_by_name(struct str name); /* NULL none */
/* The address of requests: the base (empty: the wire's own) and the wire's
 * path. A base is taken as the official SDKs take it; one that already ends
 * with the path, or with its "/v1", is joined without doubling it. */
void wire_url(struct buf *out, const struct wire *wire, struct str base);
