/* Two readers must agree on where an address leads: the policy, which judged its
 * text, and curl, which goes there. What one of them could read differently is
 * refused, and the plain spelling is named where there is one. */
#include "tools/outside_url.h"

#include "host/http.h"
#include "tools/call.h"

static bool is_control(char c) {
  return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Why the policy does not understand it. */
static enum rein_code fail_unclear(struct str url, struct str authority, struct err *err) {
  if (str_find_char(authority, '@') < authority.n) return ERR(err, REIN_INPUT, T_TOOLS_HTTP_USER);
  for (size_t i = 0; i < authority.n; i++)
    if ((unsigned char)authority.p[i] >= 0x80)
      return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_IDN, authority);
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_URL, url);
}

/* What stands between "//" and the path. False: it is no http or https address. */
static bool split(struct str url, struct str *before, struct str *authority, struct str *rest) {
  struct str scheme, tail;
  if (!str_split(url, ':', &scheme, &tail) || !str_starts(tail, STR("//"))) return false;
  if (!str_eq_nocase(scheme, STR("http")) && !str_eq_nocase(scheme, STR("https"))) return false;
  size_t from = scheme.n + 3, end = from;
  while (end < url.n && !memchr("/?#\\", url.p[end], 4))
    end++;
  *before = str_part(url, 0, from);
  *authority = str_part(url, from, end - from);
  *rest = str_part(url, end, url.n);
  return true;
}

/* RFC 3986: what is neither reserved nor unreserved is escaped; escapes stay. */
static void put_escaped(struct buf *out, struct str s) {
  static const char hex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (c > ' ' && c < 0x7f && !memchr("\"<>\\^`{|}", c, 9)) {
      buf_c(out, (char)c);
      continue;
    }
    buf_c(out, '%');
    buf_c(out, hex[c >> 4]);
    buf_c(out, hex[c & 15]);
  }
}

static enum rein_code check_text(struct str url, struct err *err) {
  struct num_text room;
  if (url.n > URL_BYTES_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_LONG, str_num(&room, URL_BYTES_MAX));
  for (size_t i = 0; i < url.n; i++)
    if (is_control(url.p[i])) return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_CONTROL, url);
  return REIN_OK;
}

/* Does curl go where the policy thinks it does? */
static enum rein_code check_host(const struct buf *clean, const struct url_host *host,
                                 struct str url, struct err *err) {
  struct buf read;
  buf_init(&read, 2 * URL_BYTES_MAX);
  enum rein_code code = http_url_host(buf_z(clean), &read);
  struct str name = buf_str(&read);
  if (str_ends(name, STR("."))) name.n--;
  if (code == REIN_MEMORY)
    code = ERR(err, code, T_TOOLS_MEMORY);
  else if (code != REIN_OK)
    code = CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_URL, url);
  else if (!str_eq_nocase(name, host->name))
    code = CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_SPELLED, host->name, name);
  buf_release(&read);
  return code;
}

enum rein_code outside_url(struct arena *arena, struct str url, struct buf *clean,
                           struct url_host *host, struct err *err) {
  struct str before, authority, rest;
  enum rein_code code = check_text(url, err);
  if (code != REIN_OK) return code;
  if (!split(url, &before, &authority, &rest))
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_SCHEME, url);
  if (!host_of_url(arena, url, host)) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  if (!host->name.n) return fail_unclear(url, authority, err);
  buf_put(clean, before);
  buf_put(clean, authority);
  put_escaped(clean, str_part(rest, 0, str_find_char(rest, '#')));
  if (!buf_z(clean) || clean->fail) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  return check_host(clean, host, url, err);
}
