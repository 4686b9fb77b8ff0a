/* A run of the past, taken to go on: what resume and fork have in common.
 *
 *   struct going_on on;
 *   int exit = going_on_take(cli, name, &on);     // or going_on_fork
 *   if (!exit) exit = going_on_carry(cli, &on);   // words: cli->words
 *   going_on_release(&on);                        // in any case
 */
#pragma once

#include "cli/cli.h"
#include "driver/replay.h"
#include "store/store.h"

struct going_on {
  struct loop *loop;
  struct store *store;
  struct str run;                   /* its name, in the arena */
  struct journal *journal;          /* to be written; NULL: handed over */
  struct replay replay;             /* of it; empty: handed over */
  const struct rein_limits *limits; /* new ones; NULL: as they were */
  struct rein_limits room;
};

/* Each: 0, or the exit code after a sentence was said. */
int going_on_take(struct cli *cli, struct str run, struct going_on *on);
/* A new run of the first `count` records (0: all) of `from`, a run's name or a
 * file of exported lines. */
int going_on_fork(struct cli *cli, struct str from, size_t count, struct going_on *on);
/* A journal to read, by a run's name or a file's path (it has a slash or ends in
 * .jsonl). What a file lost is said. */
int going_on_look(struct cli *cli, struct store *store, struct str from, struct journal **journal);
/* Opens the run that the command names, hands its journal to `use`, and closes it. */
int going_on_read(struct cli *cli, int (*use)(struct cli *cli, struct journal *journal));
int going_on_open(struct cli *cli, struct going_on *on); /* loop and store alone */
/* Says an error about a store or a run; the exit code, and the object of JSON. */
int going_on_fail(struct cli *cli, const struct err *err);
int going_on_carry(struct cli *cli, struct going_on *on);
void going_on_release(struct going_on *on);
/* The run that a command names: by name, or (--last) the newest. *rest: how many
 * words were taken for it. */
int going_on_name(struct cli *cli, struct store *store, struct str *run, size_t *taken);
