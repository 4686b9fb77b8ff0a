/* What run and ask have in common. */
#pragma once

#include "cli/command.h"
#include "cli/setup.h"

#define TAKES_OF_RUNS                                                                              \
  (TAKES(MODEL) | TAKES(BASE_URL) | TAKES(QUIRKS) | TAKES(SYSTEM) | TAKES(TOKEN_BUDGET) |          \
   TAKES(COST_LIMIT) | TAKES(WRAP_UP) | TAKES(TIME_LIMIT) | TAKES(OUTPUT_LIMIT) |                  \
   TAKES(COMPACT_AT) | TAKES(CONTEXT_WINDOW) | TAKES(IDLE_LIMIT) | TAKES(RETRIES) |                \
   TAKES(CONFIG) | TAKES(OUTPUT) | TAKES(LOG) | TAKES(STORE) | TAKES(NO_STORE) | TAKES(QUIET) |    \
   TAKES(DRY_RUN))

int run_task(struct cli *cli, enum setup_kind kind);
