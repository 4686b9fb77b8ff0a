/* Numbers from their text, exactly: no double stands between the text and an
 * integer, or between two spellings of one number.
 */
#include "json/inside.h"

#include <math.h>
#include <stdlib.h>

/* Digits that can matter to the nearest double: the longest exact halfway
 * point has 767; behind those it only matters that something follows. */
#define DOUBLE_DIGITS_MAX 800
#define INT_DIGITS_MAX 19                          /* of an int64 */
#define EXPONENT_DIGITS_MAX 18                     /* always inside int64, sums of a few too */
#define EXPONENT_HUGE INT64_C(1000000000000000000) /* no text is long enough to outweigh it */

static int64_t exponent_of(struct str text, bool *huge) {
  bool minus = text.n > 0 && text.p[0] == '-';
  if (text.n > 0 && (minus || text.p[0] == '+')) text = str_part(text, 1, text.n);
  while (text.n > 1 && text.p[0] == '0')
    text = str_part(text, 1, text.n);
  *huge = text.n > EXPONENT_DIGITS_MAX;
  int64_t v = 0;
  if (*huge || !str_to_num(text, &v)) return 0;
  return minus ? -v : v;
}

static void drop_zeros_front(struct str *s) {
  while (s->n > 0 && s->p[0] == '0')
    *s = str_part(*s, 1, s->n);
}

static size_t drop_zeros_back(struct str *s) {
  size_t n = s->n;
  while (s->n > 0 && s->p[s->n - 1] == '0')
    s->n--;
  return n - s->n;
}

struct json_decimal json_decimal(struct str number) {
  struct json_decimal d = {.minus = number.n > 0 && number.p[0] == '-'};
  size_t e = 0;
  while (e < number.n && number.p[e] != 'e' && number.p[e] != 'E')
    e++;
  d.exponent = exponent_of(str_part(number, e + 1, number.n), &d.huge);
  d.tiny = d.huge && number.p[e + 1] == '-';
  struct str digits = str_part(number, d.minus ? 1 : 0, e - (d.minus ? 1 : 0));
  if (!str_split(digits, '.', &d.before, &d.after)) d.before = digits;
  drop_zeros_front(&d.before);
  drop_zeros_back(&d.after);
  d.exponent -= (int64_t)d.after.n;
  if (d.before.n == 0) drop_zeros_front(&d.after);
  if (d.after.n == 0) d.exponent += (int64_t)drop_zeros_back(&d.before);
  return d;
}

size_t json_digits(const struct json_decimal *d) {
  return d->before.n + d->after.n;
}

char json_digit(const struct json_decimal *d, size_t i) {
  return i < d->before.n ? d->before.p[i] : d->after.p[i - d->before.n];
}

bool json_int(const struct json *node, int64_t *out) {
  if (!json_is(node, JSON_NUMBER)) return false;
  struct json_decimal d = json_decimal(node->text);
  size_t n = json_digits(&d);
  if (n == 0) {
    *out = 0;
    return true;
  }
  if (d.huge || d.exponent < 0 || d.exponent > INT_DIGITS_MAX || n > INT_DIGITS_MAX) return false;
  char room[2 * INT_DIGITS_MAX + 2];
  struct buf text = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  if (d.minus) buf_c(&text, '-');
  buf_put(&text, d.before);
  buf_put(&text, d.after);
  for (int64_t i = 0; i < d.exponent; i++)
    buf_c(&text, '0');
  return str_to_num(buf_str(&text), out);
}

/* The number goes to strtod as digits and an exponent, without a point: which
 * character strtod takes for one depends on the process's locale. */
bool json_double(const struct json *node, double *out) {
  if (!json_is(node, JSON_NUMBER)) return false;
  struct json_decimal d = json_decimal(node->text);
  size_t n = json_digits(&d);
  if (n == 0) {
    *out = d.minus ? -0.0 : 0.0;
    return true;
  }
  int64_t exponent = d.exponent;
  if (d.huge) {
    exponent = d.tiny ? -EXPONENT_HUGE : EXPONENT_HUGE;
  }
  char room[DOUBLE_DIGITS_MAX + 48];
  struct buf text = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  if (d.minus) buf_c(&text, '-');
  for (size_t i = 0; i < n && i < DOUBLE_DIGITS_MAX; i++)
    buf_c(&text, json_digit(&d, i));
  if (n > DOUBLE_DIGITS_MAX) {
    buf_c(&text, '1');
    exponent += (int64_t)(n - DOUBLE_DIGITS_MAX) - 1;
  }
  buf_c(&text, 'e');
  buf_num(&text, exponent);
  double v = strtod(room, NULL);
  if (!isfinite(v)) return false;
  *out = v;
  return true;
}

bool json_whole(struct str number) {
  size_t i = number.n > 0 && number.p[0] == '-' ? 1 : 0;
  while (i < number.n && number.p[i] >= '0' && number.p[i] <= '9')
    i++;
  if (i == number.n) return true;
  struct json_decimal d = json_decimal(number);
  if (json_digits(&d) == 0) return true;
  return d.huge ? !d.tiny : d.exponent >= 0;
}

/* The decimal place above the first digit: 1 for 5, -1 for 0.05. */
static int64_t top_place(const struct json_decimal *d) {
  int64_t exponent = d->exponent;
  if (d->huge) exponent = d->tiny ? -EXPONENT_HUGE : EXPONENT_HUGE;
  return exponent + (int64_t)json_digits(d);
}

/* Of two that are not zero, without their signs. */
static int compare_size(const struct json_decimal *a, const struct json_decimal *b) {
  int64_t x = top_place(a), y = top_place(b);
  if (x != y) return x < y ? -1 : 1;
  size_t n = json_digits(a), m = json_digits(b);
  for (size_t i = 0; i < n && i < m; i++)
    if (json_digit(a, i) != json_digit(b, i)) return json_digit(a, i) < json_digit(b, i) ? -1 : 1;
  return n == m ? 0 : n < m ? -1 : 1;
}

int json_decimal_compare(const struct json_decimal *a, const struct json_decimal *b) {
  int x = json_digits(a) == 0 ? 0 : a->minus ? -1 : 1;
  int y = json_digits(b) == 0 ? 0 : b->minus ? -1 : 1;
  if (x != y) return x < y ? -1 : 1;
  if (x == 0) return 0;
  return x * compare_size(a, b);
}

int json_compare(struct str a, struct str b) {
  struct json_decimal x = json_decimal(a), y = json_decimal(b);
  return json_decimal_compare(&x, &y);
}

/* -0 is 0; else the digits without zeros at either end, and an exponent unless
 * it is 0. */
void json_canon_number(struct buf *out, struct str number) {
  struct json_decimal d = json_decimal(number);
  if (json_digits(&d) == 0) {
    buf_c(out, '0');
    return;
  }
  if (d.huge) {
    buf_put(out, number);
    return;
  }
  if (d.minus) buf_c(out, '-');
  buf_put(out, d.before);
  buf_put(out, d.after);
  if (d.exponent == 0) return;
  buf_c(out, 'e');
  buf_num(out, d.exponent);
}
