/* The packs that --pack or the config names: read once, checked whole, their tools as
 * rows beside the built-in ones.
 */
#pragma once

#include "cli/cli.h"
#include "tools/declared.h"

#define ROWS_MAX 256 /* built-in tools and those of packs: no model chooses well among more */

/* Reads them. 0, or the exit code after a sentence was said. */
int packs_load(struct cli *cli);
/* All rows there are, built-in ones first; at most ROWS_MAX. Borrowed from the cli. */
size_t packs_rows(const struct cli *cli, struct rein_tool *rows);
/* That the secrets of the packs whose tools are in use are set. */
int packs_check_secrets(struct cli *cli, const struct rein_tool *rows, size_t count);
/* One pack by a file's path, or by the name of one that comes with rein. */
int packs_read(struct cli *cli, struct str name, struct pack **pack);
int packs_unknown(struct cli *cli, struct str name); /* says so, and which there are; 2 */
void packs_release(struct cli *cli);
