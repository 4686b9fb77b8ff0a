/* An answer's bytes as text for the model: decoded, or named by kind.
 */
#pragma once

#include "tools/call.h"

struct outside_body {
  struct str type; /* the content-type header; empty: none came */
  struct str bytes;
  bool cut; /* there was more */
};

/* Appends the notices (each on a line of its own), an empty line and the text.
 * The text comes last, so nothing in it can be taken for a notice. */
enum rein_code outside_body(const struct rein_call *call, const struct outside_body *body,
                            struct buf *out) REIN_CHECKED;
