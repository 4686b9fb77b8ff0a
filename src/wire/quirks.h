/* What one provider of an OpenAI wire needs otherwise than the rest: a table,
 * found by the host of the address (fact sheet "openai-chat" §3). Anything that
 * is not in it is sent what nearly all servers understand. */
#pragma once

#include "base/arena.h"
#include "core/fault.h"

/* Reasoning that goes back. Most servers refuse members that they do not know. */
enum echo {
  ECHO_NONE,
  ECHO_CONTENT, /* "reasoning_content" on every reply, "" as filler */
  ECHO_DETAILS, /* "reasoning_details", or "reasoning" where there are none */
};

struct quirks {
  const char *name; /* as --quirks takes it */
  const char *host; /* of the address; with a dot before it: any host that ends so */
  enum echo echo;
  bool ids_of_9;       /* a call's id is 9 letters or digits, else 400 */
  bool null_content;   /* a reply of calls alone has content null, not "" */
  bool new_limit;      /* max_completion_tokens: max_tokens is refused */
  bool no_usage_asked; /* stream_options is refused; usage comes unasked */
  bool pads;           /* pads its events unless told not to */
  bool cache_key;      /* takes prompt_cache_key */
  bool plain_calls;    /* refuses what it sent itself beside a call's known members */
  /* Of no provider, but of servers that said so: */
  bool no_include;     /* Responses: no "include" */
  bool no_tool_choice; /* none, where no call is wanted */
  bool no_marks;       /* Messages: no "cache_control" */
  /* Dialects of tool schemas, by their names; NULL: OpenAI's own. */
  const char *loose, *strict;
};

/* By the host of an address, or by a name of the table. Never NULL: where nothing is
 * known, what nearly all servers understand ("plain"). */
const struct quirks *quirks_find(struct str address);
/* NULL: no such name. The i-th name of all; NULL: no more. */
const struct quirks *quirks_by_name(struct str name);
const char *quirks_name(size_t i);
/* Of core/wire.h, for both wires of OpenAI's making. */
const char *quirks_dialect(const struct quirks *quirks, bool strict);
/* Of core/wire.h: the quirks with what the repair changes. */
bool quirks_repair(struct arena *arena, enum rewrite repair, const struct quirks **quirks);
