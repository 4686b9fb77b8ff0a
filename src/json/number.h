/* Numbers as their text has them: taken apart, compared exactly, no double between.
 *
 *   if (json_compare(STR("0.1"), STR("1e-1")) == 0) ...they are the same number...
 */
#pragma once

#include "base/str.h"

#define JSON_SHORT_MAX 18 /* bytes of an integer that surely fits an int64 */

/* A number's text taken apart: the value is digits × 10^exponent, the digits
 * being those of `before` and `after` (on both sides of the point), without
 * zeros at either end. No digits: zero. */
struct json_decimal {
  bool minus;
  struct str before, after;
  int64_t exponent;
  bool huge; /* the exponent's text is beyond 18 digits, and left out of it */
  bool tiny; /* huge, and below zero */
};
struct json_decimal json_decimal(struct str number);
size_t json_digits(const struct json_decimal *d);
char json_digit(const struct json_decimal *d, size_t i);

/* <0, 0, >0: the values of two numbers as JSON writes them. Of exponents beyond
 * 18 digits only the sign counts. */
int json_compare(struct str a, struct str b);
int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b);
/* An integer, however it is written: 1, 1.0, 1e2. */
bool json_whole(struct str number);

/* The number where it is written as an integer of few digits, as most are; false
 * says only that it must be asked in another way. */
static inline bool json_short(struct str number, int64_t *out) {
  bool minus = number.n > 0 && number.p[0] == '-';
  int64_t v = 0;
  if (number.n > JSON_SHORT_MAX) return false;
  for (size_t i = minus; i < number.n; i++) {
    if (number.p[i] < '0' || number.p[i] > '9') return false;
    v = v * 10 + (number.p[i] - '0');
  }
  *out = minus ? -v : v;
  return true;
}
