/* A tool's templates against what there is to fill them: a slip in a pack is found
 * when it is loaded, not at the call that meets it. Secrets stand in headers alone:
 * an address is written into logs, on this side and on the other. */
#include "pack/inside.h"
#include "pack/template.h"
#include "schema/schema.h"

#include <string.h>

#define CHECK_DEPTH_MAX 64

struct check {
  const struct pack_tool *tool;
  const struct json *required;
  struct err *err;
};

static enum rein_code fail(const struct check *c, enum text_id id, struct str field,
                           struct str value) {
  return ERR(c->err, REIN_INPUT, id, c->tool->pack->name, c->tool->name, field, value);
}

static bool is_required(const struct check *c, struct str name) {
  for (const struct json *one = c->required ? c->required->first : NULL; one; one = one->next)
    if (str_eq(json_text(one), name)) return true;
  return false;
}

/* What of a path stands in the pack goes out as it is. */
static bool is_path_text(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr("\"<>?#\\^`{|}", s.p[i])) return false;
  return true;
}

static enum rein_code check_secret(const struct check *c, struct str name, enum fill how,
                                   struct str field) {
  if (how != FILL_HEADER) return fail(c, T_PACK_CHECK_SECRET_PLACE, field, name);
  return pack_secret(c->tool->pack, name) ? REIN_OK : fail(c, T_PACK_CHECK_SECRET, field, name);
}

/* FILL_STEP wants arguments that are always there. */
static enum rein_code check_piece(const struct check *c, const struct piece *piece, enum fill how,
                                  struct str field) {
  struct str text = piece->text;
  switch (piece->kind) {
  case PIECE_TEXT:
    if (how == FILL_STEP && !is_path_text(text)) return fail(c, T_PACK_CHECK_PATH, field, text);
    return REIN_OK;
  case PIECE_SECRET: return check_secret(c, text, how, field);
  case PIECE_ARGUMENT:
    if (!json_member(c->tool->arguments, text)) return fail(c, T_PACK_CHECK_ARGUMENT, field, text);
    if (how == FILL_STEP && !is_required(c, text))
      return fail(c, T_PACK_CHECK_OPTIONAL, field, text);
    return REIN_OK;
  }
  return REIN_OK;
}

static enum rein_code check_text(const struct check *c, struct str text, enum fill how,
                                 struct str field) {
  struct piece piece;
  struct str rest = text;
  enum rein_code code = REIN_OK;
  int more = 0;
  while (!code && (more = template_next(&rest, &piece)) > 0)
    code = check_piece(c, &piece, how, field);
  return !code && more < 0 ? fail(c, T_PACK_CHECK_BRACES, field, text) : code;
}

static enum rein_code check_texts(const struct check *c, const struct json *texts, enum fill how) {
  enum rein_code code = REIN_OK;
  for (const struct json *one = texts ? texts->first : NULL; !code && one; one = one->next)
    code = check_text(c, json_text(one), how, texts->kind == JSON_OBJECT ? one->key : STR("argv"));
  return code;
}

static enum rein_code check_body(const struct check *c, const struct json *node, unsigned depth) {
  enum rein_code code = REIN_OK;
  if (!node) return code;
  if (depth > CHECK_DEPTH_MAX) return fail(c, T_PACK_CHECK_DEEP, STR("body"), STR("64"));
  if (node->kind == JSON_STRING) return check_text(c, node->text, FILL_TEXT, STR("body"));
  for (const struct json *child = node->first; !code && child; child = child->next)
    code = check_body(c, child, depth + 1);
  return code;
}

static enum rein_code check_paging(const struct check *c, const struct pack_request *r) {
  if (r->cursor.n && !r->page_as.n) return fail(c, T_PACK_CHECK_PAGING, STR("paging"), STR("as"));
  if (r->page_number.n && !r->page_size)
    return fail(c, T_PACK_CHECK_PAGING, STR("paging"), STR("size"));
  if (r->pages > 1 && !r->cursor.n && !r->page_number.n)
    return fail(c, T_PACK_CHECK_PAGING, STR("paging"), STR("cursor"));
  bool into_body = r->cursor.n && !str_is(r->method, "GET");
  if (into_body && r->body && r->body->kind != JSON_OBJECT)
    return fail(c, T_PACK_CHECK_PAGING, STR("paging"), STR("body"));
  return REIN_OK;
}

