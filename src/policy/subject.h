/* What a call is about, as rules see it: the paths, hosts and commands in its
 * arguments. Which arguments those are the row says (rein.h). Borrows from the
 * arguments and the arena.
 */
#pragma once

#include "json/json.h"
#include "policy/host.h"
#include "policy/shell.h"

#include <rein.h>

#define SUBJECT_PARTS_MAX 256 /* paths, or hosts, of one call */

struct subject {
  const struct rein_tool *row;
  struct str tool;
  struct str root; /* absolute; empty: unknown */
  bool writes;
  struct str *paths; /* clean, see path.h */
  size_t path_count;
  struct url_host *hosts;
  size_t host_count;
  struct shell *shells; /* one per command */
  size_t shell_count;
  bool odd; /* an argument is no text where one is wanted, or there are too many */
};

/* REIN_OK or REIN_MEMORY. `args` may be NULL. */
enum rein_code subject_read(struct arena *arena, const struct rein_tool *row,
                            const struct json *args, struct str root, struct subject *subject)
    REIN_CHECKED;
