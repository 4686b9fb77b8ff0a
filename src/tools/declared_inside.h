/* The inside of declared tools: declared.c makes rows and joins results,
 * declared_http.c makes one request and tries again where that is safe,
 * declared_command.c runs a command or git, pace.c holds requests apart.
 */
#pragma once

#include "pack/select.h"
#include "pack/template.h"
#include "tools/call.h"
#include "tools/declared.h"
#include "tools/pace.h"

#define DECLARED_BODY_MAX (8u << 20)    /* of an answer; services page long before */
#define DECLARED_RESULT_MAX (16u << 20) /* of all pages together */
#define DECLARED_URL_MAX 8192           /* servers take some 8 KiB of a first line */
#define DECLARED_REQUEST_MAX (1u << 20)

/* The row's ctx. */
struct declared_tool {
  const struct pack_tool *tool;
  struct pace *pace;
};

struct answer {
  struct buf headers, body;
  struct json *doc; /* NULL: it is no JSON */
};

/* One request of a tool, tried again where that is safe. `extra`: a member more,
 * of the query or of the body (a page). On REIN_OK the answer is a good one. */
enum rein_code declared_ask(struct rein_call *call, const struct pack_request *request,
                            const struct body_extra *extra, struct answer *answer, struct err *err)
    REIN_CHECKED;
int declared_command(struct rein_call *call);
