/* Globs as a small program whose states all move on together (no backtracking,
 * so no glob of a model's can hold a thread). Who walks the folders is
 * host/files.h. */
#include "tools/glob.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/text.h"

#define NODES_MAX (2 * GLOB_MAX + 2) /* at most two nodes come of one byte, and the end */
#define NO_UTF8 0x110000u            /* an invalid byte, above all code points */
#define NOWHERE UINT16_MAX
#define PATH_BYTES_MAX 4096            /* Linux takes no longer one */
#define FORM_ROOM (3 * PATH_BYTES_MAX) /* of it composed, which is longer but rarely */

enum op { OP_CHAR, OP_ANY, OP_STAR, OP_DEEP, OP_CLASS, OP_SPLIT, OP_JUMP, OP_END };

struct node {
  enum op op;
  uint32_t cp;   /* CHAR */
  uint16_t a, b; /* SPLIT, JUMP: where to; CLASS: from and to in the pattern */
  bool negate;   /* CLASS */
};

struct states {
  uint16_t list[NODES_MAX];
  size_t n;
  bool in[NODES_MAX];
};

struct glob {
  struct node nodes[NODES_MAX];
  size_t n;
  bool whole_path;
  char text[GLOB_MAX];
  size_t text_n;
  struct states sets[2];
  struct buf form; /* of a path, FORM_ROOM from the beginning: matching cannot fail */
};

/* ---- compiling ---------------------------------------------------------- */

struct brace {
  uint16_t split; /* of the alternative being read */
  uint16_t jumps; /* chain, through .a, of the jumps to the closing brace */
};

struct compiler {
  struct glob *glob;
  size_t at;
  struct brace open[GLOB_DEPTH_MAX];
  size_t depth;
};

static uint16_t emit(struct compiler *c, enum op op) {
  struct node *node = &c->glob->nodes[c->glob->n];
  *node = (struct node){.op = op, .a = (uint16_t)(c->glob->n + 1), .b = NOWHERE};
  return (uint16_t)c->glob->n++;
}

static void emit_char(struct compiler *c) {
  struct str rest = {c->glob->text + c->at, c->glob->text_n - c->at};
  uint32_t cp = 0;
  size_t n = utf8_next(rest, &cp);
  uint16_t i = emit(c, OP_CHAR);
  c->glob->nodes[i].cp = n ? cp : NO_UTF8 + (unsigned char)*rest.p;
  c->at += n ? n : 1;
}

/* True where a folder's name would begin. */
static bool at_part(const struct glob *g) {
  const struct node *last = g->n ? &g->nodes[g->n - 1] : NULL;
  return !last || last->op == OP_SPLIT || (last->op == OP_CHAR && last->cp == '/');
}

static void emit_stars(struct compiler *c) {
  const struct glob *g = c->glob;
  size_t from = c->at;
  while (c->at < g->text_n && g->text[c->at] == '*')
    c->at++;
  if (c->at - from == 1) {
    emit(c, OP_STAR);
    return;
  }
  bool folders = at_part(g) && c->at < g->text_n && g->text[c->at] == '/';
  uint16_t split = folders ? emit(c, OP_SPLIT) : NOWHERE;
  emit(c, OP_DEEP);
  if (!folders) return;
  emit_char(c);
  c->glob->nodes[split].b = (uint16_t)g->n;
}

static bool emit_class(struct compiler *c) {
  const struct glob *g = c->glob;
  size_t at = c->at + 1;
  bool negate = at < g->text_n && (g->text[at] == '!' || g->text[at] == '^');
  at += negate;
  size_t from = at;
  for (bool first = true; at < g->text_n; first = false) {
    if (g->text[at] == ']' && !first) break;
    at += g->text[at] == '\\' ? 2 : 1;
  }
  if (at >= g->text_n) return false;
  struct node *node = &c->glob->nodes[emit(c, OP_CLASS)];
  node->a = (uint16_t)from;
  node->b = (uint16_t)at;
  node->negate = negate;
  c->at = at + 1;
  return true;
}

