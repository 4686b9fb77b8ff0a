/* A folder of the project as list_files and search_files walk it: where it is,
 * which of the entries below it count.
 */
#pragma once

#include "tools/call.h"
#include "tools/glob.h"

struct folder {
  struct buf prefix;      /* the folder's path relative to the root; "" is the root */
  struct glob *glob;      /* NULL: everything */
  int fd;                 /* of the folder */
  int64_t closed;         /* folders below it that were not entered */
  struct buf closed_path; /* the first of them */
};

/* The folder `dir` and the glob as the call names them. The folder is released
 * by the caller, also after an error. */
enum rein_code folder_open(const struct rein_call *call, struct folder *folder, struct err *err)
    REIN_CHECKED;
void folder_release(struct folder *folder);
/* files_walk's: folders that hold what others made. */
bool folder_skip(void *ctx, const struct files_entry *entry);
/* Does the glob name it? */
bool folder_wants(struct folder *folder, const struct files_entry *entry);
/* Whether the entry is a folder that was not entered; it is counted. */
bool folder_closed(struct folder *folder, const struct files_entry *entry);
/* Appends the notice about those, and a line end; nothing where there are none. */
void folder_note(const struct folder *folder, const struct rein_call *call, struct buf *out);
