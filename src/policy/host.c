/* RFC 3986's authority, strictly: letters, digits, dots, dashes, and an address
 * in brackets. User names, escapes and backslashes are what readers disagree on. */
#include "policy/host.h"

#include "policy/glob.h"

static bool host_char(char c, bool literal) {
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-') return true;
  return literal ? c == ':' || c == '[' || c == ']' : c == '_';
}

static bool is_name(struct str name) {
  bool literal = str_starts(name, STR("[")) && str_ends(name, STR("]"));
  for (size_t i = 0; i < name.n; i++)
    if (!host_char(name.p[i], literal)) return false;
  return name.n > 0;
}

static void lower(char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] >= 'A' && p[i] <= 'Z') p[i] = (char)(p[i] - 'A' + 'a');
}

/* Scheme and "//" away; false: it is no http URL. */
static bool authority_of(struct str url, struct str *authority, struct str *port) {
  struct str scheme, rest;
  if (!str_split(url, ':', &scheme, &rest) || !str_starts(rest, STR("//"))) return false;
  if (!str_eq_nocase(scheme, STR("http")) && !str_eq_nocase(scheme, STR("https"))) return false;
  *port = scheme.n == 4 ? STR("80") : STR("443");
  rest = str_part(rest, 2, rest.n);
  size_t end = 0;
  while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
    end++;
  *authority = str_part(rest, 0, end);
  return true;
}

bool host_of_url(struct arena *arena, struct str url, struct url_host *host) {
  struct str authority, copy, name, port;
  int64_t number;
  *host = (struct url_host){STR_NONE, STR_NONE};
  if (!authority_of(url, &authority, &port)) return true;
  char *made = arena_alloc(arena, authority.n + 1);
  if (!made) return false;
  if (authority.n) memcpy(made, authority.p, authority.n);
  lower(made, authority.n);
  name = copy = (struct str){made, authority.n};
  size_t bracket = str_find_char(copy, ']');
  struct str tail = bracket < copy.n ? str_part(copy, bracket, copy.n) : copy;
  if (str_find_char(tail, ':') < tail.n) (void)str_split_last(copy, ':', &name, &port);
  /* "080", or none behind the colon: a port, but not as a rule spells it. */
  if (!str_to_num(port, &number) || number < 1 || number > 65535 || port.p[0] == '0') return true;
  if (str_ends(name, STR("."))) name = str_part(name, 0, name.n - 1);
  if (is_name(name)) *host = (struct url_host){name, port};
  return true;
}

bool host_fits(struct str pattern, const struct url_host *host, bool wide) {
  struct str name = pattern, port = STR_NONE;
  bool literal = str_ends(pattern, STR("]"));
  if (!host->name.n) return wide;
  if (!literal && str_split_last(pattern, ':', &name, &port) && !str_eq(port, host->port))
    return false;
  return glob_fits(name, host->name, GLOB_FLAT);
}
