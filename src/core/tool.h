/* A tool as the machine knows it: a row of the table, its schema compiled once. */
#pragma once

#include "base/str.h"
#include "json/json.h"

#include <rein.h>

#define TOOLS_MAX 1024 /* no provider takes more; a pack that lists more is a mistake */

struct tool {
  const struct rein_tool *row; /* borrowed; `run` is never called by the machine */
  struct str name, description, schema;
  const struct json *schema_doc;
  struct schema *checker; /* the schema compiled; the agent's */
  unsigned touches;       /* never UNDECLARED here */
  enum rein_verdict verdict;
  bool offered;           /* in the list that is sent; a tool denied by name is not */
  struct str sent;        /* the schema as the provider is told it; empty: as it stands */
  bool strict;            /* and the provider is asked to hold it */
  struct schema *members; /* of a strict tool: which it takes, compiled; else NULL */
  bool loosened;          /* the provider refused it once, and got a plainer one */
  struct str left_out;    /* why it cannot be sent; empty: it can */
};

/* What of it was sent, as the first record keeps it. */
struct tool_form {
  struct str schema; /* empty: the row's own */
  bool strict;
  struct str left_out;
};

static inline bool tool_is_sent(const struct tool *t) {
  return t->offered && t->left_out.n == 0;
}

/* True when calls of it may run beside others: it only reads, and only here. */
static inline bool tool_only_reads(const struct tool *t) {
  return !(t->touches & (REIN_WRITES | REIN_OUTSIDE));
}
