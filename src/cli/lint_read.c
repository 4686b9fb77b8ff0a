/* Tools out of plain JSON, in the forms that people have them in. */
#include "cli/lint.h"

/* Members of a tool, inside {"function": …} where it is OpenAI's form. */
static const struct json *body_of(const struct json *tool) {
  const struct json *function = json_get(tool, "function");
  return json_is(function, JSON_OBJECT) ? function : tool;
}

static const struct json *schema_of(const struct json *body) {
  static const char *const words[] = {"input_schema", "inputSchema", "parameters", "schema"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (json_get(body, words[i])) return json_get(body, words[i]);
  return NULL;
}

static bool is_tool(const struct json *doc) {
  const struct json *body = body_of(doc);
  return json_is(body, JSON_OBJECT) && (json_get(body, "name") || schema_of(body));
}

static void take(struct lint_set *set, const struct json *tool) {
  /* A tool without a schema takes no arguments. */
  static const struct json none = {.kind = JSON_OBJECT, .source = {"{}", 2}};
  const struct json *body = body_of(tool), *schema = schema_of(body);
  if (!schema || json_is(schema, JSON_NULL)) schema = &none;
  set->tools[set->count] =
      (struct tool_schema){json_text(json_get(body, "name")), schema->source, schema};
  set->descriptions[set->count++] = json_text(json_get(body, "description"));
}

/* Where the tools of a document stand: a request's, a server's answer, Gemini's. */
static const struct json *list_of(const struct json *doc) {
  static const char *const words[] = {"tools", "function_declarations", "functionDeclarations"};
  const struct json *result = json_get(doc, "result"); /* of JSON-RPC */
  const struct json *list = json_is(result, JSON_OBJECT) ? result : doc;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (json_get(list, words[i])) list = json_get(list, words[i]);
    /* [{"functionDeclarations": […]}] */
    const struct json *only = json_is(list, JSON_ARRAY) && list->count == 1 ? list->first : NULL;
    if (only && !is_tool(only) && json_is(only, JSON_OBJECT)) list = only;
  }
  return list;
}

enum rein_code lint_read(struct arena *arena, const struct json *doc, struct lint_set *set,
                         struct err *err) {
  struct num_text room;
  const struct json *list = list_of(doc);
  bool one = is_tool(doc);
  size_t n = one ? 1 : json_is(list, JSON_ARRAY) ? list->count : 0;
  if (n > LINT_TOOLS_MAX)
    return ERR(err, REIN_INPUT, T_CLI_LINT_MANY_TOOLS, str_num(&room, LINT_TOOLS_MAX));
  if (n == 0) return ERR(err, REIN_INPUT, T_CLI_LINT_NO_TOOL);
  set->tools = arena_array(arena, struct tool_schema, n);
  set->descriptions = arena_array(arena, struct str, n);
  if (!set->tools || !set->descriptions) return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  if (one) take(set, doc);
  for (const struct json *t = one ? NULL : list->first; t; t = t->next) {
    if (!is_tool(t))
      return ERR(err, REIN_INPUT, T_CLI_LINT_NOT_A_TOOL, str_num(&room, (int64_t)set->count + 1));
    take(set, t);
  }
  return REIN_OK;
}
