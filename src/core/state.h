/* The inside of the agent: its states, the legal moves between them, and the
 * data each part owns. For the files of src/core that carry the machine
 * (agent.c decides; turn.c, request.c, setup.c, look.c help) and for nobody else.
 */
#pragma once

#include "base/arena.h"
#include "core/agent.h"
#include "core/budget.h"
#include "core/compact.h"
#include "core/progress.h"
#include "core/transcript.h"
#include "regex/regex.h"
#include "schema/derive.h"
#include "text/text.h"

#define STATES(X)                                                                                  \
  X(READY, "ready")         /* nothing said yet */                                                 \
  X(RESERVING, "reserving") /* a request is ready; its worst case is being reserved */             \
  X(SENDING, "sending")     /* it is on its way; only a whole reply counts */                      \
  X(PAUSED, "paused")       /* an attempt failed; the next one waits */                            \
  X(REWRITING, "rewriting") /* the transcript must change first, and the journal say so */         \
  X(CALLS, "calls")         /* the calls of a reply are judged and run */                          \
  X(ASKING, "asking")       /* one of them waits for somebody's verdict */                         \
  X(ENDED, "ended")         /* an outcome; more words begin again */

/* from, to, what happened. */
#define MOVES(X)                                                                                   \
  X(READY, RESERVING, "user words")                                                                \
  X(READY, ENDED, "cancelled")                                                                     \
  X(RESERVING, SENDING, "granted")                                                                 \
  X(RESERVING, REWRITING, "taken up again in a smaller window")                                    \
  X(RESERVING, ENDED, "tokens or time closed, cancelled")                                          \
  X(SENDING, CALLS, "a whole reply with calls")                                                    \
  X(SENDING, RESERVING, "a paused reply, a nudge after an empty one, more room for a cut one")     \
  X(SENDING, PAUSED, "failed, worth another try")                                                  \
  X(SENDING, REWRITING, "a summary is here; a signature, a parameter or a schema was refused")     \
  X(SENDING, ENDED, "a reply without calls, a fault, a valve, cancelled")                          \
  X(PAUSED, RESERVING, "the wait is over")                                                         \
  X(PAUSED, REWRITING, "taken up again in a smaller window")                                       \
  X(PAUSED, ENDED, "time, cancelled")                                                              \
  X(REWRITING, RESERVING, "rewritten")                                                             \
  X(REWRITING, ENDED, "time, cancelled")                                                           \
  X(CALLS, ASKING, "a call needs a verdict")                                                       \
  X(CALLS, RESERVING, "every call is answered")                                                    \
  X(CALLS, REWRITING, "every call is answered, and the results are longer than the window")        \
  X(CALLS, ENDED, "a valve, no progress, cancelled")                                               \
  X(ASKING, CALLS, "a verdict")                                                                    \
  X(ASKING, RESERVING, "taken up again with other words")                                          \
  X(ASKING, REWRITING, "taken up again with other words, in a smaller window")                     \
  X(ASKING, ENDED, "time, cancelled")                                                              \
  X(ENDED, RESERVING, "more user words")                                                           \
  X(ENDED, REWRITING, "taken up again in a smaller window")

enum state {
#define STATE_X(id, word) STATE_##id,
  STATES(STATE_X)
#undef STATE_X
};

enum call_state { CALL_NEW, CALL_ASKED, CALL_READY, CALL_RUNNING, CALL_ANSWERED };

struct call {
  uint32_t id;
  const struct block *use; /* in the transcript */
  const struct tool *tool; /* NULL: unknown */
  const struct json *doc;  /* its arguments; NULL: not usable */
  struct str args;         /* the exact bytes that will run */
  struct str rule;         /* what asks */
  struct str lift;         /* the rule that would allow it */
  bool tainted, unclear;   /* a yes to it is for once */
  enum call_state state;
  struct progress_call progress;
  bool run_given, abort_given; /* the action was pulled */
  bool heard;                  /* its RESULT came */
  bool is_error, refused;
  bool lost;         /* see call_view */
  struct buf result; /* what the model is told */
};

/* The calls of one reply. */
struct turn {
  struct arena arena;
  struct call *calls;
  size_t count;
  bool length_cut; /* the reply was cut by the output limit */
};

