/* --log FILE: everything, one line of JSON each, with the wall clock's time;
 * keys masked. Appended to; readable by the user alone. */
#pragma once

#include "cli/cli.h"

struct log {
  struct cli *cli;
  int fd; /* -1: there is none */
};

/* Opens it when --log was given. 0, or the exit code after a sentence. */
int log_open(struct log *log, struct cli *cli);
void log_close(struct log *log);
/* A line {"at":…,"KEY":VALUE}; value is JSON, or a text to be quoted. */
void log_json(struct log *log, const char *key, struct str json);
void log_text(struct log *log, const char *key, struct str text);
