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

struct driver;
struct run;

/* Watches a run: all that a terminal, a log or a stream of JSON shows. Called
 * on the loop's thread; must not call back. Slices are borrowed. */
struct watch {
  /* A record joined the journal (the first is "start"); event NULL for it. */
  void (*record)(void *ctx, struct run *run, struct str line, const struct event *event);
  /* A piece of streamed text, or of thinking; well-formed UTF-8. */
  void (*piece)(void *ctx, struct run *run, struct str text, bool thinking);
  /* What was streamed of this attempt does not count. */
  void (*withdrawn)(void *ctx, struct run *run);
  /* It waits `wait_ms` and then tries again. */
  void (*retry)(void *ctx, struct run *run, const struct fault *fault, int64_t wait_ms);
  void (*ended)(void *ctx, struct run *run, const struct agent_end *end);
  /* Raw words for the log alone: an error whole, a request id. */
  void (*note)(void *ctx, struct run *run, struct str text);
  void *ctx;
};

/* A question to a person. Answer with driver_answer, now or later, on the
 * loop's thread. NULL: nobody can be asked. */
typedef void (*ask_fn)(void *ctx, struct run *run, uint32_t call, const struct tool *tool,
                       struct str args, struct str rule);

/* Where replies come from when it is not HTTP: the scripted providers. Gives
 * the bytes of an HTTP answer for a request body. */
struct offline;

struct run_spec {
  struct agent_config agent;
  struct str base_url, key;      /* key: copied, wiped with the run */
  const struct offline *offline; /* NULL: HTTP */
  const struct files *files;     /* root of the built-in tools; NULL none */
  struct journal *journal;       /* taken */
  int64_t idle_ms;               /* 0: 300 000; REIN_OFF */
  ask_fn ask;
  struct watch watch;
  void *ask_ctx;
  struct str github_url, github_token; /* of github_repo_info; empty: public, none */
};

enum rein_code driver_new(struct loop *loop, struct http *http, struct driver **driver,
                          struct err *err) REIN_CHECKED;
void driver_free(struct driver *driver);
enum rein_code driver_add(struct driver *driver, const struct run_spec *spec, struct run **run,
                          struct err *err) REIN_CHECKED;
enum rein_code driver_say(struct run *run, struct str words, struct err *err) REIN_CHECKED;
void driver_answer(struct run *run, uint32_t call, enum rein_verdict verdict, enum decider by,
                   struct str reason, bool remember);
/* Ends the run as cancelled; signal 0: by the embedder. */
void driver_cancel(struct run *run, int signal);
const struct agent *run_agent(const struct run *run);
