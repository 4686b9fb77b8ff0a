/* Filling templates. Every way out of a place is closed here, for all packs at once. */
#include "pack/template.h"

#include "base/utf8.h"
#include "text/text.h"

#define BODY_DEPTH_MAX 64 /* of a body in a pack; a service's own have some ten */

/* ---- reading a template ---------------------------------------------------------- */

/* Up to the next mark: "{{", "}}" or "${". */
static size_t plain(struct str s) {
  for (size_t n = 0; n + 1 < s.n; n++) {
    char c = s.p[n], next = s.p[n + 1];
    if ((c == next && (c == '{' || c == '}')) || (c == '$' && next == '{')) return n;
  }
  return s.n;
}

static int take(struct str *rest, size_t from, size_t n, size_t all, enum piece_kind kind,
                struct piece *piece) {
  *piece = (struct piece){kind, str_trim(str_part(*rest, from, n))};
  *rest = str_part(*rest, all, SIZE_MAX);
  return kind == PIECE_TEXT || piece->text.n ? 1 : -1;
}

int template_next(struct str *rest, struct piece *piece) {
  struct str s = *rest;
  size_t n = plain(s);
  if (!s.n) return 0;
  if (n) {
    *piece = (struct piece){PIECE_TEXT, str_part(s, 0, n)};
    *rest = str_part(s, n, SIZE_MAX);
    return 1;
  }
  bool secret = s.p[0] == '$';
  struct str close = secret ? STR("}") : STR("}}");
  size_t end = str_find(s, close);
  if (s.p[0] == '}' || end == s.n) return -1;
  return take(rest, 2, end - 2, end + close.n, secret ? PIECE_SECRET : PIECE_ARGUMENT, piece);
}

bool template_alone(struct str text, struct str *name) {
  struct piece piece;
  if (template_next(&text, &piece) != 1 || piece.kind != PIECE_ARGUMENT || text.n) return false;
  *name = piece.text;
  return true;
}

const struct json *template_argument(const struct json *args, struct str name) {
  const struct json *value = json_member(args, name);
  return json_is(value, JSON_NULL) ? NULL : value;
}

/* ---- what may stand where ----------------------------------------------------------- */

static struct str text_of(const struct json *value) {
  return value->kind == JSON_STRING ? value->text : value->source;
}

static bool has_control(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f) return true;
  return false;
}

static bool is_visible(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] >= 0x7f) return false;
  return !has_control(s);
}

static bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

static void put_escaped(struct buf *out, struct str s) {
  static const char digits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    if (is_unreserved(s.p[i])) {
      buf_c(out, s.p[i]);
      continue;
    }
    buf_c(out, '%');
    buf_c(out, digits[c >> 4]);
    buf_c(out, digits[c & 15]);
  }
}

/* T_NONE: it may stand there. */
static enum text_id refusal(struct str value, enum fill how) {
  switch (how) {
  case FILL_STEP:
    if (!value.n) return T_PACK_STEP_EMPTY;
    if (str_is(value, ".") || str_is(value, "..")) return T_PACK_STEP_DOTS;
    if (str_find_char(value, '/') < value.n || str_find_char(value, '\\') < value.n)
      return T_PACK_STEP_SLASH;
    return has_control(value) || !utf8_valid(value) ? T_PACK_CONTROL : T_NONE;
  case FILL_QUERY: return utf8_valid(value) ? T_NONE : T_PACK_CONTROL;
  case FILL_HEADER: return is_visible(value) ? T_NONE : T_PACK_HEADER_BYTES;
  case FILL_TEXT: return utf8_valid(value) ? T_NONE : T_PACK_CONTROL;
  }
  return T_NONE;
}

