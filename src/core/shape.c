/* Results as the model sees them: see shape.h. The whole text stays in the journal. */
#include "core/shape.h"

#include "base/utf8.h"
#include "text/text.h"

#define SHAPE_MAX (256u << 20) /* above any tool's own ceiling */
#define MARK STR(" \xE2\x80\xA6")

static struct str first_line(struct str s) {
  struct str line;
  while (str_next(&s, '\n', &line)) {
    line = str_trim(line);
    if (line.n) return line;
  }
  return STR_NONE;
}

void shape_error(struct buf *out, struct str raw) {
  struct buf clean;
  buf_init(&clean, SHAPE_MAX);
  utf8_repair(&clean, first_line(raw));
  if (clean.fail) out->fail = clean.fail;
  struct str line = buf_str(&clean);
  struct str head = utf8_head(line, ERROR_POINTS_MAX);
  if (head.n < line.n) {
    buf_put(out, utf8_head(line, ERROR_POINTS_MAX - 2));
    buf_put(out, MARK);
  } else {
    buf_put(out, line);
  }
  buf_release(&clean);
}

void shape_cut(struct buf *out, struct str text, size_t most, enum rein_lang lang) {
  struct num_text left_room, all_room;
  size_t points = utf8_count(text);
  struct str head = utf8_head(text, most * 2 / 3);
  struct str tail = utf8_tail(text, most / 3);
  size_t left = points - utf8_count(head) - utf8_count(tail);
  buf_put(out, head);
  buf_lit(out, "\n");
  TEXT_PUT(out, lang, T_CORE_RESULT_CUT, str_num(&left_room, (int64_t)left),
           str_num(&all_room, (int64_t)points));
  buf_lit(out, "\n");
  buf_put(out, tail);
}

void shape_result(struct buf *out, struct str raw, enum rein_lang lang) {
  struct buf clean;
  buf_init(&clean, SHAPE_MAX);
  utf8_repair(&clean, raw);
  if (clean.fail) out->fail = clean.fail;
  struct str text = buf_str(&clean);
  size_t points = text.n > RESULT_POINTS_MAX ? utf8_count(text) : 0;
  if (str_blank(text)) {
    TEXT_PUT(out, lang, T_CORE_CALL_EMPTY);
  } else if (points > RESULT_POINTS_MAX) {
    shape_cut(out, text, RESULT_POINTS_MAX, lang);
  } else {
    buf_put(out, text);
  }
  buf_release(&clean);
}
