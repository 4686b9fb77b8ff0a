/* Hosts and mail: RFC 1123 names, RFC 2673 and 4291 addresses, RFC 5321 mail. */
#include "schema/format.h"

#include "base/utf8.h"

static bool is_host_text(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (!format_is_letter(s.p[i]) && !format_is_digit(s.p[i]) && s.p[i] != '-') return false;
  return true;
}

static bool is_label(struct str s) {
  if (s.n < 1 || s.n > 63 || s.p[0] == '-' || s.p[s.n - 1] == '-') return false;
  if (!is_host_text(s)) return false;
  /* RFC 5891: "--" there announces an encoding; only "xn--" is one. */
  bool marked = s.n >= 4 && s.p[2] == '-' && s.p[3] == '-';
  return !marked || (str_eq_nocase(str_part(s, 0, 4), STR("xn--")) && s.n > 4);
}

bool format_hostname(struct str s) {
  if (s.n < 1 || s.n > 253 || s.p[s.n - 1] == '.') return false;
  struct str label;
  while (str_next(&s, '.', &label))
    if (!is_label(label)) return false;
  return true;
}

bool format_ipv4(struct str s) {
  for (size_t k = 0; k < 4; k++) {
    unsigned v = 0;
    size_t n = 0;
    if (k > 0 && !format_take(&s, '.')) return false;
    while (n < s.n && n < 3 && format_is_digit(s.p[n]))
      v = v * 10 + (unsigned)(s.p[n++] - '0');
    if (n == 0 || v > 255 || (n > 1 && s.p[0] == '0')) return false;
    s = str_part(s, n, s.n);
  }
  return s.n == 0;
}

static bool is_group(struct str s) {
  return s.n >= 1 && s.n <= 4 && format_hex(s, s.n);
}

/* How many 16-bit groups a run without "::" is; -1: it is none. Only the last
 * part may be an IPv4 address. */
static int count_groups(struct str s, bool last) {
  struct str group;
  int n = 0;
  if (s.n == 0) return 0;
  if (s.p[0] == ':' || s.p[s.n - 1] == ':') return -1;
  while (str_next(&s, ':', &group)) {
    bool hex = is_group(group);
    bool four = last && s.n == 0 && !hex;
    if (!hex && !(four && format_ipv4(group))) return -1;
    n += four ? 2 : 1;
  }
  return n;
}

bool format_ipv6(struct str s) {
  size_t gap = str_find(s, STR("::"));
  if (gap >= s.n) return count_groups(s, true) == 8;
  int before = count_groups(str_part(s, 0, gap), false);
  int after = count_groups(str_part(s, gap + 2, s.n), true);
  return before >= 0 && after >= 0 && before + after <= 7;
}

static bool is_atom_char(char c, bool idn) {
  if (format_is_letter(c) || format_is_digit(c)) return true;
  if ((unsigned char)c >= 0x80) return idn;
  return c && strchr("!#$%&'*+-/=?^_`{|}~", c);
}

static bool is_quoted(struct str s, bool idn) {
  if (s.n < 2 || s.p[0] != '"' || s.p[s.n - 1] != '"') return false;
  for (size_t i = 1; i + 1 < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c == '"' || c < 0x20 || c == 0x7f || (c >= 0x80 && !idn)) return false;
    if (c == '\\' && ++i + 1 >= s.n) return false;
  }
  return true;
}

static bool is_local(struct str s, bool idn) {
  if (s.n < 1 || s.n > (idn ? 256 : 64)) return false;
  if (s.p[0] == '"') return is_quoted(s, idn);
  char before = '.';
  for (size_t i = 0; i < s.n; i++) {
    bool dot = s.p[i] == '.';
    if (dot ? before == '.' : !is_atom_char(s.p[i], idn)) return false;
    before = s.p[i];
  }
  return before != '.';
}

static bool is_literal(struct str s) {
  s = str_part(s, 1, s.n - 2);
  if (str_eq_nocase(str_part(s, 0, 5), STR("IPv6:"))) return format_ipv6(str_part(s, 5, s.n));
  return format_ipv4(s);
}

/* Letters beyond ASCII are taken as they come: see the header on idn-hostname. */
static bool is_idn_host(struct str s) {
  struct str label;
  if (s.n < 1 || s.n > 253 || s.p[s.n - 1] == '.' || !utf8_valid(s)) return false;
  while (str_next(&s, '.', &label)) {
    bool plain = true;
    for (size_t i = 0; i < label.n && plain; i++)
      plain = (unsigned char)label.p[i] < 0x80;
    if (plain ? !is_label(label) : label.n > 63 * 4) return false;
  }
  return true;
}

static bool is_email(struct str s, bool idn) {
  struct str local, host;
  if (!str_split_last(s, '@', &local, &host) || !is_local(local, idn)) return false;
  if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') return is_literal(host);
  return idn ? is_idn_host(host) : format_hostname(host);
}

bool format_email(struct str s) {
  return is_email(s, false);
}

bool format_idn_email(struct str s) {
  return is_email(s, true);
}
