/* The writer: it knows where commas and quotes go, and nothing of what it
 * writes. Failure is the buffer's to remember.
 */
#include "json/write.h"

#include "base/utf8.h"
#include "json/inside.h"

struct json_out json_out(struct buf *buf) {
  return (struct json_out){.buf = buf};
}

/* Between two values, keys counting as part of theirs. */
static void separate(struct json_out *w, bool next) {
  if (w->comma) buf_c(w->buf, ',');
  w->comma = next;
}

void json_open(struct json_out *w, char bracket) {
  separate(w, false);
  buf_c(w->buf, bracket);
}

void json_close(struct json_out *w, char bracket) {
  buf_c(w->buf, bracket);
  w->comma = true;
}

void json_key_str(struct json_out *w, struct str key) {
  separate(w, false);
  json_quote(w->buf, key);
  buf_c(w->buf, ':');
}

void json_put_text(struct json_out *w, struct str text) {
  separate(w, true);
  json_quote(w->buf, text);
}

void json_put_num(struct json_out *w, int64_t v) {
  separate(w, true);
  buf_num(w->buf, v);
}

void json_put_bool(struct json_out *w, bool v) {
  separate(w, true);
  buf_put(w->buf, v ? STR("true") : STR("false"));
}

void json_put_null(struct json_out *w) {
  separate(w, true);
  buf_lit(w->buf, "null");
}

void json_put_raw(struct json_out *w, struct str json) {
  separate(w, true);
  buf_put(w->buf, json);
}

static void escape(struct buf *out, char c) {
  switch (c) {
  case '"': buf_lit(out, "\\\""); return;
  case '\\': buf_lit(out, "\\\\"); return;
  case '\b': buf_lit(out, "\\b"); return;
  case '\f': buf_lit(out, "\\f"); return;
  case '\n': buf_lit(out, "\\n"); return;
  case '\r': buf_lit(out, "\\r"); return;
  case '\t': buf_lit(out, "\\t"); return;
  }
  static const char hex[] = "0123456789abcdef";
  char code[] = {'\\', 'u', '0', '0', hex[(unsigned char)c >> 4], hex[c & 15]};
  buf_put(out, (struct str){code, sizeof code});
}

static void quote_valid(struct buf *out, struct str text) {
  for (size_t i = 0; i < text.n; i++) {
    size_t run = json_plain_run(text.p + i, text.n - i);
    buf_put(out, str_part(text, i, run));
    i += run;
    if (i < text.n) escape(out, text.p[i]);
  }
}

void json_quote(struct buf *out, struct str text) {
  buf_c(out, '"');
  while (text.n > 0) {
    size_t good = utf8_bad(text);
    quote_valid(out, str_part(text, 0, good));
    text = str_part(text, good, text.n);
    if (text.n > 0) text = str_part(text, utf8_repair_part(out, text), text.n);
  }
  buf_c(out, '"');
}
