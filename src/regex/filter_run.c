/* Runs a filter: its sets of places become states when they are met, and are
 * forgotten when there are too many.
 */
#include "regex/filter.h"

#include "base/mem.h"

#define STATES_MAX 512
#define BUCKETS 1024
#define UNKNOWN UINT32_MAX
#define YES (UINT32_MAX - 1)

struct filter_run {
  uint64_t places[STATES_MAX];
  uint16_t bucket[BUCKETS]; /* a state's number and 1; 0: free */
  unsigned n, kinds;
  uint32_t next[]; /* [state][kind]: a state, UNKNOWN or YES */
};

static unsigned slot_of(const struct filter_run *run, uint64_t places) {
  unsigned at = (unsigned)((places * UINT64_C(0x9e3779b97f4a7c15)) >> 54) % BUCKETS;
  while (run->bucket[at] && run->places[run->bucket[at] - 1] != places)
    at = (at + 1) % BUCKETS;
  return at;
}

static uint32_t state_of(struct filter_run *run, uint64_t places) {
  unsigned slot = slot_of(run, places);
  if (run->bucket[slot]) return run->bucket[slot] - 1u;
  uint32_t state = run->n++;
  run->places[state] = places;
  run->bucket[slot] = (uint16_t)(state + 1);
  for (unsigned k = 0; k < run->kinds; k++)
    run->next[state * run->kinds + k] = UNKNOWN;
  return state;
}

static void forget(struct filter_run *run) {
  memset(run->bucket, 0, sizeof run->bucket);
  run->n = 0;
  (void)state_of(run, 0); /* number 0: nothing was begun */
}

struct filter_run *filter_run_new(const struct filter *f) {
  size_t cells = (size_t)STATES_MAX * f->kinds;
  struct filter_run *run = mem_resize(NULL, sizeof *run + cells * sizeof *run->next);
  if (!run) return NULL;
  run->kinds = f->kinds;
  forget(run);
  return run;
}

void filter_run_free(struct filter_run *run) {
  mem_free(run);
}

/* Finds out where a state goes; may forget all others, and gives the new number
 * of where it went. */
static uint32_t find_out(const struct filter *f, struct filter_run *run, uint32_t state,
                         unsigned kind) {
  uint64_t from = run->places[state], to = f->first;
  for (; from; from &= from - 1)
    to |= f->follow[__builtin_ctzll(from)];
  to &= f->of_kind[kind];
  if (to & f->last) {
    run->next[state * run->kinds + kind] = YES;
    return YES;
  }
  if (run->n == STATES_MAX) {
    forget(run);
    return state_of(run, to);
  }
  uint32_t next = state_of(run, to);
  run->next[state * run->kinds + kind] = next;
  return next;
}

/* Where nothing was begun most bytes change nothing. */
static const unsigned char *pass_over(const struct filter *f, const unsigned char *p,
                                      const unsigned char *end) {
  while (end - p >= 4 && !(f->starts[p[0]] | f->starts[p[1]] | f->starts[p[2]] | f->starts[p[3]]))
    p += 4;
  while (p < end && !f->starts[*p])
    p++;
  return p;
}

size_t filter_next(const struct filter *f, struct filter_run *run, struct str text, size_t from) {
  const unsigned char *start = (const unsigned char *)text.p, *end = start + text.n;
  const unsigned char *p = start + from;
  uint32_t state = 0;
  while (p < end) {
    if (state == 0 && (p = pass_over(f, p, end)) == end) break;
    unsigned kind = f->kind[*p];
    uint32_t next = run->next[state * run->kinds + kind];
    if (next == UNKNOWN) next = find_out(f, run, state, kind);
    if (next == YES) return (size_t)(p - start);
    state = next;
    p++;
  }
  return text.n;
}
