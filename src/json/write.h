/* JSON text from pieces: commas and quotes are the writer's business.
 *
 *   struct json_out w = json_out(&buf);
 *   json_open(&w, '{');
 *   json_key(&w, "path"); json_put_text(&w, path);
 *   json_key(&w, "input"); json_put_raw(&w, source);   // spliced as it is
 *   json_close(&w, '}');
 *
 * Failure is remembered by the buffer. Strings are written with the shortest
 * escapes, UTF-8 raw, controls as \u00XX; ill-formed UTF-8 and lone
 * surrogates are written as U+FFFD.
 */
#pragma once

#include "base/buf.h"

struct json_out {
  struct buf *buf;
  bool comma; /* a value stands before at this depth */
};

struct json_out json_out(struct buf *buf);
void json_open(struct json_out *w, char bracket);  /* '{' or '[' */
void json_close(struct json_out *w, char bracket); /* '}' or ']' */
void json_key_str(struct json_out *w, struct str key);
static inline void json_key(struct json_out *w, const char *key) {
  json_key_str(w, str_of(key));
}
void json_put_text(struct json_out *w, struct str text);
void json_put_num(struct json_out *w, int64_t v);
void json_put_bool(struct json_out *w, bool v);
void json_put_null(struct json_out *w);
void json_put_raw(struct json_out *w, struct str json); /* one ready value */
/* The string alone, with its quotes, into any buffer. */
void json_quote(struct buf *out, struct str text);
