/* The budgets of tokens and of money: ceilings, not thermometers. The worst case of
 * a request is reserved before it is sent, and the rest given back when its usage
 * arrives, so what is spent never passes the limit as long as a token is at least one
 * byte, and costs what price.h says.
 */
#pragma once

#include "core/price.h"

#include <rein.h>

#include <stddef.h>

struct budget {
  int64_t limit;               /* tokens; REIN_OFF */
  int64_t spent;               /* booked */
  int64_t reserved;            /* by the attempt in flight */
  int64_t cost_limit;          /* pico-dollars, as all money here; REIN_OFF */
  int64_t cost, cost_reserved; /* spent, and reserved by the attempt in flight */
  int64_t slice;               /* tokens of the wrap-up beside its prompt; 0: none is held back */
  struct model_facts facts;    /* of the model that is asked */
  struct usage usage;          /* what providers reported, summed */
  /* The last answer, whose prompt size is known exactly. */
  bool known;
  int64_t prompt, output; /* its tokens */
  size_t body_bytes;      /* its request */
};

/* The most tokens a request of `body_bytes` can hold as input: the last
 * answer's prompt, plus the larger of its output tokens and its bytes as sent
 * back, plus the bytes of all else that is new, plus the wire's overhead. For
 * a first request, or after a rewrite: its bytes plus the overhead. */
int64_t budget_bound(const struct budget *b, size_t body_bytes, size_t reply_bytes,
                     int64_t overhead);
/* Output tokens that fit behind `bound`, at most `wanted`; below what a reply
 * needs (512, or `wanted` if that is less): -1, the valve is closed. */
int64_t budget_output(const struct budget *b, int64_t bound, int64_t wanted);
/* Which of the two ceilings lowers the output more: TOKENS or COST. */
enum rein_outcome budget_lowest(const struct budget *b, int64_t bound, int64_t wanted);
/* A request whose prompt has `bound` tokens at most, and its reply `output`. */
void budget_reserve(struct budget *b, int64_t bound, int64_t output);
/* The most that it can cost. */
int64_t budget_cost(const struct budget *b, int64_t bound, int64_t output);
/* Another model, or prices that were not known before: what was spent until now costs
 * the most that it can have cost. */
void budget_price(struct budget *b, const struct model_facts *facts);
/* New limits; with wrap_up a slice is held back behind each request: its prompt and reply
 * once more, and the summary. */
void budget_limits(struct budget *b, const struct rein_limits *limits);
/* A whole reply: its usage is booked instead of the reservation. */
void budget_book(struct budget *b, const struct usage *usage, size_t body_bytes);
/* An attempt that broke: its reservation, or what it reported where that is more. */
void budget_lose(struct budget *b, const struct usage *reported);
/* An attempt that cost nothing: an error status, or never sent. */
void budget_free(struct budget *b);
/* The last reply is not sent back: its tokens are part of no prompt to come. */
void budget_withdraw(struct budget *b);
/* The last answer is again what it was in `before`. */
void budget_recall(struct budget *b, const struct budget *before);
/* The prefix changed: sizes of the past say nothing any more. */
void budget_forget(struct budget *b);
