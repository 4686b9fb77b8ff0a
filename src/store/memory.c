/* The journal in memory: for --no-store, for tests and for programs that keep
 * records themselves. It lives as long as its process; nothing is safer after
 * commit than before. The kinds that keep records on disk stand beside it.
 */
#include "store/journal.h"

#include "base/mem.h"
#include "text/text.h"

/* All records together. A run of 30 turns with results of 64 MiB each would pass
 * it; what is more belongs on disk. */
#define MEMORY_BYTES_MAX (1u << 30)

struct memory {
  struct journal journal; /* first: the driver knows no more of it */
  struct str *records;
  size_t count, room, bytes;
};

static struct memory *memory_of(struct journal *journal) {
  return (struct memory *)journal;
}

static enum rein_code memory_grow(struct memory *m) {
  if (m->count < m->room) {
    return REIN_OK;
  }
  size_t room = m->room ? m->room * 2 : 16;
  struct str *records = mem_resize(m->records, room * sizeof *records);
  if (!records) {
    return REIN_MEMORY;
  }
  m->records = records;
  m->room = room;
  return REIN_OK;
}

static enum rein_code memory_append(struct journal *journal, struct str record, struct err *err) {
  struct memory *m = memory_of(journal);
  if (record.n > MEMORY_BYTES_MAX - m->bytes) {
    return ERR(err, REIN_LIMIT, T_STORE_MEMORY_FULL);
  }
  char *copy = memory_grow(m) == REIN_OK ? mem_resize(NULL, record.n + 1) : NULL;
  if (!copy) {
    return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
  }
  if (record.n > 0) {
    memcpy(copy, record.p, record.n);
  }
  copy[record.n] = '\0';
  m->records[m->count++] = (struct str){copy, record.n};
  m->bytes += record.n;
  return REIN_OK;
}

static enum rein_code memory_commit(struct journal *journal, bool *later, struct err *err) {
  (void)journal;
  (void)err;
  *later = false;
  return REIN_OK;
}

static enum rein_code memory_record(struct journal *journal, size_t i, struct str *line,
                                    struct err *err) {
  struct memory *m = memory_of(journal);
  (void)err;
  *line = i < m->count ? m->records[i] : STR_NONE;
  return REIN_OK;
}

static void memory_close(struct journal *journal) {
  struct memory *m = memory_of(journal);
  for (size_t i = 0; i < m->count; i++) {
    mem_free((char *)m->records[i].p);
  }
  mem_free(m->records);
  mem_free(m);
}

static const struct journal_kind memory_kind = {
    .append = memory_append,
    .commit = memory_commit,
    .record = memory_record,
    .close = memory_close,
};

enum rein_code journal_open_memory(struct journal **journal, struct err *err) {
  struct memory *m = mem_zero(sizeof *m);
  if (!m) {
    return ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY);
  }
  m->journal.kind = &memory_kind;
  *journal = &m->journal;
  return REIN_OK;
}
