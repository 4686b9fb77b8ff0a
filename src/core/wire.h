/* A wire as the rest of the house knows it: a table of small pure functions
 * between neutral messages and a provider's bytes. src/wire holds them.
 *
 * Messages are serialised once, when they join the transcript, and spliced
 * into each request, so the prefix of a request equals the last one's byte for
 * byte (cache marks apart).
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "core/block.h"
#include "core/fault.h"
#include "core/tokens.h"
#include "core/tool.h"

struct quirks; /* what one provider needs otherwise than its wire: wire/quirks.h */

struct request {
  struct str model, system;
  struct str tools;           /* from put_tools; empty: none */
  const struct str *messages; /* from put_message, oldest first */
  const enum role *roles;     /* one per message */
  size_t count;
  int64_t output_limit;
  uint64_t cache_key;          /* of the run: its requests begin alike; 0: none */
  bool no_tools;               /* tool_choice none: the wrap-up */
  const struct quirks *quirks; /* of find_quirks; NULL none */
};

struct draft;     /* a reply under construction: wire/draft.h */
struct sse_event; /* of the stream: rpc/sse.h, a floor that core does not include */

struct wire {
  const char *name;     /* "anthropic": provider prefix of --model, journal, opaque blocks */
  const char *base_url; /* the provider's own */
  const char *path;     /* joined to the base URL */
  const char *key_env, *url_env; /* names the official SDKs use; the program reads them */
  enum tokenizer tokenizer;      /* of models that are not known: rather too many tokens */
  int64_t overhead_tokens;       /* what providers add to a prompt unseen; at least 1 024 */
  void (*put_tools)(struct buf *out, const struct tool *tools, size_t count);
  /* The name of the dialect of tool schemas (schema/dialect.h); NULL as a function: openai. */
  const char *(*dialect)(const struct quirks *quirks, bool strict);
  /* What the provider of this name, or at this address, needs; NULL as a function: the
   * wire has one provider. */
  const struct quirks *(*find_quirks)(struct str address);
  /* The quirks with what this repair changes, in the arena; *quirks stays when it changes
   * nothing. False: no memory. NULL as a function: nothing can be repaired. */
  bool (*repair)(struct arena *arena, enum rewrite repair, const struct quirks **quirks);
  /* One message; false when nothing of it can be sent (all blank, or foreign). */
  bool (*put_message)(struct buf *out, const struct message *message, bool drop_thinking,
                      const struct quirks *quirks);
  void (*put_request)(struct buf *out, const struct request *request);
  /* Header lines "name: value\n" but for content-type; the key stands in one. */
  void (*put_headers)(struct buf *out, struct str key);
  /* One event of the stream into the draft. */
  void (*on_event)(struct draft *draft, const struct sse_event *event);
};
