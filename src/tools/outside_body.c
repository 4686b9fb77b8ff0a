/* Which encoding: a byte order mark says it, and text that is valid UTF-8 is
 * UTF-8 whatever its header claims; else the header's charset; a guess only
 * where there is none. */
#include "tools/outside_body.h"

#include "base/utf8.h"
#include "tools/encoding.h"
#include "tools/kind.h"

#define CHARSET "charset="

/* Its value in a content-type, without quotes; empty: none. */
static struct str charset_of(struct str type) {
  struct str part, first;
  if (!str_next(&type, ';', &first)) return STR_NONE;
  while (str_next(&type, ';', &part)) {
    part = str_trim(part);
    if (!str_eq_nocase(str_part(part, 0, sizeof CHARSET - 1), STR(CHARSET))) continue;
    struct str value = str_trim(str_part(part, sizeof CHARSET - 1, part.n));
    if (value.n >= 2 && value.p[0] == '"' && str_ends(value, STR("\"")))
      value = str_part(value, 1, value.n - 2);
    return value;
  }
  return STR_NONE;
}

struct reading {
  enum encoding encoding;
  size_t mark;
  bool guessed, unknown;
};

static bool is_wide(enum encoding encoding) {
  return encoding == ENCODING_UTF16LE || encoding == ENCODING_UTF16BE;
}

/* The header's charset against what the bytes look like. */
static bool header_wins(const struct reading *r, enum encoding named) {
  if (r->mark) return false;
  if (is_wide(named)) return true; /* pairs of ASCII would be valid UTF-8 too */
  return r->encoding != ENCODING_UTF8 && r->encoding != ENCODING_BINARY;
}

static struct reading read_as(const struct outside_body *body, struct str charset) {
  struct reading r = {0};
  enum encoding named;
  r.encoding = encoding_of(body->bytes, !body->cut, &r.mark);
  if (encoding_named(charset, &named)) {
    if (header_wins(&r, named)) r.encoding = named;
    return r;
  }
  r.unknown = charset.n && !r.mark && r.encoding != ENCODING_UTF8 && r.encoding != ENCODING_BINARY;
  if (r.unknown) r.encoding = ENCODING_OTHER;
  r.guessed = !charset.n && r.encoding == ENCODING_CP949;
  return r;
}

/* Where more was left out, the last character may be half of one. */
static struct str whole_text(struct str bytes, bool cut) {
  size_t bad = cut ? utf8_bad(bytes) : bytes.n;
  return bytes.n - bad <= 3 ? str_part(bytes, 0, bad) : bytes;
}

static void note_encoding(const struct rein_call *call, const struct reading *r, struct str charset,
                          bool broken, struct buf *out) {
  if (r->encoding == ENCODING_OTHER) {
    enum text_id why = r->unknown ? T_TOOLS_HTTP_CHARSET : T_TOOLS_HTTP_UNNAMED;
    CALL_NOTE(out, call, why, charset);
    buf_c(out, '\n');
    return;
  }
  if (r->encoding != ENCODING_UTF8) {
    enum text_id how = r->guessed ? T_TOOLS_HTTP_GUESS : T_TOOLS_HTTP_DECODED;
    CALL_NOTE(out, call, how, encoding_name(r->encoding));
    buf_c(out, '\n');
  }
  if (!broken) return;
  TEXT_PUT(out, call_lang(call), T_TOOLS_NOT_DECODED);
  buf_c(out, '\n');
}

static void put_binary(const struct rein_call *call, struct str bytes, struct buf *out) {
  enum text_id kind = kind_of(str_part(bytes, 0, KIND_HEAD));
  struct num_text room;
  if (kind == T_NONE) kind = T_TOOLS_KIND_OTHER;
  TEXT_PUT(out, call_lang(call), T_TOOLS_BINARY, str_of(text_raw(kind, call_lang(call))),
           str_num(&room, (int64_t)bytes.n));
}

enum rein_code outside_body(const struct rein_call *call, const struct outside_body *body,
                            struct buf *out) {
  struct str charset = charset_of(body->type);
  struct reading r = read_as(body, charset);
  struct buf text;
  bool broken = false;
  if (r.encoding == ENCODING_BINARY) {
    put_binary(call, body->bytes, out);
    return out->fail;
  }
  struct str bytes = str_part(body->bytes, r.mark, body->bytes.n);
  if (r.encoding == ENCODING_UTF8 || r.encoding == ENCODING_OTHER)
    bytes = whole_text(bytes, body->cut);
  buf_init(&text, CALL_RESULT_MAX);
  enum rein_code code = encoding_show(r.encoding, bytes, &text, &broken);
  note_encoding(call, &r, charset, broken, out);
  buf_c(out, '\n');
  buf_put(out, buf_str(&text));
  buf_release(&text);
  return code == REIN_OK ? out->fail : code;
}
