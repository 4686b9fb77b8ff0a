/* One run at the terminal: a loop, a driver, and everything that watches. */
#pragma once

#include "cli/setup.h"

/* Carries `task` to its outcome and tells of it; the exit code. */
int session_run(struct cli *cli, struct setup *setup, struct str task);
/* The same for a run of the past, which is handed over; words empty: as it stood. */
struct going_on;
int session_go_on(struct cli *cli, struct setup *setup, struct going_on *on, struct str words);
/* Tells of an end before there was a run (memory, a signal): the object where
 * JSON is wanted, whose exit code is returned. `reason` is said already. */
int session_none(struct cli *cli, enum rein_outcome outcome, int signum);

enum output { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_STREAM };
enum output session_output(const struct cli *cli);
