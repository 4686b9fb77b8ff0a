/* The driver: turns the machine's actions into system calls, and what came of
 * them into events. It always drives a fleet; a run at the terminal is a fleet
 * of one. It decides nothing: what may happen, and when to stop, is the
 * machine's.
 *
 *   driver_new(loop, http, &driver, &err);
 *   driver_add(driver, &spec, &run, &err);      // as many as you like
 *   driver_say(run, words);
 *   loop_run(loop);                             // until every run has ended
 */
#pragma once

#include "core/agent.h"
#include "host/files.h"
#include "host/http.h"
#include "store/journal.h"
#include "wire/script.h"

struct driver;
struct run;
struct secret;

/* Watches a run: all that a terminal, a log or a stream of JSON shows. Called
 * on the loop's thread; must not call back. Slices are borrowed. */
struct watch {
  /* A record joined the journal, and the machine was fed it. The first is
   * "start", from within driver_add; event NULL for it. */
  void (*record)(void *ctx, struct run *run, struct str line, const struct event *event);
  /* A piece of streamed text, or of thinking; well-formed UTF-8. */
  void (*piece)(void *ctx, struct run *run, struct str text, bool thinking);
  /* What was streamed of this attempt does not count. */
  void (*withdrawn)(void *ctx, struct run *run);
  /* It waits `wait_ms` and then tries again. */
  void (*retry)(void *ctx, struct run *run, const struct fault *fault, int64_t wait_ms);
  void (*ended)(void *ctx, struct run *run, const struct agent_end *end);
  /* A sentence for the person and the log: what is odd, and the run goes on. */
  void (*warn)(void *ctx, struct run *run, struct str text);
  /* Raw words for the log alone: an error whole, a request id. */
  void (*note)(void *ctx, struct run *run, struct str text);
  void *ctx;
};

/* A question to a person about the call ask->id, borrowed while it is asked.
 * Answer with driver_answer, now or later, on the loop's thread. NULL: nobody can be asked. */
typedef void (*ask_fn)(void *ctx, struct run *run, const struct action *ask);

#define IDLE_MS_DEFAULT 300000 /* five minutes: reasoning models are silent for some */
#define CALL_MS_DEFAULT 120000 /* of one call whose row names no limit */
#define KEY_BYTES_MAX 4096     /* the longest tokens in use are about half of it */
#define ASK_REASON_MAX 2000    /* bytes of a person's reason that reach the model */

/* Slices and pointers are borrowed and must outlive the run, unless said. */
struct run_spec {
  struct str id;               /* of run_id_make; copied */
  struct str provider;         /* recorded: as -m names it, or what a resume shall take */
  int64_t wall_ms;             /* recorded: run_wall_ms() */
  struct agent_config agent;   /* its limits as rein.h says: zero is the default */
  struct str base_url;         /* empty: the wire's own; http or https; copied */
  struct str key;              /* blanks around it are dropped; copied, wiped with the run */
  const struct script *script; /* replies come from it, offline; NULL: HTTP */
  const struct files *files;   /* root of the built-in tools; NULL none */
  struct journal *journal;     /* taken, also when driver_add fails */
  int64_t idle_ms;             /* 0: IDLE_MS_DEFAULT; REIN_OFF */
  size_t read_points_max;      /* characters of one read_file; 0: its default */
  struct sandbox *sandbox;     /* of commands; NULL none. Held while a command runs */
  ask_fn ask;
  struct watch watch;
  void *ask_ctx;
  struct str github_url, github_token; /* of github_repo_info; empty: public, none */
  const struct secret *masks;          /* more that must not be written; must outlive the run */
  size_t mask_count;
  const char *const *git_env; /* who commits: NAME=value; NULL: the repository's config says */
};

enum rein_code driver_new(struct loop *loop, struct http *http, struct driver **driver,
                          struct err *err) REIN_CHECKED;
/* Drops all runs. Calls that still run on pool threads are told to stop and
 * waited for, a quarter of a second at most. Free it before http and loop. */
void driver_free(struct driver *driver);
/* REIN_INPUT: a key, address, row or limit that cannot be used; nothing ran. */
enum rein_code driver_add(struct driver *driver, const struct run_spec *spec, struct run **run,
                          struct err *err) REIN_CHECKED;
/* A run that its journal holds: spec->journal (taken, to be written) was replayed
 * into *replay (taken too, also when this fails). Of spec->agent only wire and
 * model count, and the language; others than those of the run take its place. */
struct replay;
enum rein_code driver_resume(struct driver *driver, const struct run_spec *spec,
                             struct replay *replay, struct run **run, struct err *err) REIN_CHECKED;
/* It goes on: with words, or (empty) as it stood; limits NULL: as they were.
 * REIN_INPUT: it has its answer, and there are no words. */
enum rein_code driver_go_on(struct run *run, struct str words, const struct rein_limits *limits,
                            struct err *err) REIN_CHECKED;
/* A replay's `start`: gives the rows of the first record their functions; ctx is a
 * struct resume_rows. REIN_INPUT: a tool of the run is not among them. */
struct resume_rows {
  const struct rein_tool *rows;
  size_t count;
};
enum rein_code resume_rows(void *ctx, struct agent_config *config, struct err *err) REIN_CHECKED;
/* The user's words: starts the run, or a run that ended goes on with them. */
enum rein_code driver_say(struct run *run, struct str words, struct err *err) REIN_CHECKED;
/* An answer to a question that is not open any more changes nothing. */
void driver_answer(struct run *run, uint32_t call, enum rein_verdict verdict, enum decider by,
                   struct str reason, bool remember);
/* Ends the run as cancelled; signal 0: by the embedder. */
void driver_cancel(struct run *run, int signal);

const struct agent *run_agent(const struct run *run);
/* How it ended; the driver's own failures (the store, memory) stand here too. */
const struct agent_end *run_ended(const struct run *run);
struct str run_id(const struct run *run);
struct journal *run_journal(const struct run *run);
int64_t run_ms(const struct run *run); /* from the first words to the end, or to now */

/* A name for a run, from wall time and chance: 20261130-140305-a1b2c3. */
struct run_name {
  char s[24]; /* terminated */
};
enum rein_code run_id_make(struct run_name *name, struct err *err) REIN_CHECKED;
int64_t run_wall_ms(void); /* since 1970 */
/* Chance for agent_config.jitter_seed. */
enum rein_code run_seed_make(uint64_t *seed, struct err *err) REIN_CHECKED;
