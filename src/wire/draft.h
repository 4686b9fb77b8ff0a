/* A reply under construction: the builders that all wires share.
 *
 * A wire's on_event calls these; whoever reads the answer pulls streamed pieces
 * and, at the end, the whole reply. Text is joined across pieces (a surrogate
 * pair, a character) before anyone sees it; blank text blocks are left out;
 * empty arguments become {}; lone surrogates are mended: once, here.
 */
#pragma once

#include "base/arena.h"
#include "base/utf8.h"
#include "core/block.h"
#include "core/fault.h"
#include "core/wire.h"

#define DRAFT_BLOCKS_MAX 4096

struct draft;

enum rein_code draft_new(const struct wire *wire, struct draft **draft) REIN_CHECKED;
void draft_free(struct draft *draft);
/* Forgets all that came: a second message begins in the same stream. */
void draft_restart(struct draft *draft);

/* -- for wires -- */
void draft_id(struct draft *draft, struct str id, struct str model);
/* Opens block `index` (in the order of arrival); closed ones may not reopen. */
void draft_open(struct draft *draft, int64_t index, enum block_kind kind);
void draft_call(struct draft *draft, int64_t index, struct str id, struct str name);
void draft_text(struct draft *draft, int64_t index, struct str piece); /* text, arguments, thinking */
void draft_signature(struct draft *draft, int64_t index, struct str signature); /* sets */
void draft_raw(struct draft *draft, int64_t index, struct str json); /* the start of an opaque block */
void draft_close(struct draft *draft, int64_t index);
void draft_usage(struct draft *draft, const struct usage *seen); /* cumulative: last known value wins */
void draft_stop(struct draft *draft, enum stop stop, struct str word);
void draft_done(struct draft *draft); /* the wire's last event came */
void draft_fail(struct draft *draft, enum fault_kind kind, struct str message, struct str type);

/* -- for readers -- */
bool draft_piece(struct draft *draft, struct str *piece, bool *thinking); /* next streamed piece */
bool draft_moved(struct draft *draft); /* something moved the message since last asked (not pings) */
bool draft_began(const struct draft *draft);
bool draft_is_done(const struct draft *draft);
const struct fault *draft_failed(const struct draft *draft); /* NULL: not */
struct usage draft_used(const struct draft *draft);
/* The reply; borrowed from the draft. */
enum rein_code draft_reply(struct draft *draft, struct reply *reply, struct err *err) REIN_CHECKED;
