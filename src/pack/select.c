/* Picking from an answer. Whatever stands there goes through as it was written:
 * numbers keep their digits, texts their escapes. */
#include "pack/select.h"

/* ---- one pointer with stars ---------------------------------------------------------- */

struct walk {
  void (*found)(void *ctx, const struct json *node);
  void *ctx;
};

/* "/a~1b/c" to "a~1b" and "/c". */
static struct str first_step(struct str pointer, struct str *rest) {
  struct str body = str_part(pointer, 1, SIZE_MAX);
  size_t n = str_find_char(body, '/');
  *rest = str_part(body, n, SIZE_MAX);
  return str_part(pointer, 0, n + 1);
}

static void walk(const struct walk *w, const struct json *node, struct str pointer) {
  if (!node) return;
  if (!pointer.n) {
    w->found(w->ctx, node);
    return;
  }
  struct str rest, step = first_step(pointer, &rest);
  if (!str_is(step, "/*")) {
    walk(w, json_point(node, step), rest);
    return;
  }
  for (const struct json *child = node->first; child; child = child->next)
    walk(w, child, rest);
}

static bool has_star(struct str pointer) {
  return str_has(pointer, STR("/*/")) || str_ends(pointer, STR("/*"));
}

/* ---- writing ------------------------------------------------------------------------- */

static void put_plain(struct json_out *w, const struct json *node) {
  if (node->kind != JSON_ARRAY && node->kind != JSON_OBJECT) {
    json_put_raw(w, node->source);
    return;
  }
  json_open(w, node->kind == JSON_OBJECT ? '{' : '[');
  for (const struct json *child = node->first; child; child = child->next) {
    if (node->kind == JSON_OBJECT) json_key_str(w, child->key);
    put_plain(w, child);
  }
  json_close(w, node->kind == JSON_OBJECT ? '}' : ']');
}

void select_put_plain(struct json_out *w, const struct json *node) {
  put_plain(w, node);
}

static void found_value(void *ctx, const struct json *node) {
  put_plain(ctx, node);
}

struct joined {
  struct buf text;
  struct str join;
  bool any;
};

static void found_text(void *ctx, const struct json *node) {
  struct joined *j = ctx;
  if (node->kind == JSON_NULL) return;
  if (j->any) buf_put(&j->text, j->join);
  j->any = true;
  buf_put(&j->text, node->kind == JSON_STRING ? node->text : node->source);
}

static void put_joined(struct json_out *w, const struct json *field, const struct json *node) {
  struct joined j = {.join = json_text(json_get(field, "join"))};
  buf_init(&j.text, w->buf->max);
  walk(&(struct walk){found_text, &j}, node, json_text(json_get(field, "text")));
  if (j.text.fail) w->buf->fail = j.text.fail;
  json_put_text(w, buf_str(&j.text));
  buf_release(&j.text);
}

/* A field that is not there is null: left out, a model takes it for forgotten. */
static void put_field(struct json_out *w, const struct json *field, const struct json *node) {
  struct str pointer = json_text(field);
  json_key_str(w, field->key);
  if (field->kind == JSON_OBJECT) {
    put_joined(w, field, node);
  } else if (has_star(pointer)) {
    json_open(w, '[');
    walk(&(struct walk){found_value, w}, node, pointer);
    json_close(w, ']');
  } else if (json_point(node, pointer)) {
    put_plain(w, json_point(node, pointer));
  } else {
    json_put_null(w);
  }
}

static void put_one(struct json_out *w, const struct pack_request *request,
                    const struct json *node) {
  if (!request->fields) {
    put_plain(w, node);
    return;
  }
  json_open(w, '{');
  for (const struct json *field = request->fields->first; field; field = field->next)
    put_field(w, field, node);
  json_close(w, '}');
}

const struct json *select_place(const struct pack_request *request, const struct json *answer) {
  return request->at.n ? json_point(answer, request->at) : answer;
}

void select_put_elements(struct json_out *w, const struct pack_request *request,
                         const struct json *place) {
  for (const struct json *one = place->first; one; one = one->next)
    put_one(w, request, one);
}

void select_put(struct json_out *w, const struct pack_request *request, const struct json *place) {
  if (!json_is(place, JSON_ARRAY)) {
    put_one(w, request, place);
    return;
  }
  json_open(w, '[');
  select_put_elements(w, request, place);
  json_close(w, ']');
}
