/* The nouns of a conversation: block, message, reply. Plain values; slices are
 * borrowed from whoever made them (an arena of the transcript, of a reader).
 */
#pragma once

#include "base/str.h"
#include "core/usage.h"

enum block_kind {
  BLOCK_TEXT,
  BLOCK_TOOL_USE,
  BLOCK_TOOL_RESULT,
  BLOCK_THINKING, /* signed: goes back byte for byte, to the wire it came from */
  BLOCK_OPAQUE,   /* anything else a provider sent: likewise */
};

struct block {
  enum block_kind kind;
  struct str text; /* TEXT: the text; TOOL_RESULT: what the model is told */
  struct str id;   /* TOOL_USE, TOOL_RESULT: the call's id on the wire */
  struct str name; /* TOOL_USE: as the model wrote it */
  struct str args; /* TOOL_USE: source JSON as it arrived (mended, blank → {}) */
  /* THINKING, OPAQUE: the block's JSON. TEXT, TOOL_USE: what else the provider said of
   * it and wants to see again; empty: nothing. */
  struct str raw;
  struct str wire; /* name of the wire that made raw: no other sends it */
  bool args_bad;   /* TOOL_USE: args do not parse as an object without twin keys */
  bool cut;        /* TOOL_USE: the output limit cut it */
  bool is_error;   /* TOOL_RESULT */
  bool said;       /* TEXT: words of the user, which no compaction leaves out */
};

enum role { ROLE_USER, ROLE_ASSISTANT };

struct message {
  enum role role;
  const struct block *blocks;
  size_t count;
};

/* Why a reply ended, whatever the wire calls it. */
#define STOPS(X)                                                                                   \
  X(END, "end")         /* the model is done, or hit a stop sequence */                            \
  X(TOOLS, "tools")     /* it asked for tools */                                                   \
  X(LENGTH, "length")   /* the output limit cut it */                                              \
  X(REFUSAL, "refusal") /* the model, or its keeper, refused */                                    \
  X(PAUSE, "pause")     /* send it back unchanged and it goes on */                                \
  X(CONTEXT, "context") /* the context window is full */                                           \
  X(UNKNOWN, "unknown") /* a word that nobody here knows: a model error that quotes it */

enum stop {
#define STOP_X(id, word) STOP_##id,
  STOPS(STOP_X)
#undef STOP_X
};

/* A reply that arrived whole. */
struct reply {
  const struct block *blocks;
  size_t count;
  enum stop stop;
  struct str stop_word; /* as the wire said it */
  struct str id, model;
  struct usage usage;
};
