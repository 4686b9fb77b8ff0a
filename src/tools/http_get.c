/* http_get: one page. The exchange is outside.c's. */
#include "tools/outside.h"
#include "tools/rows.h"

static int run(struct rein_call *call) {
  return outside_run(call, &(struct outside_request){.method = "GET"});
}

const struct rein_tool tool_http_get = {
    .name = "http_get",
    .description =
        "Fetches one address on the web with GET. Use it to read a page or an API whose address "
        "you know; it cannot search. The result is the status, the content type and the size in "
        "one line, then the text (at most 2 MiB); binary content is named by kind and size, not "
        "shown. Redirects are not followed: the target is named, ask for it in another call. No "
        "cookies or keys are sent, and addresses inside a private network or on this machine are "
        "refused unless the user's policy names them.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"url\":{\"type\":\"string\",\"description\":\"Whole address with http:// or "
              "https://, for example https://example.com/page?q=1; no user name in it.\"}},"
              "\"required\":[\"url\"],\"additionalProperties\":false}",
    .touches = REIN_OUTSIDE,
    .urls = "url",
    .verdict = REIN_ASK,
    .limit_ms = 60000,
    .run = run,
};
