/* Reading and matching the lines of a .gitignore. Patterns come from files that
 * anyone wrote, so matching never goes back further than to the last star of
 * its kind: it ends soon for every pattern.
 */
#include "host/ignore.h"

#include "base/mem.h"

#include <ctype.h>

struct rule {
  struct str pattern; /* without the slash in front; in ignore.text */
  size_t plain;       /* bytes at its front that mean themselves */
  bool negated, dirs_only, by_name;
};

struct ignore {
  struct ignore *above;
  size_t base;
  char *text;
  struct rule *rules;
  size_t n;
};

/* ---- one name or path against one pattern ---------------------------------------- */

struct match {
  const char *p, *p_end; /* pattern */
  const char *t, *t_end;
  const char *p_start;
  bool path;                   /* stars and ? do not pass a slash */
  const char *star_p, *star_t; /* behind the last star, and where it is tried next */
  const char *deep_p, *deep_t; /* the same of the last double star */
};

static bool in_named_class(struct str name, unsigned char c) {
  static const struct {
    const char *name;
    int (*is)(int);
  } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
                 {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
                 {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (str_is(name, classes[i].name)) return c < 0x80 && classes[i].is(c);
  return false;
}

static bool is_named_class(struct str name) {
  static const char *const names[] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                      "lower", "print", "punct", "space", "upper", "xdigit"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_is(name, names[i])) return true;
  return false;
}

struct bracket {
  const char *p, *end;
  unsigned char c;
  bool hit;
  int last; /* the byte that a range may begin with; -1: none */
};

/* [:alpha:]; false: there is none, and [ is a byte like others. A name that is
 * not known spoils the whole pattern. */
static bool named_class(struct bracket *b, bool *spoilt) {
  const char *name = b->p + 2, *close = name;
  while (close < b->end && *close != ']')
    close++;
  if (close == b->end) {
    *spoilt = true;
    return true;
  }
  if (close == name || close[-1] != ':') return false;
  struct str text = {name, (size_t)(close - 1 - name)};
  *spoilt = !is_named_class(text);
  b->hit |= in_named_class(text, b->c);
  b->last = -1;
  b->p = close + 1;
  return true;
}

static bool bracket_byte(struct bracket *b, unsigned char *byte) {
  if (*b->p == '\\' && ++b->p == b->end) return false;
  *byte = (unsigned char)*b->p++;
  return true;
}

/* One member of a class; false: the class has no end. */
static bool bracket_member(struct bracket *b) {
  unsigned char byte;
  bool spoilt = false;
  bool range = *b->p == '-' && b->last >= 0 && b->p + 1 < b->end && b->p[1] != ']';
  if (*b->p == '[' && b->p + 1 < b->end && b->p[1] == ':' && named_class(b, &spoilt))
    return !spoilt;
  b->p += range;
  if (!bracket_byte(b, &byte)) return false;
  b->hit |= range ? b->c >= b->last && b->c <= byte : b->c == byte;
  b->last = range ? -1 : byte;
  return true;
}

/* The class that begins at m->p against the byte at m->t; moves behind both. */
static bool take_class(struct match *m) {
  struct bracket b = {.p = m->p + 1, .end = m->p_end, .c = (unsigned char)*m->t, .last = -1};
  bool negated = b.p < b.end && (*b.p == '!' || *b.p == '^');
  b.p += negated;
  for (bool first = true;; first = false) {
    if (b.p >= b.end) return false;
    if (*b.p == ']' && !first) break;
    if (!bracket_member(&b)) return false;
  }
  if (b.hit == negated || (m->path && b.c == '/')) return false;
  m->p = b.p + 1;
  m->t++;
  return true;
}

/* One piece of the pattern that is no star against what stands there. */
static bool take_one(struct match *m) {
  if (m->t == m->t_end) return false;
  if (*m->p == '[') return take_class(m);
  if (*m->p == '?') {
    if (m->path && *m->t == '/') return false;
    m->p++;
    m->t++;
    return true;
  }
  if (*m->p == '\\' && ++m->p == m->p_end) return false;
  return *m->p++ == *m->t++;
}

/* Stars: one passes no slash; two do, where they stand for whole folders. */
static void take_stars(struct match *m) {
  const char *from = m->p;
  while (m->p < m->p_end && *m->p == '*')
    m->p++;
  bool whole = (from == m->p_start || from[-1] == '/') && (m->p == m->p_end || *m->p == '/');
  if (m->p - from > 1 && m->path && whole) {
    m->p += m->p < m->p_end; /* "**" and its slash: no folder at all, first */
    m->deep_p = m->p;
    m->deep_t = m->t;
    m->star_p = NULL;
    return;
  }
  m->star_p = m->p;
  m->star_t = m->t;
}

/* Where nothing fits: the last star takes one byte more, or else the last double
 * star one folder more. False: there is nothing left to try. */
static bool go_back(struct match *m) {
  if (m->star_p && m->star_t < m->t_end && (!m->path || *m->star_t != '/')) {
    m->t = ++m->star_t;
    m->p = m->star_p;
    return true;
  }
  if (!m->deep_p) return false;
  const char *slash = memchr(m->deep_t, '/', (size_t)(m->t_end - m->deep_t));
  if (!slash) return false;
  m->t = m->deep_t = slash + 1;
  m->p = m->deep_p;
  m->star_p = NULL;
  return true;
}

static bool matches(struct str pattern, struct str text, bool path) {
  if (pattern.n == 0) return text.n == 0;
  struct match m = {.p = pattern.p,
                    .p_end = pattern.p + pattern.n,
                    .t = text.p,
                    .t_end = text.p + text.n,
                    .p_start = pattern.p,
                    .path = path};
  for (;;) {
    if (m.p == m.p_end) {
      bool rest_free = m.deep_p == m.p_end && !m.star_p && m.p_end[-1] == '*';
      if (m.t == m.t_end || rest_free) return true;
      if (!go_back(&m)) return false;
    } else if (*m.p == '*') {
      take_stars(&m);
    } else if (!take_one(&m) && !go_back(&m)) {
      return false;
    }
  }
}

static bool rule_matches(const struct rule *rule, struct str path) {
  struct str folder, name, plain = str_part(rule->pattern, 0, rule->plain);
  if (rule->by_name) {
    if (!str_split_last(path, '/', &folder, &name)) name = path;
    return matches(rule->pattern, name, false);
  }
  /* git takes the plain front off first, so what follows it counts as a start
   * where "**" may stand: it passes slashes in x/y**, but not in x/?** */
  if (!str_starts(path, plain)) return false;
  struct str rest = str_part(rule->pattern, rule->plain, rule->pattern.n);
  return matches(rest, str_part(path, plain.n, path.n), true);
}

bool ignore_names(const struct ignore *rules, struct str path, bool is_dir) {
  for (const struct ignore *list = rules; list; list = list->above) {
    struct str inside = str_part(path, list->base, path.n);
    for (size_t i = list->n; i-- > 0;) {
      const struct rule *rule = &list->rules[i];
      if (rule->dirs_only && !is_dir) continue;
      if (rule_matches(rule, inside)) return !rule->negated;
    }
  }
  return false;
}

/* ---- reading --------------------------------------------------------------------- */

/* Without the blanks at its end, but for those that a backslash keeps. */
static struct str trimmed(struct str line) {
  size_t end = 0;
  for (size_t i = 0; i < line.n; i++) {
    if (line.p[i] == '\\') {
      if (++i == line.n) return line;
      end = i + 1;
    } else if (line.p[i] != ' ') {
      end = i + 1;
    }
  }
  return str_part(line, 0, end);
}

static size_t plain_front(struct str pattern) {
  size_t n = 0;
  while (n < pattern.n && !memchr("*?[\\", pattern.p[n], 4))
    n++;
  return n;
}

/* False: the line holds no rule. */
static bool read_rule(struct str line, struct rule *rule) {
  if (line.n > 0 && line.p[line.n - 1] == '\r') line.n--;
  if (line.n == 0 || line.p[0] == '#') return false;
  line = trimmed(line);
  *rule = (struct rule){.negated = line.n > 0 && line.p[0] == '!'};
  line = str_part(line, rule->negated, line.n);
  rule->dirs_only = line.n > 0 && line.p[line.n - 1] == '/';
  line.n -= rule->dirs_only;
  rule->by_name = str_find_char(line, '/') == line.n;
  if (line.n > 0 && line.p[0] == '/') line = str_part(line, 1, line.n);
  rule->pattern = line;
  rule->plain = plain_front(line);
  return line.n > 0;
}

static size_t count_lines(struct str text) {
  size_t n = 1;
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

enum rein_code ignore_new(struct str text, size_t base, struct ignore *above,
                          struct ignore **rules) {
  *rules = above;
  if (str_starts(text, STR("\xef\xbb\xbf"))) text = str_part(text, 3, text.n);
  if (text.n == 0) return REIN_OK;
  struct ignore *made = mem_zero(sizeof *made);
  if (!made) return REIN_MEMORY;
  made->above = above;
  made->base = base;
  made->text = mem_resize(NULL, text.n);
  made->rules = mem_resize(NULL, count_lines(text) * sizeof *made->rules);
  if (!made->text || !made->rules) {
    ignore_free(made);
    return REIN_MEMORY;
  }
  memcpy(made->text, text.p, text.n);
  struct str rest = {made->text, text.n}, line;
  while (str_next(&rest, '\n', &line))
    made->n += read_rule(line, &made->rules[made->n]);
  *rules = made;
  if (made->n == 0) {
    ignore_free(made);
    *rules = above;
  }
  return REIN_OK;
}

void ignore_free_all(struct ignore *rules) {
  while (rules) {
    struct ignore *above = rules->above;
    ignore_free(rules);
    rules = above;
  }
}

void ignore_free(struct ignore *rules) {
  if (!rules) return;
  mem_free(rules->rules);
  mem_free(rules->text);
  mem_free(rules);
}
