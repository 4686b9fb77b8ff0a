/* A compilation under way, shared by the files that make a schema: index.c
 * walks documents and names what it finds, refs.c follows references, build*.c
 * turn keywords into rules, loops.c refuses what would never end, compile.c
 * does these in order.
 */
#pragma once

#include "schema/keyword.h"
#include "schema/made.h"

/* Addresses ($id, documents) and anchors: each is looked for in a list. */
#define SCHEMA_NAMES_MAX 4000

struct uri_name {
  struct str uri;
  struct resource *resource;
  struct uri_name *next;
};

struct compile {
  struct schema *schema;
  struct arena *arena; /* the schema's */
  const struct schema_options *options;
  struct err *err;     /* the caller's; may be NULL */
  enum rein_code fail; /* once set, all is over */
  struct sub **subs;   /* in the order found; those behind `built` have no rules yet */
  size_t sub_n, sub_cap;
  uint32_t *slot; /* subs by their json, index + 1 */
  size_t slot_n;  /* a power of two */
  struct uri_name *uris;
  size_t names; /* addresses and anchors, so far */
  size_t patterns;
  struct rule rules[KEYWORD_COUNT]; /* of the sub being built */
  size_t rule_n;
};

/* Fails with a sentence whose {0} is the place: the sub's path and, unless NULL,
 * the keyword below it. Always false, so that a failure is one line. */
bool compile_wrong(struct compile *c, const struct sub *sub, const struct json *keyword,
                   enum text_id text, struct str what);
/* No memory, or more than SCHEMA_BYTES_MAX. Always false. */
bool compile_full(struct compile *c);
bool compile_limit(struct compile *c, int64_t limit, enum text_id text);

/* index.c: the sub of a schema's place; walks it and all below it where that was
 * not done. NULL: failed. */
struct sub *index_walk(struct compile *c, const struct json *json, struct resource *resource,
                       const struct sub *parent, const struct json *keyword);
/* The sub that was walked there; NULL: none. */
struct sub *index_find(const struct compile *c, const struct json *json);
/* A document as a resource under `uri`, not walked. NULL: failed. */
struct resource *index_document(struct compile *c, const struct json *json, struct str uri,
                                unsigned draft);

/* Once it was walked: its own $id, where it has one, is what its parts belong to,
 * also when it is asked for by the address it was handed over with. */
struct resource *index_rename(struct compile *c, struct resource *resource);

/* drafts.c: what a $schema stands for. */
bool schema_draft_read(struct compile *c, const struct sub *sub, const struct json *keyword,
                       struct resource *resource);
/* drafts.c: the text of a schema that belongs to the drafts; empty: none has that address. */
struct str own_schema_text(struct str uri);

/* refs.c: where a reference leads, from `sub`. *dynamic: its anchor, where that
 * is a $dynamicAnchor; may be NULL. NULL: failed. */
const struct sub *refs_find(struct compile *c, const struct sub *sub, const struct json *keyword,
                            const struct anchor **dynamic);
/* refs.c: the document with this address, known, handed over or of the drafts;
 * NULL without a failure: none. */
struct resource *refs_document(struct compile *c, struct str uri, unsigned draft);

/* build.c: the rules of a sub. */
bool build_sub(struct compile *c, struct sub *sub);
/* The next rule, to be filled. */
struct rule *build_rule(struct compile *c, enum rule_op op, unsigned kinds,
                        const struct json *keyword);
/* build_values.c, build_parts.c: the rules of one keyword, or of a group of them. */
bool build_values(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_numbers(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_strings(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_counts(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_members(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_needs(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_items(struct compile *c, const struct sub *sub, const struct keywords *found);
bool build_in_place(struct compile *c, const struct sub *sub, const struct keywords *found);
/* A whole number of 0 and more in *count, held at SIZE_MAX. */
bool build_count(struct compile *c, const struct sub *sub, const struct json *keyword,
                 size_t *count);
struct pattern *build_pattern(struct compile *c, const struct sub *sub, const struct json *keyword,
                              struct str text);
/* The sub below a keyword, walked before. */
const struct sub *build_child(const struct compile *c, const struct json *json);

/* loops.c: no reference leads back to where it stands without going into the value. */
bool loops_refuse(struct compile *c);
/* loops.c: the i-th sub that a rule applies to the value itself; NULL: no more. */
const struct sub *rule_in_place(const struct rule *rule, size_t i);
