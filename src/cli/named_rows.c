/* Rows that are not built have a name, a verdict and what they take: enough to
 * judge a call, not to make one. */
#include "cli/named_rows.h"

static const struct rein_tool to_come[] = {
    {.name = "http_get", .touches = REIN_OUTSIDE, .verdict = REIN_ASK, .urls = "url"},
    {.name = "http_post", .touches = REIN_OUTSIDE, .verdict = REIN_ASK, .urls = "url"},
};

size_t named_rows(const struct cli *cli, struct rein_tool rows[ROWS_MAX]) {
  size_t n = packs_rows(cli, rows);
  for (size_t i = 0; i < sizeof to_come / sizeof *to_come && n < ROWS_MAX; i++) {
    bool built = false;
    for (size_t k = 0; k < n && !built; k++)
      built = str_is(str_of(rows[k].name), to_come[i].name);
    if (!built) rows[n++] = to_come[i];
  }
  return n;
}
