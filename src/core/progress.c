/* The no-progress valve: see progress.h. Hashes in, a word out. */
#include "core/progress.h"

#include "base/hash.h"
#include "base/mem.h"

#include <assert.h>

void progress_init(struct progress *p, enum rein_no_progress preset) {
  *p = (struct progress){.preset = preset};
}

void progress_release(struct progress *p) {
  mem_free(p->calls);
  mem_free(p->seen);
  *p = (struct progress){0};
}

void progress_words(struct progress *p) {
  p->call_count = p->turn_count = 0;
  p->blocked_turns = p->repeats = 0;
  p->blocked_once = false;
  p->idle_turns = 0;
  if (p->preset != REIN_PROGRESS_3_IN_ALL) p->seen_count = 0;
}

static bool room(struct progress_call **v, size_t *cap, size_t need) {
  if (need <= *cap) return true;
  size_t grown = need * 2;
  struct progress_call *bigger = mem_resize(*v, grown * sizeof **v);
  if (!bigger) return false;
  *v = bigger;
  *cap = grown;
  return true;
}

/* The set of calls: twins once, order aside, those that poll left out. */
static uint64_t turn_key(const struct progress_call *calls, size_t n, bool results) {
  uint64_t key = 0;
  for (size_t i = 0; i < n; i++) {
    bool twin = calls[i].polls;
    for (size_t j = 0; j < i && !twin; j++)
      twin = calls[j].what == calls[i].what && (!results || calls[j].result == calls[i].result);
    if (twin) continue;
    uint64_t h = hash_num(HASH_START, calls[i].what);
    key += hash_end(results ? hash_num(h, calls[i].result) : h);
  }
  return key;
}

static bool only_polls(const struct progress_call *calls, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!calls[i].polls) return false;
  return true;
}

/* 3-in-a-row, 3-in-all: counts call i of a turn; true when it is the third. */
static bool third(struct progress *p, const struct progress_call *call) {
  if (call->polls) return false;
  size_t i = 0;
  while (i < p->seen_count && p->seen[i].what != call->what)
    i++;
  bool again = i < p->seen_count;
  if (p->preset == REIN_PROGRESS_3_IN_A_ROW && !again) i = 0; /* a row of one */
  uint64_t count = again ? p->seen[i].result + 1 : 1;
  p->seen[i] = (struct progress_call){.what = call->what, .result = count};
  if (p->preset == REIN_PROGRESS_3_IN_A_ROW)
    p->seen_count = 1;
  else if (!again)
    p->seen_count++;
  return count >= 3;
}

static enum progress_say arrive_counted(struct progress *p, const struct progress_call *calls,
                                        size_t n, size_t *culprit) {
  if (!room(&p->seen, &p->seen_cap, p->seen_count + n + 1)) return PROGRESS_NO_MEMORY;
  for (size_t i = 0; i < n; i++) {
    if (!third(p, &calls[i])) continue;
    *culprit = i;
    return PROGRESS_STOP;
  }
  return PROGRESS_PASS;
}

enum progress_say progress_arrive(struct progress *p, const struct progress_call *calls, size_t n,
                                  size_t *culprit) {
  *culprit = 0;
  uint64_t ignored;
  switch (p->preset) {
  case REIN_PROGRESS_OFF: return PROGRESS_PASS;
  case REIN_PROGRESS_2_TURNS:
    if (only_polls(calls, n) || p->turn_count == 0) return PROGRESS_PASS;
    return turn_key(calls, n, false) == p->keys[p->turn_count - 1] ? PROGRESS_STOP : PROGRESS_PASS;
  case REIN_PROGRESS_3_IN_A_ROW:
  case REIN_PROGRESS_3_IN_ALL: return arrive_counted(p, calls, n, culprit);
  case REIN_PROGRESS_DEFAULT:
    if (!p->blocked_once) return PROGRESS_PASS;
    for (size_t i = 0; i < n; i++) {
      if (!progress_blocked(p, calls[i].what, &ignored)) continue;
      *culprit = i;
      return PROGRESS_STOP;
    }
    return PROGRESS_PASS;
  }
  return PROGRESS_PASS;
}

bool progress_blocked(const struct progress *p, uint64_t what, uint64_t *result) {
  if (p->blocked_turns == 0) return false;
  size_t n = 0;
  for (size_t i = 1; i <= p->blocked_turns; i++)
    n += p->sizes[p->turn_count - i];
  for (size_t i = p->call_count; i > p->call_count - n; i--) {
    const struct progress_call *c = &p->calls[i - 1];
    if (c->what != what || c->polls) continue;
    *result = c->result;
    return true;
  }
  return false;
}

static void forget_oldest(struct progress *p) {
  size_t n = p->sizes[0];
  if (n) memmove(p->calls, p->calls + n, (p->call_count - n) * sizeof *p->calls);
  p->call_count -= n;
  p->turn_count--;
  memmove(p->keys, p->keys + 1, p->turn_count * sizeof *p->keys);
  memmove(p->sizes, p->sizes + 1, p->turn_count * sizeof *p->sizes);
}

/* How often the last `period` keys stand at the end, one after the other. */
static size_t repeats(const struct progress *p, size_t period) {
  size_t same = 0;
  while (same + period < p->turn_count &&
         p->keys[p->turn_count - 1 - same] == p->keys[p->turn_count - 1 - same - period])
    same++;
  return same / period + 1;
}

static enum progress_say judge(struct progress *p) {
  size_t most = 1, period = 1;
  for (size_t i = 1; i <= PROGRESS_PERIOD_MAX && i <= p->turn_count; i++) {
    size_t r = repeats(p, i);
    if (r <= most) continue;
    most = r;
    period = i;
  }
  bool before = p->blocked_turns > 0;
  p->blocked_turns = most >= 3 ? period : 0;
  p->blocked_once = before && p->blocked_turns > 0;
  bool note = most == 2 && p->repeats < 2;
  p->repeats = most;
  return note ? PROGRESS_NOTE : PROGRESS_PASS;
}

enum rein_code progress_finish(struct progress *p, const struct progress_call *calls, size_t n,
                               enum progress_say *say) {
  *say = PROGRESS_PASS;
  if (p->preset == REIN_PROGRESS_OFF) return REIN_OK;
  if (!room(&p->calls, &p->call_cap, p->call_count + n + 1)) return REIN_MEMORY;
  bool ran = false;
  for (size_t i = 0; i < n; i++)
    ran = ran || calls[i].ran;
  p->idle_turns = ran ? 0 : p->idle_turns + 1;
  if (!only_polls(calls, n)) {
    if (p->turn_count == PROGRESS_TURNS) forget_oldest(p);
    if (n) memcpy(p->calls + p->call_count, calls, n * sizeof *calls);
    p->call_count += n;
    p->sizes[p->turn_count] = n;
    p->keys[p->turn_count++] = turn_key(calls, n, p->preset == REIN_PROGRESS_DEFAULT);
    if (p->preset == REIN_PROGRESS_DEFAULT) *say = judge(p);
  }
  if (p->idle_turns >= PROGRESS_IDLE_TURNS) *say = PROGRESS_STOP_IDLE;
  return REIN_OK;
}

const char *progress_word(enum rein_no_progress preset) {
  switch (preset) {
  case REIN_PROGRESS_DEFAULT: return "default";
  case REIN_PROGRESS_OFF: return "off";
  case REIN_PROGRESS_2_TURNS: return "2-turns";
  case REIN_PROGRESS_3_IN_A_ROW: return "3-in-a-row";
  case REIN_PROGRESS_3_IN_ALL: return "3-in-all";
  }
  return "unknown";
}
