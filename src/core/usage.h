/* Tokens of one request, in one convention whatever the wire's own is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct usage {
  int64_t input;  /* not cached */
  int64_t output; /* thinking included */
  int64_t cache_read;
  int64_t cache_write;
  bool known_input, known_output; /* the provider said so; else 0 is a gap */
};

/* Everything the prompt held; and all that a budget counts. */
static inline int64_t usage_prompt(const struct usage *u) {
  return u->input + u->cache_read + u->cache_write;
}
static inline int64_t usage_total(const struct usage *u) {
  return usage_prompt(u) + u->output;
}
