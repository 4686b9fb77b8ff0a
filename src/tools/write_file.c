/* write_file: a whole file of the project, new or in place of an old one. How it
 * gets there whole or not at all is host/files.h's; what the run must have seen
 * of the old one, change.h's. */
#include "tools/change.h"
#include "tools/encoding.h"
#include "tools/rows.h"

/* What the new file is not any more. */
static void note_old(const struct change *c, struct buf *out) {
  size_t mark;
  struct num_text room;
  struct str old = buf_str(&c->old);
  if (c->vanished) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_WRITE_VANISHED, STR_NONE);
  }
  if (!c->place.there) return;
  if (!c->known) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_WRITE_UNSEEN, str_num(&room, (int64_t)old.n));
  }
  enum encoding was = encoding_of(old, true, &mark);
  if (was == ENCODING_UTF8) return;
  buf_c(out, '\n');
  if (was == ENCODING_BINARY || was == ENCODING_OTHER)
    CALL_NOTE(out, c->call, T_TOOLS_WRITE_WAS_OTHER, STR_NONE);
  else
    CALL_NOTE(out, c->call, T_TOOLS_WRITE_WAS, encoding_name(was));
}

static int give(struct change *c, struct str content) {
  struct num_text room;
  struct buf text;
  buf_init(&text, 8192);
  CALL_NOTE(&text, c->call, c->place.there ? T_TOOLS_REPORT_REPLACED : T_TOOLS_REPORT_NEW,
            c->place.asked, str_num(&room, (int64_t)content.n));
  note_old(c, &text);
  change_notes(c, &text);
  return call_give(c->call, &text);
}

static int write_it(struct change *c, struct err *err) {
  struct str content = call_text(c->call, "content");
  struct num_text a, b;
  if (content.n > CHANGE_BYTES_MAX)
    return CALL_FAIL(c->call, REIN_LIMIT, T_TOOLS_WRITE_BIG, str_num(&a, (int64_t)content.n),
                     str_num(&b, CHANGE_BYTES_MAX));
  if (change_write(c, content, err)) return call_fail(c->call, err);
  return give(c, content);
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct change change;
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("write_file"));
  enum rein_code code = change_open(&change, call, FILES_WRITE, &err);
  int answer = code ? call_fail(call, &err) : write_it(&change, &err);
  change_close(&change);
  return answer;
}

const struct rein_tool tool_write_file = {
    .name = "write_file",
    .description =
        "Writes a whole text file of the project, as UTF-8. Use it for a new file, or to replace "
        "one entirely; to change a part of a file use edit_file, which keeps the rest as it is. "
        "Folders on the way are made. A file that was changed by somebody else since you read it "
        "is not replaced: read it again. The result says what was written and what was replaced.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"File to write, relative to the project "
        "root, for example src/main.c.\"},"
        "\"content\":{\"type\":\"string\",\"description\":\"The whole text of the file.\"}},"
        "\"required\":[\"path\",\"content\"],\"additionalProperties\":false}",
    .touches = REIN_WRITES,
    .paths = "path",
    .verdict = REIN_ASK,
    .run = run,
};
