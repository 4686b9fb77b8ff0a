/* The inside of a run, for the files of this folder alone.
 *
 * Whatever happens outside (bytes, an answer, a timer) is noted and the run is
 * woken; the pump in drive.c then takes the notes in order from the loop's own
 * turn. So no callback ever calls back, and there is one place where the
 * journal is written and the machine is fed.
 */
#pragma once

#include "base/arena.h"
#include "driver/address.h"
#include "driver/driver.h"
#include "driver/replay.h"
#include "tools/call.h"
#include "wire/attempt.h"

#define RECORD_BYTES_MAX (512u << 20) /* a result of CALL_RESULT_MAX, all of it escaped */
#define RECORD_BYTES_KEPT (1u << 20)  /* a line buffer larger than this is given back */
#define NOTES_MAX 65536     /* far more than calls of a reply; an answering machine gone mad */
#define ORPHAN_GRACE_MS 250 /* http_wait looks at its flag every 50 */
#define WHY_BYTES_MAX 512   /* of the system's words about a connection */

/* Something that happened and waits for the pump. */
struct note {
  enum event_kind kind;
  uint32_t id;
  int64_t number;       /* GRANTED: tokens; CANCEL: signal */
  int64_t bytes;        /* GRANTED: of the request */
  uint64_t hash;        /* of them */
  enum rewrite rewrite; /* REWRITE */
  char *words;          /* SAY, RESUME: owned */
  size_t words_n;
};

/* What the run has seen of files, the last first (tools/call.h). */
struct seen {
  struct seen *next;
  uint64_t hash;
  size_t n;
  char path[];
};

struct sending; /* send.c: the request in flight */
struct running; /* run_call.c: a call */
struct asking;  /* ask.c: an open question */

struct run {
  struct driver *driver;
  struct run *next, **link;
  struct run_spec spec; /* id, key and base_url are taken out of it */
  char *id;
  struct secret key;
  struct address address;
  struct agent *agent;
  struct replay past;        /* of a resumed run: what its agent borrows; no agent in it */
  struct rein_limits limits; /* of a LIMITS that is noted */
  struct loop_timer *timer;
  int64_t timer_ms; /* when it fires; INT64_MAX: it is off */
  struct note *notes;
  size_t note_count, note_room;
  size_t body_before; /* bytes of the last request whose prompt was counted */
  bool told_cut_prompt;
  struct sending *sending; /* NULL: none */
  struct running *running; /* in the order they were asked for */
  struct asking *asking;
  struct seen *seen;
  struct buf line;            /* the record being written */
  int64_t born_ms;            /* of the loop's clock; events count from here */
  int64_t began_ms, ended_ms; /* of the run's clock; -1: not yet */
  bool pumping;               /* guard: the pump is not entered twice */
  bool dirty;                 /* records wait for a commit */
  bool writing;               /* it is under way: nothing else is done meanwhile */
  bool told;                  /* the outcome is in the journal */
  bool live;                  /* words were said, and it has not ended */
  bool broken;                /* end holds the driver's own failure */
  struct agent_end end;
};

struct driver {
  struct loop *loop;
  struct http *http;
  struct run *runs;
  size_t live;             /* runs that have not ended */
  struct running *orphans; /* calls given up on, whose function has not returned */
  bool leaving;            /* driver_free waits for them */
};

/* -- drive.c -- */
int64_t run_now(const struct run *run); /* the run's clock: milliseconds since it was made */
/* Notes that something happened and wakes the run. Without memory the run breaks down. */
void run_note(struct run *run, const struct note *note);
/* The pump comes round at `at_ms` of the run's clock at the latest. */
void run_wake(struct run *run, int64_t at_ms);
/* Journals the event, feeds it and does what the machine then wants. Sets its time. */
void run_deliver(struct run *run, struct event *event);
/* Ends the run by the driver's own failure; nothing further is done. */
void run_break(struct run *run, enum rein_outcome outcome, const struct err *why);
void run_break_memory(struct run *run);
void run_pump(void *ctx);
void note_release(struct note *note);

/* -- keep.c -- */
enum rein_code keep_start(struct run *run, struct err *err) REIN_CHECKED;
/* Writes the event, in run->line, into the journal. What may not be told (a key)
 * is masked first, and *event is then what was written, in the arena. False: the
 * run broke down. */
bool keep_event(struct run *run, struct arena *arena, struct event *event);
/* Asks that all that was written be made safe. True: it is. False: it is under
 * way (run->writing) and wakes the run, or the run broke down. */
bool keep_safe(struct run *run);

/* -- resume.c -- */
enum rein_code resume_take(struct run *run, struct replay *replay, struct err *err) REIN_CHECKED;
void resume_deliver(struct run *run, const struct note *note);
void resume_deliver_model(struct run *run);

/* -- send.c -- */
void send_start(struct run *run, const struct action *action); /* held until send_go */
bool send_held(const struct run *run);
void send_go(struct run *run);
void send_deliver(struct run *run, uint32_t id); /* the attempt ended: REPLY or FAILED */
void send_drop(struct run *run);
int64_t send_due(const struct run *run);
void send_look(struct run *run, int64_t now_ms); /* offline answers, idle limit */

/* -- tell.c -- */
void tell(struct run *run, enum text_id sentence, struct str one, struct str two);
void tell_rewrite(struct run *run, enum rewrite rewrite);
void tell_tools(struct run *run); /* what was changed of them on their way out */
void tell_dropped(struct run *run, size_t blocks);
/* Of a reply that was delivered; `before`: before that; `body`: bytes of its request. */
void tell_doubts(struct run *run, const struct reply *reply, const struct agent_stats *before,
                 size_t body);

/* -- run_call.c -- */
void call_prepare(struct run *run, const struct action *action);
void call_deliver_started(struct run *run, uint32_t id);
void call_deliver_result(struct run *run, uint32_t id);
bool call_held(const struct run *run);
void call_launch(struct run *run); /* all that are STARTED */
void call_drop(struct run *run, uint32_t id);
void call_drop_all(struct run *run);
int64_t call_due(const struct run *run);
void call_look(struct run *run, int64_t now_ms);
void calls_wait(struct driver *driver); /* for orphans, ORPHAN_GRACE_MS at most */

/* -- seen.c -- */
#define SEEN_MAX 4096 /* files; what was seen longest ago is forgotten */
/* Keeps what a RESULT says of a file: live, and for each record of a run that is
 * resumed. False: no memory. */
bool seen_keep(struct seen **list, const struct event *event);
/* The list as a call sees it, in the arena. False: no memory. */
bool seen_copy(const struct run *run, struct arena *arena, const struct call_seen **list);
void seen_drop(struct seen **list);

/* -- ask.c -- */
void ask_start(struct run *run, const struct action *action);
void ask_deliver(struct run *run, uint32_t id);
void ask_drop(struct run *run, uint32_t id);
void ask_drop_all(struct run *run);

/* -- tick.c -- */
void tick_look(struct run *run); /* notes what is due */
void tick_set(struct run *run);  /* sets the timer to what is due next */
