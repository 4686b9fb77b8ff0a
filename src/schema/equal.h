/* Whether JSON values are the same, as JSON Schema means it: numbers by value,
 * objects without order. */
#pragma once

#include "json/json.h"

/* Of a multipleOf: its remainder is kept in 128 bits. */
#define MULTIPLE_DIGITS_MAX 37

/* Equal values have equal hashes. */
uint64_t value_hash(const struct json *value);
/* Takes one of *steps for each look, and ends at 0 with "no". */
bool value_equal(const struct json *a, const struct json *b, int64_t *steps);
/* Exact for decimals of any length; `of` has at most MULTIPLE_DIGITS_MAX digits. */
struct json_decimal;
bool number_multiple(const struct json_decimal *value, const struct json_decimal *of);
