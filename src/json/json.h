/* JSON text to a tree that keeps what was written.
 *
 * Each node knows the source bytes it came from, so it can be passed on
 * untouched; numbers stay text; keys keep their order; a key that stands twice
 * is found. The tree lives in the caller's arena and borrows from the source
 * text, which must outlive it.
 *
 *   struct json *doc;
 *   if (json_parse(&arena, text, JSON_STRICT, &doc, &err)) return err.code;
 *   struct str name = json_text(json_get(doc, "name"));
 *
 * Limits (each an attack or an accident): depth 512; the arena's ceiling.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum json_kind {
  JSON_NULL,
  JSON_FALSE,
  JSON_TRUE,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
};

#define JSON_DEPTH_MAX 512

struct json {
  enum json_kind kind;
  bool surrogate;            /* a lone surrogate stands in it or below it (keys too) */
  struct str source;         /* the value's bytes in the text */
  struct str text;           /* string: decoded (lone surrogates as WTF-8); number: as written */
  struct str key;            /* member of an object: decoded key */
  struct str key_source;     /* and as written, with its quotes */
  struct json *first, *next; /* children in order; next sibling */
  size_t count;
  const struct json *twin; /* object: the first member whose key stood before; else NULL */
};

enum json_mode {
  JSON_STRICT = 0,        /* RFC 8259 */
  JSON_COMMENTS = 1 << 0, /* also // and block comments: config and packs */
  JSON_UNIQUE = 1 << 1,   /* a key that stands twice is an error */
};

/* Parses the whole of `text` (UTF-8; invalid bytes are an error; a BOM is one
 * too, except with JSON_COMMENTS). Errors: REIN_INPUT with at, line, column;
 * REIN_LIMIT too deep, or the arena's ceiling; REIN_MEMORY. */
enum rein_code json_parse(struct arena *arena, struct str text, unsigned mode, struct json **doc,
                          struct err *err) REIN_CHECKED;

/* All of these take NULL and a node of the wrong kind, and say "none". */
const struct json *json_member(const struct json *object, struct str key);
static inline const struct json *json_get(const struct json *object, const char *key) {
  return json_member(object, str_of(key));
}
const struct json *json_at(const struct json *array, size_t i);
/* By JSON pointer (RFC 6901); NULL when nothing is there. */
const struct json *json_point(const struct json *node, struct str pointer);
/* Appends a step of a pointer: "/" and the key, escaped. */
void json_step_put(struct buf *out, struct str key);
struct str json_text(const struct json *node); /* a string's; else empty */
bool json_is(const struct json *node, enum json_kind kind);
bool json_true(const struct json *node);
/* An integer written in any way (1, 1.0, 1e2) inside int64; else false. */
bool json_int(const struct json *node, int64_t *out);
/* A finite number; false on overflow ("1e400") or another kind. */
bool json_double(const struct json *node, double *out);
/* The first key that stands twice anywhere in the tree; NULL none. */
const struct json *json_find_twin(const struct json *node);

/* Appends one spelling for all texts that mean the same: keys sorted (twins in
 * their order), numbers normal (exact; exponents beyond 18 digits as written),
 * blanks around string values dropped where `trim`. */
void json_canon(struct buf *out, const struct json *node, bool trim);
/* Appends the text with escapes of unpaired surrogates turned into \ufffd,
 * and invalid UTF-8 repaired; all else byte for byte. Works on any bytes. */
void json_mend(struct buf *out, struct str text);
