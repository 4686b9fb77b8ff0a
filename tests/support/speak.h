/* A model's reply as the stream of any wire: what the campaigns' servers say. It
 * is written by hand here, apart from src/wire's own scripts, so that reader and
 * writer do not share a mistake.
 *
 *   size_t whole = speak(&out, SPEAKS_CHAT, &(struct said){.text = STR("Yes.")});
 */
#pragma once

#include "base/buf.h"

enum speaks { SPEAKS_ANTHROPIC, SPEAKS_OPENAI, SPEAKS_CHAT, SPEAKS_WIRES };

#define SAID_CALLS_MAX 8

struct said_call {
  char id[48], name[32];
  struct str args; /* source JSON, or the beginning of it */
};

struct said {
  int id; /* makes ids of messages and items differ */
  struct str thinking, text;
  struct said_call calls[SAID_CALLS_MAX];
  size_t call_count;
  bool cut;              /* by the output limit */
  const char *stop;      /* another stop word of the wire's own; NULL: what fits */
  int64_t prompt;        /* tokens; -1: not told */
  int64_t cached, fresh; /* of them: read from the cache, written to it */
  int64_t output;        /* tokens; -1: not told */
  size_t piece;          /* code points of a delta; 0: 16 */
};

/* The index of the byte behind which a client may take the reply as whole: its
 * stop reason is there. */
size_t speak(struct buf *out, enum speaks wire, const struct said *said);
