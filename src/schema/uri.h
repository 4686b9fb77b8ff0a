/* References resolved against a base, as RFC 3986 section 5.2 says. */
#pragma once

#include "base/buf.h"

#define URI_BYTES_MAX 8192 /* longer ones are no address that a person wrote */

/* Appends `ref` resolved against `base`, without its fragment. */
void uri_resolve(struct buf *out, struct str base, struct str ref);
/* What stands behind the first #, or empty. */
struct str uri_fragment(struct str uri);
/* Appends s with %XX decoded; what is no escape stays as it is. */
void uri_decode(struct buf *out, struct str s);
