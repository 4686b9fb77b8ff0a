/* What is told of a run when it ended: one object for programs, one sentence
 * for people, one number for the shell. All three say the same.
 */
#pragma once

#include "driver/driver.h"

/* Appends the object of `--output json`, without a line end: run, outcome,
 * exit, text, turns, requests, usage, cost_usd (null where the price
 * is not known), duration_ms, reason, refused. `lang` is that of the reason. */
void report_put_json(struct buf *out, const struct run *run, enum rein_lang lang);
/* One sentence: why it ended. */
void report_put_reason(struct buf *out, const struct run *run, enum rein_lang lang);
/* What the process returns: the outcome's number, or 128 + the signal. */
int report_exit(const struct run *run);
