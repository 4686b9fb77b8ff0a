/* The values of `format`: what each takes, with an example for whoever must
 * write one. idn-hostname is not among them: it needs tables that no packaged
 * library of ours has, so it stays a note for the reader.
 */
#pragma once

#include "base/str.h"

#include <rein.h>

enum format_answer { FORMAT_WRONG, FORMAT_RIGHT, FORMAT_NO_MEMORY };

struct format {
  const char *name, *example;
  bool (*fits)(struct str text);
};

/* NULL: no such format is known; it is a note then. */
const struct format *format_find(struct str name);
enum format_answer format_check(const struct format *format, struct str text);

/* format_time.c */
bool format_date_time(struct str s);
bool format_date(struct str s);
bool format_time(struct str s);
bool format_duration(struct str s);
/* format_host.c */
bool format_hostname(struct str s);
bool format_ipv4(struct str s);
bool format_ipv6(struct str s);
bool format_email(struct str s);
bool format_idn_email(struct str s);
/* format_uri.c */
bool format_uri(struct str s);
bool format_uri_reference(struct str s);
bool format_iri(struct str s);
bool format_iri_reference(struct str s);
bool format_uri_template(struct str s);
/* format.c */
bool format_digits(struct str *s, size_t n, unsigned *value);
bool format_hex(struct str s, size_t n);

static inline bool format_is_digit(char c) {
  return c >= '0' && c <= '9';
}
static inline bool format_is_letter(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}
static inline bool format_take(struct str *s, char c) {
  bool next = s->n > 0 && s->p[0] == c;
  if (next) *s = str_part(*s, 1, s->n);
  return next;
}
