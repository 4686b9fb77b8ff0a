/* The reader: one pass over the text, no recursion, one node per value. Strings
 * without escapes are borrowed from the text. It works over a whole text; what
 * arrives in pieces is gathered first (a message is only used whole).
 */
#include "json/inside.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/text.h"

#define SLAB_FIRST 8 /* a delta of a stream has about as many values */
#define SLAB_MAX 64  /* nodes taken from the arena at once */
#define FEW_KEYS 16  /* up to here comparing beats sorting */
#define WORD_MAX 32  /* of a wrong word, shown in its error */

struct frame {
  struct json *node, *last;
};

struct reader {
  const char *start, *p, *end;
  struct arena *arena;
  unsigned mode;
  struct err *err;
  struct json *spare; /* nodes taken and not used yet */
  size_t spare_n, slab_n;
  struct frame *stack;
  size_t depth;
};

/* ---- errors ------------------------------------------------------------ */

struct place {
  uint32_t line, column;
};

static struct place place_of(const struct reader *r, const char *at) {
  struct place place = {1, 1};
  const char *line = r->start;
  for (const char *p = r->start; (p = memchr(p, '\n', (size_t)(at - p)));) {
    place.line++;
    line = ++p;
  }
  place.column += (uint32_t)utf8_count((struct str){line, (size_t)(at - line)});
  return place;
}

/* Line and column are the values {0} and {1} of every sentence. */
static enum rein_code fail_with(const struct reader *r, const char *at, enum rein_code code,
                                enum text_id id, struct str a, struct str b) {
  struct place place = place_of(r, at);
  struct num_text line, column;
  ERR(r->err, code, id, str_num(&line, place.line), str_num(&column, place.column), a, b);
  if (r->err) {
    r->err->at = (uint64_t)(at - r->start);
    r->err->line = place.line;
    r->err->column = place.column;
  }
  return code;
}

static enum rein_code fail(const struct reader *r, const char *at, enum text_id id) {
  return fail_with(r, at, REIN_INPUT, id, STR_NONE, STR_NONE);
}

/* The same, naming the character that stands there: 'x', or U+0007. */
static enum rein_code fail_found(const struct reader *r, const char *at, enum text_id id) {
  char room[16];
  struct buf found = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  uint32_t cp = 0;
  size_t n = utf8_next((struct str){at, (size_t)(r->end - at)}, &cp);
  if (cp < 0x20 || cp == 0x7F)
    buf_fmt(&found, "U+%04X", (unsigned)cp);
  else
    buf_fmt(&found, "'%.*s'", (int)n, at);
  return fail_with(r, at, REIN_INPUT, id, buf_str(&found), STR_NONE);
}

static enum rein_code fail_memory(const struct reader *r) {
  struct num_text max;
  if (r->arena->full)
    return ERR(r->err, REIN_LIMIT, T_JSON_FULL, str_num(&max, (int64_t)r->arena->max));
  return ERR(r->err, REIN_MEMORY, T_JSON_MEMORY, STR_NONE);
}

/* The text ends where more must come. */
static enum rein_code fail_cut(const struct reader *r) {
  if (r->depth == 0) return fail(r, r->end, T_JSON_EMPTY);
  const struct json *open = r->stack[r->depth - 1].node;
  struct place place = place_of(r, open->source.p);
  struct num_text line, column;
  return fail_with(r, r->end, REIN_INPUT,
                   open->kind == JSON_OBJECT ? T_JSON_CUT_OBJECT : T_JSON_CUT_ARRAY,
                   str_num(&line, place.line), str_num(&column, place.column));
}

/* ---- blanks and comments ------------------------------------------------ */

static enum rein_code skip_comment(struct reader *r) {
  const char *open = r->p;
  if (r->end - open < 2 || (open[1] != '/' && open[1] != '*'))
    return REIN_OK; /* a slash alone: the caller finds it unexpected */
  if (!(r->mode & JSON_COMMENTS)) return fail(r, open, T_JSON_COMMENT);
  struct str rest = {open + 2, (size_t)(r->end - open) - 2};
  if (open[1] == '/') {
    r->p = rest.p + str_find_char(rest, '\n');
    return REIN_OK;
  }
  size_t n = str_find(rest, STR("*/"));
  if (n == rest.n) return fail(r, open, T_JSON_COMMENT_OPEN);
  r->p = rest.p + n + 2;
  return REIN_OK;
}

