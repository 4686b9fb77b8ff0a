/* Text alone: nothing is looked up. A "..": takes back the name before it, which
 * is wrong where that name is a link; the kernel and the second look know. */
#include "policy/path.h"

#include "base/utf8.h"
#include "policy/glob.h"

#define NAMES_MAX 1024 /* of one path: PATH_MAX holds 2048 with their slashes */

static bool has_any(struct str s) {
  return s.n && memchr(s.p, ANY_TEXT, s.n) != NULL;
}

struct names {
  struct str v[NAMES_MAX];
  size_t n;
  bool full, unknown; /* too many; ".." behind what is not known */
};

static void push(struct names *names, struct str text) {
  struct str name;
  while (str_next(&text, '/', &name)) {
    bool up = str_is(name, "..");
    if (!name.n || str_is(name, ".")) continue;
    if (up && names->n && !str_is(names->v[names->n - 1], "..")) {
      names->unknown |= has_any(names->v[names->n - 1]);
      names->n--;
    } else if (names->n == NAMES_MAX) {
      names->full = true;
    } else {
      names->v[names->n++] = name;
    }
  }
}

/* The root's own names off the front; false: it is not below. */
static bool drop_root(struct names *names, struct str root) {
  struct str name;
  size_t at = 0;
  while (str_next(&root, '/', &name)) {
    if (!name.n) continue;
    if (at == names->n || !str_eq(names->v[at], name)) return false;
    at++;
  }
  names->n -= at;
  memmove(names->v, names->v + at, names->n * sizeof *names->v);
  return true;
}

static void join(struct buf *out, const struct names *names, bool absolute) {
  if (absolute) buf_c(out, '/');
  for (size_t i = 0; i < names->n; i++) {
    if (i) buf_c(out, '/');
    utf8_compose(out, names->v[i]);
  }
  if (!out->n) buf_c(out, '.');
}

/* From "/" up, ".." leads nowhere. */
static void drop_climbs(struct names *names) {
  size_t at = 0;
  while (at < names->n && str_is(names->v[at], ".."))
    at++;
  names->n -= at;
  memmove(names->v, names->v + at, names->n * sizeof *names->v);
}

static bool keep(struct arena *arena, struct buf *b, struct str *clean) {
  static const char any = ANY_TEXT;
  bool ok = b->fail != REIN_MEMORY;
  if (ok) ok = arena_str(arena, b->fail ? (struct str){&any, 1} : buf_str(b), clean);
  buf_release(b);
  return ok;
}

/* All names of it; true: they begin at "/". */
static bool read_names(struct names *names, struct str root, struct str text) {
  bool absolute = text.n && text.p[0] == '/';
  push(names, text);
  if (!absolute && root.n && names->n && str_is(names->v[0], "..")) {
    names->n = 0;
    push(names, root);
    push(names, text);
    absolute = true;
  }
  if (absolute) drop_climbs(names);
  return absolute;
}

bool path_clean(struct arena *arena, struct str root, struct str text, struct str *clean) {
  struct names names; /* its list is long and mostly unused: not zeroed */
  struct buf b;
  names.n = 0;
  names.full = names.unknown = false;
  buf_init(&b, PATH_TEXT_MAX);
  bool absolute = read_names(&names, root, text);
  if (names.full || names.unknown) {
    buf_c(&b, ANY_TEXT);
    struct str last = names.n ? names.v[names.n - 1] : STR_NONE;
    if (!names.full && !str_is(last, "..")) utf8_compose(&b, last);
  } else {
    if (absolute && root.n && drop_root(&names, root)) absolute = false;
    join(&b, &names, absolute);
  }
  return keep(arena, &b, clean);
}

bool path_pattern(struct arena *arena, struct str pattern, struct str *clean) {
  return path_clean(arena, STR_NONE, pattern, clean);
}

/* ---- matching --------------------------------------------------------------- */

static bool fits_or_folder(struct str pattern, struct str path, bool wide) {
  if (glob_fits(pattern, path, GLOB_PATH)) return true;
  if (!wide) return false;
  struct str folder = pattern, last;
  if (str_ends(pattern, STR("/**")) &&
      glob_fits(str_part(pattern, 0, pattern.n - 3), path, GLOB_PATH))
    return true;
  for (folder = path; str_split_last(folder, '/', &folder, &last) && folder.n;)
    if (!has_any(folder) && glob_fits(pattern, folder, GLOB_PATH)) return true;
  return false;
}

/* An absolute rule about what lies in the root. */
static bool fits_from_root(struct str pattern, struct str root, struct str path, bool wide) {
  struct buf b;
  buf_init(&b, PATH_TEXT_MAX + MATCHED_MAX);
  buf_put(&b, root);
  if (!str_is(path, ".")) {
    if (!str_ends(root, STR("/"))) buf_c(&b, '/');
    buf_put(&b, path);
  }
  bool fits = b.fail ? wide : fits_or_folder(pattern, buf_str(&b), wide);
  buf_release(&b);
  return fits;
}

bool path_fits(struct str pattern, struct str root, struct str path, bool wide) {
  if (path.n > MATCHED_MAX || (!wide && has_any(path))) return wide;
  if (fits_or_folder(pattern, path, wide)) return true;
  bool absolute = str_starts(pattern, STR("/")), inside = !str_starts(path, STR("/"));
  return absolute && inside && root.n && fits_from_root(pattern, root, path, wide);
}

/* ---- what becomes code -------------------------------------------------------- */

static const char *const guarded[] = {".git", ".rein", ".envrc", NULL};

struct str path_guarded(struct str path) {
  struct str rest = path, name, before = STR_NONE;
  while (str_next(&rest, '/', &name)) {
    for (size_t i = 0; guarded[i]; i++)
      if (str_eq_nocase(name, str_of(guarded[i]))) return name;
    /* The user's own config and state, where the root is a home. */
    if (str_is(name, "rein") && (str_is(before, ".config") || str_is(before, "state"))) return name;
    before = name;
  }
  return STR_NONE;
}

bool path_names_guarded(struct str pattern) {
  return path_guarded(pattern).n > 0;
}
