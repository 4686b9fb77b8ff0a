/* What http_get and http_post share: one exchange with an address that the model
 * chose, and its answer in words. Nothing is followed, nothing of rein's own
 * (keys, cookies, files) goes along, and the place that is really connected to
 * is judged (reach.h).
 *
 *   return outside_run(call, &(struct outside_request){.method = "GET"});
 */
#pragma once

#include "tools/call.h"

/* Borrowed. */
struct outside_request {
  const char *method;
  const char *content_type; /* header line; NULL: no body */
  struct str body;
};

/* Asks the address in the argument `url`, and answers the call. */
int outside_run(struct rein_call *call, const struct outside_request *request);
