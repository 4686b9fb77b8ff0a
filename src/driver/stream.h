/* What a watch sees, as lines of JSON: --output stream-json and rein.h's hear.
 * Records are lines already; these are the lines between them. No line end.
 *
 *   {"stream":"piece","text":"Hel"}            {"stream":"piece","thinking":"…"}
 *   {"stream":"withdrawn"}
 *   {"stream":"warning","text":"…"}
 *   {"stream":"retry","wait_ms":500,"fault":"overloaded","status":529,"message":"…"}
 */
#pragma once

#include "base/buf.h"
#include "core/fault.h"

void stream_put_piece(struct buf *out, struct str text, bool thinking);
void stream_put_withdrawn(struct buf *out);
void stream_put_warning(struct buf *out, struct str text);
void stream_put_retry(struct buf *out, const struct fault *fault, int64_t wait_ms);
