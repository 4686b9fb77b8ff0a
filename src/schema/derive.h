/* The schema that is sent, made from the full one: what a provider's dialect
 * does not take goes out of the schema and, in short words, into a description.
 * The dispatcher holds the full schema, so nothing is lost. A pure function: the
 * same tools give the same bytes.
 *
 *   struct tool_schema in[] = {{name, schema_text, schema_tree}};
 *   struct tool_sent sent[1];
 *   struct findings found = {0};
 *   derive_tools(&arena, &(struct derive_spec){dialect, REIN_ENGLISH, in, 1}, sent, &found);
 *   // sent[0].schema, sent[0].strict; found.first names each change, and why
 *
 * What cannot be said in a strict dialect is sent in its loose one, with a
 * finding; what cannot be sent at all is refused, with a finding.
 */
#pragma once

#include "json/json.h"
#include "schema/dialect.h"

#define DERIVE_NODES_MAX 20000 /* per tool, references written out: no provider takes a tenth */
#define DERIVE_DEPTH_MAX 100   /* of the schema that is sent */

enum effect {
  EFFECT_MOVED,     /* into a description */
  EFFECT_REWRITTEN, /* said otherwise, or left out because it says nothing */
  EFFECT_LOOSE,     /* the tool is sent without strict */
  EFFECT_REFUSED,   /* the tool cannot be sent */
};

/* One change. Slices are the arena's or the schema's. */
struct finding {
  size_t tool;
  struct str pointer, keyword; /* in the full schema; keyword "name" without a pointer: its name */
  const struct dialect *dialect;
  enum effect effect;
  enum text_id why; /* {0} and {1} are the values */
  struct str values[2];
  struct finding *next;
};

struct findings {
  struct finding *first, *last;
};

/* doc NULL: `schema` is no JSON; the caller has said so. */
struct tool_schema {
  struct str name, schema;
  const struct json *doc;
};

struct tool_sent {
  struct str schema; /* empty when refused */
  bool strict, refused;
};

struct derive_spec {
  const struct dialect *dialect;
  enum rein_lang model_lang; /* of what goes into descriptions */
  const struct tool_schema *tools;
  size_t count;
  bool strict_asked; /* a dialect without a strict mode says that it has none */
};

/* Fills sent[0..count) in order; limits of a request count the tools before.
 * Errors: REIN_MEMORY alone (also the arena's ceiling). */
enum rein_code derive_tools(struct arena *arena, const struct derive_spec *spec,
                            struct tool_sent *sent, struct findings *findings) REIN_CHECKED;
/* Appends a schema as sent without what it requires: what is left says which members a
 * strict tool takes, which the full schema may leave open. */
void derive_members(struct buf *out, const struct json *sent);
/* Adds one at the end; false: no memory. */
bool finding_add(struct arena *arena, struct findings *findings, const struct finding *one);
const char *effect_word(enum effect effect);
/* One line: place, keyword, dialect, what happens and why. */
void finding_put(struct buf *out, enum rein_lang lang, struct str tool, const struct finding *f);

/* A name that every provider takes: server (may be empty), "__", and the letters of `name`;
 * whatever had to be changed is told apart by a hash of both. Stable over restarts. */
void tool_name_put(struct buf *out, struct str server, struct str name);
