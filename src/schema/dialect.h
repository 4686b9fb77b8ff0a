/* Dialects: which part of JSON Schema a provider's mode takes, as data
 * (dialects.def). derive.h makes the schema that is sent from it.
 *
 *   const struct dialect *d = dialect_by_name(STR("openai-strict"));
 *   dialect_treat(d, STR("minLength"))   // TREAT_MOVE
 */
#pragma once

#include "base/str.h"
#include "text/text.h"

enum dialect_id {
#define DIALECT(id, ...) DIALECT_##id,
#include "schema/dialects.def"
#undef DIALECT
  DIALECT_COUNT
};

/* What the tree of a schema must look like. */
enum shape {
  SHAPE_STRICT = 1 << 0,       /* the provider enforces it: "strict" is claimed */
  SHAPE_CLOSED = 1 << 1,       /* additionalProperties false on every object */
  SHAPE_ALL_REQUIRED = 1 << 2, /* every property required; optional ones may be null */
  SHAPE_TYPED = 1 << 3,        /* every schema has a type, or is an anyOf */
  SHAPE_ITEMS = 1 << 4,        /* every array has items */
  SHAPE_SPLIT = 1 << 5,        /* no list of types, but for one with null */
  SHAPE_MERGE = 1 << 6,        /* no allOf, oneOf, prefixItems; references written out */
  SHAPE_ANY_OF_ALONE = 1 << 7, /* anyOf stands beside words alone */
  SHAPE_FIRST_KEYS = 1 << 8,   /* objects of one anyOf begin with different keys */
  SHAPE_SCALARS = 1 << 9,      /* enum and const hold scalars alone */
  SHAPE_STRINGS = 1 << 10,     /* enum holds strings alone; const is none */
  SHAPE_NULLABLE = 1 << 11,    /* null is said by "nullable": true */
  SHAPE_UNCLOSED = 1 << 12,    /* additionalProperties is refused */
  SHAPE_RECURSES = 1 << 13,    /* a schema may refer to itself */
  SHAPE_INTEGERS = 1 << 14,    /* bounds stand on integers alone */
  SHAPE_FREE = 1 << 16,        /* keywords are hints: what has no rule is kept */
};

/* A limit of 0: none is known. Bytes are of UTF-8. */
struct dialect {
  const char *name, *source;
  enum dialect_id loose; /* what a tool that cannot be strict is sent in; itself: no strict mode */
  unsigned shape;
  const char *formats;                  /* words; those of `format` that are taken; NULL: any */
  size_t name_max;                      /* of a tool: [A-Za-z0-9_-] */
  bool name_letter;                     /* it begins with a letter or _ */
  size_t key_max;                       /* of a property; 0: any key is fine */
  const char *key_more;                 /* beside letters, and digits behind the first place */
  bool key_digit;                       /* digits also in the first */
  bool key_root;                        /* only properties of the root are looked at */
  size_t tools_max, strict_tools_max;   /* per request */
  size_t optionals_max, unions_max;     /* over all strict tools of a request */
  size_t properties_max, depth_max;     /* per schema, like all that follow */
  size_t enum_max, enum_long_bytes_max; /* values in all; bytes of one enum of over 250 strings */
  size_t name_bytes_max;                /* of all names, enum and const values */
};

#define ENUM_LONG 250 /* O §1: from here on the bytes of an enum count */

enum treat {
  TREAT_KEEP, /* sent as it is */
  TREAT_FIT,  /* sent where its value is one that is taken, else moved */
  TREAT_MOVE, /* into the description; the dispatcher still holds it */
  TREAT_DROP, /* left out: it holds nothing, and says nothing to a model */
};

enum keyword_of { OF_ANY, OF_STRING, OF_NUMBER, OF_ARRAY, OF_OBJECT };
enum keyword_kind {
  KIND_PLAIN,
  KIND_FLAG,  /* true says something, false nothing */
  KIND_SHAPE, /* derive.c knows it */
  KIND_SCHEMA,
  KIND_SCHEMAS, /* an object of schemas */
  KIND_OPEN,    /* names members that no list of properties can */
};

struct keyword {
  const char *word;
  enum keyword_of of;
  enum keyword_kind kind;
  enum text_id note; /* its meaning in a description; {0} is its value. T_NONE: it has none */
};

extern const struct dialect dialects[DIALECT_COUNT];
const struct dialect *dialect_by_name(struct str name); /* NULL none */
const struct keyword *keyword_by_word(struct str word); /* NULL: none of JSON Schema's */
enum treat dialect_treat(const struct dialect *dialect, struct str keyword);
/* Where that is written: of the keyword's rule, else of the dialect. */
const char *dialect_source(const struct dialect *dialect, struct str keyword);
bool dialect_takes_format(const struct dialect *dialect, struct str format);
bool dialect_takes_name(const struct dialect *dialect, struct str name);
bool dialect_takes_key(const struct dialect *dialect, struct str key, bool at_root);