static inline void skip_spaces(struct reader *r) {
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t'))
    r->p++;
}

static enum rein_code skip_more(struct reader *r) {
  skip_spaces(r);
  while (r->p < r->end && *r->p == '/') {
    const char *before = r->p;
    enum rein_code code = skip_comment(r);
    if (code || r->p == before) return code;
    skip_spaces(r);
  }
  return REIN_OK;
}

/* To the next character that means something, or the end. Most often that is
 * the next one. */
static inline enum rein_code skip_blanks(struct reader *r) {
  if (r->p<r->end && * r->p> '/') return REIN_OK;
  return skip_more(r);
}

/* ---- strings ------------------------------------------------------------ */

int32_t json_hex4(const char *p, size_t n) {
  if (n < 4) return -1;
  int32_t v = 0;
  for (int i = 0; i < 4; i++) {
    char c = p[i];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    v = v * 16 + digit;
  }
  return v;
}

/* An escape of the \u kind at *p; moves *p behind it, and behind its pair. */
static enum rein_code read_unicode(struct reader *r, const char **p, const char *close, char **to,
                                   bool *lone) {
  int32_t unit = json_hex4(*p + 2, (size_t)(close - *p) - 2);
  if (unit < 0) return fail(r, *p, T_JSON_HEX);
  *p += 6;
  uint32_t cp = (uint32_t)unit;
  if (json_is_high(unit) && close - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
    int32_t low = json_hex4(*p + 2, 4);
    if (json_is_low(low)) {
      cp = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
      *p += 6;
    }
  }
  *lone |= cp >= 0xD800 && cp < 0xE000;
  *to += utf8_write(*to, cp);
  return REIN_OK;
}

/* What the letter behind a backslash means; 0: nothing. */
static inline char escaped(char c) {
  switch (c) {
  case '"': return '"';
  case '\\': return '\\';
  case '/': return '/';
  case 'b': return '\b';
  case 'f': return '\f';
  case 'n': return '\n';
  case 'r': return '\r';
  case 't': return '\t';
  }
  return '\0';
}

/* The inside of a string that holds escapes. No escape is shorter than what it
 * means, so the room of the source is enough. */
static enum rein_code decode(struct reader *r, struct str inside, struct str *text, bool *lone) {
  char *room = arena_alloc(r->arena, inside.n + 1);
  if (!room) return fail_memory(r);
  char *to = room;
  const char *close = inside.p + inside.n;
  for (const char *p = inside.p; p < close;) {
    size_t plain = json_plain_run(p, (size_t)(close - p));
    memcpy(to, p, plain);
    to += plain;
    p += plain;
    if (p == close) break;
    if (p[1] == 'u') {
      enum rein_code code = read_unicode(r, &p, close, &to, lone);
      if (code) return code;
      continue;
    }
    *to = escaped(p[1]);
    if (*to++ == '\0') return fail_found(r, p + 1, T_JSON_ESCAPE);
    p += 2;
  }
  *text = (struct str){room, (size_t)(to - room)};
  return REIN_OK;
}

static enum rein_code fail_control(const struct reader *r, const char *open, const char *at) {
  if (*at == '\n' || *at == '\r') return fail(r, open, T_JSON_NEWLINE);
  char room[8];
  struct buf code = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
  buf_fmt(&code, "\\u%04x", (unsigned)*at);
  return fail_with(r, at, REIN_INPUT, T_JSON_CONTROL, buf_str(&code), STR_NONE);
}

/* A string at r->p, which is its quote. *text stays unset on failure. */
static enum rein_code read_string(struct reader *r, struct str *text, bool *lone) {
  const char *open = r->p, *p = open + 1;
  bool escapes = false;
  for (;;) {
    p += json_plain_run(p, (size_t)(r->end - p));
    if (p == r->end || (*p == '\\' && r->end - p < 2)) return fail(r, open, T_JSON_STRING_OPEN);
    if (*p == '"') break;
    if (*p != '\\') return fail_control(r, open, p);
    escapes = true;
    p += 2;
  }
  r->p = p + 1;
  struct str inside = {open + 1, (size_t)(p - open) - 1};
  if (escapes) return decode(r, inside, text, lone);
  *text = inside;
  return REIN_OK;
}

