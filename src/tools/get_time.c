/* get_time: the wall clock, in words a model can reckon with. */
#include "tools/call.h"
#include "tools/rows.h"

#include <time.h>

static int run(struct rein_call *call) {
  time_t now = time(NULL);
  struct tm local;
  char day[40], offset[8];
  if (!localtime_r(&now, &local) || !strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &local) ||
      strftime(offset, sizeof offset, "%z", &local) != 5)
    return CALL_FAIL(call, REIN_SYSTEM, T_TOOLS_NO_TIME);
  struct buf b;
  buf_init(&b, sizeof day + sizeof offset + 1);
  buf_fmt(&b, "%s%.3s:%s", day, offset, offset + 3);
  return call_give(call, &b);
}

const struct rein_tool tool_get_time = {
    .name = "get_time",
    .description =
        "Tells the present date and time where the user is. Use it whenever an answer depends on "
        "today's date or the hour; your own idea of the date is out of date. The result is one "
        "line in ISO 8601 with the offset from UTC, such as 2026-11-30T14:03:05+09:00.",
    .schema = "{\"type\":\"object\",\"properties\":{},\"required\":[],"
              "\"additionalProperties\":false}",
    .touches = REIN_TOUCHES_NOTHING,
    .verdict = REIN_ALLOW,
    .polls = true,
    .run = run,
};
