/* Compaction: the machine's side, for the files that carry it alone (state.h).
 *
 * A prompt that grows to a share of the model's window, or that the provider calls too
 * long, is made shorter: one request of its own has older turns summed up, and what it
 * says takes their place behind the user's words, which stay; the last turns stay as they
 * are, and results in the newest are cut where they alone are too long. It is a REWRITE.
 * At most COMPACT_TRIES between two turns; what does not help ends the run as context_full.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#define COMPACT_TRIES 2

struct agent;
struct reply;

struct compact {
  bool on;               /* the request that is made asks for the summary */
  bool ready;            /* all that is needed is here: the REWRITE comes next */
  bool heard;            /* the last event brought it, or failed to */
  bool stuck;            /* the prompt behind it is as long as the one before */
  int tries;             /* since the last turn or words */
  size_t cut;            /* messages that become one; 0: only results are cut */
  size_t all;            /* messages there were */
  int64_t result_tokens; /* see struct compaction; in the estimate's own measure */
  int64_t before;        /* tokens of the prompt that is too long */
  int64_t expected;      /* the same, until the prompt behind it is counted; 0: nothing is */
  struct buf summary;
};

/* Tokens of the next prompt, estimated by what was counted last. */
int64_t compact_estimate(const struct agent *agent);
/* Before a request: begins one where the prompt is near the window's end. True: it needs
 * no summary, and its REWRITE comes next. */
bool compact_is_ready(struct agent *agent);
/* The provider says that the window is full. True: something can be made shorter, and
 * agent_prepare goes on with that. */
bool compact_refused(struct agent *agent);
/* The reply to the summary's request. */
enum rein_code compact_reply(struct agent *agent, const struct reply *reply, struct err *err)
    REIN_CHECKED;
/* The REWRITE. */
enum rein_code compact_apply(struct agent *agent, struct err *err) REIN_CHECKED;
/* A prompt was counted. */
void compact_counted(struct agent *agent);
enum rein_code compact_end(struct agent *agent, struct err *err) REIN_CHECKED;
/* It is given up, whatever was under way. */
void compact_drop(struct agent *agent);