static enum rein_code put_value(struct buf *out, const struct piece *piece,
                                const struct json *value, enum fill how,
                                const struct fill_from *from, struct err *err) {
  struct str text = text_of(value);
  bool composed = value->kind == JSON_ARRAY || value->kind == JSON_OBJECT;
  if (composed && how != FILL_TEXT)
    return ERR(err, REIN_INPUT, T_PACK_COMPOSED, piece->text, from->field);
  enum text_id why = refusal(text, how);
  if (why != T_NONE) return ERR(err, REIN_INPUT, why, piece->text, from->field);
  if (how == FILL_STEP || how == FILL_QUERY)
    put_escaped(out, text);
  else
    buf_put(out, text);
  return REIN_OK;
}

static enum rein_code put_secret(struct buf *out, struct str name, const struct fill_from *from,
                                 struct err *err) {
  const struct pack_secret *secret = pack_secret(from->pack, name);
  if (!secret || !secret->value.n)
    return ERR(err, REIN_INPUT, T_PACK_NO_SECRET, name, from->pack->name);
  if (!is_visible(secret->value)) return ERR(err, REIN_INPUT, T_PACK_SECRET_BYTES, name);
  buf_put(out, secret->value);
  return REIN_OK;
}

static enum rein_code put_piece(struct buf *out, const struct piece *piece, enum fill how,
                                const struct fill_from *from, bool *absent, struct err *err) {
  if (piece->kind == PIECE_TEXT) {
    buf_put(out, piece->text);
    return REIN_OK;
  }
  if (piece->kind == PIECE_SECRET) return put_secret(out, piece->text, from, err);
  const struct json *value = template_argument(from->args, piece->text);
  *absent = !value;
  return value ? put_value(out, piece, value, how, from, err) : REIN_OK;
}

enum rein_code template_fill(struct buf *out, struct str text, enum fill how,
                             const struct fill_from *from, bool *absent, struct err *err) {
  struct piece piece;
  size_t n = out->n;
  int more;
  *absent = false;
  while (!*absent && (more = template_next(&text, &piece)) != 0) {
    if (more < 0) return ERR(err, REIN_INPUT, T_PACK_BRACES, from->field);
    enum rein_code code = put_piece(out, &piece, how, from, absent, err);
    if (code) return code;
  }
  if (*absent) buf_cut(out, n);
  return out->fail ? ERR(err, out->fail, T_PACK_LONG, from->field) : REIN_OK;
}

/* ---- addresses --------------------------------------------------------------------- */

void query_put(struct buf *url, struct str name, struct str value) {
  buf_c(url, str_find_char(buf_str(url), '?') < url->n ? '&' : '?');
  put_escaped(url, name);
  buf_c(url, '=');
  put_escaped(url, value);
}

/* Each element of a list is a pair of its own: fields[]=a&fields[]=b. */
static enum rein_code put_pairs(struct buf *out, struct str name, const struct json *list,
                                const struct fill_from *from, struct err *err) {
  for (const struct json *one = list->first; one; one = one->next) {
    struct str text = text_of(one);
    if (one->kind == JSON_ARRAY || one->kind == JSON_OBJECT || !utf8_valid(text))
      return ERR(err, REIN_INPUT, T_PACK_COMPOSED, name, from->field);
    query_put(out, name, text);
  }
  return REIN_OK;
}

static enum rein_code put_pair(struct buf *out, const struct json *pair,
                               const struct fill_from *from, struct err *err) {
  struct str alone;
  const struct json *list = NULL;
  if (template_alone(json_text(pair), &alone)) list = template_argument(from->args, alone);
  if (json_is(list, JSON_ARRAY)) return put_pairs(out, pair->key, list, from, err);
  struct buf value;
  bool absent = false;
  buf_init(&value, out->max);
  /* The value is escaped as a whole, so it is filled as text. */
  enum rein_code code = template_fill(&value, json_text(pair), FILL_TEXT, from, &absent, err);
  if (!code && json_is(list, JSON_OBJECT))
    code = ERR(err, REIN_INPUT, T_PACK_COMPOSED, alone, from->field);
  if (!code && !absent) query_put(out, pair->key, buf_str(&value));
  buf_release(&value);
  return code;
}

