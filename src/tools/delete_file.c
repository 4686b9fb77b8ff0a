/* delete_file: one file, or a link itself, never what it leads to, never a folder. */
#include "tools/change.h"
#include "tools/rows.h"

static int give(struct change *c) {
  struct num_text room;
  struct buf text;
  buf_init(&text, 8192);
  if (c->place.is_link)
    CALL_NOTE(&text, c->call, T_TOOLS_DELETED_LINK, c->place.asked);
  else
    CALL_NOTE(&text, c->call, T_TOOLS_DELETED, c->place.asked, str_num(&room, (int64_t)c->old.n));
  change_notes(c, &text);
  return call_give(c->call, &text);
}

static int delete_it(struct change *c, struct err *err) {
  if (!c->place.is_link && !call_saw(c->call, buf_str(&c->place.path), 0)) return REIN_MEMORY;
  enum rein_code code = files_place_delete(&c->place, &c->want, err);
  if (code == REIN_OK) return give(c);
  if (err->text != T_HOST_DELETE_SYNC) c->call->saw.path = STR_NONE;
  return call_fail(c->call, err);
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct change change;
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("delete_file"));
  enum rein_code code = change_open(&change, call, FILES_DELETE, &err);
  int answer = code ? call_fail(call, &err) : delete_it(&change, &err);
  change_close(&change);
  return answer;
}

const struct rein_tool tool_delete_file = {
    .name = "delete_file",
    .description =
        "Deletes one file of the project. Use it only when the task asks for it. A link is deleted "
        "itself, what it leads to stays; folders are refused. A file that was changed by somebody "
        "else since you read it is not deleted: read it again.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"File to delete, relative to the project "
        "root.\"}},\"required\":[\"path\"],\"additionalProperties\":false}",
    .touches = REIN_WRITES,
    .paths = "path",
    .verdict = REIN_ASK,
    .run = run,
};
