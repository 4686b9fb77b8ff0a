/* New nodes in the arena, over children that are shared with the full schema
 * and never changed; and their text.
 */
#include "schema/derive_inside.h"

#include "json/write.h"

struct str text_take(struct derive *d, struct buf *b) {
  struct str copy = STR_NONE;
  if (b->fail == REIN_LIMIT) d->too_large = true;
  if (b->fail == REIN_MEMORY || !arena_str(d->arena, buf_str(b), &copy)) d->no_memory = true;
  buf_release(b);
  return copy;
}

static struct json *node_new(struct derive *d, enum json_kind kind) {
  struct json *node = arena_new(d->arena, struct json);
  if (node)
    node->kind = kind;
  else
    d->no_memory = true;
  return node;
}

struct made made_open(struct derive *d, enum json_kind kind) {
  struct json *node = node_new(d, kind);
  return (struct made){node, node ? &node->first : NULL};
}

void made_add(struct derive *d, struct made *to, struct str key, const struct json *value) {
  struct json *copy = value && to->node ? node_new(d, value->kind) : NULL;
  if (!copy) return;
  *copy = *value;
  copy->next = NULL;
  copy->twin = NULL;
  if (!str_eq(copy->key, key)) copy->key_source = STR_NONE;
  copy->key = key;
  *to->end = copy;
  to->end = &copy->next;
  to->node->count++;
}

void made_flag(struct derive *d, struct made *to, const char *key, bool value) {
  made_add(d, to, str_of(key), node_new(d, value ? JSON_TRUE : JSON_FALSE));
}

struct json *made_string(struct derive *d, struct str text) {
  struct json *node = node_new(d, JSON_STRING);
  if (node) node->text = text;
  return node;
}

struct json *made_null(struct derive *d) {
  return node_new(d, JSON_NULL);
}

void made_text(struct derive *d, struct made *to, const char *key, struct str text) {
  made_add(d, to, str_of(key), made_string(d, text));
}

void made_remove(struct made *from, const char *key) {
  struct json **at = from->node ? &from->node->first : NULL;
  while (at && *at && !str_is((*at)->key, key))
    at = &(*at)->next;
  if (!at || !*at) return;
  if (from->end == &(*at)->next) from->end = at;
  *at = (*at)->next;
  from->node->count--;
}

static void put_node(struct json_out *w, const struct json *node) {
  switch (node->kind) {
  case JSON_NULL: json_put_null(w); return;
  case JSON_FALSE: json_put_bool(w, false); return;
  case JSON_TRUE: json_put_bool(w, true); return;
  case JSON_NUMBER: json_put_raw(w, node->text); return;
  case JSON_STRING: json_put_text(w, node->text); return;
  case JSON_ARRAY:
    json_open(w, '[');
    for (const struct json *e = node->first; e; e = e->next)
      put_node(w, e);
    json_close(w, ']');
    return;
  case JSON_OBJECT:
    json_open(w, '{');
    for (const struct json *m = node->first; m; m = m->next) {
      json_key_str(w, m->key);
      put_node(w, m);
    }
    json_close(w, '}');
    return;
  }
}

/* Recursion: what is made is at most DERIVE_DEPTH_MAX deep, what is shared was read. */
void tree_put(struct buf *out, const struct json *node) {
  struct json_out w = json_out(out);
  if (node) put_node(&w, node);
}

static void put_members(struct json_out *w, const struct json *node);

/* Names of an object are data, not keywords, below properties and $defs. */
static void put_named(struct json_out *w, const struct json *map) {
  json_open(w, '{');
  for (const struct json *m = map->first; m; m = m->next) {
    json_key_str(w, m->key);
    put_members(w, m);
  }
  json_close(w, '}');
}

static void put_listed(struct json_out *w, const struct json *list) {
  json_open(w, '[');
  for (const struct json *e = list->first; e; e = e->next)
    put_members(w, e);
  json_close(w, ']');
}

/* Recursion: what was sent is at most DERIVE_DEPTH_MAX deep. */
static void put_members(struct json_out *w, const struct json *schema) {
  json_open(w, '{');
  for (const struct json *m = schema->first; m; m = m->next) {
    if (str_is(m->key, "required")) continue;
    json_key_str(w, m->key);
    if (str_is(m->key, "properties") || str_is(m->key, "$defs"))
      put_named(w, m);
    else if (str_is(m->key, "anyOf"))
      put_listed(w, m);
    else if (str_is(m->key, "items"))
      put_members(w, m);
    else
      put_node(w, m);
  }
  json_close(w, '}');
}

void derive_members(struct buf *out, const struct json *sent) {
  struct json_out w = json_out(out);
  put_members(&w, sent);
}
