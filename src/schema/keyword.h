/* The keywords of both drafts as a table: where each is known, to which
 * vocabulary it belongs, and what it holds.
 */
#pragma once

#include "schema/schema.h"

enum vocabulary {
  VOCABULARY_CORE = 1 << 0,
  VOCABULARY_APPLICATOR = 1 << 1,
  VOCABULARY_UNEVALUATED = 1 << 2,
  VOCABULARY_VALIDATION = 1 << 3,
  VOCABULARY_NOTES = 1 << 4, /* meta-data, content: nothing to check */
  VOCABULARY_FORMAT_NOTE = 1 << 5,
  VOCABULARY_FORMAT_HELD = 1 << 6,
  VOCABULARY_ALL = (1 << 6) - 1
};

/* What stands below a keyword. */
enum holds {
  HOLDS_DATA,
  HOLDS_SCHEMA,
  HOLDS_LIST,   /* of schemas */
  HOLDS_MAP,    /* of schemas */
  HOLDS_EITHER, /* draft 7's items: a schema or a list */
  HOLDS_NEEDS   /* draft 7's dependencies: schemas or lists of names */
};

#define IN_7 (1u << SCHEMA_DRAFT_7)
#define IN_2020 (1u << SCHEMA_DRAFT_2020)
#define IN_BOTH (IN_7 | IN_2020)

/* id, name, drafts, vocabulary, holds. dependencies and definitions are kept in
 * 2020-12 by its own schema, for what was written before. */
#define SCHEMA_KEYWORDS(X)                                                                         \
  X(ID, "$id", IN_BOTH, CORE, DATA)                                                                \
  X(SCHEMA, "$schema", IN_BOTH, CORE, DATA)                                                        \
  X(ANCHOR, "$anchor", IN_2020, CORE, DATA)                                                        \
  X(DYNAMIC_ANCHOR, "$dynamicAnchor", IN_2020, CORE, DATA)                                         \
  X(REF, "$ref", IN_BOTH, CORE, DATA)                                                              \
  X(DYNAMIC_REF, "$dynamicRef", IN_2020, CORE, DATA)                                               \
  X(DEFS, "$defs", IN_2020, CORE, MAP)                                                             \
  X(DEFINITIONS, "definitions", IN_BOTH, CORE, MAP)                                                \
  X(TYPE, "type", IN_BOTH, VALIDATION, DATA)                                                       \
  X(ENUM, "enum", IN_BOTH, VALIDATION, DATA)                                                       \
  X(CONST, "const", IN_BOTH, VALIDATION, DATA)                                                     \
  X(MINIMUM, "minimum", IN_BOTH, VALIDATION, DATA)                                                 \
  X(MAXIMUM, "maximum", IN_BOTH, VALIDATION, DATA)                                                 \
  X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", IN_BOTH, VALIDATION, DATA)                              \
  X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", IN_BOTH, VALIDATION, DATA)                              \
  X(MULTIPLE_OF, "multipleOf", IN_BOTH, VALIDATION, DATA)                                          \
  X(MIN_LENGTH, "minLength", IN_BOTH, VALIDATION, DATA)                                            \
  X(MAX_LENGTH, "maxLength", IN_BOTH, VALIDATION, DATA)                                            \
  X(FORMAT, "format", IN_BOTH, FORMAT_NOTE, DATA)                                                  \
  X(PATTERN, "pattern", IN_BOTH, VALIDATION, DATA)                                                 \
  X(MIN_ITEMS, "minItems", IN_BOTH, VALIDATION, DATA)                                              \
  X(MAX_ITEMS, "maxItems", IN_BOTH, VALIDATION, DATA)                                              \
  X(MIN_PROPERTIES, "minProperties", IN_BOTH, VALIDATION, DATA)                                    \
  X(MAX_PROPERTIES, "maxProperties", IN_BOTH, VALIDATION, DATA)                                    \
  X(PROPERTIES, "properties", IN_BOTH, APPLICATOR, MAP)                                            \
  X(REQUIRED, "required", IN_BOTH, VALIDATION, DATA)                                               \
  X(PATTERN_PROPERTIES, "patternProperties", IN_BOTH, APPLICATOR, MAP)                             \
  X(ADDITIONAL_PROPERTIES, "additionalProperties", IN_BOTH, APPLICATOR, SCHEMA)                    \
  X(PROPERTY_NAMES, "propertyNames", IN_BOTH, APPLICATOR, SCHEMA)                                  \
  X(DEPENDENT_REQUIRED, "dependentRequired", IN_2020, VALIDATION, DATA)                            \
  X(DEPENDENT_SCHEMAS, "dependentSchemas", IN_2020, APPLICATOR, MAP)                               \
  X(DEPENDENCIES, "dependencies", IN_BOTH, APPLICATOR, NEEDS)                                      \
  X(PREFIX_ITEMS, "prefixItems", IN_2020, APPLICATOR, LIST)                                        \
  X(ITEMS, "items", IN_BOTH, APPLICATOR, EITHER)                                                   \
  X(ADDITIONAL_ITEMS, "additionalItems", IN_7, APPLICATOR, SCHEMA)                                 \
  X(CONTAINS, "contains", IN_BOTH, APPLICATOR, SCHEMA)                                             \
  X(MIN_CONTAINS, "minContains", IN_2020, VALIDATION, DATA)                                        \
  X(MAX_CONTAINS, "maxContains", IN_2020, VALIDATION, DATA)                                        \
  X(UNIQUE_ITEMS, "uniqueItems", IN_BOTH, VALIDATION, DATA)                                        \
  X(ALL_OF, "allOf", IN_BOTH, APPLICATOR, LIST)                                                    \
  X(ANY_OF, "anyOf", IN_BOTH, APPLICATOR, LIST)                                                    \
  X(ONE_OF, "oneOf", IN_BOTH, APPLICATOR, LIST)                                                    \
  X(NOT, "not", IN_BOTH, APPLICATOR, SCHEMA)                                                       \
  X(IF, "if", IN_BOTH, APPLICATOR, SCHEMA)                                                         \
  X(THEN, "then", IN_BOTH, APPLICATOR, SCHEMA)                                                     \
  X(ELSE, "else", IN_BOTH, APPLICATOR, SCHEMA)                                                     \
  X(UNEVALUATED_ITEMS, "unevaluatedItems", IN_2020, UNEVALUATED, SCHEMA)                           \
  X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", IN_2020, UNEVALUATED, SCHEMA)

enum keyword {
#define X(id, name, drafts, vocabulary, holds) KEYWORD_##id,
  SCHEMA_KEYWORDS(X)
#undef X
      KEYWORD_COUNT
};

struct keyword_row {
  struct str name;
  unsigned drafts; /* bits */
  enum vocabulary vocabulary;
  enum holds holds;
};
extern const struct keyword_row keyword_rows[KEYWORD_COUNT];

/* The members of a schema object by keyword, where its draft and vocabularies
 * know them; NULL for the others. Draft 7 reads nothing beside a $ref. */
struct keywords {
  const struct json *v[KEYWORD_COUNT];
};
void keywords_find(struct keywords *found, const struct json *schema, unsigned draft,
                   unsigned vocabulary);
