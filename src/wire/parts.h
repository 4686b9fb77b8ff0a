/* The inside of a draft, shared by draft.c (what comes in), draft_reply.c (what
 * goes out) and nobody else. */
#pragma once

#include "wire/draft.h"
#include "wire/think.h"

struct patched {
  struct str member;
  enum patch how;
  struct buf text;
  struct utf8_join join;
};

struct part {
  int64_t index;
  enum block_kind kind;
  bool closed;
  struct buf body; /* text, thinking, or source of arguments: well-formed UTF-8 */
  struct utf8_join join;
  bool dark;    /* only blanks so far: nothing of it is shown yet */
  size_t shown; /* bytes of body given out as pieces */
  struct str id, name, signature, raw, item;
  struct patched *patched; /* in the arena, DRAFT_PATCHES_MAX */
  size_t patched_count;
};

struct draft {
  const struct wire *wire;
  struct arena arena;
  struct part *parts;
  size_t count, cap;
  size_t show_from; /* parts before it are shown to the end */
  size_t bytes;     /* of all bodies */
  size_t restarts;
  enum rein_lang lang;
  struct str id, model;
  struct usage usage;
  enum stop stop;
  struct str stop_word;
  bool has_stop, done, failed, began, moved, gave, withdrawn, lenient, refused;
  bool stop_ends; /* with its stop reason it is whole */
  struct fault fault;
  struct think think;
  enum rein_code fail; /* REIN_MEMORY; sticky */
};
