/* The list of formats, and those of a few lines. */
#include "schema/format.h"

#include "base/buf.h"
#include "regex/regex.h"

bool format_hex(struct str s, size_t n) {
  if (s.n < n) return false;
  for (size_t i = 0; i < n; i++) {
    char lower = (char)(s.p[i] | 0x20);
    if (!format_is_digit(s.p[i]) && !(lower >= 'a' && lower <= 'f')) return false;
  }
  return true;
}

/* Takes exactly n digits. */
bool format_digits(struct str *s, size_t n, unsigned *value) {
  *value = 0;
  if (s->n < n) return false;
  for (size_t i = 0; i < n; i++) {
    if (!format_is_digit(s->p[i])) return false;
    *value = *value * 10 + (unsigned)(s->p[i] - '0');
  }
  *s = str_part(*s, n, s->n);
  return true;
}

static bool is_uuid(struct str s) {
  static const unsigned char parts[] = {8, 4, 4, 4, 12};
  for (size_t i = 0; i < sizeof parts; i++) {
    if (i > 0 && !format_take(&s, '-')) return false;
    if (!format_hex(s, parts[i])) return false;
    s = str_part(s, parts[i], s.n);
  }
  return s.n == 0;
}

/* RFC 6901: ~ is followed by 0 or 1. */
static bool is_pointer(struct str s) {
  if (s.n > 0 && s.p[0] != '/') return false;
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] == '~' && (i + 1 == s.n || (s.p[i + 1] != '0' && s.p[i + 1] != '1'))) return false;
  return true;
}

static bool is_relative_pointer(struct str s) {
  size_t n = 0;
  while (n < s.n && format_is_digit(s.p[n]))
    n++;
  if (n == 0 || (n > 1 && s.p[0] == '0')) return false;
  struct str rest = str_part(s, n, s.n);
  return str_is(rest, "#") || is_pointer(rest);
}

static bool is_regex(struct str s) {
  (void)s;
  return true; /* by format_check, for it can run out of memory */
}

/* As for `pattern`: what JavaScript refuses is wrong, and so is what cannot be
 * matched here. */
static enum format_answer check_regex(struct str s) {
  struct regex *regex;
  enum rein_code code = regex_new(s, REGEX_UNICODE | REGEX_NO_JIT, &regex, NULL);
  regex_free(regex);
  if (code == REIN_MEMORY) return FORMAT_NO_MEMORY;
  return code ? FORMAT_WRONG : FORMAT_RIGHT;
}

static const struct format formats[] = {
    {"date-time", "2026-12-01T09:30:00Z", format_date_time},
    {"date", "2026-12-01", format_date},
    {"time", "09:30:00Z", format_time},
    {"duration", "P1DT12H", format_duration},
    {"email", "name@example.com", format_email},
    {"idn-email", "name@example.com", format_idn_email},
    {"hostname", "www.example.com", format_hostname},
    {"ipv4", "192.0.2.1", format_ipv4},
    {"ipv6", "2001:db8::1", format_ipv6},
    {"uri", "https://example.com/a", format_uri},
    {"uri-reference", "/a?b=c", format_uri_reference},
    {"iri", "https://example.com/a", format_iri},
    {"iri-reference", "/a?b=c", format_iri_reference},
    {"uri-template", "https://example.com/{id}", format_uri_template},
    {"uuid", "01234567-89ab-cdef-0123-456789abcdef", is_uuid},
    {"json-pointer", "/a/0", is_pointer},
    {"relative-json-pointer", "1/a", is_relative_pointer},
    {"regex", "^[a-z]+$", is_regex},
};

const struct format *format_find(struct str name) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (str_is(name, formats[i].name)) return &formats[i];
  return NULL;
}

enum format_answer format_check(const struct format *format, struct str text) {
  if (format->fits == is_regex) return check_regex(text);
  return format->fits(text) ? FORMAT_RIGHT : FORMAT_WRONG;
}