/* ---- numbers and words --------------------------------------------------- */

static inline bool is_digit(const struct reader *r, const char *p) {
  return p < r->end && *p >= '0' && *p <= '9';
}

static enum rein_code fail_number(const struct reader *r, const char *from, const char *at) {
  return fail_with(r, at, REIN_INPUT, T_JSON_NUMBER, (struct str){from, (size_t)(at - from)},
                   STR_NONE);
}

/* Digits, of which there must be one; moves *p behind them. */
static bool skip_digits(const struct reader *r, const char **p) {
  const char *from = *p;
  while (is_digit(r, *p))
    ++*p;
  return *p > from;
}

static bool is_one_of(const struct reader *r, const char *p, char a, char b) {
  return p < r->end && (*p == a || *p == b);
}

static enum rein_code read_number(struct reader *r, struct json *node) {
  const char *from = r->p, *p = from;
  p += *p == '-';
  const char *whole = p;
  if (!skip_digits(r, &p)) return fail_number(r, from, p);
  if (*whole == '0' && p - whole > 1) return fail(r, whole, T_JSON_ZERO);
  if (is_one_of(r, p, '.', '.')) {
    p++;
    if (!skip_digits(r, &p)) return fail_number(r, from, p);
  }
  if (is_one_of(r, p, 'e', 'E')) {
    p++;
    p += is_one_of(r, p, '+', '-');
    if (!skip_digits(r, &p)) return fail_number(r, from, p);
  }
  node->kind = JSON_NUMBER;
  node->text = (struct str){from, (size_t)(p - from)};
  r->p = p;
  return REIN_OK;
}

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

/* The word at the front, as far as an error shows it. */
static struct str word_at(const struct reader *r, const char *p) {
  struct str word = {p, 0};
  while (p + word.n < r->end && word.n < WORD_MAX && is_word_char(p[word.n]))
    word.n++;
  return word;
}

static enum rein_code read_word(struct reader *r, struct json *node, enum json_kind kind,
                                struct str word) {
  if (!str_starts((struct str){r->p, (size_t)(r->end - r->p)}, word))
    return fail_with(r, r->p, REIN_INPUT, T_JSON_WORD, word_at(r, r->p), STR_NONE);
  node->kind = kind;
  r->p += word.n;
  return REIN_OK;
}

static enum rein_code fail_value(const struct reader *r) {
  struct str word = word_at(r, r->p);
  if (word.n > 0) return fail_with(r, r->p, REIN_INPUT, T_JSON_WORD, word, STR_NONE);
  return fail_found(r, r->p, *r->p == '\'' ? T_JSON_QUOTES : T_JSON_VALUE);
}

/* ---- arrays and objects -------------------------------------------------- */

static struct json *new_node(struct reader *r) {
  if (r->spare_n == 0) {
    r->slab_n = r->slab_n < SLAB_MAX ? r->slab_n * 2 : SLAB_MAX;
    r->spare = arena_array(r->arena, struct json, r->slab_n);
    if (!r->spare) return NULL;
    r->spare_n = r->slab_n;
  }
  r->spare_n--;
  return r->spare++;
}

static enum rein_code open_children(struct reader *r, struct json *node, enum json_kind kind) {
  if (r->depth == JSON_DEPTH_MAX) {
    struct num_text max;
    return fail_with(r, r->p, REIN_LIMIT, T_JSON_DEEP, str_num(&max, JSON_DEPTH_MAX), STR_NONE);
  }
  node->kind = kind;
  r->stack[r->depth++] = (struct frame){node, NULL};
  r->p++;
  return REIN_OK;
}

static const struct json *first_of(const struct json *object, struct str key) {
  const struct json *member = object->first;
  while (!str_eq(member->key, key))
    member = member->next;
  return member;
}

/* Few members: each key sets one of 64 marks, and only where the mark was set
 * already are the keys before it compared. */
