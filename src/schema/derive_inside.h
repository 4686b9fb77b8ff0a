/* What the files of derive share with each other and nobody else: derive.c (the
 * walk), derive_view.c (what a schema says, references and allOf written out),
 * derive_object.c, derive_branch.c (anyOf), derive_words.c (findings and notes),
 * derive_fit.c (values and limits), derive_tree.c (new nodes).
 */
#pragma once

#include "schema/derive.h"

/* Types as bits. */
enum types {
  TYPE_NULL = 1,
  TYPE_BOOLEAN = 2,
  TYPE_INTEGER = 4,
  TYPE_NUMBER = 8,
  TYPE_STRING = 16,
  TYPE_ARRAY = 32,
  TYPE_OBJECT = 64,
};
#define TYPE_COUNT 7

struct opened; /* a reference that is being written out */
struct def;    /* a schema that refers to itself */

/* One tool in one dialect. */
struct derive {
  struct arena *arena;
  const struct dialect *dialect;
  enum rein_lang lang;
  size_t tool;
  const struct json *root, *here; /* the schema that is walked: where what is new belongs */
  struct findings found;
  struct opened *opened;
  struct def *defs;
  size_t nodes, depth;
  bool no_memory, too_large;
  bool is_loose; /* it cannot be strict */
};

struct note {
  struct str text;
  struct note *next;
};

/* A list of members or elements under construction. */
struct made {
  struct json *node;
  struct json **end;
};

/* What one schema says: its members, with references and allOf merged in where
 * the dialect needs it, and what had to become words. */
struct view {
  const struct json *from; /* the schema itself, for its pointer */
  struct made members;
  struct note *notes, **notes_end;
  struct str itself; /* it refers to what is being written out: the $ref to send */
  bool root;
};

/* -- derive_tree.c: NULL and no effect without memory; d->no_memory remembers -- */
struct made made_open(struct derive *d, enum json_kind kind);
void made_add(struct derive *d, struct made *to, struct str key, const struct json *value);
void made_flag(struct derive *d, struct made *to, const char *key, bool value);
void made_text(struct derive *d, struct made *to, const char *key, struct str text);
struct json *made_string(struct derive *d, struct str text);
struct json *made_null(struct derive *d);
void made_remove(struct made *from, const char *key);
void tree_put(struct buf *out, const struct json *node);
/* A finished buffer as text of the arena; releases it. */
struct str text_take(struct derive *d, struct buf *b);

/* -- derive_view.c -- */
bool view_make(struct derive *d, const struct json *schema, bool root, struct view *v);
const struct json *view_get(const struct view *v, const char *key);
bool view_alone(const struct view *v, const char *key); /* beside words alone (and a type) */
/* Members of both; where they differ, {word: [a, b]}. */
const struct json *properties_merge(struct derive *d, const struct json *a, const struct json *b,
                                    const char *word);
/* Types that it takes; inferred where it says none; 0: any value. */
unsigned view_types(const struct view *v);
unsigned types_named(const struct json *type);
const char *type_word(unsigned one);
unsigned type_of(const struct json *value);
/* What a reference of this tool points at; NULL: not here. */
const struct json *ref_target(const struct derive *d, struct str ref);
bool ref_open(struct derive *d, const struct json *target); /* false: no memory */
struct json *defs_take(struct derive *d, struct str *name); /* the next one to be derived */

/* -- derive_fit.c -- */
bool value_fits(const struct derive *d, const struct json *member, unsigned type);
/* Whether a whole derived schema is inside the dialect's limits; else a finding. */
void limits_check(struct derive *d, const struct json *out);
size_t count_optionals(const struct json *out);
size_t count_unions(const struct json *out);

/* -- derive_object.c -- */
void put_object(struct derive *d, struct view *v, struct made *out);
void put_items(struct derive *d, struct view *v, struct made *out);
void absorb_branches(struct derive *d, struct view *v);

/* -- derive_branch.c: *typed when the branches took over the type -- */
void put_any_of(struct derive *d, struct view *v, const struct json *m, bool *typed,
                struct made *out);

/* -- derive.c -- */
struct json *derive_schema(struct derive *d, const struct json *schema, bool root);
struct json *allow_null(struct derive *d, struct json *out);
/* -- derive_words.c -- */
void note_keyword(struct derive *d, struct view *v, const struct json *member);
void note_text(struct derive *d, struct view *v, enum text_id id, struct str one, struct str two);
/* Moves a member's meaning into words and says so. */
void move(struct derive *d, struct view *v, const struct json *member);
void find(struct derive *d, const struct json *at, const char *keyword, enum effect effect,
          enum text_id why);
void find_values(struct derive *d, const struct json *at, const char *keyword, enum effect effect,
                 enum text_id why, const struct str values[2]);
/* In front, with the notes. */
void put_description(struct derive *d, const struct view *v, struct made *out);
/* The tool cannot be strict. In a dialect that is not strict: nothing. */
void go_loose(struct derive *d, const struct json *at, const char *keyword, enum text_id why);
static inline bool shaped(const struct derive *d, unsigned shape) {
  return (d->dialect->shape & shape) != 0;
}
