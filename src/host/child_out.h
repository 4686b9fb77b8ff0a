/* What a command prints, kept within bounds: the head, the tail, and of what lies
 * between them the lines that look like errors. Bytes are kept as they come. */
#pragma once

#include "base/buf.h"

#define CHILD_FLOOD_BYTES ((int64_t)256 << 20) /* a command that prints more is ended */
#define CHILD_ERROR_BYTES 4096                 /* of error lines kept from the middle */
#define CHILD_LINE_BYTES 400                   /* of one of them */

struct child_out {
  size_t head_max, tail_max; /* bytes */
  struct buf head;
  struct buf tail;     /* a ring, once it is full */
  size_t tail_at;      /* where the ring begins */
  struct buf line;     /* the line at hand, of what is leaving the ring */
  struct buf errors;   /* lines, each with its end */
  int64_t bytes;       /* that came in all */
  int64_t cut;         /* of them in none of head and tail */
  int64_t error_lines; /* that were seen in the middle, kept or not */
};

void child_out_init(struct child_out *out, size_t head_max, size_t tail_max);
void child_out_release(struct child_out *out);
void child_out_add(struct child_out *out, struct str bytes);
/* The end of the output: the last line is whole. */
void child_out_end(struct child_out *out);
/* The tail in order, appended. */
void child_out_put_tail(const struct child_out *out, struct buf *text);
bool child_out_failed(const struct child_out *out); /* memory */
