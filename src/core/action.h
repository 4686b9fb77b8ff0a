/* What the machine wants next: pulled, one at a time, until NONE. */
#pragma once

#include "core/event.h"
#include "core/tool.h"

#include <rein.h>

#define ACTIONS(X)                                                                                 \
  X(NONE, "none")                                                                                  \
  X(RESERVE, "reserve")       /* these tokens, for a request attempt: GRANTED or REFUSED */        \
  X(SEND, "send")             /* the body: REPLY or FAILED */                                      \
  X(REWRITE, "rewrite")       /* say so in the journal: REWRITE */                                 \
  X(ASK, "ask")               /* about a call: VERDICT */                                          \
  X(RUN, "run")               /* a call: STARTED, then RESULT */                                   \
  X(ABORT_SEND, "abort_send") /* the request's answer is not wanted any more */                    \
  X(ABORT_RUN, "abort_run")   /* the call's answer is not wanted any more */                       \
  X(DONE, "done")             /* the run ended: see agent_end */

enum action_kind {
#define ACTION_X(id, word) ACTION_##id,
  ACTIONS(ACTION_X)
#undef ACTION_X
};

/* Slices are borrowed until the next event. */
struct action {
  enum action_kind kind;
  uint32_t id;               /* request attempt or call, as in the events that answer */
  int64_t tokens;            /* RESERVE */
  struct str body;           /* RESERVE, SEND: ready bytes; empty: agent_measure */
  enum rein_outcome outcome; /* DONE */
  enum rewrite rewrite;      /* REWRITE */
  const struct tool *tool;   /* ASK, RUN */
  struct str args;           /* ASK, RUN: the exact bytes that will run */
  struct str rule;           /* ASK: what asks */
  struct str lift;           /* ASK: the rule that would allow it */
  bool tainted;              /* ASK: private data was read, outside text seen, and it sends */
  bool unclear;              /* ASK: more than one reading; both are for once */
};
