/* The host of a URL, as a rule sees it and as curl will: what is spelled so that
 * the two could differ is not understood, and then no rule allows it.
 */
#pragma once

#include "base/arena.h"

struct url_host {
  struct str name; /* lower case, without the last dot; empty: not understood */
  struct str port; /* the scheme's own where none is written */
};
/* Borrows from the arena. False: no memory. */
bool host_of_url(struct arena *arena, struct str url, struct url_host *host);
/* "api.notion.com", "*.example.com", "localhost:8080"; a pattern without a port
 * is for each. `wide`: a host that is not understood counts as a match. */
bool host_fits(struct str pattern, const struct url_host *host, bool wide);
