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

enum rein_code lint_read(struct arena *arena, const struct json *doc, struct lint_set *set,
                         struct err *err) {
  struct num_text room;
  const struct json *list = json_get(doc, "tools") ? json_get(doc, "tools") : doc;
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
    if (!is_tool(t)) return ERR(err, REIN_INPUT, T_CLI_LINT_NO_TOOL);
    take(set, t);
  }
  return REIN_OK;
}
