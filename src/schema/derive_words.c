/* What derive says: findings with the place they are about, and notes that go
 * into a description.
 */
#include "schema/derive_inside.h"

#include "base/utf8.h"

#define NOTE_POINTS_MAX 600 /* of one value in a description; the dispatcher holds the rest */
#define NOTE_BYTES_MAX (64u << 10)

/* ---- findings ------------------------------------------------------------ */

static bool inside(const struct json *node, const char *p) {
  return node->source.p && p >= node->source.p && p < node->source.p + node->source.n;
}

/* The child of `node` that holds the byte at p, and the way to it. */
static const struct json *step(struct buf *way, const struct json *node, const char *p) {
  const struct json *child = node->first;
  size_t i = 0;
  for (; child && !inside(child, p); child = child->next)
    i++;
  if (!child) return NULL;
  struct num_text room;
  json_step_put(way, node->kind == JSON_OBJECT ? child->key : str_num(&room, (int64_t)i));
  return child;
}

/* Nodes know their bytes, so the way to one is found by position. What was made
 * here has none: it belongs to the schema that is walked. */
static struct str pointer_of(struct derive *d, const struct json *at) {
  struct buf b;
  const struct json *node = d->root;
  if (!at || !at->source.p) at = d->here;
  buf_init(&b, NOTE_BYTES_MAX);
  while (at && node && node->source.p != at->source.p)
    node = step(&b, node, at->source.p);
  return text_take(d, &b);
}

bool finding_add(struct arena *arena, struct findings *all, const struct finding *one) {
  struct finding *f = arena_new(arena, struct finding);
  if (!f) return false;
  *f = *one;
  f->next = NULL;
  if (all->last)
    all->last->next = f;
  else
    all->first = f;
  all->last = f;
  return true;
}

void find_values(struct derive *d, const struct json *at, const char *keyword, enum effect effect,
                 enum text_id why, const struct str values[2]) {
  struct finding f = {.tool = d->tool,
                      .pointer = pointer_of(d, at),
                      .keyword = str_of(keyword),
                      .dialect = d->dialect,
                      .effect = effect,
                      .why = why,
                      .values = {values[0], values[1]}};
  if (!finding_add(d->arena, &d->found, &f)) d->no_memory = true;
}

void find(struct derive *d, const struct json *at, const char *keyword, enum effect effect,
          enum text_id why) {
  find_values(d, at, keyword, effect, why, (struct str[2]){STR_NONE, STR_NONE});
}

void go_loose(struct derive *d, const struct json *at, const char *keyword, enum text_id why) {
  if (!shaped(d, SHAPE_STRICT)) return;
  d->is_loose = true;
  find(d, at, keyword, EFFECT_LOOSE, why);
}

/* ---- words --------------------------------------------------------------- */

void note_text(struct derive *d, struct view *v, enum text_id id, struct str one, struct str two) {
  struct buf b;
  struct note *note = arena_new(d->arena, struct note);
  if (!note) {
    d->no_memory = true;
    return;
  }
  buf_init(&b, NOTE_BYTES_MAX);
  TEXT_PUT(&b, d->lang, id, one, two);
  *note = (struct note){text_take(d, &b), NULL};
  *v->notes_end = note;
  v->notes_end = &note->next;
}

/* A value as a model reads it: text bare, the rest as JSON, both of bounded length. */
static struct str shown(struct derive *d, const struct json *value) {
  struct buf b, cut;
  if (json_is(value, JSON_STRING) && value->text.n <= NOTE_POINTS_MAX) return value->text;
  buf_init(&b, 16u << 20);
  tree_put(&b, value);
  buf_init(&cut, NOTE_BYTES_MAX);
  struct str whole = buf_str(&b), head = utf8_head(whole, NOTE_POINTS_MAX);
  buf_put(&cut, head);
  if (head.n < whole.n) buf_lit(&cut, "…");
  if (b.fail == REIN_MEMORY) d->no_memory = true;
  buf_release(&b);
  return text_take(d, &cut);
}

void note_keyword(struct derive *d, struct view *v, const struct json *m) {
  const struct keyword *k = keyword_by_word(m->key);
  if (!k || k->note == T_NONE) return;
  note_text(d, v, k->note, shown(d, m), m->key);
}

void move(struct derive *d, struct view *v, const struct json *m) {
  const struct keyword *k = keyword_by_word(m->key);
  bool says = k && k->note != T_NONE && !(k->kind == KIND_FLAG && !json_true(m));
  if (says) note_keyword(d, v, m);
  find_values(d, m, k ? k->word : NULL, says ? EFFECT_MOVED : EFFECT_REWRITTEN,
              says ? T_SCHEMA_WHY_MOVED : T_SCHEMA_WHY_DROPPED, (struct str[2]){m->key, STR_NONE});
  if (!k && d->found.last) d->found.last->keyword = m->key;
}

static void made_first(struct derive *d, struct made *to, const char *key, struct str text) {
  struct json *one = made_string(d, text);
  if (!one || !to->node) return;
  one->key = str_of(key);
  one->next = to->node->first;
  to->node->first = one;
  to->node->count++;
}

/* The description with what was moved into it, in front. */
void put_description(struct derive *d, const struct view *v, struct made *out) {
  const struct json *own = view_get(v, "description");
  struct str text = json_text(own);
  struct buf b;
  if (!v->notes) {
    if (json_is(own, JSON_STRING)) made_first(d, out, "description", text);
    return;
  }
  buf_init(&b, 16u << 20);
  buf_put(&b, text);
  if (text.n) buf_lit(&b, " (");
  for (const struct note *n = v->notes; n; n = n->next) {
    buf_put(&b, n->text);
    if (n->next) buf_lit(&b, "; ");
  }
  if (text.n) buf_c(&b, ')');
  made_first(d, out, "description", text_take(d, &b));
}
