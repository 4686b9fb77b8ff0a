/* The signals that end the program (INT, TERM, HUP), read like data while it
 * waits for something else. The loop hears them by itself while it runs.
 *
 *   ends_open(&ends);
 *   ...poll ends.fd beside what is waited for; ends_take(&ends)...
 *   ends_close(&ends);
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

struct ends {
  int fd; /* readable when one came; -1: the system has none left */
  sigset_t before;
};

/* Blocks them, but for those that stay ignored; `before` may be NULL. */
sigset_t ends_block(sigset_t *before);
/* Blocks them until ends_close. */
void ends_open(struct ends *ends);
int ends_take(struct ends *ends); /* the signal that came; 0 none */
void ends_close(struct ends *ends);
/* True for a signal that whoever started rein had it ignore (nohup, a job in the
 * background of a script): it stays ignored. */
bool ends_ignores(int signum);
