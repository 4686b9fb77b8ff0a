/* What can go wrong with a request, and which of it is worth another try
 * (shared fact sheet "retries": classes and waits of the official SDKs). */
#pragma once

#include "base/buf.h"
#include "core/usage.h"

#define FAULTS(X)                                                                                  \
  /* id, word, retry */                                                                            \
  X(CONNECT, "connect", true)       /* name, connection, TLS */                                    \
  X(BROKEN, "broken", true)         /* the stream ended, or was reset, before its last event */    \
  X(STALLED, "stalled", true)       /* nothing moved for idle_ms; retried only if nothing came */  \
  X(GARBLED, "garbled", true)       /* status 200 that is no stream, endless lines, bad JSON */    \
  X(OVERLOADED, "overloaded", true) /* 408 409 425 429 5xx 529 and their words in the stream */    \
  X(MISCALL, "miscall", true)       /* the server refused what its own model called */             \
  X(INVALID, "invalid", false)      /* 400, 404, 413, 422: the same bytes can never succeed */     \
  X(BOUND, "bound_thinking", false) /* a signature was refused: repaired once by a rewrite */      \
  X(CONTEXT, "context", false)      /* the prompt is too long for the model */                     \
  X(SCHEMA, "schema", false)        /* a tool's schema was refused */                              \
  X(AUTH, "auth", false)            /* 401, 403 */                                                 \
  X(QUOTA, "quota", false)          /* 402, and 429 about money, not pace */

enum fault_kind {
#define FAULT_X(id, word, retry) FAULT_##id,
  FAULTS(FAULT_X)
#undef FAULT_X
};

/* What the provider's refusal asks to be changed before the same is sent once more.
 * The journal names it, and it holds for the rest of the run. Signed blocks may have
 * to be left out again and again, all else once. */
#define REWRITES(X)                                                                                \
  /* id, word, sentence T_CORE_REWRITE_…, its value */                                           \
  X(NONE, "none", LEFT_OUT, "")                                                                    \
  X(DROP_THINKING, "drop_thinking", THINKING, "")                                                  \
  X(NO_USAGE_ASKED, "no_stream_options", NO_USAGE, "stream_options")                               \
  X(NO_PADDING, "no_include_obfuscation", LEFT_OUT, "include_obfuscation")                         \
  X(NEW_LIMIT, "max_completion_tokens", SENT, "max_completion_tokens")                             \
  X(OLD_LIMIT, "max_tokens", SENT, "max_tokens")                                                   \
  X(ECHO, "reasoning_content", SENT, "reasoning_content")                                          \
  X(NO_ECHO, "no_reasoning", LEFT_OUT, "reasoning")                                                \
  X(PLAIN_CALLS, "no_extra_content", LEFT_OUT, "extra_content")                                    \
  X(IDS_OF_9, "ids_of_9", SENT, "tool_call_id [a-zA-Z0-9]{9}")                                     \
  X(NO_INCLUDE, "no_include", LEFT_OUT, "include")                                                 \
  X(NO_TOOL_CHOICE, "no_tool_choice", LEFT_OUT, "tool_choice")                                     \
  X(NO_MARKS, "no_cache_control", LEFT_OUT, "cache_control")                                       \
  X(LOOSE_TOOL, "loose_tool", LOOSE_TOOL, "")                                                      \
  X(COMPACT, "compact", COMPACT, "")                                                               \
  X(MODEL, "model", MODEL, "") /* another model goes on: all is written anew, for it */

enum rewrite {
#define REWRITE_X(id, word, sentence, value) REWRITE_##id,
  REWRITES(REWRITE_X)
#undef REWRITE_X
      REWRITE_COUNT
};

struct fault {
  enum fault_kind kind;
  enum rewrite repair; /* what would make it succeed; NONE: nothing that is known */
  int status;          /* HTTP; 0: none came */
  struct str message;  /* the provider's own words, or the system's */
  struct str type;     /* its error type or code word; may be empty */
  struct str request_id;
  int64_t retry_after_ms; /* -1: not said */
  int should_retry;       /* x-should-retry: 1 true, 0 false, -1 not said */
  bool began;             /* something of a message had come */
  bool streamed_text;     /* text was shown and is withdrawn */
  struct usage usage;     /* what it reported before it broke */
  bool billed;            /* no: an error status, or never sent */
};

#define RETRIES_DEFAULT 2              /* three attempts in all, as the official SDKs do */
#define RETRY_WAIT_MAX_MS (10 * 60000) /* a server that asks for more is not waited for */

const char *rewrite_word(enum rewrite rewrite);
/* One sentence about it, for the person. */
void rewrite_put(struct buf *out, enum rein_lang lang, enum rewrite rewrite);
const char *fault_word(enum fault_kind kind);
/* True when another attempt may bring another answer, the number of retries aside. */
bool fault_is_worth_retrying(const struct fault *fault);
/* How long to wait before it: what the server asks for, else 0.5 s doubled per
 * retry up to 8 s, less up to a quarter of it, chosen by `seed`. */
int64_t fault_wait_ms(const struct fault *fault, int retries_done, uint64_t seed);
/* A time in words: "1 h 30 min", "0.5 s". */
void duration_put(struct buf *out, enum rein_lang lang, int64_t ms);
/* The fault in words, with status, the provider's own words and the request id (end.c). */
void fault_put(struct buf *out, enum rein_lang lang, const struct fault *fault);
