/* Blank texts, ids and names for the wire, quotes of what a server said. */
#include "wire/words.h"

#include "base/hash.h"
#include "base/utf8.h"

#define NAME_MAX_LETTERS 64  /* tools' names, on every wire */
#define ID_MAX_LETTERS 64    /* calls' ids, on the Responses wire */
#define QUOTE_POINTS_MAX 200 /* as much as an error for the model may have */
#define QUOTE_BYTES_MAX 4096

static bool is_space(uint32_t cp) {
  static const uint32_t ranges[][2] = {
      {9, 13},          {28, 32},         {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680},
      {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (cp >= ranges[i][0] && cp <= ranges[i][1]) return true;
  return false;
}

bool words_blank(struct str text) {
  while (text.n > 0) {
    uint32_t cp;
    size_t n = utf8_next(text, &cp);
    if (n == 0 || !is_space(cp)) return false;
    text = str_part(text, n, text.n);
  }
  return true;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

static bool put_letters(struct buf *out, struct str s) {
  bool same = true;
  for (size_t i = 0; i < s.n; i++) {
    bool fine = is_letter(s.p[i]);
    buf_c(out, fine ? s.p[i] : '_');
    same = same && fine;
  }
  return same;
}

void words_put_id(struct buf *out, struct str id) {
  if (id.n == 0) buf_lit(out, "call");
  if (!put_letters(out, id)) buf_fmt(out, "_%08x", (unsigned)(hash_str(id) & 0xffffffffu));
}

void words_put_short_id(struct buf *out, struct str id) {
  if (id.n <= ID_MAX_LETTERS - strlen("_01234567")) {
    words_put_id(out, id);
    return;
  }
  (void)put_letters(out, str_part(id, 0, ID_MAX_LETTERS - strlen("_01234567")));
  buf_fmt(out, "_%08x", (unsigned)(hash_str(id) & 0xffffffffu));
}

bool words_header_safe(struct str key) {
  for (size_t i = 0; i < key.n; i++)
    if ((unsigned char)key.p[i] <= 32 || key.p[i] == 127) return false;
  return key.n > 0;
}

void words_put_name(struct buf *out, struct str name) {
  if (name.n == 0) buf_lit(out, "unnamed");
  (void)put_letters(out, str_part(name, 0, NAME_MAX_LETTERS));
}

void words_quote(struct buf *out, struct str bytes) {
  struct buf sound, line;
  buf_init(&sound, 4 * QUOTE_BYTES_MAX);
  buf_init(&line, 8 * QUOTE_BYTES_MAX);
  utf8_repair(&sound, str_trim(str_part(bytes, 0, QUOTE_BYTES_MAX)));
  bool space = false;
  for (size_t i = 0; i < sound.n; i++) {
    bool now = strchr(" \t\r\n", sound.p[i]) && sound.p[i];
    if (!now)
      buf_c(&line, sound.p[i]);
    else if (!space)
      buf_c(&line, ' ');
    space = now;
  }
  struct str head = utf8_head(buf_str(&line), QUOTE_POINTS_MAX);
  utf8_show(out, head, false);
  if (head.n < line.n) buf_lit(out, "…");
  if (sound.fail) out->fail = sound.fail;
  if (line.fail) out->fail = line.fail;
  buf_release(&sound);
  buf_release(&line);
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool words_have(struct str text, struct str part) {
  for (size_t i = 0; i + part.n <= text.n; i++) {
    size_t n = 0;
    while (n < part.n && lower(text.p[i + n]) == lower(part.p[n]))
      n++;
    if (n == part.n) return true;
  }
  return false;
}