/* No value is one of these, so no path that was filled has one. */
static bool has_dots(struct str path) {
  struct str step;
  while (str_next(&path, '/', &step))
    if (str_is(step, ".") || str_is(step, "..")) return true;
  return false;
}

static enum rein_code check_request(const struct check *c, const struct pack_request *r) {
  bool alone = c->tool->request_count == 1;
  if (!c->tool->pack->url.n) return fail(c, T_PACK_CHECK_URL, STR("url"), STR_NONE);
  if (!alone && !r->reads) return fail(c, T_PACK_CHECK_STEPS, STR("method"), r->method);
  if (!alone && !r->as.n) return fail(c, T_PACK_CHECK_AS, STR("as"), r->path);
  if (has_dots(r->path)) return fail(c, T_PACK_CHECK_PATH, STR("path"), r->path);
  enum rein_code code = check_text(c, r->path, FILL_STEP, STR("path"));
  if (!code) code = check_texts(c, r->query, FILL_QUERY);
  if (!code) code = check_texts(c, c->tool->pack->headers, FILL_HEADER);
  if (!code) code = check_texts(c, r->headers, FILL_HEADER);
  if (!code) code = check_body(c, r->body, 0);
  return code ? code : check_paging(c, r);
}

/* The model does not choose which program runs, nor which order git is given. */
static enum rein_code check_argv(const struct check *c, const struct json *argv) {
  struct piece piece;
  struct str first = json_text(argv->first), rest = first;
  int more = template_next(&rest, &piece);
  if (more != 1 || piece.kind != PIECE_TEXT || rest.n || piece.text.p[0] == '-')
    return fail(c, T_PACK_CHECK_PROGRAM, STR("argv"), first);
  return check_texts(c, argv, FILL_TEXT);
}

static enum rein_code check_command(const struct check *c) {
  const struct json *name = c->tool->secrets ? c->tool->secrets->first : NULL;
  enum rein_code code = REIN_OK;
  for (; name; name = name->next)
    if (!pack_secret(c->tool->pack, json_text(name)))
      return fail(c, T_PACK_CHECK_SECRET, STR("secrets"), json_text(name));
  if (c->tool->kind == PACK_COMMAND) return check_argv(c, c->tool->argv);
  for (const struct json *one = c->tool->argv->first; !code && one; one = one->next)
    code = check_argv(c, one);
  return code;
}

static enum rein_code check_schema(struct arena *arena, const struct check *c) {
  struct json *doc = NULL;
  struct schema *schema = NULL;
  struct err why = {0};
  struct buf words;
  enum rein_code code = json_parse(arena, c->tool->schema, JSON_UNIQUE, &doc, c->err);
  if (!code) code = schema_new(doc, NULL, &schema, &why);
  schema_free(schema);
  if (code != REIN_INPUT) return code ? ERR(c->err, code, T_PACK_MEMORY) : REIN_OK;
  buf_init(&words, 4096);
  err_put(&words, REIN_ENGLISH, &why);
  code = fail(c, T_PACK_CHECK_SCHEMA, STR("schema"), buf_str(&words));
  buf_release(&words);
  return code;
}

enum rein_code pack_check_tool(struct arena *arena, const struct pack_tool *tool,
                               const struct json *schema, struct err *err) {
  struct check c = {tool, json_get(schema, "required"), err};
  enum rein_code code = check_schema(arena, &c);
  for (size_t i = 0; !code && i < tool->request_count; i++)
    code = check_request(&c, &tool->requests[i]);
  return code || tool->kind == PACK_HTTP ? code : check_command(&c);
}
