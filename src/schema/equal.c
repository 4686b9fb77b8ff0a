/* Equality and exact arithmetic on JSON values. Recursion is bounded by the
 * reader's JSON_DEPTH_MAX.
 */
#include "schema/equal.h"

#include "base/hash.h"
#include "json/number.h"

static uint64_t number_hash(struct str text) {
  struct json_decimal d = json_decimal(text);
  if (json_digits(&d) == 0) return 1;
  uint64_t h = hash_num(HASH_START, (uint64_t)d.exponent + d.minus);
  h = hash_add(h, d.before);
  return hash_end(hash_add(h, d.after));
}

uint64_t value_hash(const struct json *value) {
  uint64_t h = hash_num(HASH_START, value->kind);
  switch (value->kind) {
  case JSON_NULL:
  case JSON_FALSE:
  case JSON_TRUE: return hash_end(h);
  case JSON_NUMBER: return number_hash(value->text);
  case JSON_STRING: return hash_str(value->text);
  case JSON_ARRAY:
    for (const struct json *one = value->first; one; one = one->next)
      h = hash_num(h, value_hash(one));
    return hash_end(h);
  case JSON_OBJECT: /* a sum, so that the order does not count */
    for (const struct json *m = value->first; m; m = m->next)
      h += hash_end(hash_num(hash_str(m->key), value_hash(m)));
    return hash_end(h);
  }
  return h;
}

static bool array_equal(const struct json *a, const struct json *b, int64_t *steps) {
  const struct json *y = b->first;
  for (const struct json *x = a->first; x; x = x->next, y = y->next)
    if (!value_equal(x, y, steps)) return false;
  return true;
}

/* The member of b with that key, looked for from where the last one was. */
static const struct json *same_key(const struct json *b, const struct json *from, struct str key,
                                   int64_t *steps) {
  const struct json *m = from ? from : b->first;
  for (size_t i = 0; i < b->count; i++) {
    if (str_eq(m->key, key)) return m;
    if (--*steps <= 0) return NULL;
    m = m->next ? m->next : b->first;
  }
  return NULL;
}

static bool object_equal(const struct json *a, const struct json *b, int64_t *steps) {
  const struct json *y = NULL;
  for (const struct json *x = a->first; x; x = x->next) {
    y = same_key(b, y ? y->next : NULL, x->key, steps);
    if (!y || !value_equal(x, y, steps)) return false;
  }
  return true;
}

bool value_equal(const struct json *a, const struct json *b, int64_t *steps) {
  if (a->kind != b->kind || a->count != b->count || --*steps <= 0) return false;
  switch (a->kind) {
  case JSON_NULL:
  case JSON_FALSE:
  case JSON_TRUE: return true;
  case JSON_NUMBER: return json_compare(a->text, b->text) == 0;
  case JSON_STRING: return str_eq(a->text, b->text);
  case JSON_ARRAY: return array_equal(a, b, steps);
  case JSON_OBJECT: return object_equal(a, b, steps);
  }
  return false;
}

/* ---- multiples ------------------------------------------------------------- */

/* Below 10^MULTIPLE_DIGITS_MAX, so ten of them fit, and two. */
typedef unsigned __int128 big;

static big add_digit(big rest, unsigned digit, big of) {
  rest = rest * 10 + digit;
  while (rest >= of)
    rest -= of;
  return rest;
}

static big times(big a, big b, big of) {
  big sum = 0;
  for (; b > 0; b >>= 1) {
    if (b & 1) sum = sum + a >= of ? sum + a - of : sum + a;
    a = a + a >= of ? a + a - of : a + a;
  }
  return sum;
}

/* rest × 10^exponent, modulo `of`. */
static big times_ten(big rest, int64_t exponent, big of) {
  big ten = add_digit(1, 0, of);
  if (of == 1) return 0;
  for (; exponent > 0 && rest > 0; exponent >>= 1) {
    if (exponent & 1) rest = times(rest, ten, of);
    ten = times(ten, ten, of);
  }
  return rest;
}

/* Neither has zeros at its end: digits × 10^-n is no multiple of an integer. */
bool number_multiple(const struct json_decimal *value, const struct json_decimal *of) {
  size_t n = json_digits(value);
  if (n == 0) return true;
  /* Behind so many zeros only the divisor's factors other than 2 and 5 count. */
  int64_t exponent = value->huge ? INT64_C(1000000) : value->exponent - of->exponent;
  if (value->tiny) return false;
  if (exponent < 0) return false;
  big divisor = 0, rest = 0;
  for (size_t i = 0; i < json_digits(of); i++)
    divisor = divisor * 10 + (unsigned)(json_digit(of, i) - '0');
  for (size_t i = 0; i < n; i++)
    rest = add_digit(rest, (unsigned)(json_digit(value, i) - '0'), divisor);
  return times_ten(rest, exponent, divisor) == 0;
}
