/* Dates and times of RFC 3339, durations of its appendix A. */
#include "schema/format.h"

static bool is_leap(unsigned year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool take_date(struct str *s) {
  static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  unsigned year, month, day;
  if (!format_digits(s, 4, &year) || !format_take(s, '-') || !format_digits(s, 2, &month) ||
      !format_take(s, '-') || !format_digits(s, 2, &day))
    return false;
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= days[month - 1] + (unsigned)(month == 2 && is_leap(year));
}

/* Z or +hh:mm, as minutes before UTC. */
static bool take_offset(struct str *s, int *minutes) {
  unsigned hour, minute;
  *minutes = 0;
  if (format_take(s, 'Z') || format_take(s, 'z')) return true;
  bool minus = s->n > 0 && s->p[0] == '-';
  if (!format_take(s, '+') && !format_take(s, '-')) return false;
  if (!format_digits(s, 2, &hour) || !format_take(s, ':') || !format_digits(s, 2, &minute))
    return false;
  *minutes = (int)(hour * 60 + minute) * (minus ? 1 : -1);
  return hour <= 23 && minute <= 59;
}

static bool take_fraction(struct str *s) {
  if (!format_take(s, '.')) return true;
  size_t n = 0;
  while (n < s->n && format_is_digit(s->p[n]))
    n++;
  *s = str_part(*s, n, s->n);
  return n > 0;
}

/* A leap second is the last one of a day in UTC. */
static bool take_time(struct str *s) {
  unsigned hour, minute, second;
  int offset;
  if (!format_digits(s, 2, &hour) || !format_take(s, ':') || !format_digits(s, 2, &minute) ||
      !format_take(s, ':') || !format_digits(s, 2, &second))
    return false;
  if (!take_fraction(s) || !take_offset(s, &offset)) return false;
  if (hour > 23 || minute > 59 || second > 60) return false;
  int utc = ((int)(hour * 60 + minute) + offset + 2 * 24 * 60) % (24 * 60);
  return second < 60 || utc == 23 * 60 + 59;
}

bool format_date(struct str s) {
  return take_date(&s) && s.n == 0;
}

bool format_time(struct str s) {
  return take_time(&s) && s.n == 0;
}

bool format_date_time(struct str s) {
  return take_date(&s) && (format_take(&s, 'T') || format_take(&s, 't')) && take_time(&s) &&
         s.n == 0;
}

/* Units in their order without a gap: 1Y2M, 1M2D, not 1Y2D. False: none at all. */
static bool take_units(struct str *s, const char *units) {
  bool any = false;
  const char *unit = units;
  while (s->n > 0 && format_is_digit(s->p[0])) {
    size_t n = 0;
    while (n < s->n && format_is_digit(s->p[n]))
      n++;
    if (n == s->n) return false;
    while (*unit && !any && *unit != s->p[n])
      unit++;
    if (*unit == '\0' || *unit != s->p[n]) return false;
    unit++;
    *s = str_part(*s, n + 1, s->n);
    any = true;
  }
  return any;
}

bool format_duration(struct str s) {
  struct str weeks;
  if (!format_take(&s, 'P')) return false;
  weeks = s;
  if (take_units(&weeks, "W") && weeks.n == 0) return true;
  bool days = s.n > 0 && s.p[0] != 'T';
  if (days && !take_units(&s, "YMD")) return false;
  if (s.n == 0) return days;
  return format_take(&s, 'T') && take_units(&s, "HMS") && s.n == 0;
}
