/* Looking at a tree: members, elements, pointers, twins, simple values.
 * Numbers stand in number.c.
 */
#include "json/inside.h"

bool json_is(const struct json *node, enum json_kind kind) {
  return node && node->kind == kind;
}

bool json_true(const struct json *node) {
  return json_is(node, JSON_TRUE);
}

struct str json_text(const struct json *node) {
  return json_is(node, JSON_STRING) ? node->text : STR_NONE;
}

const struct json *json_member(const struct json *object, struct str key) {
  if (!json_is(object, JSON_OBJECT)) return NULL;
  const struct json *member = object->first;
  while (member && !str_eq(member->key, key))
    member = member->next;
  return member;
}

const struct json *json_at(const struct json *array, size_t i) {
  if (!json_is(array, JSON_ARRAY)) return NULL;
  const struct json *element = array->first;
  for (; element && i > 0; i--)
    element = element->next;
  return element;
}

/* Is `token` a spelling of `key`, ~1 being a slash and ~0 a tilde? A tilde
 * before anything else is none (RFC 6901, section 3). */
static bool names(struct str token, struct str key) {
  size_t at = 0;
  for (size_t i = 0; i < token.n; i++, at++) {
    char c = token.p[i];
    if (c == '~') {
      char kind = ++i < token.n ? token.p[i] : '\0';
      if (kind != '0' && kind != '1') return false;
      c = kind == '0' ? '~' : '/';
    }
    if (at == key.n || key.p[at] != c) return false;
  }
  return at == key.n;
}

static const struct json *step(const struct json *node, struct str token) {
  if (json_is(node, JSON_OBJECT)) {
    const struct json *member = node->first;
    while (member && !names(token, member->key))
      member = member->next;
    return member;
  }
  int64_t i;
  bool digits = token.n > 0 && token.p[0] >= '0' && token.p[0] <= '9';
  if (!digits || (token.p[0] == '0' && token.n > 1) || !str_to_num(token, &i)) return NULL;
  return json_at(node, (size_t)i);
}

const struct json *json_point(const struct json *node, struct str pointer) {
  if (pointer.n > 0 && pointer.p[0] != '/') return NULL;
  while (node && pointer.n > 0) {
    struct str rest = str_part(pointer, 1, pointer.n);
    size_t n = str_find_char(rest, '/');
    node = step(node, str_part(rest, 0, n));
    pointer = str_part(rest, n, rest.n);
  }
  return node;
}

/* Recursion is bounded: the reader lets nothing deeper than JSON_DEPTH_MAX in. */
const struct json *json_find_twin(const struct json *node) {
  if (!node) return NULL;
  for (const struct json *child = node->first; child; child = child->next) {
    if (child == node->twin) return child;
    const struct json *twin = json_find_twin(child);
    if (twin) return twin;
  }
  return NULL;
}

void json_step_put(struct buf *out, struct str key) {
  buf_c(out, '/');
  for (size_t i = 0; i < key.n; i++) {
    if (key.p[i] == '~')
      buf_lit(out, "~0");
    else if (key.p[i] == '/')
      buf_lit(out, "~1");
    else
      buf_c(out, key.p[i]);
  }
}
