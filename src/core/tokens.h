/* How many tokens a text has, about: before a provider has counted it. Never a bound; that
 * is budget.h's, where each byte is a token. The weights are measured (fact sheet "tokens"
 * §2 and §4), Korean and English apart, so that the first request is judged right too;
 * what providers count later corrects them (struct gauge).
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* id, word in records */
#define TOKENIZERS(X)                                                                              \
  X(UNKNOWN, "unknown")      /* the wire's, see wire.h */                                          \
  X(O200K, "o200k")          /* GPT-4o and later */                                                \
  X(CL100K, "cl100k")        /* before them; nearest to what local servers use */                  \
  X(CLAUDE_2025, "claude")   /* up to Claude 4.6 */                                                \
  X(CLAUDE_2026, "claude_2") /* from Opus 4.7 on: 30 % more */

enum tokenizer {
#define TOKENIZER_X(id, word) TOKENIZER_##id,
  TOKENIZERS(TOKENIZER_X)
#undef TOKENIZER_X
      TOKENIZER_COUNT
};

const char *tokenizer_word(enum tokenizer tokenizer);
enum tokenizer tokenizer_of(struct str word); /* of a record; UNKNOWN: none of them */

/* One pass over UTF-8; rounded up. UNKNOWN counts as CL100K. */
int64_t tokens_of(enum tokenizer tokenizer, struct str text);

/* What the newest counted prompt was estimated at: the factor for what comes. */
struct gauge {
  int64_t counted, estimated; /* 0: nothing was counted yet */
};
void gauge_set(struct gauge *gauge, int64_t counted, int64_t estimated);
int64_t gauge_apply(const struct gauge *gauge, int64_t estimate);
