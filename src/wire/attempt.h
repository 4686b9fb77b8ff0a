/* One HTTP answer becomes one event: REPLY or FAILED. Pure; the driver and the
 * bare machine of rein.h feed it.
 *
 *   attempt_new(wire, id, &attempt);
 *   attempt_status(a, 200); attempt_header(a, name, value); attempt_bytes(a, bytes);
 *   attempt_end(a, ATTEMPT_CLOSED, why, now, &event);
 *
 * A body with status 200 that is no event stream (JSON error, HTML) is told
 * apart by its first bytes and its content-type, and quoted.
 */
#pragma once

#include "core/event.h"
#include "wire/draft.h"

struct attempt;

enum attempt_end {
  ATTEMPT_CLOSED,  /* the body ended */
  ATTEMPT_CONNECT, /* no connection was made */
  ATTEMPT_BROKEN,  /* it broke before its end */
  ATTEMPT_STALLED, /* nothing moved for the idle limit */
};

enum rein_code attempt_new(const struct wire *wire, uint32_t id, struct attempt **attempt)
    REIN_CHECKED;
void attempt_free(struct attempt *attempt);
/* The language of our own sentences about it; English until said. */
void attempt_speak(struct attempt *attempt, enum rein_lang lang);
void attempt_status(struct attempt *attempt, int status);
void attempt_header(struct attempt *attempt, struct str name, struct str value);
void attempt_bytes(struct attempt *attempt, struct str bytes);
bool attempt_piece(struct attempt *attempt, struct str *piece, bool *thinking);
bool attempt_moved(struct attempt *attempt); /* the idle timer starts anew */
/* True once after the server began another message in the same stream: the
 * pieces given out before do not count. Ask before pulling pieces. */
bool attempt_withdrawn(struct attempt *attempt);
/* True once nothing that could still come matters (last event, error event, an
 * endless line, more of an error page than is kept):
 * the connection may be dropped and attempt_end called at once. */
bool attempt_over(const struct attempt *attempt);
/* The message came whole. */
bool attempt_whole(const struct attempt *attempt);
/* Fills *event, whose slices live as long as the attempt. `now_s` is wall time,
 * for a retry-after that is a date. */
void attempt_end(struct attempt *attempt, enum attempt_end end, struct str why, int64_t at_ms,
                 int64_t now_s, struct event *event);
/* Everything of the error as it came, for the log; empty when it went well. */
struct str attempt_raw_error(const struct attempt *attempt);
/* Blocks of a reply that cannot be sent back, for the log: draft_dropped. */
size_t attempt_dropped(const struct attempt *attempt);
