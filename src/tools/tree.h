/* A folder of the project as list_files and search_files walk it: where it is,
 * which of the entries below it count.
 */
#pragma once

#include "tools/call.h"
#include "tools/glob.h"

struct tree {
  struct buf prefix; /* the folder's path relative to the root; "" is the root */
  struct glob *glob; /* NULL: everything */
  int fd;            /* of the folder */
};

/* The folder `dir` and the glob as the call names them. The tree is released
 * by the caller, also after an error. */
enum rein_code tree_open(const struct rein_call *call, struct tree *tree, struct err *err)
    REIN_CHECKED;
void tree_release(struct tree *tree);
/* files_walk's: folders that hold what others made. */
bool tree_skip(void *ctx, const struct files_entry *entry);
/* Does the glob name it? */
bool tree_wants(struct tree *tree, const struct files_entry *entry);
