/* Whether JSON values are the same, as JSON Schema means it: numbers by value,
 * objects without order. */
#pragma once

#include "json/json.h"

/* Of a multipleOf: its remainder is kept in 128 bits. */
#define MULTIPLE_DIGITS_MAX 37

/* str_eq for what is short, as names and words are, without a call. */
static inline bool same_text(struct str a, struct str b) {
  size_t n = a.n;
  if (n != b.n) return false;
  if (n > 16) return memcmp(a.p, b.p, n) == 0;
  /* The front and the back, which may overlap. */
  if (n >= 8) return memcmp(a.p, b.p, 8) == 0 && memcmp(a.p + n - 8, b.p + n - 8, 8) == 0;
  if (n >= 4) return memcmp(a.p, b.p, 4) == 0 && memcmp(a.p + n - 4, b.p + n - 4, 4) == 0;
  return n == 0 || (a.p[0] == b.p[0] && a.p[n / 2] == b.p[n / 2] && a.p[n - 1] == b.p[n - 1]);
}

/* Equal values have equal hashes. */
uint64_t value_hash(const struct json *value);
/* Takes one of *steps for each look, and ends at 0 with "no". */
bool value_equal(const struct json *a, const struct json *b, int64_t *steps);
/* Exact for decimals of any length; `of` has at most MULTIPLE_DIGITS_MAX digits. */
struct json_decimal;
bool number_multiple(const struct json_decimal *value, const struct json_decimal *of);
