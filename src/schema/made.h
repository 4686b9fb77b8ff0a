/* A compiled schema, between the files that make it (compile.c, build*.c,
 * index.c, refs.c) and those that use it (eval*.c, explain.c, absent.c).
 *
 * Each subschema is a `sub`: the types it takes, and rules, the cheap ones
 * first. References point at their sub; nothing is looked up by name later but
 * the members of a value. All of it lies in the schema's arena.
 */
#pragma once

#include "json/number.h"
#include "regex/regex.h"
#include "schema/schema.h"

/* Compiled form of one schema with its documents: 20 times what the largest
 * tool seen in the wild takes. */
#define SCHEMA_BYTES_MAX ((size_t)32 << 20)
/* Subschemas, those of documents included; ten times the two drafts' own. */
#define SCHEMA_SUBS_MAX 100000
/* Patterns; each takes PCRE2 some ten microseconds and kilobytes. */
#define SCHEMA_PATTERNS_MAX 2000
/* Subschemas within subschemas while a value is checked; recursion must end. A
 * value nested as deep as JSON may be (512) has one for each level and a $ref
 * for every second. */
#define SCHEMA_DEPTH_MAX 768
/* Looks at a subschema, a rule, a member, of one value; at about 10 ns each a
 * value of a million items is done, and an attack ends within the second. */
#define SCHEMA_STEPS_MAX 20000000
/* Sets and tables of one check. */
#define CHECK_BYTES_MAX ((size_t)64 << 20)

/* Types as bits: those of enum json_kind, and integer. */
enum type_bits {
  TYPE_NULL = 1 << JSON_NULL,
  TYPE_BOOL = 1 << JSON_FALSE | 1 << JSON_TRUE,
  TYPE_NUMBER = 1 << JSON_NUMBER,
  TYPE_STRING = 1 << JSON_STRING,
  TYPE_ARRAY = 1 << JSON_ARRAY,
  TYPE_OBJECT = 1 << JSON_OBJECT,
  TYPE_INTEGER = 1 << (JSON_OBJECT + 1), /* beside TYPE_NUMBER: nothing new */
  TYPE_ANY = TYPE_INTEGER * 2 - 1
};

/* In the order in which they are tried; unevaluated ones must be last. */
enum rule_op {
  RULE_VALUES, /* enum, const */
  RULE_MINIMUM,
  RULE_MAXIMUM,
  RULE_ABOVE, /* exclusiveMinimum */
  RULE_BELOW,
  RULE_MULTIPLE,
  RULE_MIN_LENGTH,
  RULE_MAX_LENGTH,
  RULE_FORMAT,
  RULE_PATTERN,
  RULE_MIN_ITEMS,
  RULE_MAX_ITEMS,
  RULE_MIN_MEMBERS,
  RULE_MAX_MEMBERS,
  RULE_MEMBERS, /* properties, patternProperties, additionalProperties, required */
  RULE_NAMES,
  RULE_NEEDS,      /* dependentRequired */
  RULE_DEPENDENTS, /* dependentSchemas */
  RULE_ITEMS,      /* prefixItems, items; in draft 7 items, additionalItems */
  RULE_CONTAINS,
  RULE_UNIQUE,
  RULE_REF,
  RULE_DYNAMIC_REF,
  RULE_ALL,
  RULE_ANY,
  RULE_ONE,
  RULE_NOT,
  RULE_IF,
  RULE_OTHER_ITEMS, /* unevaluatedItems */
  RULE_OTHER_MEMBERS,
  RULE_NESTED = RULE_MEMBERS /* from here on they may lead to other subs */
};

struct sub;

struct subs {
  const struct sub **v;
  size_t n;
};

struct bound {
  struct json_decimal decimal;
  bool small; /* then `value` is it */
  int64_t value;
};

