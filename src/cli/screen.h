/* The two places the program writes to. stdout holds the answer alone; all talk
 * goes to stderr, masked, and around the status line where one stands.
 *
 *   screen_open(&screen, envp, &secrets);
 *   screen_talk(&screen, line);              // a whole line, no line end
 *   screen_answer(&screen, piece);           // bytes of the answer
 *   screen_status(&screen, text);            // redraws the line; empty: none
 */
#pragma once

#include "cli/secrets.h"

struct screen {
  const struct secrets *secrets;
  bool out_tty, err_tty;
  bool moves; /* stderr's terminal can move its cursor: a status line is possible */
  bool colour;
  bool drawn;       /* a status line stands */
  bool mid_line;    /* the cursor stands inside a line of the terminal */
  bool answer_open; /* the answer's last line has not ended */
  int out_errno;    /* why stdout failed first; 0 it did not */
  int signum;       /* came while one of the two took no more, and ended the wait; 0 none */
};

void screen_open(struct screen *screen, char *const *envp, const struct secrets *secrets);
void screen_answer(struct screen *screen, struct str bytes);
void screen_end_answer(struct screen *screen); /* with a line end, where it has none */
void screen_talk(struct screen *screen, struct str line);
void screen_faint(struct screen *screen, struct str line); /* the same, of less weight */
/* Text that leaves the cursor behind it: a question. */
void screen_ask(struct screen *screen, struct str text);
void screen_asked(struct screen *screen); /* the person's Enter ended that line */
void screen_status(struct screen *screen, struct str text);
size_t screen_columns(const struct screen *screen); /* of the terminal; 80 when unknown */
