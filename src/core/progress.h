/* The no-progress valve: tells a loop from work that repeats on purpose.
 *
 * The key of a finished turn is the set of (tool, arguments, result) of its
 * calls, spelling apart. r = how often the last p keys (p = 1 to 4) repeat at
 * the end. r = 2: a note; r = 3: equal calls are not run for a turn; one more:
 * stop. Same call, new result is progress. The presets are rows of the same
 * table that look at arguments alone. Sizes are fixed: a window, not a log.
 */
#pragma once

#include "base/buf.h"

#include <rein.h>

#define PROGRESS_PERIOD_MAX 4
#define PROGRESS_TURNS (PROGRESS_PERIOD_MAX * 3) /* a window, not a log: three of the longest */
#define PROGRESS_IDLE_TURNS 3                    /* turns in a row in which no call was run: stop */

/* One call as the valve sees it. */
struct progress_call {
  uint64_t what;   /* tool and arguments, spelling apart */
  uint64_t result; /* what it answered; set when it finished */
  bool polls;
  bool ran;
};

enum progress_say {
  PROGRESS_PASS,
  PROGRESS_NOTE,
  PROGRESS_STOP,
  PROGRESS_STOP_IDLE,
  PROGRESS_NO_MEMORY
};

struct progress {
  enum rein_no_progress preset;
  /* The newest turns, call by call, oldest first; sizes[i] calls in turn i. */
  struct progress_call *calls;
  size_t call_count, call_cap;
  uint64_t keys[PROGRESS_TURNS];
  size_t sizes[PROGRESS_TURNS];
  size_t turn_count;
  size_t blocked_turns; /* so many newest turns repeat: their calls are not run */
  size_t repeats;       /* r of the last finished turn */
  bool blocked_once;    /* a turn of them was answered "not run" already */
  int idle_turns;
  /* 3-in-a-row and 3-in-all: calls with their counts, in `result`. */
  struct progress_call *seen;
  size_t seen_count, seen_cap;
};

void progress_init(struct progress *p, enum rein_no_progress preset);
void progress_release(struct progress *p);
/* New words of the user: what was before counts no more. */
void progress_words(struct progress *p);
/* A turn arrives. PROGRESS_STOP: it must not run at all; *culprit is the call. */
enum progress_say progress_arrive(struct progress *p, const struct progress_call *calls, size_t n,
                                  size_t *culprit);
/* The result that an equal call brought, when this one is not to be run. */
bool progress_blocked(const struct progress *p, uint64_t what, uint64_t *result);
/* A turn is finished: results and `ran` are set. REIN_MEMORY leaves p as it was. */
enum rein_code progress_finish(struct progress *p, const struct progress_call *calls, size_t n,
                               enum progress_say *say) REIN_CHECKED;
const char *progress_word(enum rein_no_progress preset); /* "3-in-a-row" */
