/* What write_file, edit_file and delete_file share: a file opened to be changed,
 * held against what this run has seen of it, and what there is to say about it.
 */
#pragma once

#include "tools/call.h"

#define CHANGE_BYTES_MAX (64u << 20) /* of a file, before and after; held three times at most */

struct change {
  struct rein_call *call;
  struct files_place place;
  struct buf old;         /* its bytes; of delete_file: none */
  struct files_want want; /* what must still be there when it is changed */
  struct files_done done;
  bool known;    /* the run has read or written it */
  bool vanished; /* it has, and the file is not there any more */
};

/* Opens the place, reads what is there and compares. T_HOST_WRITE_CHANGED: it is
 * not what the run has seen. Close it in any case. */
enum rein_code change_open(struct change *change, struct rein_call *call, enum files_aim aim,
                           struct err *err) REIN_CHECKED;
void change_close(struct change *change);
/* Puts the bytes in place and notes them as seen. */
enum rein_code change_write(struct change *change, struct str bytes, struct err *err) REIN_CHECKED;
/* Appends what is worth saying, each on a line of its own, in brackets. */
void change_notes(const struct change *change, struct buf *out);