enum rein_code template_path(struct buf *out, const struct pack_request *request, struct str but,
                             const struct fill_from *from, struct err *err) {
  bool absent = false;
  struct fill_from at = *from;
  at.field = STR("path");
  enum rein_code code = template_fill(out, request->path, FILL_STEP, &at, &absent, err);
  if (!code && absent) code = ERR(err, REIN_INPUT, T_PACK_STEP_EMPTY, request->path, at.field);
  const struct json *pair = request->query ? request->query->first : NULL;
  for (; !code && pair; pair = pair->next) {
    at.field = pair->key;
    if (!str_eq(pair->key, but)) code = put_pair(out, pair, &at, err);
  }
  if (!code && out->fail) code = ERR(err, out->fail, T_PACK_LONG, STR("path"));
  return code;
}

/* ---- bodies ------------------------------------------------------------------------- */

struct body {
  struct json_out w;
  const struct fill_from *from;
  struct err *err;
};

static enum rein_code put_node(struct body *b, const struct json *node, bool keyed, struct str key,
                               unsigned depth);

static void put_key(struct body *b, bool keyed, struct str key) {
  if (keyed) json_key_str(&b->w, key);
}

static enum rein_code put_text(struct body *b, const struct json *node, bool keyed,
                               struct str key) {
  struct str name;
  if (template_alone(node->text, &name)) {
    const struct json *value = template_argument(b->from->args, name);
    if (!value) return REIN_OK;
    put_key(b, keyed, key);
    json_put_raw(&b->w, value->source);
    return REIN_OK;
  }
  struct buf text;
  bool absent = false;
  buf_init(&text, b->w.buf->max);
  enum rein_code code = template_fill(&text, node->text, FILL_TEXT, b->from, &absent, b->err);
  if (!code && !absent) {
    put_key(b, keyed, key);
    json_put_text(&b->w, buf_str(&text));
  }
  buf_release(&text);
  return code;
}

static enum rein_code put_children(struct body *b, const struct json *node, struct str but,
                                   unsigned depth) {
  enum rein_code code = REIN_OK;
  bool object = node->kind == JSON_OBJECT;
  for (const struct json *child = node->first; !code && child; child = child->next)
    if (!but.n || !str_eq(child->key, but))
      code = put_node(b, child, object, child->key, depth + 1);
  return code;
}

static enum rein_code put_node(struct body *b, const struct json *node, bool keyed, struct str key,
                               unsigned depth) {
  if (depth > BODY_DEPTH_MAX) return ERR(b->err, REIN_LIMIT, T_PACK_LONG, b->from->field);
  if (node->kind == JSON_STRING) return put_text(b, node, keyed, key);
  put_key(b, keyed, key);
  if (node->kind != JSON_ARRAY && node->kind != JSON_OBJECT) {
    json_put_raw(&b->w, node->source);
    return REIN_OK;
  }
  json_open(&b->w, node->kind == JSON_OBJECT ? '{' : '[');
  enum rein_code code = put_children(b, node, STR_NONE, depth);
  json_close(&b->w, node->kind == JSON_OBJECT ? '}' : ']');
  return code;
}

enum rein_code template_body(struct buf *out, const struct json *body,
                             const struct body_extra *extra, const struct fill_from *from,
                             struct err *err) {
  struct body b = {.w = json_out(out), .from = from, .err = err};
  enum rein_code code = REIN_OK;
  if (body->kind != JSON_OBJECT || !extra->name.n) {
    code = put_node(&b, body, false, STR_NONE, 0);
  } else {
    json_open(&b.w, '{');
    code = put_children(&b, body, extra->name, 0);
    json_key_str(&b.w, extra->name);
    json_put_raw(&b.w, extra->value);
    json_close(&b.w, '}');
  }
  return code || !out->fail ? code : ERR(err, out->fail, T_PACK_LONG, from->field);
}
