/* A reply under construction: the builders that all wires share.
 *
 * A wire's on_event calls these; whoever reads the answer pulls streamed pieces
 * and, at the end, the whole reply. Text is joined across pieces (a surrogate
 * pair, a character) before anyone sees it; blank text blocks are left out, but
 * for those right behind a text (a paragraph break, which no wire sends back);
 * empty arguments become {}; lone surrogates are mended: once, here. The pieces
 * of text, put together, are the texts of the reply.
 *
 * A failed allocation is remembered: draft_reply says so.
 */
#pragma once

#include "base/arena.h"
#include "base/utf8.h"
#include "core/block.h"
#include "core/fault.h"
#include "core/wire.h"

#define DRAFT_BLOCKS_MAX 4096
#define DRAFT_BYTES_MAX (32u << 20) /* of one reply: 128 000 tokens are half a megabyte */
#define DRAFT_WORD_POINTS_MAX 64    /* of a stop reason: it is quoted in a sentence */
#define DRAFT_RESTARTS_MAX 8        /* of one stream; a server that goes on so never ends */
#define DRAFT_PATCHES_MAX 16        /* members of one opaque block that come in pieces */
#define DRAFT_TOKENS_MAX INT64_C(1000000000000) /* usage beyond it is a lie, and sums stay safe */

struct draft;

enum rein_code draft_new(const struct wire *wire, struct draft **draft) REIN_CHECKED;
void draft_free(struct draft *draft); /* NULL is fine */
/* The language of our own sentences about what came; English until said. */
void draft_speak(struct draft *draft, enum rein_lang lang);
enum rein_lang draft_lang(const struct draft *draft);
/* Forgets all that came: a second message begins in the same stream. Fails the
 * draft when that happens again and again. */
void draft_restart(struct draft *draft);

/* -- for wires -- */
void draft_id(struct draft *draft, struct str id, struct str model);
struct str draft_named(const struct draft *draft); /* the id; empty: none yet */
/* Opens block `index` (in the order of arrival). An index whose block is closed
 * may be opened anew: a further block, and the index means that one from then. */
void draft_open(struct draft *draft, int64_t index, enum block_kind kind);
void draft_call(struct draft *draft, int64_t index, struct str id, struct str name);
/* A piece of text, of arguments or of thinking. */
void draft_text(struct draft *draft, int64_t index, struct str piece);
void draft_signature(struct draft *draft, int64_t index, struct str signature); /* sets */
/* THINKING, OPAQUE: the block's JSON, which stands for it (a later one
 * replaces it). TOOL_USE: arguments that count when no text comes. */
void draft_raw(struct draft *draft, int64_t index, struct str json);
/* TEXT, TOOL_USE: the provider's own JSON of the block, kept beside it for the
 * same wire (block.raw); a later one replaces it. */
void draft_item(struct draft *draft, int64_t index, struct str json);
/* The whole text (or arguments) as the block's end says it: what came in pieces
 * is completed, or replaced where it differs. An empty one says nothing. */
void draft_settle(struct draft *draft, int64_t index, struct str whole);
/* A member of a block's raw JSON that comes in pieces; without a draft_raw or
 * draft_item before it, the object starts empty. */
enum patch {
  PATCH_TEXT,   /* `piece` is added to the member's string */
  PATCH_SOURCE, /* the pieces together are JSON that replaces the member */
  PATCH_VALUE,  /* each piece is JSON that replaces the member */
  PATCH_EACH,   /* each piece is JSON that is added to the member's array */
};
void draft_patch(struct draft *draft, int64_t index, struct str member, enum patch how,
                 struct str piece);
void draft_close(struct draft *draft, int64_t index);
bool draft_has(const struct draft *draft, int64_t index, enum block_kind *kind);
int64_t draft_newest(const struct draft *draft); /* index of the newest block; 0: none */
/* A block as far as it came; borrowed until the draft changes. */
struct draft_view {
  int64_t index;
  enum block_kind kind;
  bool closed;
  struct str id, name, body;
};
bool draft_find(const struct draft *draft, int64_t index, struct draft_view *view); /* the newest */
bool draft_back(const struct draft *draft, size_t i, struct draft_view *view); /* 0: the newest */
/* The peers of this wire are many and careless: arguments that are a string
 * with an object in it are that object; a call that got no name is left out. */
void draft_lenient(struct draft *draft);
/* The last event of this wire is often left out: a message that had its stop reason
 * is whole without it. */
void draft_stop_ends(struct draft *draft);
/* The model refused: a stop that says "end" is a refusal. */
void draft_refuse(struct draft *draft);
/* Where the wire is in an answer that may begin with reasoning; the draft only keeps it. */
struct think *draft_think(struct draft *draft);
bool draft_stopped(const struct draft *draft); /* draft_stop was called */
/* All members to "not said", which is -1; known_output to true. */
void draft_count(struct usage *seen);
/* Cumulative: of each member the last known value wins. An output that is no
 * more than a beginning (`known_output` false) does not count as known. */
void draft_usage(struct draft *draft, const struct usage *seen);
void draft_stop(struct draft *draft, enum stop stop, struct str word);
void draft_done(struct draft *draft); /* the wire's last event came */
void draft_fail(struct draft *draft, enum fault_kind kind, struct str message, struct str type);
void draft_lost(struct draft *draft, enum rein_code code); /* an allocation failed */

/* -- for readers -- */
/* The next streamed piece, borrowed until the draft changes. */
bool draft_piece(struct draft *draft, struct str *piece, bool *thinking);
/* Something moved the message since last asked (not pings). */
bool draft_moved(struct draft *draft);
bool draft_began(const struct draft *draft);
/* True once after a restart behind which pieces had been given out: what was
 * shown of this reply does not count. */
bool draft_withdrawn(struct draft *draft);
/* The stream ended, see draft_stop_ends. */
void draft_eof(struct draft *draft);
bool draft_is_done(const struct draft *draft);
bool draft_lacks(const struct draft *draft);                 /* memory: nothing more is taken */
const struct fault *draft_failed(const struct draft *draft); /* NULL: not */
struct usage draft_used(const struct draft *draft);
/* Signed blocks that came without their signature and are left out. */
size_t draft_dropped(const struct draft *draft);
/* The reply, or what has come of it; borrowed from the draft. */
enum rein_code draft_reply(struct draft *draft, struct reply *reply, struct err *err) REIN_CHECKED;