static const struct json *twin_of_few(const struct json *object) {
  uint64_t marks = 0;
  for (const struct json *member = object->first; member; member = member->next) {
    struct str key = member->key;
    unsigned char ends = key.n ? (unsigned char)(key.p[0] * 7 + key.p[key.n - 1] * 3) : 0;
    uint64_t mark = UINT64_C(1) << ((ends + key.n) & 63);
    if ((marks & mark) && first_of(object, key) != member) return member;
    marks |= mark;
  }
  return NULL;
}

static enum rein_code find_twin(const struct reader *r, struct json *object) {
  if (object->count <= FEW_KEYS) {
    object->twin = twin_of_few(object);
    return REIN_OK;
  }
  const struct json **sorted = json_sorted(object);
  if (!sorted) {
    r->arena->full = false;
    return fail_memory(r);
  }
  for (size_t i = 1; i < object->count; i++)
    if (str_eq(sorted[i - 1]->key, sorted[i]->key) &&
        (!object->twin || sorted[i]->source.p < object->twin->source.p))
      object->twin = sorted[i];
  mem_free(sorted);
  return REIN_OK;
}

static enum rein_code close_object(struct reader *r, struct json *object) {
  enum rein_code code = find_twin(r, object);
  if (code || !object->twin || !(r->mode & JSON_UNIQUE)) return code;
  const struct json *twin = object->twin;
  struct num_text line;
  struct place first = place_of(r, first_of(object, twin->key)->key_source.p);
  return fail_with(r, twin->key_source.p, REIN_INPUT, T_JSON_TWIN, twin->key_source,
                   str_num(&line, first.line));
}

/* At the closing bracket of the innermost array or object. */
static enum rein_code close_children(struct reader *r) {
  struct json *node = r->stack[r->depth - 1].node;
  r->p++;
  node->source.n = (size_t)(r->p - node->source.p);
  if (node->kind == JSON_OBJECT && node->count > 1) {
    enum rein_code code = close_object(r, node);
    if (code) return code;
  }
  r->depth--;
  if (r->depth > 0) r->stack[r->depth - 1].node->surrogate |= node->surrogate;
  return REIN_OK;
}

static enum rein_code read_key(struct reader *r, struct json *node) {
  const char *from = r->p;
  struct str word = word_at(r, from);
  if (word.n > 0) return fail_with(r, from, REIN_INPUT, T_JSON_KEY_BARE, word, STR_NONE);
  if (*from != '"') return fail_found(r, from, *from == '\'' ? T_JSON_QUOTES : T_JSON_KEY);
  enum rein_code code = read_string(r, &node->key, &node->surrogate);
  if (code) return code;
  node->key_source = (struct str){from, (size_t)(r->p - from)};
  code = skip_blanks(r);
  if (code) return code;
  if (r->p == r->end) return fail_cut(r);
  if (*r->p != ':') return fail_found(r, r->p, T_JSON_COLON);
  r->p++;
  return REIN_OK;
}

/* Adds a child to the innermost array or object, up to where its value stands. */
static enum rein_code read_child(struct reader *r, struct json **child) {
  struct frame *frame = &r->stack[r->depth - 1];
  struct json *node = new_node(r);
  if (!node) return fail_memory(r);
  if (frame->node->kind == JSON_OBJECT) {
    enum rein_code code = read_key(r, node);
    if (code) return code;
  }
  *(frame->last ? &frame->last->next : &frame->node->first) = node;
  frame->last = node;
  frame->node->count++;
  *child = node;
  return REIN_OK;
}

static char closer(const struct json *node) {
  return node->kind == JSON_OBJECT ? '}' : ']';
}

/* Behind a whole value: closes what closes here. *more: a comma came, and
 * behind it a further child. */
