/* What a person allowed for good, outside of any project: exact calls per folder,
 * and configs of folders that are trusted as they are. One file, kept.json beside
 * the runs; a config is kept whole, so that any change of it is seen.
 *
 *   struct kept kept;
 *   int exit = kept_load(cli, &kept);
 *   exit = kept_grant(cli, root, tool, args);
 */
#pragma once

#include "cli/cli.h"

#define KEPT_MAX 10000 /* entries: each was a keystroke of a person */
#define KEPT_BYTES_MAX (32u << 20)

struct kept_entry {
  bool trust;            /* a config, else a call */
  struct str root;       /* the folder, by its real path */
  struct str tool, args; /* of a call */
  struct str content;    /* of a config */
};

struct kept {
  struct str path; /* of the file; it need not be there */
  struct kept_entry *v;
  size_t n;
};

/* All of these: 0, or the exit code after a sentence was said. */
int kept_load(struct cli *cli, struct kept *kept);
int kept_grant(struct cli *cli, struct str root, struct str tool, struct str args);
int kept_trust(struct cli *cli, struct str root, struct str content);
/* The entry `number` (from 1), or all with 0. */
int kept_revoke(struct cli *cli, size_t number);
