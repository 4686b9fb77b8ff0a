/* JSON Schema, drafts 2020-12 and 7: compiled once, then used for many values.
 *
 * Every keyword of both vocabularies is there; nothing is ever fetched: what a
 * $ref names lies in the schema, in a document handed over with it, or is one
 * of the two drafts' own schemas. `format` is a note unless asked to be held.
 * Numbers are compared exactly (1.0 is an integer, 0.3 is a multiple of 0.1).
 * Patterns are JavaScript's, with the u flag's characters (regex/regex.h).
 *
 *   struct schema *s;
 *   struct schema_options o = {.hold_formats = true};
 *   if (schema_new(doc, &o, &s, &err)) return err.code;
 *   if (schema_check(s, value, &err) == REIN_INPUT) ...err says where and what...
 *   schema_free(s);
 *
 * A schema holds scratch memory: it belongs to one thread at a time.
 */
#pragma once

#include "json/json.h"
#include "text/text.h"

#define SCHEMA_LINE_POINTS 200 /* code points of schema_line, the mark of a cut included */

/* A document that a $ref may name. Borrowed, as long as the schema lives. */
struct schema_document {
  struct str uri; /* absolute */
  const struct json *json;
};

enum schema_draft { SCHEMA_DRAFT_DEFAULT, SCHEMA_DRAFT_2020, SCHEMA_DRAFT_7 };

struct schema_options {
  bool hold_formats;       /* a wrong `format` is a failure; else a note for the reader */
  enum schema_draft draft; /* without a $schema; default 2020-12 */
  enum rein_lang lang;     /* of the words inside an error's values; default English */
  const struct schema_document *documents;
  size_t document_count;
};

struct schema;

/* Compiles `doc` (parsed with JSON_UNIQUE; borrowed, as long as *schema lives).
 * `options` may be NULL. REIN_INPUT: err says where in the schema (a JSON
 * pointer) and what is wrong; REIN_LIMIT: larger than the named ceilings. */
enum rein_code schema_new(const struct json *doc, const struct schema_options *options,
                          struct schema **schema, struct err *err) REIN_CHECKED;
void schema_free(struct schema *schema); /* NULL is fine */

/* Whether `value` is what the schema describes. REIN_INPUT: it is not, and err
 * holds the most useful failure: where (a JSON pointer into the value), what
 * was expected, what came. REIN_LIMIT: the value is too deep, or takes more
 * steps than SCHEMA_STEPS_MAX, and err says so. */
enum rein_code schema_check(struct schema *schema, const struct json *value, struct err *err)
    REIN_CHECKED;

/* The same for the arguments of a call, an object. A null for a member that is
 * optional and has no null stands for "absent" (the strict modes of providers
 * need it) and is dropped before. On success *clean holds the bytes to run: the
 * source itself, or a copy without such nulls, appended to `out`. A number that
 * no double can hold (1e400) is refused: no tool could use it. */
enum rein_code schema_check_args(struct schema *schema, const struct json *args, struct buf *out,
                                 struct str *clean, struct err *err) REIN_CHECKED;

/* Appends the error's sentence as one line of at most SCHEMA_LINE_POINTS code
 * points, cut between graphemes with a mark. */
void schema_line(struct buf *out, enum rein_lang lang, const struct err *err);
