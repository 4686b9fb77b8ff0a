/* The lines of one file that a pattern matches, pulled one by one.
 *
 *   scan_init(&scan, regex, clock);
 *   scan_file(&scan, fd);
 *   while ((event = scan_next(&scan)) != SCAN_END) ...
 *   scan_release(&scan);
 *
 * Streams in blocks. A line longer than a block is searched in pieces that
 * overlap: ^ still means its true start, $ may be a piece's end.
 */
#pragma once

#include "regex/regex.h"
#include "tools/call.h"

#define SCAN_BLOCK (1u << 20)
#define SCAN_OVERLAP 4096 /* of pieces: a match across a border is found up to this length */

enum scan_event {
  SCAN_END,
  SCAN_HIT,    /* line, text, match */
  SCAN_COSTLY, /* line: the pattern gave up there; goes on behind it */
  SCAN_LONG,   /* line: it is searched in pieces; goes on */
  /* These end the file; SCAN_END follows. */
  SCAN_BINARY, /* from `line` on; kind */
  SCAN_LATE,   /* line: the clock ran out, or the call was cancelled */
  SCAN_ERROR,  /* line; error: errno of a failed read */
  SCAN_MEMORY,
};

struct scan {
  const struct regex *regex;
  struct regex_scratch *scratch;
  struct str literal; /* every match holds it, byte for byte; empty: not known */
  struct call_clock clock;
  char *block;
  struct buf fixed;

  int fd;
  size_t at, ready, n; /* next line; end of what can be searched; end of the bytes */
  int64_t next_line;
  bool started, eof, nul, ended;
  bool piece;     /* the block holds no line end */
  bool inside;    /* `at` stands inside a line that began in an earlier block */
  bool line_done; /* of that line: it is reported, the rest is passed over */

  int64_t line;           /* of the event */
  struct str text, match; /* borrowed until the next call */
  enum text_id kind;
  int error;
};

enum rein_code scan_init(struct scan *scan, const struct regex *regex, struct call_clock clock)
    REIN_CHECKED;
void scan_release(struct scan *scan);      /* a zeroed one is fine */
void scan_file(struct scan *scan, int fd); /* the descriptor stays the caller's */
enum scan_event scan_next(struct scan *scan);
