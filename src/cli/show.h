/* Text mode: a line on stderr for each step, the answer on stdout. What is
 * shown is read from the journal's events and the machine, in their order.
 */
#pragma once

#include "cli/cli.h"
#include "driver/driver.h"

#define SHOW_CALLS_MAX 4096 /* blocks of one reply: the wire takes no more */

struct show {
  struct cli *cli;
  bool quiet;
  size_t calls;              /* of the turn being shown */
  bool told[SHOW_CALLS_MAX]; /* their results were shown */
  int64_t turn;              /* being shown, from 1 */
  bool streamed;             /* text of this attempt went to the terminal */
  bool answered;             /* the last reply had no calls: its text is the answer */
  bool answer_streamed;      /* and the terminal has it */
};

void show_open(struct show *show, struct cli *cli);
void show_record(struct show *show, struct run *run, const struct event *event);
void show_piece(struct show *show, struct str text, bool thinking);
void show_withdrawn(struct show *show);
void show_retry(struct show *show, const struct fault *fault, int64_t wait_ms);
/* The answer where it was not streamed, why it ended, and the sum. */
void show_end(struct show *show, const struct run *run);

/* The sum in one line: "2 tool turns, 3 model requests, …". */
void show_put_sum(struct buf *out, enum rein_lang lang, const struct agent_stats *stats,
                  int64_t ms);
/* 1234567 as 1,234,567; 12345 ms as 12.3 s. */
void show_put_number(struct buf *out, int64_t n);
void show_put_seconds(struct buf *out, int64_t ms);
