/* What rein lint looks at and says; cmd_lint.c is the command. */
#pragma once

#include "cli/cli.h"
#include "json/write.h"
#include "schema/derive.h"

#define LINT_TOOLS_MAX 4096 /* of one file; the largest catalogues list some hundreds */
#define LINT_MANY 30        /* from here on models choose the wrong tool more often */

/* Tools that would go out together: those of a file, or the built-in ones. */
struct lint_set {
  struct str file; /* empty: built in */
  struct tool_schema *tools;
  struct str *descriptions;
  size_t count;
};

/* A warning: the tool, the place in its schema, a sentence with two values. */
typedef void (*lint_warn)(void *ctx, size_t tool, struct str pointer, enum text_id why,
                          struct str one, struct str two);

/* Tools out of a document: one, an array, {"tools": […]}; in the forms that people
 * have: {name, description, input_schema | inputSchema | parameters}, and OpenAI's
 * {type, function: {…}}. REIN_INPUT: nothing of the kind is in it. */
enum rein_code lint_read(struct arena *arena, const struct json *doc, struct lint_set *set,
                         struct err *err) REIN_CHECKED;
/* What makes models go wrong, though every provider takes it. */
void lint_smell(const struct lint_set *set, lint_warn warn, void *ctx);
