/* The event-stream reader (WHATWG HTML, "Server-sent events").
 *
 * Bytes in, in any pieces; events out, by pulling. LF, CRLF and CR end a line,
 * also when a piece ends between CR and LF; a BOM at the start is skipped;
 * comments are counted, not given out. Differs from the standard on purpose:
 * an event at the end of the stream counts without its blank line, since real
 * servers forget it; `open` says so, for it may as well have been cut.
 *
 *   sse_feed(&s, bytes);                 // borrowed until drained
 *   while (sse_next(&s, &event)) ...     // event borrowed until the next call
 *   sse_end(&s); while (sse_next(...)) ...
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#define SSE_LINE_MAX (8u << 20) /* a tool argument of megabytes is legal, an endless line is not */
#define SSE_EVENT_MAX (16u << 20)

struct sse_event {
  struct str name; /* "" when the stream gave none */
  struct str data; /* data lines joined by \n */
  struct str id;
  bool open; /* the stream ended before the blank line */
};

struct sse {
  struct str in; /* fed, not yet read */
  struct buf line, name, data, id;
  bool cr; /* the last line ended with CR: a LF now is its tail */
  bool started, ended, has_data;
  bool given;          /* name and data were given out: the next call drops them */
  uint64_t comments;   /* keep-alives seen */
  enum rein_code fail; /* REIN_LIMIT, REIN_MEMORY: the stream is of no use any more */
};

void sse_init(struct sse *s);
void sse_release(struct sse *s);
void sse_feed(struct sse *s, struct str bytes);
void sse_end(struct sse *s);
bool sse_next(struct sse *s, struct sse_event *event);
