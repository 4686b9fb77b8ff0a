/* The question about a call, at the terminal. It waits on the loop, so limits
 * and signals work while it is open.
 *
 *   prompt_open(&prompt, cli, loop, &err);
 *   prompt_ask(&prompt, run, action);                   // driver_answer follows
 *   prompt_drop(&prompt);                               // the run ended meanwhile
 *   prompt_close(&prompt);
 */
#pragma once

#include "cli/cli.h"
#include "driver/driver.h"

#include <uv.h>

#define PROMPT_MS 500        /* a yes that comes sooner was typed before the question was read */
#define PROMPT_LINE_MAX 4096 /* what a terminal gives as one line */

/* What a line says. */
enum answer {
  ANSWER_ENTER, /* yes, where nothing need be typed */
  ANSWER_YES,
  ANSWER_NO,
  ANSWER_THIS,    /* a: this exact call, for this run */
  ANSWER_PROJECT, /* A: this exact call, in this folder, in later runs too */
  ANSWER_VIEW,    /* v: all of it, uncut */
  ANSWER_OTHER,   /* asks again */
};

struct prompt {
  struct cli *cli;
  struct loop *loop;
  uv_poll_t poll;
  bool polls; /* the handle was made */
  bool open;  /* a question waits */
  struct run *run;
  uint32_t call;
  const struct tool *tool;
  struct str root;       /* of the run: what A is for */
  bool tainted, unclear; /* needs a typed yes, for once */
  struct buf args, rule; /* copies, for showing them again */
  int64_t shown_ms;
  char line[PROMPT_LINE_MAX];
  size_t line_n;
};

/* True when somebody can be asked: stdin and stderr are terminals. */
bool prompt_possible(const struct cli *cli);
enum rein_code prompt_open(struct prompt *prompt, struct cli *cli, struct loop *loop,
                           struct err *err) REIN_CHECKED;
void prompt_ask(struct prompt *prompt, struct run *run, const struct action *ask);
void prompt_drop(struct prompt *prompt);
void prompt_close(struct prompt *prompt);

/* What the line answers; *reason is what stands behind a no. */
enum answer prompt_read(struct str line, struct str *reason);
/* What will happen, for reading: the tool, who asks, each argument. */
void prompt_put(struct buf *out, enum rein_lang lang, struct str tool, struct str rule,
                struct str args, bool all);