static void next_alternative(struct compiler *c) {
  struct brace *brace = &c->open[c->depth - 1];
  uint16_t jump = emit(c, OP_JUMP);
  c->glob->nodes[jump].a = brace->jumps;
  brace->jumps = jump;
  c->glob->nodes[brace->split].b = (uint16_t)c->glob->n;
  brace->split = emit(c, OP_SPLIT);
}

static void close_brace(struct compiler *c) {
  uint16_t jump = c->open[--c->depth].jumps;
  while (jump != NOWHERE) {
    uint16_t before = c->glob->nodes[jump].a;
    c->glob->nodes[jump].a = (uint16_t)c->glob->n;
    jump = before;
  }
}

/* One piece of the pattern; false: a bracket that is not closed. */
static bool compile_piece(struct compiler *c) {
  char byte = c->glob->text[c->at];
  if (byte == '[') return emit_class(c);
  if (byte == '*') {
    emit_stars(c);
  } else if (byte == '{') {
    c->at++;
    uint16_t split = emit(c, OP_SPLIT);
    c->open[c->depth++] = (struct brace){split, NOWHERE};
  } else if (byte == ',' && c->depth) {
    c->at++;
    next_alternative(c);
  } else if (byte == '}' && c->depth) {
    c->at++;
    close_brace(c);
  } else if (byte == '?') {
    c->at++;
    emit(c, OP_ANY);
  } else {
    c->at += byte == '\\' && c->at + 1 < c->glob->text_n;
    emit_char(c);
  }
  return true;
}

static enum rein_code compile(struct glob *glob, struct str shown, struct err *err) {
  struct compiler c = {.glob = glob};
  while (c.at < glob->text_n) {
    if (glob->text[c.at] == '{' && c.depth == GLOB_DEPTH_MAX)
      return ERR(err, REIN_INPUT, T_TOOLS_GLOB_DEEP, shown);
    if (!compile_piece(&c)) return ERR(err, REIN_INPUT, T_TOOLS_GLOB_OPEN, shown, STR("["));
  }
  if (c.depth) return ERR(err, REIN_INPUT, T_TOOLS_GLOB_OPEN, shown, STR("{"));
  emit(&c, OP_END);
  return REIN_OK;
}

static bool climbs(struct str pattern) {
  struct str part;
  while (str_next(&pattern, '/', &part))
    if (str_is(part, "..")) return true;
  return false;
}

/* Name by name, so that a long path is none for utf8_compose. Borrowed. */
static struct str composed(struct glob *glob, struct str path) {
  struct str rest = path, name;
  bool plain = true;
  for (size_t i = 0; i < path.n && plain; i++)
    plain = (unsigned char)path.p[i] < 0x80;
  if (plain || path.n > PATH_BYTES_MAX) return path;
  buf_reset(&glob->form);
  while (str_next(&rest, '/', &name)) {
    utf8_compose(&glob->form, name);
    if (name.p + name.n < path.p + path.n) buf_c(&glob->form, '/');
  }
  return glob->form.fail ? path : buf_str(&glob->form);
}

enum rein_code glob_new(struct str pattern, struct glob **made, struct err *err) {
  *made = NULL;
  struct num_text room;
  struct str shown = pattern;
  if (pattern.n > GLOB_MAX)
    return ERR(err, REIN_INPUT, T_TOOLS_GLOB_LONG, str_num(&room, (int64_t)pattern.n),
               str_num(&(struct num_text){""}, GLOB_MAX));
  if (climbs(pattern)) return ERR(err, REIN_INPUT, T_TOOLS_GLOB_UP, shown);
  bool whole_path = str_find_char(pattern, '/') < pattern.n;
  if (str_starts(pattern, STR("./")))
    pattern = str_part(pattern, 2, pattern.n);
  else if (str_starts(pattern, STR("/")))
    pattern = str_part(pattern, 1, pattern.n);
  struct glob *glob = mem_zero(sizeof *glob);
  if (!glob) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  buf_init(&glob->form, FORM_ROOM);
  glob->whole_path = whole_path;
  enum rein_code code = REIN_OK;
  if (!buf_room(&glob->form, FORM_ROOM)) code = ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  if (!code) pattern = composed(glob, pattern);
  if (pattern.n > GLOB_MAX) pattern = shown; /* not this one, then */
  glob->text_n = pattern.n;
  if (pattern.n) memcpy(glob->text, pattern.p, pattern.n);
  if (!code) code = compile(glob, shown, err);
  if (code)
    glob_free(glob);
  else
    *made = glob;
  return code;
}

