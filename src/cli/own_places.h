/* rein's own places, for the sandbox and the file tools. */
#pragma once

#include "cli/cli.h"

#define OWN_PLACES_MAX 16 /* two folders, a config, a log, a store and what lies beside it */

struct own_places {
  const char *hidden[OWN_PLACES_MAX]; /* folders: neither read nor written; NULL at the end */
  const char *kept[OWN_PLACES_MAX];   /* not written; a folder ends with a slash */
  size_t hidden_n, kept_n;
};

/* In cli->arena; false: no memory. */
bool own_places(struct cli *cli, struct own_places *o);
