/* Rows that are not built have a name, a verdict and what they take: enough to
 * judge a call, not to make one. */
#include "cli/named_rows.h"

#include "base/str.h"
#include "tools/tools.h"

static const struct rein_tool to_come[] = {
    {.name = "http_get", .touches = REIN_OUTSIDE, .verdict = REIN_ASK, .urls = "url"},
    {.name = "http_post", .touches = REIN_OUTSIDE, .verdict = REIN_ASK, .urls = "url"},
};

size_t named_rows(struct rein_tool rows[NAMED_ROWS_MAX]) {
  size_t n = 0;
  for (; builtin_tools[n] && n < NAMED_ROWS_MAX; n++)
    rows[n] = *builtin_tools[n];
  for (size_t i = 0; i < sizeof to_come / sizeof *to_come && n < NAMED_ROWS_MAX; i++) {
    bool built = false;
    for (size_t k = 0; k < n && !built; k++)
      built = str_is(str_of(rows[k].name), to_come[i].name);
    if (!built) rows[n++] = to_come[i];
  }
  return n;
}
