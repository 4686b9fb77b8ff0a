/* The table of sentences, and errors as data: filling them where the knowledge
 * is, showing them in the language of whoever reads. The sentences themselves
 * stand in this folder's .def files.
 */
#include "text/text.h"

#include "base/utf8.h"

static const struct {
  const char *english, *korean;
} texts[T_COUNT] = {
    [T_NONE] = {"", ""},
#define TEXT(id, english, korean) [T_##id] = {english, korean},
#include "text/json.def"
#include "text/regex.def"
#include "text/schema.def"
#include "text/policy.def"
#include "text/pack.def"
#include "text/core.def"
#include "text/wire.def"
#include "text/host.def"
#include "text/tools.def"
#include "text/store.def"
#include "text/driver.def"
#include "text/cli.def"
#undef TEXT
};

#define ERR_VALUES_MAX 10 /* {0} to {9} */

const char *text_raw(enum text_id id, enum rein_lang lang) {
  if (id >= T_COUNT) return "";
  return lang == REIN_KOREAN ? texts[id].korean : texts[id].english;
}

void text_put(struct buf *out, enum rein_lang lang, enum text_id id, const struct str *args,
              size_t n) {
  struct str rest = str_of(text_raw(id, lang));
  while (rest.n > 0) {
    size_t brace = str_find_char(rest, '{');
    buf_put(out, str_part(rest, 0, brace));
    rest = str_part(rest, brace, rest.n);
    bool place = rest.n >= 3 && rest.p[1] >= '0' && rest.p[1] <= '9' && rest.p[2] == '}';
    size_t i = place ? (size_t)(rest.p[1] - '0') : n;
    if (i < n) {
      buf_put(out, args[i]);
      rest = str_part(rest, 3, rest.n);
    } else {
      buf_put(out, str_part(rest, 0, 1));
      rest = str_part(rest, 1, rest.n);
    }
  }
}

/* How many bytes each value may take: what short ones leave over is shared by
 * the long ones. */
static size_t fair_share(const struct str *args, size_t n) {
  size_t room = ERR_ARGS_MAX - n * sizeof(uint16_t);
  size_t share = n > 0 ? room / n : room;
  for (size_t round = 0; round < n; round++) {
    size_t taken = 0, longer = 0;
    for (size_t i = 0; i < n; i++) {
      taken += args[i].n <= share ? args[i].n : 0;
      longer += args[i].n > share;
    }
    if (longer == 0) break;
    share = (room - taken) / longer;
  }
  return share;
}

/* At most `max` bytes of s, on a character's border, with the mark if cut. */
static size_t keep_value(char *to, struct str s, size_t max) {
  static const char mark[] = "…";
  bool cut = s.n > max;
  size_t n = cut ? max - (sizeof mark - 1) : s.n;
  for (size_t back = 0; cut && back < 3 && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80; back++)
    n--;
  if (n > 0) memcpy(to, s.p, n);
  if (!cut) return n;
  memcpy(to + n, mark, sizeof mark - 1);
  return n + sizeof mark - 1;
}

enum rein_code err_fill(struct err *err, enum rein_code code, enum text_id id,
                        const struct str *args, size_t n) {
  if (!err) return code;
  if (n > ERR_VALUES_MAX) n = ERR_VALUES_MAX;
  /* Built aside, since a value may be a part of the error being replaced. */
  struct err made;
  size_t share = fair_share(args, n), at = 0;
  for (size_t i = 0; i < n; i++) {
    uint16_t kept = (uint16_t)keep_value(made.args + at + sizeof kept, args[i], share);
    memcpy(made.args + at, &kept, sizeof kept);
    at += sizeof kept + kept;
  }
  memcpy(err->args, made.args, at);
  err->code = code;
  err->text = (uint16_t)id;
  err->args_n = (uint16_t)n;
  err->at = err->line = err->column = 0;
  return code;
}

void err_put(struct buf *out, enum rein_lang lang, const struct err *err) {
  struct str args[ERR_VALUES_MAX];
  size_t n = err->args_n < ERR_VALUES_MAX ? err->args_n : ERR_VALUES_MAX;
  size_t at = 0;
  for (size_t i = 0; i < n; i++) {
    uint16_t size;
    memcpy(&size, err->args + at, sizeof size);
    args[i] = (struct str){err->args + at + sizeof size, size};
    at += sizeof size + size;
  }
  text_put(out, lang, (enum text_id)err->text, args, n);
}
