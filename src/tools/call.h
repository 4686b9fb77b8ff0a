/* One call while its function runs: the inside of rein.h's struct rein_call.
 *
 * The driver makes one per RUN, hands it to the row's function on a pool
 * thread and reads the answer afterwards. It owns all its memory, so a call
 * that is given up on can finish, unheard, after its run is gone (the house
 * must outlive it).
 *
 *   call_new(row, house, args, &call, err);
 *   row->run(call);
 *   if (call->answered) ...call->result, call->is_error...
 *   call_free(call);
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "core/tool.h"
#include "host/files.h"
#include "host/http.h"
#include "json/json.h"
#include "text/text.h"

#include <stdatomic.h>

#define CALL_RESULT_MAX (64u << 20) /* a tool that floods is cut here, and says so */
#define CALL_ARENA_MAX (64u << 20)  /* arguments, their tree and copies */
#define CALL_WORK_MS_MAX 4000       /* reading and searching stop here and say how far they came */

/* What built-in tools need of the house; NULL members: not there. */
struct sandbox;
struct reach;

struct call_house {
  const struct files *files;
  struct http *http;
  const struct reach *reach; /* the policy's rules for hosts, of this call */
  const char *github_url, *github_token;
  enum rein_lang model_lang;
  size_t read_points_max;         /* characters of one read_file; 0: 20 000 */
  unsigned walk_threads;          /* of one search or list; 0: one a processor, at most 8 */
  struct sandbox *sandbox;        /* of commands */
  const char *const *git_env;     /* who commits: NAME=value of git's own; NULL: the repository's */
  const struct call_watch *watch; /* of requests, for tests by hand; NULL: nobody looks */
  const struct call_seen *seen;   /* by this run, before this call; for rows that write */
};

/* Sees a request before it is sent, and what came of it. On the call's thread. */
struct call_watch {
  void (*sent)(void *ctx, const struct http_request *request);
  void (*came)(void *ctx, const struct http_result *result);
  void *ctx;
};

/* What a run knows of a file: how its bytes were when it last read or wrote it.
 * The result's record carries it, so that a resumed run knows it too. */
struct call_seen {
  const struct call_seen *next;
  struct str path; /* from the root, links resolved; empty: nothing */
  uint64_t hash;   /* files_hash; 0: deleted */
};

struct call_arg;

struct rein_call {
  const struct rein_tool *row;
  const struct call_house *house; /* NULL: an empty one */
  struct arena arena;
  struct str args;        /* source, copied; "{}" when it was blank */
  const struct json *doc; /* args parsed */
  struct call_arg *first; /* its members as text */
  atomic_bool cancelled;
  struct buf result;
  bool answered, is_error;
  struct call_seen saw; /* by this call; its path is in the arena */
};

/* A call on the heap; args are copied and parsed. Errors: REIN_INPUT (not an
 * object, not JSON, a key that stands twice), REIN_MEMORY. */
enum rein_code call_new(const struct rein_tool *row, const struct call_house *house,
                        struct str args, struct rein_call **call, struct err *err) REIN_CHECKED;
void call_free(struct rein_call *call);

/* -- for built-in tools -- */

enum rein_lang call_lang(const struct rein_call *call);
/* An argument's text with its length, so that a NUL byte in it is seen; empty
 * when it is not there. Borrowed from the call. */
struct str call_text(const struct rein_call *call, const char *name);
/* A whole number from `least` on; false when it is there but is none: err says so. */
bool call_whole(const struct rein_call *call, const char *name, int64_t least, int64_t absent,
                int64_t *out, struct err *err);
/* Answers with an error's sentence in the model's language. */
int call_fail(struct rein_call *call, const struct err *err);
/* Answers with what the buffer holds, or with its failure; releases it. */
int call_give(struct rein_call *call, struct buf *text);
/* s as it may stand in a sentence: controls visible, well-formed, the middle of
 * a long one left out. */
void call_show(struct buf *out, struct str s);
/* A sentence, in the model's language or in an error, with its values shown so. */
void call_note(struct buf *out, const struct rein_call *call, enum text_id id,
               const struct str *values, size_t n);
enum rein_code call_err(struct err *err, enum rein_code code, enum text_id id,
                        const struct str *values, size_t n);
#define CALL_NOTE(out, call, id, ...)                                                              \
  call_note((out), (call), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                       \
            sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)
#define CALL_ERR(err, code, id, ...)                                                               \
  call_err((err), (code), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                        \
           sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)
/* Answers with an error made of this sentence. */
#define CALL_FAIL(call, code, id, ...)                                                             \
  call_fail_with((call), (code), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                 \
                 sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)
int call_fail_with(struct rein_call *call, enum rein_code code, enum text_id id,
                   const struct str *values, size_t n);

/* Notes that the file was read or written; false: no memory. */
bool call_saw(struct rein_call *call, struct str path, uint64_t hash) REIN_CHECKED;
/* What the run knows of it; false: nothing. */
bool call_knows(const struct rein_call *call, struct str path, uint64_t *hash);

/* The time that a tool's own work may take. */
struct call_clock {
  const struct rein_call *call;
  int64_t until_ms;
};
struct call_clock call_clock(const struct rein_call *call);
bool call_late(const struct call_clock *clock); /* over, or cancelled */
