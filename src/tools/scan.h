/* The lines of one file that a pattern matches, pulled one by one.
 *
 *   scan_init(&scan, &pattern, clock);
 *   scan_file(&scan, fd, size);
 *   while ((event = scan_next(&scan)) != SCAN_END) ...
 *   scan_release(&scan);
 *
 * Streams in blocks. A line ends with LF or CR LF, and neither is part of it; but
 * where the pattern names the carriage return itself, the line is also tried with
 * it. A line longer than a block is searched in pieces that overlap: ^ still means
 * its true start, $ may be a piece's end. UTF-16 and CP949 are told as read_file
 * tells them and searched as UTF-8, CP949 from the first byte on that is not ASCII.
 * Bytes of an encoding that is not known are U+FFFD, and `encoding` says so.
 */
#pragma once

#include "regex/regex.h"
#include "tools/call.h"
#include "tools/encoding.h"

#define SCAN_BLOCK (1u << 20)  /* of a file in memory */
#define SCAN_READ (256u << 10) /* read at once where lines end: it stays in the cache */
#define SCAN_OVERLAP 4096      /* of pieces: a match across a border is found up to this length */

/* What is searched for, shared by all threads. */
struct scan_pattern {
  struct regex *regex;    /* as it was written */
  struct regex *composed; /* for lines in another Unicode form, composed; NULL: none differ */
};
/* Makes both from a pattern. Errors are regex_new's. */
enum rein_code scan_pattern_new(struct str pattern, unsigned flags, struct scan_pattern *made,
                                struct err *err) REIN_CHECKED;
void scan_pattern_release(struct scan_pattern *pattern);

enum scan_event {
  SCAN_END,
  SCAN_HIT,    /* line, text, match, raw */
  SCAN_COSTLY, /* line: the pattern gave up there; goes on behind it */
  SCAN_LONG,   /* line: it is searched in pieces; goes on */
  /* These end the file; SCAN_END follows. */
  SCAN_BINARY, /* from `line` on; kind */
  SCAN_LATE,   /* line: the clock ran out, or the call was cancelled */
  SCAN_ERROR,  /* line; error: errno of a failed read */
  SCAN_MEMORY,
};

struct scan {
  const struct scan_pattern *pattern;
  struct regex_scratch *scratch, *composed_scratch;
  struct call_clock clock;
  char *block, *wide_room;
  struct buf fixed, form, korean;
  bool looks; /* the pattern has a fast first look */

  int fd;
  size_t size;         /* of the file as it was told; 0: unknown */
  size_t read;         /* bytes so far */
  size_t at, ready, n; /* next line; end of what can be searched; end of the bytes */
  size_t counted;      /* next_line is the line's that begins here */
  int64_t next_line;
  bool started, eof, nul, ended, checked;
  bool piece;             /* the block holds no line end */
  bool inside;            /* `at` stands inside a line that began in an earlier block */
  bool line_done;         /* of that line: it is reported, the rest is passed over */
  bool judged;            /* a byte that is not ASCII was met: `encoding` is told by it */
  enum encoding encoding; /* so far; UTF-16 and CP949 are decoded */
  size_t wide_left;       /* bytes in wide_room */
  bool decode_fail;       /* no memory */

  int64_t line;           /* of the event */
  struct str text, match; /* borrowed until the next call */
  struct str raw;         /* the text as it stands in the file, well-formed */
  enum text_id kind;
  int error;
};

enum rein_code scan_init(struct scan *scan, const struct scan_pattern *pattern,
                         struct call_clock clock) REIN_CHECKED;
void scan_release(struct scan *scan); /* a zeroed one is fine */
/* The descriptor stays the caller's; it stands at the file's start. */
void scan_file(struct scan *scan, int fd, size_t size);
enum scan_event scan_next(struct scan *scan);
