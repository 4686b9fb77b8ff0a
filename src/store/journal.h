/* The journal of a run: its records in order, kept before what they allow.
 *
 * Behind one small table of functions, so that the driver does not know where
 * the records live. In memory now; SQLite and PostgreSQL follow.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct journal;

struct journal_kind {
  /* Keeps one record (a line of JSON); it is safe once commit returned. */
  enum rein_code (*append)(struct journal *journal, struct str record, struct err *err);
  enum rein_code (*commit)(struct journal *journal, struct err *err);
  /* Record i, borrowed until the next append; empty: no such record. */
  struct str (*record)(struct journal *journal, size_t i);
  void (*close)(struct journal *journal);
};

struct journal {
  const struct journal_kind *kind;
};

enum rein_code journal_open_memory(struct journal **journal, struct err *err) REIN_CHECKED;
