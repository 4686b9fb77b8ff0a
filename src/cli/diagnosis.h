/* What a look over a run's records finds wrong with its tools: said behind them. */
#pragma once

#include "cli/cli.h"
#include "store/journal.h"

enum rein_code diagnosis_tell(struct cli *cli, struct journal *journal, bool text, struct err *err)
    REIN_CHECKED;
