/* The journal of a run: its records in order, kept before what they allow.
 *
 * Behind one small table of functions, so that the driver does not know where
 * the records live: memory.c keeps them in its process, sqlite.c on disk,
 * lines.c reads those that were written out.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct journal;

/* The answer to a commit that takes its time, on the loop's thread: all is safe
 * (NULL), or the sentence why not. Must not call back into the journal. */
typedef void (*journal_safe_fn)(void *ctx, const struct err *why);

struct journal_kind {
  /* Keeps one record (a line of JSON); it is safe once it was committed. */
  enum rein_code (*append)(struct journal *journal, struct str record, struct err *err);
  /* Makes all that was appended safe. *later: it is under way, nothing may be
   * appended until `safe` was called. REIN_HELD: another process took the run. */
  enum rein_code (*commit)(struct journal *journal, bool *later, struct err *err);
  /* Record i, borrowed until the next call; empty: there are no more. */
  enum rein_code (*record)(struct journal *journal, size_t i, struct str *line, struct err *err);
  /* `safe` is not called any more. */
  void (*close)(struct journal *journal);
};

struct journal {
  const struct journal_kind *kind;
  journal_safe_fn safe; /* set by who appends */
  void *safe_ctx;
};

enum rein_code journal_open_memory(struct journal **journal, struct err *err) REIN_CHECKED;
