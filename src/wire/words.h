/* Small questions about words that go over a wire, the same for all wires. */
#pragma once

#include "base/buf.h"

/* Nothing but white space (Unicode's, as providers count it): a text block of
 * it is refused in requests, though replies hold such ones. */
bool words_blank(struct str text);
/* A call's id in the letters that every wire takes, [A-Za-z0-9_-]: as it is,
 * or with others replaced and a hash of the original behind it, so that two
 * ids stay two. */
void words_put_id(struct buf *out, struct str id);
/* The same in at most 64 letters: a longer one is cut, its hash behind it. */
void words_put_short_id(struct buf *out, struct str id);
/* A tool's name likewise, at most 64 letters: models invent names. */
void words_put_name(struct buf *out, struct str name);
/* The first words of any bytes on one line, for quoting: white space runs are
 * one space, controls are visible, at most 200 code points. */
void words_quote(struct buf *out, struct str bytes);
/* A key that may stand in a header line: one with a line end in it would be a
 * header of somebody else's making, and is left out. */
bool words_header_safe(struct str key);
/* ASCII case is ignored. */
bool words_have(struct str text, struct str part);
