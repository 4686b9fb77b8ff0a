/* What a refusal blames, of the optional things that a request holds. */
#pragma once

#include "core/wire.h"
#include "wire/errors.h"

/* The change that would make the same request succeed; NONE where the table knows none. */
enum rewrite refused_part(const struct wire *wire, const struct error_words *words);