/* The request on its way, or being prepared. */
struct sending {
  uint32_t id;      /* of the attempt; 0 none yet */
  struct buf body;  /* empty while `measures` */
  size_t bytes;     /* of the body */
  int64_t estimate; /* its prompt, in the estimate's own measure */
  int64_t output_limit, reserved;
  bool lowered;                /* the budget lowered the output limit */
  enum rein_outcome lowest;    /* by which ceiling: TOKENS or COST */
  int retries;                 /* done for this request */
  int repairs;                 /* of what the provider refused in it */
  enum rewrite repair;         /* REWRITING: what is to be changed */
  const struct quirks *quirks; /* what the messages are to be written by then */
  size_t loose;                /* the tool that is to be made plainer */
  struct str refused;          /* the words that blamed it */
  int64_t resume_at;           /* PAUSED */
  bool withdrawn;              /* the reply that the last event brought does not count */
  bool in_flight;              /* the SEND was pulled, and its answer is not here */
  uint32_t abort;              /* attempt whose answer is not wanted; 0 none */
};

struct refusal {
  struct str tool, args, why;
  enum decider by;
  bool tainted; /* it was asked about since it could send out what is private */
};

struct refusals {
  struct refusal *v;
  size_t count, cap;
  bool nobody; /* one of them since the last words: nobody could be asked */
};

/* Exact calls that a person allowed for the rest of the run: their bytes, since
 * a model could build a collision of hashes. */
struct remembered_call {
  struct str tool, args;
};

struct remembered {
  struct remembered_call *v;
  size_t count, cap;
};

/* What the model has met since the run began: of both, text from outside may ask
 * for what is private. */
struct taint {
  bool read_private, seen_outside;
};

/* The last request of a run whose valve closed: wrap.c. */
struct wrap {
  bool on;
  enum rein_outcome outcome; /* the valve's */
  struct err *why;           /* likewise; large, and seldom there: of the agent's arena */
};

struct agent {
  struct agent_config config;
  struct arena fixed; /* model, system, tools: as long as the agent */
  struct tool *tools;
  struct regex **volatile_text; /* per tool; NULL none */
  size_t tool_count;
  struct buf tools_json;
  struct findings findings;    /* of schema/derive.h */
  const struct tool *bad_tool; /* one that cannot be sent: no request is made; NULL none */
  enum state state;
  enum action_kind give; /* RESERVE, SEND, ASK, REWRITE or DONE, not yet pulled */
  struct transcript talk;
  struct budget budget;
  struct gauge gauge;
  int64_t fixed_tokens;   /* estimated: system and tools */
  int64_t known_estimate; /* of the prompt in budget.prompt */
  struct compact compact;
  struct progress progress;
  struct sending sending;
  struct wrap wrap;
  bool wrapped; /* it ended by a valve, and its last message sums up */
  struct turn turn;
  struct refusals refusals;
  struct remembered remembered;
  struct taint taint;
  int64_t now, started; /* ms; started < 0: not yet */
  int64_t turns, requests;
  uint32_t next_call;
  uint32_t repaired; /* bits of enum rewrite: parameters, for the run; thinking, for a request */
  bool nudged;
  bool measures;   /* requests are measured, not built: see agent_measure */
  struct buf text; /* of the last reply */
  struct agent_end end;
};

/* agent.c; agent_enter is the only place where the state changes. */
void agent_enter(struct agent *a, enum state to, enum action_kind give);
enum rein_code agent_prepare(struct agent *a, struct err *err) REIN_CHECKED;
bool agent_lives(const struct agent *a);          /* words were said, and it has not ended */
int64_t agent_time_out_at(const struct agent *a); /* of the time valve; INT64_MAX: off */

/* offer.c: the list of tools as sent; a tool that cannot be is in bad_tool. */
enum rein_code offer_tools(struct agent *a, struct err *err) REIN_CHECKED;
enum rein_code offer_renew(struct agent *a, struct err *err) REIN_CHECKED; /* for another wire */
/* The fault blames a tool that can be made plainer: it is then in sending.loose. */
bool offer_can_loosen(struct agent *a, const struct fault *fault);
enum rein_code offer_loosen(struct agent *a, struct err *err) REIN_CHECKED;

/* request.c: into sending.body and sending.bytes. */
enum rein_code request_build(struct agent *a, int64_t output_limit, struct err *err) REIN_CHECKED;
/* Builds it with all the output that is wanted, and says how much its prompt can be. */
enum rein_code request_bound(struct agent *a, int64_t *bound, struct err *err) REIN_CHECKED;
int64_t request_wanted(const struct agent *a);   /* output tokens */
int64_t request_estimate(const struct agent *a); /* all messages, in the estimate's own measure */
void request_booked(struct agent *a, const struct usage *usage);

/* What the fault asks to be changed, if that is possible and was not tried before: it is
 * then in sending.repair, else that is NONE. */
enum rein_code request_repair(struct agent *a, const struct fault *fault, struct err *err)
    REIN_CHECKED;
