/* The task: from the argument, from stdin, or both. */
#pragma once

#include "cli/cli.h"

#define STDIN_BYTES_MAX (8u << 20) /* about two million tokens: more than any model reads */
#define STDIN_SILENT_MS 1000       /* a pipe that nobody writes to is not waited for longer */

/* Reads it into the arena. 0, or the exit code after a sentence was said;
 * *signum is set when a signal ended the reading. */
int task_read(struct cli *cli, struct str *task, int *signum);
