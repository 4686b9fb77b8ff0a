/* URIs of RFC 3986, IRIs of RFC 3987, templates of RFC 6570: the grammar, not
 * whether anything is there.
 */
#include "schema/format.h"

#include "base/utf8.h"

/* strchr would find the end of the list for a NUL. */
static bool is_one_of(char c, const char *list) {
  return c && strchr(list, c);
}

static bool is_plain(char c) {
  return format_is_letter(c) || format_is_digit(c) || is_one_of(c, "-._~!$&'()*+,;=");
}

/* RFC 3987 ucschar and iprivate, roughly the planes without controls, noncharacters. */
static bool is_wide(struct str s, size_t *n) {
  uint32_t cp;
  *n = utf8_next(s, &cp);
  return *n > 1 && cp >= 0xa0 && !(cp >= 0xfdd0 && cp <= 0xfdef) && (cp & 0xfffe) != 0xfffe &&
         !(cp >= 0xfff0 && cp <= 0xffff);
}

/* All of s is plain, %XX, one of `more`, or (in an IRI) beyond ASCII. */
static bool is_text(struct str s, const char *more, bool iri) {
  while (s.n > 0) {
    size_t n = 1;
    bool fine = is_plain(s.p[0]) || is_one_of(s.p[0], more);
    if (!fine && s.p[0] == '%') {
      fine = format_hex(str_part(s, 1, s.n), 2);
      n = 3;
    } else if (!fine && iri) {
      fine = is_wide(s, &n);
    }
    if (!fine) return false;
    s = str_part(s, n, s.n);
  }
  return true;
}

static bool is_scheme(struct str s) {
  if (s.n == 0 || !format_is_letter(s.p[0])) return false;
  for (size_t i = 1; i < s.n; i++)
    if (!format_is_letter(s.p[i]) && !format_is_digit(s.p[i]) && !is_one_of(s.p[i], "+-."))
      return false;
  return true;
}

/* [v6] or [vX.anything] */
static bool is_bracketed(struct str s) {
  if (s.n < 2 || s.p[s.n - 1] != ']') return false;
  s = str_part(s, 1, s.n - 2);
  if (s.n > 0 && (s.p[0] | 0x20) == 'v') {
    struct str version, rest;
    return str_split(str_part(s, 1, s.n), '.', &version, &rest) && version.n > 0 &&
           format_hex(version, version.n) && rest.n > 0 && is_text(rest, ":", false);
  }
  return format_ipv6(s);
}

static bool is_port(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!format_is_digit(s.p[i])) return false;
  return true;
}

static bool is_authority(struct str s, bool iri) {
  struct str user, host = s, port = STR_NONE;
  if (str_split_last(s, '@', &user, &host) && !is_text(user, ":", iri)) return false;
  if (host.n > 0 && host.p[0] == '[') {
    size_t end = str_find_char(host, ']') + 1;
    struct str rest = str_part(host, end, host.n);
    if (rest.n > 0 && !format_take(&rest, ':')) return false;
    return is_port(rest) && is_bracketed(str_part(host, 0, end));
  }
  str_split_last(host, ':', &host, &port);
  return is_port(port) && is_text(host, "", iri);
}

static bool is_path(struct str s, bool authority, bool iri) {
  if (authority && s.n > 0 && s.p[0] != '/') return false;
  return is_text(s, "/:@", iri);
}

static bool is_reference(struct str s, bool absolute, bool iri) {
  struct str fragment = STR_NONE, query = STR_NONE;
  str_split(s, '#', &s, &fragment);
  str_split(s, '?', &s, &query);
  size_t colon = str_find_char(s, ':'), slash = str_find_char(s, '/');
  bool scheme = colon < slash;
  if (scheme && !is_scheme(str_part(s, 0, colon))) return false;
  if (scheme) s = str_part(s, colon + 1, s.n);
  if (absolute && !scheme) return false;
  bool authority = str_starts(s, STR("//"));
  if (authority) {
    s = str_part(s, 2, s.n);
    slash = str_find_char(s, '/');
    if (!is_authority(str_part(s, 0, slash), iri)) return false;
    s = str_part(s, slash, s.n);
  }
  return is_path(s, authority, iri) && is_text(query, "/:@?", iri) &&
         is_text(fragment, "/:@?", iri);
}

bool format_uri(struct str s) {
  return is_reference(s, true, false);
}

bool format_uri_reference(struct str s) {
  return is_reference(s, false, false);
}

bool format_iri(struct str s) {
  return is_reference(s, true, true);
}

bool format_iri_reference(struct str s) {
  return is_reference(s, false, true);
}

/* Names are made of letters, digits, _ and %XX, with dots between. */
static bool is_variable_name(struct str s) {
  char before = '.';
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    bool word = format_is_letter(c) || format_is_digit(c) || c == '_';
    bool escape = c == '%' && format_hex(str_part(s, i + 1, s.n), 2);
    if (!word && !escape && (c != '.' || before == '.')) return false;
    i += escape ? 2 : 0;
    before = c;
  }
  return before != '.';
}

/* NAME, NAME* or NAME:N */
static bool is_variable(struct str s) {
  struct str length;
  if (str_ends(s, STR("*"))) return is_variable_name(str_part(s, 0, s.n - 1));
  if (str_split(s, ':', &s, &length) &&
      (length.n < 1 || length.n > 4 || length.p[0] == '0' || !is_port(length)))
    return false;
  return is_variable_name(s);
}

static bool is_expression(struct str s) {
  if (s.n > 0 && is_one_of(s.p[0], "+#./;?&")) s = str_part(s, 1, s.n);
  struct str one;
  if (s.n == 0 || s.p[s.n - 1] == ',') return false;
  while (str_next(&s, ',', &one))
    if (!is_variable(one)) return false;
  return true;
}

static bool is_template_text(struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c <= 0x20 || c == 0x7f || is_one_of((char)c, "\"<>\\^`|}")) return false;
    if (c == '%' && !format_hex(str_part(s, i + 1, s.n), 2)) return false;
  }
  return true;
}

bool format_uri_template(struct str s) {
  while (s.n > 0) {
    size_t open = str_find_char(s, '{');
    if (!is_template_text(str_part(s, 0, open))) return false;
    if (open == s.n) return true;
    s = str_part(s, open + 1, s.n);
    size_t close = str_find_char(s, '}');
    if (close == s.n || !is_expression(str_part(s, 0, close))) return false;
    s = str_part(s, close + 1, s.n);
  }
  return true;
}