/* Changes it: the messages are written anew. */
enum rein_code request_rewrite(struct agent *a, struct err *err) REIN_CHECKED;
/* An answer was cut by a limit that the budget had lowered; the first bound takes each
 * byte for a token. True when, its prompt's size known now, the same request fits with
 * clearly more room: the answer is withdrawn, and counts as sent back no more. */
bool request_has_room(struct agent *a);

/* resume.c: what RESUME finds under way is settled; *next: what is due then. */
enum resume_next { RESUME_WAITS, RESUME_WORDS, RESUME_REQUEST, RESUME_CALLS };
enum rein_code resume_settle(struct agent *a, struct str words, enum resume_next *next,
                             struct err *err) REIN_CHECKED;
/* Every open call gets its answer, so that words may follow. */
enum rein_code resume_close(struct agent *a, struct err *err) REIN_CHECKED;
enum rein_code resume_model(struct agent *a, const struct event *e, struct err *err) REIN_CHECKED;
enum rein_code resume_limits(struct agent *a, const struct event *e, struct err *err) REIN_CHECKED;

/* wrap.c: the run ends by this outcome, after a request that sums up where that is asked
 * for and fits. Calls are answered, and end.why is set. */
enum rein_code wrap_up(struct agent *a, enum rein_outcome outcome, struct err *err) REIN_CHECKED;
enum rein_code wrap_reply(struct agent *a, const struct reply *r, struct err *err) REIN_CHECKED;
void wrap_reset(struct agent *a); /* new words: its slice is held back again */

/* end.c */
void end_request(struct agent *a); /* one under way is given up */
void end_now(struct agent *a, enum rein_outcome outcome);
void end_finished(struct agent *a);
enum rein_code end_bad_tool(struct agent *a); /* before anything is sent */
void end_cut(struct agent *a, struct str stop_word);
void end_fault(struct agent *a, const struct fault *fault, int64_t wait_ms);
void end_time_retry(struct agent *a, const struct fault *fault, int64_t wait_ms);
/* Answers open calls first: `idle` for those that did not run, `ran` for those that did. */
enum rein_code end_with_calls(struct agent *a, enum rein_outcome outcome, enum text_id idle,
                              enum text_id ran, struct str value, struct err *err) REIN_CHECKED;
enum rein_code end_turns(struct agent *a, struct err *err) REIN_CHECKED;
/* The ceiling of tokens or of money: `next` tokens of a prompt do not fit. */
enum rein_code end_budget(struct agent *a, int64_t next, struct err *err) REIN_CHECKED;
enum rein_code end_time(struct agent *a, struct err *err) REIN_CHECKED;
enum rein_code end_unknown(struct agent *a, struct str stop_word, struct err *err) REIN_CHECKED;
enum rein_code end_loop(struct agent *a, size_t culprit, struct err *err) REIN_CHECKED;

/* turn.c */
size_t reply_count(const struct reply *reply, enum block_kind kind); /* blocks of it */
enum rein_code turn_begin(struct agent *a, const struct reply *reply, struct err *err) REIN_CHECKED;
/* What the progress valve says to these calls before any of them is looked at. */
enum progress_say turn_arrive(struct agent *a, size_t *culprit);
/* Judges calls in order, as far as it goes. *done: all are answered; *asks: one
 * waits for a verdict. */
enum rein_code turn_advance(struct agent *a, bool *done, bool *asks, struct err *err) REIN_CHECKED;
void turn_asked(const struct agent *a, struct action *out);
enum rein_code turn_verdict(struct agent *a, struct call *c, const struct event *e, struct err *err)
    REIN_CHECKED;
enum rein_code turn_result(struct agent *a, struct call *c, const struct event *e, struct err *err)
    REIN_CHECKED;
enum rein_code turn_close(struct agent *a, enum text_id idle, enum text_id ran, struct str value,
                          struct err *err) REIN_CHECKED;
/* The results, all there, into the transcript; `note` behind them. */
enum rein_code turn_commit(struct agent *a, struct str note, struct err *err) REIN_CHECKED;
/* The same at the end of a turn that ran its course; *say: what the valve says. */
enum rein_code turn_finish(struct agent *a, enum progress_say *say, struct err *err) REIN_CHECKED;
struct call *turn_call(struct agent *a, uint32_t id);
/* Calls that were under way when the process died: lost, or to be run again where
 * that is safe and wanted. */
enum rein_code turn_resume(struct agent *a, bool again, struct err *err) REIN_CHECKED;
void turn_release(struct turn *turn);

/* key.c: what the progress valve compares. */
uint64_t key_of_call(const struct tool *tool, const struct block *use, const struct json *doc);
enum rein_code key_of_result(const struct regex *volatile_text, struct str text, bool is_error,
                             uint64_t *key) REIN_CHECKED;
