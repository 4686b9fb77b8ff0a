/* One call while its function runs: the inside of rein.h's struct rein_call.
 *
 * The driver makes one per RUN, hands it to the row's function on a pool
 * thread and reads the answer afterwards. It owns all its memory, so a call
 * that is given up on can finish, unheard, after its run is gone.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "core/tool.h"
#include "host/files.h"
#include "host/http.h"
#include "json/json.h"

#include <stdatomic.h>

#define CALL_RESULT_MAX (64u << 20) /* a tool that floods is cut here, and says so */

/* What built-in tools need of the house; NULL members: not there. */
struct call_house {
  const struct files *files;
  struct http *http;
  const char *github_url, *github_token;
  enum rein_lang model_lang;
  size_t read_points_max; /* characters of one read_file; 0: 20 000 */
};

struct rein_call {
  const struct rein_tool *row;
  const struct call_house *house;
  struct arena arena;
  struct str args;         /* source, copied */
  const struct json *doc;  /* args parsed */
  atomic_bool cancelled;
  struct buf result;
  bool answered, is_error;
};

/* A call on the heap; args are copied and parsed. */
enum rein_code call_new(const struct rein_tool *row, const struct call_house *house,
                        struct str args, struct rein_call **call, struct err *err) REIN_CHECKED;
void call_free(struct rein_call *call);
/* Answers with an error's sentence in the model's language. */
int call_fail(struct rein_call *call, const struct err *err);
