/* Reads the three forms of an HTTP date without the C library's calendar, whose
 * names follow the locale.
 *
 *   Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate
 *   Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
 *   Sun Nov  6 08:49:37 1994          asctime
 */
#include "wire/http_date.h"

#define YEAR_S INT64_C(31556952)

struct date {
  int64_t year, month, day, hour, minute, second;
};

/* Takes up to `most` digits (at least `least`) off *s. */
static bool take_number(struct str *s, size_t least, size_t most, int64_t *value) {
  size_t n = 0;
  *value = 0;
  for (; n < s->n && n < most && s->p[n] >= '0' && s->p[n] <= '9'; n++)
    *value = *value * 10 + (s->p[n] - '0');
  *s = str_part(*s, n, s->n);
  return n >= least;
}

static bool take_char(struct str *s, char c) {
  if (s->n == 0 || s->p[0] != c) return false;
  *s = str_part(*s, 1, s->n);
  return true;
}

static bool take_month(struct str *s, int64_t *month) {
  static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (*month = 1; *month <= 12; ++*month)
    if (str_eq_nocase(str_part(*s, 0, 3), (struct str){names + (*month - 1) * 3, 3})) {
      *s = str_part(*s, 3, s->n);
      return true;
    }
  return false;
}

static bool take_time(struct str *s, struct date *d) {
  return take_number(s, 2, 2, &d->hour) && take_char(s, ':') && take_number(s, 2, 2, &d->minute) &&
         take_char(s, ':') && take_number(s, 2, 2, &d->second);
}

static bool read_fixdate(struct str s, struct date *d) {
  return take_char(&s, ' ') && take_number(&s, 2, 2, &d->day) && take_char(&s, ' ') &&
         take_month(&s, &d->month) && take_char(&s, ' ') && take_number(&s, 4, 4, &d->year) &&
         take_char(&s, ' ') && take_time(&s, d) && str_is(s, " GMT");
}

static bool read_rfc850(struct str s, struct date *d) {
  return take_char(&s, ' ') && take_number(&s, 2, 2, &d->day) && take_char(&s, '-') &&
         take_month(&s, &d->month) && take_char(&s, '-') && take_number(&s, 2, 2, &d->year) &&
         take_char(&s, ' ') && take_time(&s, d) && str_is(s, " GMT");
}

static bool read_asctime(struct str s, struct date *d) {
  s = str_part(s, 3, s.n); /* the weekday */
  if (!take_char(&s, ' ') || !take_month(&s, &d->month) || !take_char(&s, ' ')) return false;
  (void)take_char(&s, ' ');
  return take_number(&s, 1, 2, &d->day) && take_char(&s, ' ') && take_time(&s, d) &&
         take_char(&s, ' ') && take_number(&s, 4, 4, &d->year) && s.n == 0;
}

static bool is_sane(const struct date *d) {
  return d->month >= 1 && d->month <= 12 && d->day >= 1 && d->day <= 31 && d->hour <= 23 &&
         d->minute <= 59 && d->second <= 60 && d->year >= 1970;
}

/* Days since 1970-01-01 of the Gregorian calendar (years start in March, so the
 * leap day is the last). */
static int64_t days_of(const struct date *d) {
  int64_t year = d->month <= 2 ? d->year - 1 : d->year;
  int64_t month = d->month <= 2 ? d->month + 9 : d->month - 3;
  int64_t era = year / 400, of_era = year % 400;
  int64_t of_year = (153 * month + 2) / 5 + d->day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t seconds_of(const struct date *d) {
  return days_of(d) * 86400 + d->hour * 3600 + d->minute * 60 + d->second;
}

bool http_date(struct str text, int64_t now_s, int64_t *seconds) {
  struct date d = {0};
  struct str weekday, rest;
  bool comma = str_split(text, ',', &weekday, &rest);
  bool fixed = comma && read_fixdate(rest, &d);
  bool old = comma && !fixed && read_rfc850(rest, &d);
  if (!fixed && !old && (comma || !read_asctime(text, &d))) return false;
  /* RFC 9110: more than 50 years ahead means the past century. */
  if (old) d.year += 2000;
  if (!is_sane(&d)) return false;
  if (old && seconds_of(&d) > now_s + 50 * YEAR_S) d.year -= 100;
  *seconds = seconds_of(&d);
  return true;
}