static enum rein_code read_after(struct reader *r, bool *more) {
  *more = false;
  while (r->depth > 0) {
    const struct json *open = r->stack[r->depth - 1].node;
    enum rein_code code = skip_blanks(r);
    if (code) return code;
    if (r->p == r->end) return fail_cut(r);
    if (*r->p == ',') {
      const char *comma = r->p++;
      code = skip_blanks(r);
      if (code) return code;
      *more = true;
      if (r->p == r->end) return fail_cut(r);
      return *r->p == closer(open) ? fail(r, comma, T_JSON_COMMA) : REIN_OK;
    }
    if (*r->p != closer(open))
      return fail_found(r, r->p, open->kind == JSON_OBJECT ? T_JSON_NEXT_MEMBER : T_JSON_NEXT);
    code = close_children(r);
    if (code) return code;
  }
  return REIN_OK;
}

/* ---- values ---------------------------------------------------------------- */

static enum rein_code read_value(struct reader *r, struct json *node) {
  switch (*r->p) {
  case '"': node->kind = JSON_STRING; return read_string(r, &node->text, &node->surrogate);
  case '{': return open_children(r, node, JSON_OBJECT);
  case '[': return open_children(r, node, JSON_ARRAY);
  case 't': return read_word(r, node, JSON_TRUE, STR("true"));
  case 'f': return read_word(r, node, JSON_FALSE, STR("false"));
  case 'n': return read_word(r, node, JSON_NULL, STR("null"));
  case '-': return read_number(r, node);
  }
  return is_digit(r, r->p) ? read_number(r, node) : fail_value(r);
}

/* Reads the value of `node`. *more: it opened, and its first child comes next;
 * else it is whole, or it opened and is empty. */
static enum rein_code read_one(struct reader *r, struct json *node, bool *more) {
  size_t depth = r->depth;
  *more = false;
  enum rein_code code = skip_blanks(r);
  if (code) return code;
  if (r->p == r->end) return fail_cut(r);
  node->source.p = r->p;
  code = read_value(r, node);
  if (code) return code;
  if (r->depth > depth) {
    code = skip_blanks(r);
    *more = r->p < r->end && *r->p != closer(node);
    return code;
  }
  node->source.n = (size_t)(r->p - node->source.p);
  if (depth > 0) r->stack[depth - 1].node->surrogate |= node->surrogate;
  return REIN_OK;
}

static enum rein_code read_document(struct reader *r, struct json *root) {
  struct json *node = root;
  for (;;) {
    bool more;
    enum rein_code code = read_one(r, node, &more);
    if (!code && !more) code = read_after(r, &more);
    if (!code && more) code = read_child(r, &node);
    if (code) return code;
    if (!more) break;
  }
  enum rein_code code = skip_blanks(r);
  if (code) return code;
  return r->p == r->end ? REIN_OK : fail_found(r, r->p, T_JSON_EXTRA);
}

/* Checks the encoding, and skips a byte order mark where one may stand. */
static enum rein_code check_bytes(struct reader *r) {
  struct str text = {r->start, (size_t)(r->end - r->start)};
  size_t bad = text.n > 0 ? utf8_bad(text) : 0;
  if (bad < text.n) {
    char room[8];
    struct buf byte = {.p = room, .cap = sizeof room, .max = sizeof room - 1};
    buf_fmt(&byte, "0x%02X", (unsigned)(unsigned char)text.p[bad]);
    return fail_with(r, text.p + bad, REIN_INPUT, T_JSON_UTF8, buf_str(&byte), STR_NONE);
  }
  if (!str_starts(text, STR("\xEF\xBB\xBF"))) return REIN_OK;
  if (!(r->mode & JSON_COMMENTS)) return fail(r, r->p, T_JSON_BOM);
  r->p += 3;
  return REIN_OK;
}

enum rein_code json_parse(struct arena *arena, struct str text, unsigned mode, struct json **doc,
                          struct err *err) {
  struct frame stack[JSON_DEPTH_MAX];
  const char *start = text.p ? text.p : "";
  struct reader r = {.start = start,
                     .p = start,
                     .end = start + text.n,
                     .arena = arena,
                     .mode = mode,
                     .err = err,
                     .slab_n = text.n < 32 ? 1 : SLAB_FIRST / 2,
                     .stack = stack};
  enum rein_code code = check_bytes(&r);
  if (code) return code;
  struct json *root = new_node(&r);
  if (!root) return fail_memory(&r);
  code = read_document(&r, root);
  if (!code) *doc = root;
  return code;
}
