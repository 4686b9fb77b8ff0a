/* A piece of text with its length: the only string inside rein.
 *
 * A slice owns nothing and is not terminated; whoever hands one out says how
 * long it is good for. Terminated strings exist only at the system's door.
 *
 *   struct str s = STR("ask=deny");
 *   struct str name, value;
 *   if (str_split_last(s, '=', &name, &value)) ...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
  const char *p; /* may be NULL when n is 0 */
  size_t n;
};

#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_NONE ((struct str){NULL, 0})

/* The slice over a terminated string; NULL gives the empty slice. */
static inline struct str str_of(const char *z) {
  return (struct str){z, z ? strlen(z) : 0};
}

static inline bool str_eq(struct str a, struct str b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *z) {
  return str_eq(a, str_of(z));
}

int str_cmp(struct str a, struct str b); /* bytewise; <0, 0, >0 */
static inline bool str_starts(struct str s, struct str prefix) {
  return s.n >= prefix.n && str_eq((struct str){s.p, prefix.n}, prefix);
}
bool str_ends(struct str s, struct str suffix);
/* The position of `c` or of `needle`, or s.n when it is not there. */
size_t str_find_char(struct str s, char c);
size_t str_find(struct str s, struct str needle);
static inline bool str_has(struct str s, struct str needle) {
  return str_find(s, needle) < s.n || needle.n == 0;
}
/* The part from `from` (clamped) of at most n bytes. */
static inline struct str str_part(struct str s, size_t from, size_t n) {
  if (from > s.n) from = s.n;
  if (n > s.n - from) n = s.n - from;
  return (struct str){from > 0 ? s.p + from : s.p, n};
}
/* Without blanks (space, tab, CR, LF) at both ends. */
struct str str_trim(struct str s);
bool str_blank(struct str s); /* empty, or blanks alone */
/* Cuts at the first (last) `c`; false and no change when it is not there. */
bool str_split(struct str s, char c, struct str *before, struct str *after);
bool str_split_last(struct str s, char c, struct str *before, struct str *after);
/* Takes the next piece before `sep` off `*rest`; false when nothing is left. */
bool str_next(struct str *rest, char sep, struct str *piece);
/* ASCII case is ignored; other bytes must be equal (header names, enum words). */
bool str_eq_nocase(struct str a, struct str b);

/* Room for any number written by str_num. */
struct num_text {
  char s[24];
};
/* Decimal text of v, written into *room, which must outlive the slice. */
struct str str_num(struct num_text *room, int64_t v);
/* The whole of s as a decimal number; false on anything else or overflow. */
bool str_to_num(struct str s, int64_t *out);
