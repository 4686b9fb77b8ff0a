/* The status line: the valves filling, while a run is under way. */
#pragma once

#include "cli/cli.h"
#include "driver/driver.h"

struct status {
  struct cli *cli;
  struct run *run;
  struct loop *loop;
  struct loop_timer *timer; /* NULL: no status line */
  struct str doing;         /* a word: who is waited for; static or of the run's rows */
};

/* On a terminal that can show it; else the functions below do nothing. */
void status_open(struct status *status, struct cli *cli, struct loop *loop);
void status_close(struct status *status);
/* What goes on from here; draws at once. Empty: nothing, and no line. */
void status_doing(struct status *status, struct run *run, struct str doing);
/* The line's text, for a run that has used this much of its limits. */
void status_put(struct buf *out, enum rein_lang lang, const struct agent_stats *stats,
                const struct rein_limits *limits, int64_t ms, struct str doing);
