/* What a model costs and how much it holds, and what a request costs by it.
 *
 *   struct model_facts facts;
 *   if (model_find(STR("claude-sonnet-5"), &facts)) ...price_of(&facts, &usage)...
 *
 * Money is whole: pico-dollars (a token's price is micro-dollars per million tokens,
 * so tokens × price has no fraction), in sums that stop at INT64_MAX. Where the facts
 * come from is models.def, the embedder or the config; who may spend is budget.c's.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "core/tokens.h"
#include "core/usage.h"

#define PICO_PER_MICRO INT64_C(1000000)

/* Micro-dollars per million tokens. */
struct rates {
  int64_t input, cache_read, cache_write, output;
};

/* Recorded with the run: a replay costs what the run cost. */
struct model_facts {
  bool priced;
  struct rates rates;
  int64_t long_above; /* a prompt of more tokens costs long_rates; 0: none does */
  struct rates long_rates;
  int64_t window; /* tokens that a prompt holds at most; 0: not known */
  enum tokenizer tokenizer;
};

/* The i-th model of the table; false: no more. Texts are static. */
struct model_row {
  const char *name;
  const char *as_of, *source;
  struct model_facts facts;
};
bool model_row(size_t i, struct model_row *row);
/* By its name, also with a date behind it (claude-haiku-4-5-20251001). False: the
 * table does not have it, and *facts knows nothing. */
bool model_find(struct str model, struct model_facts *facts);
/* Adds what the member `model` of a JSON object says to what the table knows:
 *   {"m-1":{"input":3,"output":15,"cache_read":0.3,"cache_write":3.75,"window":200000,
 *           "long_above":…,"long_input":…, …}}
 * dollars per million tokens. `models` NULL: only the table. Cached reads and writes
 * that are not given cost what input costs, long prompts what others do. REIN_INPUT: a
 * member that is not known, or a number that is none. */
struct json;
enum rein_code model_facts(struct str model, const struct json *models, struct model_facts *facts,
                           struct err *err) REIN_CHECKED;
/* Every model of the object, for the errors alone. */
enum rein_code models_check(const struct json *models, struct err *err) REIN_CHECKED;
/* A decimal number of dollars as micro-dollars; false: none, negative, more than a
 * million, or finer than a micro-dollar. */
bool price_read(struct str dollars, int64_t *uusd);
/* Pico-dollars as dollars, rounded up to a micro-dollar: "0.012345", "2.5", "0". */
void money_put(struct buf *out, int64_t pico);

/* Pico-dollars. All that the facts do not price costs 0. */
int64_t price_of(const struct model_facts *facts, const struct usage *usage);
/* The most that a prompt of so many tokens, or a reply to it, can cost. */
int64_t price_prompt_max(const struct model_facts *facts, int64_t prompt);
int64_t price_output_rate(const struct model_facts *facts, int64_t prompt); /* of one token */
/* a + b and a × b, not above INT64_MAX; neither is negative. */
int64_t money_add(int64_t a, int64_t b);
int64_t money_times(int64_t a, int64_t b);