/* Values of enum and const, found by their hash. */
struct values {
  const struct json **v; /* in the schema's order */
  uint64_t *hash;
  size_t n;
  uint32_t *slot; /* index + 1; NULL: few, look at all */
  uint32_t mask;
};

struct pattern {
  struct regex *regex;
  struct regex_scratch *scratch; /* made at the first use */
  struct str text;
  struct pattern *next;
};

/* A name of `properties` or `required`. */
struct member {
  struct str key;
  const struct sub *sub; /* NULL: only required */
  bool required;
};

struct pattern_sub {
  struct pattern *pattern;
  const struct sub *sub;
};

struct members {
  struct member *v; /* in the schema's order */
  size_t n, required;
  uint32_t *slot; /* index + 1; NULL: few, look at all */
  uint32_t mask;
  struct pattern_sub *patterns;
  size_t pattern_n;
  const struct sub *rest; /* additionalProperties; NULL: not given */
};

struct items {
  struct subs first;
  const struct sub *rest; /* NULL: not given */
};

struct contains {
  const struct sub *sub;
  size_t min, max;
  bool marks; /* 2020-12: what it finds is evaluated */
};

struct condition {
  const struct sub *when, *then, *otherwise; /* the last two may be NULL */
};

/* A member that needs others, or a schema, where it is there. */
struct need {
  struct str key;
  const struct json *keys; /* array of strings */
  const struct sub *sub;
};

struct needs {
  struct need *v;
  size_t n;
};

struct dynamic {
  const struct sub *sub; /* as $ref would */
  struct str name;       /* empty: it is no more than a $ref */
};

struct format; /* format.h */

struct rule {
  enum rule_op op;
  unsigned kinds;             /* bits of enum json_kind that it looks at */
  const struct json *keyword; /* the member of the schema, for words */
  union {
    const struct values *values;
    const struct bound *bound;
    size_t count;
    struct pattern *pattern;
    const struct format *format;
    const struct members *members;
    const struct needs *needs;
    const struct items *items;
    const struct contains *contains;
    const struct condition *condition;
    const struct sub *sub;
    const struct subs *subs;
    const struct dynamic *dynamic;
  };
};

/* A schema with an address of its own: a document, or a part with $id. */
struct anchor {
  struct str name;
  struct sub *sub;
  bool dynamic;
  struct anchor *next;
};

struct resource {
  struct str uri; /* absolute where anything was given, without a fragment */
  const struct json *root;
  unsigned draft;      /* enum schema_draft */
  unsigned vocabulary; /* keyword.h */
  struct anchor *anchors;
  bool has_dynamic;
  struct resource *next;
};

struct sub {
  unsigned types; /* enum type_bits; none: the schema false */
  /* Of rules: kinds that some rule looks at, and those for which one leads to
   * another sub. Values of other kinds need no look, or no book-keeping. */
  unsigned kinds, nested;
  /* All that its rules ask of an integer, where that is no more than a range. */
  bool ranged;
  int64_t low, high;
  const struct members *members; /* all that it asks of an object; NULL: ask its rules */
  const struct values *words;    /* the same of a string, a few values */
  bool tracks;                   /* asks what its own rules left over */
  const struct sub *to;          /* itself; where it is no more than a $ref, what that leads to */
  uint32_t rule_n;
  const struct rule *rules;
  struct resource *resource;
  /* Where it stands, for words. */
  const struct json *json;
  const struct json *keyword; /* the member of `parent` that holds it; NULL: a root */
  const struct sub *parent;
  uint32_t number; /* its place among the subs of the compilation */
};

struct schema {
  struct arena arena;
  const struct sub *root;
  struct pattern *patterns;
  bool dynamic; /* some $dynamicRef depends on how a sub was reached */
  enum rein_lang lang;
};

/* The path of a sub from the root of its document, as a JSON pointer. */
void sub_path(struct buf *out, const struct sub *sub);
/* The name among those of `properties` and `required`; NULL: it is none. */
struct member *members_find(const struct members *m, struct str key);
