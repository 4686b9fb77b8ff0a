/* What happened: the only way into the machine, and the records of the journal.
 *
 * A run is a pure function of its events in order. Each carries its time;
 * answers carry the id of what they answer, and an answer to nothing (late,
 * doubled) changes nothing. record.h writes one as a line of JSON and back.
 */
#pragma once

#include "core/block.h"
#include "core/fault.h"
#include "core/price.h"

#include <rein.h>

#define EVENTS(X)                                                                                  \
  X(SAY, "say")         /* words of the user */                                                    \
  X(GRANTED, "granted") /* the reservation holds: a request attempt is about to be sent */         \
  X(REFUSED, "refused") /* it does not: the shared budget is used up */                            \
  X(REPLY, "reply")     /* a reply arrived whole */                                                \
  X(FAILED, "failed")   /* a request attempt failed */                                             \
  X(VERDICT, "verdict") /* somebody decided about a call */                                        \
  X(STARTED, "started") /* a call is about to run */                                               \
  X(RESULT, "result")   /* a call answered */                                                      \
  X(REWRITE, "rewrite") /* what had to be changed before the next try, is changed */               \
  X(CANCEL, "cancel")   /* a signal, the embedder, the store */                                    \
  X(TICK, "tick")       /* time passed up to a deadline that the machine named */                  \
  X(LIMITS, "limits")   /* new limits, for a resumed run */                                        \
  X(OUTCOME, "outcome") /* how it ended: told, changes nothing */                                  \
  X(RESUME, "resume")   /* taken up again, by words or as it stood; what was under way is lost */

enum event_kind {
#define EVENT_X(id, word) EVENT_##id,
  EVENTS(EVENT_X)
#undef EVENT_X
};

enum decider {
  BY_RULE = 0,
  BY_PERSON, /* a yes or no at the prompt, or the embedder's function */
  BY_NOBODY, /* nobody could be asked: unapproved */
};

/* The end as the journal tells it, for whoever lists runs or measures them. */
struct ending {
  enum rein_outcome outcome;
  int exit; /* of the process: the outcome's number, or 128 + the signal */
  int64_t turns, requests, spent, ms;
  struct usage usage;
};

/* What a compaction was about, for people. */
struct compacted {
  int64_t messages, of; /* so many of all are summed up; 0: results alone were cut */
  int64_t tokens;       /* of the prompt that was too long, estimated */
};

void compacted_put(struct buf *out, enum rein_lang lang, const struct compacted *c);

struct event {
  enum event_kind kind;
  int64_t at_ms;   /* monotonic */
  uint32_t id;     /* GRANTED REFUSED REPLY FAILED: request attempt; VERDICT STARTED RESULT: call */
  struct str seen; /* RESULT: the file that the call read or wrote; empty: none. For the tools of
                    * the run, also a resumed one; the machine makes nothing of it. */
  uint64_t seen_hash; /* of the file's bytes; 0: deleted */
  struct str text;    /* SAY, RESUME: words; VERDICT: reason; RESULT: all the tool said; CANCEL: by
                    * what */
  enum rewrite rewrite; /* REWRITE */
  struct {
    int64_t bytes; /* 0: not said */
    uint64_t hash; /* of hash_bytes */
  } body;          /* GRANTED: the request that goes out, so that a replay can tell */
  union {
    struct {
      int64_t tokens;
      bool compacts;           /* it is a compaction's */
    };                         /* GRANTED */
    const struct reply *reply; /* REPLY */
    const struct fault *fault; /* FAILED */
    struct {
      enum rein_verdict verdict; /* ALLOW or DENY */
      enum decider by;
      bool remember; /* this exact call, for the rest of the run */
    } verdict;
    bool is_error; /* RESULT */
    struct {
      struct str wire, model, address;
      struct model_facts facts;
    } to;                       /* REWRITE_MODEL */
    struct compacted compacted; /* REWRITE_COMPACT */
    int64_t wall_ms;            /* RESUME: since 1970 */
    int signal;                 /* CANCEL: its number; 0 none */
    struct {
      struct rein_limits limits;
      struct model_facts now; /* what is known of the model today, where nothing was before */
    };                        /* LIMITS */
    struct ending ending;     /* OUTCOME */
  };
};
