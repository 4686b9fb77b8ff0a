/* All places in the pattern that are still possible move on together, so no
 * pattern and no text can make it slow. */
#include "policy/glob.h"

struct places {
  bool in[PATTERN_MAX + 1];
};

bool glob_is_plain(struct str pattern) {
  return str_find_char(pattern, '*') == pattern.n;
}

/* A place where a folder's name begins, and "**" with a slash stands there. */
static bool is_folders(struct str p, size_t i) {
  return str_starts(str_part(p, i, 3), STR("**/")) && (i == 0 || p.p[i - 1] == '/');
}

/* Comes to a place; "**" with a slash there may stand for no folder. */
static void enter(struct str p, struct places *s, size_t i) {
  for (s->in[i] = true; is_folders(p, i); s->in[i] = true)
    i += 3;
}

/* What can be reached without a byte of text. */
static void settle(struct str p, struct places *s) {
  for (size_t i = 0; i < p.n; i++)
    if (s->in[i] && p.p[i] == '*') s->in[i + 1] = true;
}

/* Whether the star at i is one of two. */
static bool is_deep(struct str p, size_t i) {
  return (i + 1 < p.n && p.p[i + 1] == '*') || (i > 0 && p.p[i - 1] == '*');
}

static bool step(struct str p, const struct places *from, char c, enum glob_star star,
                 struct places *to) {
  bool any = false;
  memset(to->in, 0, p.n + 1);
  for (size_t i = 0; i <= p.n; i++) {
    if (!from->in[i]) continue;
    if (i < p.n && p.p[i] == '*' && (c != '/' || star == GLOB_FLAT || is_deep(p, i)))
      any = to->in[i] = true;
    if (i == p.n || p.p[i] != c || c == '*') continue;
    enter(p, to, i + 1);
    any = true;
  }
  return any;
}

/* Any text: every place from the first possible one on. */
static void step_any(struct str p, struct places *s) {
  bool any = false;
  for (size_t i = 0; i <= p.n; i++)
    any = s->in[i] = any || s->in[i];
}

/* Ends that differ settle it at once, as they mostly do. */
static bool ends_differ(struct str p, struct str text) {
  if (!p.n || !text.n) return false;
  char first = p.p[0], last = p.p[p.n - 1], begin = text.p[0], end = text.p[text.n - 1];
  return (first != '*' && begin != ANY_TEXT && first != begin) ||
         (last != '*' && end != ANY_TEXT && last != end);
}

bool glob_fits(struct str p, struct str text, enum glob_star star) {
  struct places s, next;
  if (p.n > PATTERN_MAX || text.n > MATCHED_MAX || ends_differ(p, text)) return false;
  if (glob_is_plain(p) && str_find_char(text, ANY_TEXT) == text.n) return str_eq(p, text);
  memset(s.in, 0, p.n + 1);
  enter(p, &s, 0);
  settle(p, &s);
  for (size_t j = 0; j < text.n; j++) {
    if (text.p[j] == ANY_TEXT) {
      step_any(p, &s);
      continue;
    }
    if (!step(p, &s, text.p[j], star, &next)) return false;
    s = next;
    settle(p, &s);
  }
  return s.in[p.n];
}
