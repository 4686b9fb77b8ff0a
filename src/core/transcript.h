/* The transcript: messages in order, each serialised once when it joins.
 *
 * One that a provider would refuse cannot be built: the first message is the
 * user's, each call of a reply is answered right behind it by one result, in
 * call order, all in one user message, results first; no id stands twice; no
 * message is empty. It owns copies of all it holds. What fails changes nothing.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "core/wire.h"

#define TRANSCRIPT_MAX (256u << 20) /* bytes: no context window comes near */

/* Words of the user in a message whose blocks are let go. */
struct said {
  size_t message;
  struct str text;
};

struct transcript {
  const struct wire *wire;
  const struct quirks *quirks; /* the wire's, for the provider at hand; NULL none */
  struct arena arena;
  /* Blocks of the newest user message alone: words may join them. Of older ones
   * the bytes are enough, which hold the same text. */
  struct arena newest;
  struct message *messages;
  struct str *bytes; /* per message, as sent; empty: nothing of it can be sent */
  enum role *roles;
  int64_t *tokens; /* per message, estimated */
  enum tokenizer tokenizer;
  size_t count, cap;
  struct said *said; /* oldest first; of messages without blocks */
  size_t said_count, said_cap;
  size_t open;        /* calls of the last message that are not answered yet */
  size_t reply_bytes; /* of the newest assistant message */
  bool keeps;         /* older user messages keep their blocks, in `newest` */
  size_t dropped;     /* messages that are sent without their thinking */
  uint64_t *ids;      /* hashes of all call ids, so that none stands twice */
  size_t id_count, id_cap;
};

void transcript_init(struct transcript *t, const struct wire *wire, const struct quirks *quirks);
void transcript_release(struct transcript *t);
/* Words of the user: a new message, or behind what the last user message holds.
 * No call may be open. */
enum rein_code transcript_say(struct transcript *t, struct str words, struct err *err) REIN_CHECKED;
/* The same with words of rein's own: a compaction may leave them out. */
enum rein_code transcript_note(struct transcript *t, struct str words, struct err *err)
    REIN_CHECKED;
/* A reply with at least one block; a call id that is missing or was there
 * before is replaced. Borrowed until the next call: the blocks as kept. */
enum rein_code transcript_reply(struct transcript *t, const struct block *blocks, size_t count,
                                const struct message **kept, struct err *err) REIN_CHECKED;
/* The results of all open calls, in call order; `note` stands behind them. */
enum rein_code transcript_results(struct transcript *t, const struct block *results, size_t count,
                                  struct str note, struct err *err) REIN_CHECKED;
/* Writes the messages anew by these quirks; `drop`: signed blocks of all messages so far
 * are left out from here on. Messages of the user that the provider has taken stay. */
enum rein_code transcript_rewrite(struct transcript *t, const struct quirks *quirks, bool drop,
                                  struct err *err) REIN_CHECKED;
/* All messages anew for another wire, without what is signed. Older messages must
 * have their blocks: see transcript_keep. */
enum rein_code transcript_rewire(struct transcript *t, const struct wire *wire,
                                 const struct quirks *quirks, enum tokenizer tokenizer,
                                 struct err *err) REIN_CHECKED;
/* From here on blocks of user messages are kept, or (false) those of the newest alone. */
enum rein_code transcript_keep(struct transcript *t, bool keep, struct err *err) REIN_CHECKED;
/* What a compaction puts in place of older messages, transcript_compact.c. */
struct compaction {
  size_t cut;            /* messages before it become one; 0: all stay */
  struct str summary;    /* stands behind the user's words in them */
  int64_t result_tokens; /* a result of the last message may have as many; 0: it stays */
  enum rein_lang lang;   /* of the notice in a result that is cut */
};
/* True where a cut parts no call from its result: before a reply, or before the newest
 * message when it holds words alone. */
bool transcript_may_cut(const struct transcript *t, size_t at);
/* Tokens of the user's words in messages before `cut`. */
int64_t transcript_said_tokens(const struct transcript *t, size_t cut);
/* Calls' results in the last message; 0: it holds none. */
size_t transcript_last_results(const struct transcript *t);
/* No call is open; `cut` is one that transcript_may_cut. Signed blocks are left out: they
 * hold for the prompt they were made with. All that was borrowed is gone. */
enum rein_code transcript_compact(struct transcript *t, const struct compaction *c, struct err *err)
    REIN_CHECKED;

/* -- for transcript_compact.c -- */
bool transcript_copy_block(struct arena *arena, const struct block *from, struct block *to);
bool transcript_encode(struct transcript *t, const struct message *m, bool drop, struct str *bytes,
                       int64_t *tokens);
bool transcript_keep_said(struct transcript *t, size_t message, const struct block *blocks,
                          size_t count);
enum rein_code transcript_no_room(const struct transcript *t, struct err *err);

/* The last message is the user's: a request is due. */
bool transcript_ends_with_user(const struct transcript *t);
/* The last message is the user's and holds results. */
bool transcript_ends_with_results(const struct transcript *t);
