/* The JSON that an event of a stream carries, whatever wire it is of. */
#pragma once

#include "json/json.h"
#include "rpc/sse.h"
#include "text/text.h"
#include "wire/draft.h"

typedef void (*payload_fn)(struct draft *draft, struct str name, const struct json *doc);

/* Hands the event's object to `read`. Padding (blanks, "[DONE]", comments that
 * a gateway wrapped as data) is left out, all else that is no object fails the
 * draft as garbled. */
void payload_read(struct draft *draft, const struct sse_event *event, payload_fn read);
bool payload_is_done(const struct sse_event *event); /* "[DONE]" */
/* A member's text; empty when it is not there, or no string. */
static inline struct str payload_text(const struct json *object, const char *key) {
  return json_text(json_get(object, key));
}
/* A sentence of ours as the draft's fault. */
void payload_fail(struct draft *draft, enum fault_kind kind, enum text_id sentence,
                  struct str value);
/* An error that the document holds, its class and its words; false: none. */
bool payload_error(struct draft *draft, const struct json *doc);