void glob_free(struct glob *glob) {
  if (glob) buf_release(&glob->form);
  mem_free(glob);
}

/* ---- matching ----------------------------------------------------------- */

static void add(struct states *set, uint16_t i) {
  if (set->in[i]) return;
  set->in[i] = true;
  set->list[set->n++] = i;
}

static void clear(struct states *set) {
  for (size_t i = 0; i < set->n; i++)
    set->in[set->list[i]] = false;
  set->n = 0;
}

/* Adds what is reached without reading: the list grows while it is walked. */
static void close_over(const struct glob *glob, struct states *set) {
  for (size_t k = 0; k < set->n; k++) {
    uint16_t i = set->list[k];
    const struct node *node = &glob->nodes[i];
    if (node->op == OP_SPLIT || node->op == OP_JUMP) add(set, node->a);
    if (node->op == OP_SPLIT && node->b != NOWHERE) add(set, node->b);
    if (node->op == OP_STAR || node->op == OP_DEEP) add(set, (uint16_t)(i + 1));
  }
}

static uint32_t next_char(struct str *rest) {
  uint32_t cp = 0;
  size_t n = utf8_next(*rest, &cp);
  if (!n) cp = NO_UTF8 + (unsigned char)*rest->p;
  *rest = str_part(*rest, n ? n : 1, rest->n);
  return cp;
}

static uint32_t class_char(struct str *rest) {
  if (rest->n > 1 && *rest->p == '\\') *rest = str_part(*rest, 1, rest->n);
  return next_char(rest);
}

static bool in_class(const struct glob *glob, const struct node *node, uint32_t cp) {
  struct str rest = {glob->text + node->a, (size_t)(node->b - node->a)};
  while (rest.n) {
    uint32_t low = class_char(&rest), high = low;
    if (rest.n > 1 && *rest.p == '-') {
      rest = str_part(rest, 1, rest.n);
      high = class_char(&rest);
    }
    if (low <= cp && cp <= high) return !node->negate;
  }
  return node->negate;
}

/* Where node i goes on reading cp; NOWHERE. */
static uint16_t step(const struct glob *glob, uint16_t i, uint32_t cp) {
  const struct node *node = &glob->nodes[i];
  uint16_t next = (uint16_t)(i + 1);
  switch (node->op) {
  case OP_CHAR: return cp == node->cp ? next : NOWHERE;
  case OP_ANY: return cp != '/' ? next : NOWHERE;
  case OP_STAR: return cp != '/' ? i : NOWHERE;
  case OP_DEEP: return i;
  case OP_CLASS: return cp != '/' && in_class(glob, node, cp) ? next : NOWHERE;
  case OP_SPLIT:
  case OP_JUMP:
  case OP_END: return NOWHERE;
  }
  return NOWHERE;
}

bool glob_match(struct glob *glob, struct str path) {
  struct str folder, name;
  if (!glob->whole_path && str_split_last(path, '/', &folder, &name)) path = name;
  path = composed(glob, path);
  struct states *now = &glob->sets[0], *then = &glob->sets[1];
  clear(now);
  add(now, 0);
  close_over(glob, now);
  while (path.n && now->n) {
    uint32_t cp = next_char(&path);
    clear(then);
    for (size_t k = 0; k < now->n; k++) {
      uint16_t to = step(glob, now->list[k], cp);
      if (to != NOWHERE) add(then, to);
    }
    close_over(glob, then);
    struct states *swap = now;
    now = then;
    then = swap;
  }
  return !path.n && now->in[glob->n - 1];
}
