/* Reserve, then book: see budget.h. Numbers only; agent.c asks and decides. */
#include "core/budget.h"

#include "core/agent.h"

int64_t budget_bound(const struct budget *b, size_t body_bytes, size_t reply_bytes,
                     int64_t overhead) {
  if (!b->known) return (int64_t)body_bytes + overhead;
  int64_t reply = b->output > (int64_t)reply_bytes ? b->output : (int64_t)reply_bytes;
  int64_t fresh = (int64_t)body_bytes - (int64_t)b->body_bytes - (int64_t)reply_bytes;
  return b->prompt + reply + (fresh > 0 ? fresh : 0) + overhead;
}

int64_t budget_output(const struct budget *b, int64_t bound, int64_t wanted) {
  if (b->limit == REIN_OFF) return wanted;
  int64_t left = b->limit - b->spent - bound;
  int64_t need = wanted < OUTPUT_LIMIT_MIN ? wanted : OUTPUT_LIMIT_MIN;
  if (left < need) return -1;
  return left < wanted ? left : wanted;
}

void budget_reserve(struct budget *b, int64_t tokens) {
  b->reserved = tokens;
}

static void sum(struct usage *into, const struct usage *u) {
  into->input += u->input;
  into->output += u->output;
  into->cache_read += u->cache_read;
  into->cache_write += u->cache_write;
}

void budget_book(struct budget *b, const struct usage *usage, size_t body_bytes) {
  bool counted = usage->known_input && usage_prompt(usage) > 0; /* no prompt is empty */
  if (!counted || !usage->known_output) { /* then the reservation is all we know */
    budget_lose(b, usage);
    b->known = false;
    return;
  }
  b->spent += usage_total(usage);
  b->reserved = 0;
  sum(&b->usage, usage);
  b->known = true;
  b->prompt = usage_prompt(usage);
  b->output = usage->output;
  b->body_bytes = body_bytes;
}

void budget_lose(struct budget *b, const struct usage *reported) {
  int64_t seen = usage_total(reported);
  b->spent += seen > b->reserved ? seen : b->reserved;
  b->reserved = 0;
  sum(&b->usage, reported);
}

void budget_free(struct budget *b) {
  b->reserved = 0;
}

void budget_withdraw(struct budget *b) {
  b->output = 0;
}

void budget_forget(struct budget *b) {
  b->known = false;
}
