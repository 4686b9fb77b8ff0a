/* Addresses of schemas: taken apart, joined, compared as text. Whether a text is
 * a right URI is format_uri.c's business.
 */
#include "schema/uri.h"

struct parts {
  struct str scheme, authority, path, query;
  bool has_scheme, has_authority, has_query;
};

static bool is_scheme(struct str s) {
  bool letter = s.n > 0 && ((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z');
  for (size_t i = 1; i < s.n && letter; i++) {
    char c = s.p[i];
    bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    letter = alphanumeric || c == '+' || c == '-' || c == '.';
  }
  return letter;
}

static struct parts take_apart(struct str uri) {
  struct parts p = {.path = str_part(uri, 0, str_find_char(uri, '#'))};
  size_t colon = str_find_char(p.path, ':');
  if (colon < p.path.n && is_scheme(str_part(p.path, 0, colon))) {
    p.has_scheme = true;
    p.scheme = str_part(p.path, 0, colon);
    p.path = str_part(p.path, colon + 1, p.path.n);
  }
  p.has_query = str_split(p.path, '?', &p.path, &p.query);
  if (!str_starts(p.path, STR("//"))) return p;
  p.has_authority = true;
  p.authority = str_part(p.path, 2, p.path.n);
  size_t slash = str_find_char(p.authority, '/');
  p.path = str_part(p.authority, slash, p.authority.n);
  p.authority = str_part(p.authority, 0, slash);
  return p;
}

/* Cuts the last segment, with its slash, off what was written from `start`. */
static void drop_segment(struct buf *out, size_t start) {
  size_t n = out->n;
  while (n > start && out->p[n - 1] != '/')
    n--;
  buf_cut(out, n > start ? n - 1 : start);
}

/* 5.2.4: "." and ".." segments are followed. */
static void put_path(struct buf *out, struct str path) {
  size_t start = out->n;
  while (path.n > 0) {
    size_t slash = path.p[0] == '/' ? 1 : 0;
    size_t n = str_find_char(str_part(path, slash, path.n), '/');
    struct str segment = str_part(path, slash, n);
    bool last = slash + n == path.n;
    path = str_part(path, slash + n, path.n);
    bool up = str_is(segment, "..");
    if (up) drop_segment(out, start);
    if (up || str_is(segment, ".")) {
      if (last) buf_c(out, '/');
      continue;
    }
    if (slash) buf_c(out, '/');
    buf_put(out, segment);
  }
}

/* 5.2.3: the reference's path in place of the base's last segment. */
static void put_merged(struct buf *out, const struct parts *base, struct str path) {
  struct buf joined;
  buf_init(&joined, 2 * URI_BYTES_MAX);
  if (base->has_authority && base->path.n == 0) buf_c(&joined, '/');
  size_t keep = base->path.n;
  while (keep > 0 && base->path.p[keep - 1] != '/')
    keep--;
  buf_put(&joined, str_part(base->path, 0, keep));
  buf_put(&joined, path);
  if (joined.fail) out->fail = joined.fail;
  put_path(out, buf_str(&joined));
  buf_release(&joined);
}

static void put_front(struct buf *out, const struct parts *scheme, const struct parts *authority) {
  if (scheme->has_scheme) {
    buf_put(out, scheme->scheme);
    buf_c(out, ':');
  }
  if (authority->has_authority) {
    buf_lit(out, "//");
    buf_put(out, authority->authority);
  }
}

static void put_query(struct buf *out, const struct parts *p) {
  if (!p->has_query) return;
  buf_c(out, '?');
  buf_put(out, p->query);
}

void uri_resolve(struct buf *out, struct str base, struct str ref) {
  struct parts b = take_apart(base), r = take_apart(ref);
  bool own = r.has_scheme || r.has_authority;
  put_front(out, r.has_scheme ? &r : &b, own ? &r : &b);
  if (!own && r.path.n == 0) {
    buf_put(out, b.path);
    put_query(out, r.has_query ? &r : &b);
    return;
  }
  /* urn:x:y has no hierarchy, and "." is a name in it. */
  if (r.has_scheme && r.path.n > 0 && r.path.p[0] != '/')
    buf_put(out, r.path);
  else if (own || r.path.p[0] == '/')
    put_path(out, r.path);
  else
    put_merged(out, &b, r.path);
  put_query(out, &r);
}

struct str uri_fragment(struct str uri) {
  return str_part(uri, str_find_char(uri, '#') + 1, uri.n);
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void uri_decode(struct buf *out, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    int high = i + 2 < s.n && s.p[i] == '%' ? hex(s.p[i + 1]) : -1;
    int low = high >= 0 ? hex(s.p[i + 2]) : -1;
    if (low >= 0) {
      buf_c(out, (char)(high * 16 + low));
      i += 2;
    } else {
      buf_c(out, s.p[i]);
    }
  }
}
