/* Everything that is printed from the tables: --help here; the man page, the
 * config's schema and the completions in pages.c. */
#pragma once

#include "cli/command.h"

/* --help of a command; of the default command it lists all commands as well. */
int help_print(struct cli *cli, const struct command *command);

/* True when --help and the pages show the option for the command. */
bool help_shows(const struct command *command, enum option_id id);

/* docs/rein.1, docs/config.schema.json, docs/completions/rein.SHELL. */
void page_man(struct buf *out);
void page_schema(struct buf *out);
void page_completion(struct buf *out, struct str shell);
