/* Reserve, then book: see budget.h. Numbers only; agent.c asks and decides. */
#include "core/budget.h"

#include "core/agent.h"

#define WRAP_UP_TOKENS 4096 /* half of it for the summary, half for what is new in its prompt */

int64_t budget_bound(const struct budget *b, size_t body_bytes, size_t reply_bytes,
                     int64_t overhead) {
  if (!b->known) return (int64_t)body_bytes + overhead;
  int64_t reply = b->output > (int64_t)reply_bytes ? b->output : (int64_t)reply_bytes;
  int64_t fresh = (int64_t)body_bytes - (int64_t)b->body_bytes - (int64_t)reply_bytes;
  return b->prompt + reply + (fresh > 0 ? fresh : 0) + overhead;
}

int64_t budget_cost(const struct budget *b, int64_t bound, int64_t output) {
  return money_add(price_prompt_max(&b->facts, bound),
                   money_times(output, price_output_rate(&b->facts, bound)));
}

/* What stands behind a request: the wrap-up reads its prompt and its reply. */
static bool tokens_fit(const struct budget *b, int64_t bound, int64_t output) {
  int64_t need = bound + output;
  if (b->slice) need += bound + output + b->slice;
  return b->limit == REIN_OFF || b->spent + need <= b->limit;
}

static bool cost_fits(const struct budget *b, int64_t bound, int64_t output) {
  if (b->cost_limit == REIN_OFF) return true;
  int64_t need = budget_cost(b, bound, output);
  if (b->slice) need = money_add(need, budget_cost(b, bound + output + b->slice / 2, b->slice / 2));
  return money_add(b->cost, need) <= b->cost_limit;
}

/* The most output that fits; -1 none at all. */
static int64_t most(const struct budget *b, int64_t bound, int64_t wanted,
                    bool (*fits)(const struct budget *, int64_t, int64_t)) {
  if (fits(b, bound, wanted)) return wanted;
  int64_t low = -1, high = wanted; /* high does not fit, low does or is -1 */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (fits(b, bound, middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

int64_t budget_output(const struct budget *b, int64_t bound, int64_t wanted) {
  int64_t tokens = most(b, bound, wanted, tokens_fit);
  int64_t output = most(b, bound, wanted, cost_fits);
  if (tokens < output) output = tokens;
  return output < (wanted < OUTPUT_LIMIT_MIN ? wanted : OUTPUT_LIMIT_MIN) ? -1 : output;
}

enum rein_outcome budget_lowest(const struct budget *b, int64_t bound, int64_t wanted) {
  bool cost = most(b, bound, wanted, cost_fits) < most(b, bound, wanted, tokens_fit);
  return cost ? REIN_OUTCOME_COST : REIN_OUTCOME_TOKENS;
}

void budget_reserve(struct budget *b, int64_t bound, int64_t output) {
  b->reserved = bound + output;
  b->cost_reserved = budget_cost(b, bound, output);
}

void budget_limits(struct budget *b, const struct rein_limits *limits) {
  bool off = limits->cost_uusd == REIN_OFF;
  b->limit = limits->token_budget;
  b->slice = limits->wrap_up ? WRAP_UP_TOKENS : 0;
  b->cost_limit = off ? REIN_OFF : money_times(limits->cost_uusd, PICO_PER_MICRO);
}

/* Without a price nothing was counted. Attempts that were lost are among what was spent. */
void budget_price(struct budget *b, const struct model_facts *facts) {
  bool before = b->facts.priced;
  b->facts = *facts;
  if (before || !facts->priced) return;
  int64_t lost = b->spent - usage_total(&b->usage);
  b->cost = money_add(budget_cost(b, usage_prompt(&b->usage), b->usage.output),
                      budget_cost(b, lost, lost));
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
  b->cost = money_add(b->cost, price_of(&b->facts, usage));
  budget_free(b);
  sum(&b->usage, usage);
  b->known = true;
  b->prompt = usage_prompt(usage);
  b->output = usage->output;
  b->body_bytes = body_bytes;
}

void budget_lose(struct budget *b, const struct usage *reported) {
  int64_t seen = usage_total(reported);
  int64_t cost = price_of(&b->facts, reported);
  b->spent += seen > b->reserved ? seen : b->reserved;
  b->cost = money_add(b->cost, cost > b->cost_reserved ? cost : b->cost_reserved);
  budget_free(b);
  sum(&b->usage, reported);
}

void budget_free(struct budget *b) {
  b->reserved = b->cost_reserved = 0;
}

void budget_withdraw(struct budget *b) {
  b->output = 0;
}

void budget_recall(struct budget *b, const struct budget *before) {
  b->known = before->known;
  b->prompt = before->prompt;
  b->output = before->output;
  b->body_bytes = before->body_bytes;
}

void budget_forget(struct budget *b) {
  b->known = false;
}
