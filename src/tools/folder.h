/* A folder of the project as list_files and search_files walk it: where it is,
 * which of the entries below it count, what in it was not looked at.
 */
#pragma once

#include "host/walk.h"
#include "tools/call.h"
#include "tools/glob.h"

/* Something that happened in several places: how often, and the first of them. */
struct places {
  int64_t n;
  struct buf first;
};

/* What a walk could not enter. */
struct closed {
  struct places folders, rules; /* rules: a .gitignore that was not read whole */
};

struct folder {
  struct buf prefix;                    /* the folder's path relative to the root; "" is the root */
  struct glob *globs[WALK_THREADS_MAX]; /* one a thread; NULL: everything */
  unsigned threads;
  int fd; /* of the folder */
  struct closed closed;
};

void places_init(struct places *p);
void places_release(struct places *p);
void places_add(struct places *p, struct str path);
void places_merge(struct places *into, const struct places *p); /* p comes behind */

void closed_init(struct closed *c);
void closed_release(struct closed *c);
void closed_merge(struct closed *into, const struct closed *c);
/* Whether the entry is a folder that was not entered; what is to be told is kept. */
bool closed_add(struct closed *c, const struct walk_entry *entry);

/* The folder `dir` and the glob as the call names them. The folder is released
 * by the caller, also after an error. */
enum rein_code folder_open(const struct rein_call *call, struct folder *folder, struct err *err)
    REIN_CHECKED;
void folder_release(struct folder *folder);
/* What is the same in each walk below it; ctx and functions are the caller's. */
struct walk_plan folder_plan(const struct rein_call *call, const struct folder *folder);
/* Does the glob name it? */
bool folder_wants(struct folder *folder, unsigned thread, const struct walk_entry *entry);
/* Appends the notices about what was not entered, each with a line end. */
void folder_note(const struct folder *folder, const struct rein_call *call, struct buf *out);
