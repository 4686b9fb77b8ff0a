/* The pieces that stand inside a failure's sentence: places, values, lists. Each
 * is cut so that the whole stays one line that can be read.
 */
#include "schema/explain.h"

#include "base/utf8.h"

#define VALUE_POINTS 60
#define PLACE_POINTS 80
#define LIST_POINTS 100
#define PIECE_BYTES_MAX (16u << 10)

/* The text in the check's arena, cut between graphemes with a mark. */
static struct str keep(struct check *c, struct buf *b, size_t points) {
  struct str all = buf_str(b), copy = STR_NONE;
  struct str head = utf8_head(all, points);
  bool cut = head.n < all.n;
  if (cut) {
    buf_cut(b, utf8_head(all, points - 1).n);
    buf_lit(b, "…");
  }
  if (b->fail == REIN_MEMORY || !arena_str(&c->arena, buf_str(b), &copy))
    check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  buf_release(b);
  return copy;
}

/* At most so many bytes of s that the cut falls behind what is shown. */
static struct str front(struct str s) {
  size_t n = s.n < PIECE_BYTES_MAX / 8 ? s.n : PIECE_BYTES_MAX / 8;
  while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
    n--;
  return str_part(s, 0, n);
}

/* On one line; blanks between the parts of a value may hold line ends. */
static void put_source(struct buf *b, struct str source) {
  source = front(source);
  for (size_t i = 0; i < source.n; i++) {
    char ch = source.p[i];
    buf_c(b, ch == '\n' || ch == '\r' || ch == '\t' ? ' ' : ch);
  }
}

static void put_key(struct buf *b, struct str key) {
  struct buf shown;
  buf_init(&shown, PIECE_BYTES_MAX);
  utf8_show(&shown, front(key), false);
  for (size_t i = 0; i < shown.n; i++) {
    char ch = shown.p[i];
    if (ch == '~')
      buf_lit(b, "~0");
    else if (ch == '/')
      buf_lit(b, "~1");
    else
      buf_c(b, ch);
  }
  if (shown.fail == REIN_MEMORY) b->fail = REIN_MEMORY;
  buf_release(&shown);
}

/* Recursion is bounded by SCHEMA_DEPTH_MAX, as the check was. */
static void put_place(struct buf *b, const struct place *at) {
  if (!at->up || b->fail) return;
  put_place(b, at->up);
  buf_c(b, '/');
  if (at->in_array)
    buf_num(b, (int64_t)at->index);
  else
    put_key(b, at->key);
}

struct str words_place(struct check *c, const struct place *at) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  put_place(&b, at);
  if (b.fail == REIN_LIMIT) b.fail = REIN_OK; /* the front is what is shown */
  if (b.n == 0) buf_put(&b, str_of(text_raw(T_SCHEMA_ROOT, c->schema->lang)));
  return keep(c, &b, PLACE_POINTS);
}

struct str words_value(struct check *c, const struct json *value) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  put_source(&b, value->source);
  return keep(c, &b, VALUE_POINTS);
}

static const char *kind_word(const struct json *v) {
  static const char *const words[] = {"null",   "boolean", "boolean", "number",
                                      "string", "array",   "object"};
  return words[v->kind];
}

/* A short value is shown with its kind; of a container its kind says enough. */
struct str words_kind(struct check *c, const struct json *value) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  buf_put(&b, str_of(kind_word(value)));
  bool scalar = value->kind != JSON_NULL && value->kind < JSON_ARRAY;
  if (scalar) {
    buf_c(&b, ' ');
    put_source(&b, value->source);
  }
  return keep(c, &b, VALUE_POINTS);
}

struct str words_text(struct check *c, struct str text) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  utf8_show(&b, front(text), false);
  return keep(c, &b, VALUE_POINTS);
}

struct str words_types(struct check *c, unsigned types) {
  static const struct {
    const char *word;
    unsigned bits;
  } rows[] = {{"string", TYPE_STRING}, {"number", TYPE_NUMBER}, {"integer", TYPE_INTEGER},
              {"boolean", TYPE_BOOL},  {"array", TYPE_ARRAY},   {"object", TYPE_OBJECT},
              {"null", TYPE_NULL}};
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  if (types & TYPE_NUMBER) types &= ~(unsigned)TYPE_INTEGER;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!(types & rows[i].bits)) continue;
    if (b.n) buf_lit(&b, " | ");
    buf_put(&b, str_of(rows[i].word));
  }
  return keep(c, &b, LIST_POINTS);
}

/* The values that the branches of a choice take, where each takes values alone. */
struct str words_list(struct check *c, const struct subs *branches) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  for (size_t i = 0; i < branches->n && b.n < PIECE_BYTES_MAX / 2; i++) {
    const struct sub *sub = branches->v[i];
    bool alone = sub->rule_n > 0 && sub->rules[0].op == RULE_VALUES;
    if (!alone) {
      buf_release(&b);
      return STR_NONE;
    }
    const struct values *values = sub->rules[0].values;
    for (size_t k = 0; k < values->n && b.n < PIECE_BYTES_MAX / 2; k++) {
      if (b.n) buf_lit(&b, ", ");
      put_source(&b, values->v[k]->source);
    }
  }
  return keep(c, &b, LIST_POINTS);
}

struct str words_known(struct check *c, const struct members *m) {
  struct buf b;
  buf_init(&b, PIECE_BYTES_MAX);
  for (size_t i = 0; i < m->n && b.n < PIECE_BYTES_MAX / 8; i++) {
    if (!m->v[i].sub) continue;
    if (b.n) buf_lit(&b, ", ");
    utf8_show(&b, front(m->v[i].key), false);
  }
  if (b.n == 0) buf_put(&b, str_of(text_raw(T_SCHEMA_NONE, c->schema->lang)));
  return keep(c, &b, LIST_POINTS);
}

struct str words_count(struct check *c, size_t n) {
  struct num_text room;
  struct str copy = STR_NONE;
  if (!arena_str(&c->arena, str_num(&room, n > INT64_MAX ? INT64_MAX : (int64_t)n), &copy))
    check_end(c, REIN_MEMORY, T_SCHEMA_NO_MEMORY);
  return copy;
}
