/* Puts a finding into words: one buffer, in which each piece is cut so that the
 * whole stays one line that can be read.
 */
#include "schema/explain.h"

#include "base/utf8.h"

#define VALUE_POINTS 60
#define PLACE_POINTS 80
#define LIST_POINTS 100
#define PIECE_BYTES_MAX (16u << 10)
#define PIECES 4 /* the place, and the words of a finding */

/* At most so many bytes of s that the cut falls behind what is shown. */
static struct str front(struct str s) {
  size_t n = s.n < PIECE_BYTES_MAX / 8 ? s.n : PIECE_BYTES_MAX / 8;
  while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
    n--;
  return str_part(s, 0, n);
}

/* On one line; blanks between the parts of a value may hold line ends. */
static void put_source(struct buf *b, struct str source) {
  size_t from = b->n;
  buf_put(b, front(source));
  for (size_t i = from; i < b->n; i++)
    if (b->p[i] == '\n' || b->p[i] == '\r' || b->p[i] == '\t') b->p[i] = ' ';
}

static void put_key(struct buf *b, struct str key) {
  size_t from = 0;
  key = front(key);
  for (size_t i = 0; i <= key.n; i++) {
    if (i < key.n && key.p[i] != '~' && key.p[i] != '/') continue;
    utf8_show(b, str_part(key, from, i - from), false);
    if (i < key.n) buf_put(b, key.p[i] == '~' ? STR("~0") : STR("~1"));
    from = i + 1;
  }
}

/* The way down to `at`, by whose text it lies in. */
static void put_place(struct buf *b, const struct json *node, const struct json *at) {
  while (node && node != at && b->n < PIECE_BYTES_MAX / 2) {
    bool array = json_is(node, JSON_ARRAY);
    const struct json *child = node->first;
    int64_t i = 0;
    for (; child && child->source.p + child->source.n <= at->source.p; child = child->next)
      i++;
    buf_c(b, '/');
    if (array) buf_num(b, i);
    if (child && !array) put_key(b, child->key);
    node = child;
  }
}

/* A short value is shown with its kind; of a container its kind says enough. */
static void put_kind(struct buf *b, const struct json *value) {
  static const char *const words[] = {"null",   "boolean", "boolean", "number",
                                      "string", "array",   "object"};
  buf_put(b, str_of(words[value->kind]));
  if (value->kind == JSON_NULL || value->kind >= JSON_ARRAY) return;
  buf_c(b, ' ');
  put_source(b, value->source);
}

static void put_types(struct buf *b, unsigned types) {
  static const struct {
    const char *word;
    unsigned bits;
  } rows[] = {{"string", TYPE_STRING}, {"number", TYPE_NUMBER}, {"integer", TYPE_INTEGER},
              {"boolean", TYPE_BOOL},  {"array", TYPE_ARRAY},   {"object", TYPE_OBJECT},
              {"null", TYPE_NULL}};
  size_t from = b->n;
  if (types & TYPE_NUMBER) types &= ~(unsigned)TYPE_INTEGER;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!(types & rows[i].bits)) continue;
    if (b->n > from) buf_lit(b, " | ");
    buf_put(b, str_of(rows[i].word));
  }
}

/* The values of the sub, if they are what it asks first. */
static const struct values *values_of(const struct sub *sub) {
  bool has = sub && sub->to->rule_n > 0 && sub->to->rules[0].op == RULE_VALUES;
  return has ? sub->to->rules[0].values : NULL;
}

const struct values *branch_values(const struct choice *choice, size_t i) {
  const struct sub *sub = choice->subs->v[i]->to;
  if (!choice->key) return values_of(sub);
  const struct rule *rule = sub->rules;
  for (size_t k = 0; k < sub->rule_n; k++, rule++) {
    if (rule->op != RULE_MEMBERS) continue;
    const struct member *known = members_find(rule->members, *choice->key);
    return known ? values_of(known->sub) : NULL;
  }
  return NULL;
}

static void put_list(struct buf *b, const struct choice *choice) {
  size_t from = b->n;
  for (size_t i = 0; i < choice->subs->n && b->n - from < PIECE_BYTES_MAX / 8; i++) {
    const struct values *values = branch_values(choice, i);
    for (size_t k = 0; k < values->n && b->n - from < PIECE_BYTES_MAX / 8; k++) {
      if (b->n > from) buf_lit(b, ", ");
      put_source(b, values->v[k]->source);
    }
  }
}

static void put_known(struct buf *b, const struct members *m, enum rein_lang lang) {
  size_t from = b->n;
  for (size_t i = 0; i < m->n && b->n - from < PIECE_BYTES_MAX / 8; i++) {
    if (!m->v[i].sub) continue;
    if (b->n > from) buf_lit(b, ", ");
    utf8_show(b, front(m->v[i].key), false);
  }
  if (b->n == from) buf_put(b, str_of(text_raw(T_SCHEMA_NONE, lang)));
}

/* Returns how many code points of it are shown. */
static size_t put_word(struct buf *b, const struct word *w, enum rein_lang lang) {
  switch (w->kind) {
  case WORD_NONE: break;
  case WORD_TEXT: utf8_show(b, front(w->text), false); break;
  case WORD_SOURCE: put_source(b, w->value->source); break;
  case WORD_KIND: put_kind(b, w->value); break;
  case WORD_COUNT: buf_num(b, w->count > INT64_MAX ? INT64_MAX : (int64_t)w->count); break;
  case WORD_TYPES: put_types(b, w->types); return LIST_POINTS;
  case WORD_KNOWN: put_known(b, w->members, lang); return LIST_POINTS;
  case WORD_LIST: put_list(b, &w->choice); return LIST_POINTS;
  }
  return VALUE_POINTS;
}

/* The piece from there on, cut between graphemes with a mark. */
static void cut(struct buf *b, size_t from, size_t points) {
  struct str all = str_part(buf_str(b), from, b->n);
  if (utf8_head(all, points).n == all.n) return;
  buf_cut(b, from + utf8_head(all, points - 1).n);
  buf_lit(b, "…");
}

enum rein_code finding_say(const struct finding *f, const struct json *root, enum rein_lang lang,
                           struct err *err) {
  struct buf b;
  struct str said[PIECES];
  size_t from[PIECES + 1] = {0};
  if (!err) return REIN_INPUT;
  buf_init(&b, PIECES * PIECE_BYTES_MAX);
  buf_room(&b, 2 * (size_t)(PLACE_POINTS + LIST_POINTS)); /* mostly all, at once */
  put_place(&b, root, f->at);
  if (f->at == root) buf_put(&b, str_of(text_raw(T_SCHEMA_ROOT, lang)));
  cut(&b, 0, PLACE_POINTS);
  for (size_t i = 1; i < PIECES; i++) {
    from[i] = b.n;
    cut(&b, from[i], put_word(&b, &f->words[i - 1], lang));
  }
  from[PIECES] = b.n;
  for (size_t i = 0; i < PIECES; i++)
    said[i] = str_part(buf_str(&b), from[i], from[i + 1] - from[i]);
  enum rein_code code = b.fail ? ERR(err, REIN_MEMORY, T_SCHEMA_NO_MEMORY)
                               : ERR(err, REIN_INPUT, f->text, said[0], said[1], said[2], said[3]);
  buf_release(&b);
  return code;
}
