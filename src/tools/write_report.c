/* write_report: a file below reports/, and nowhere else. Where that is, and that
 * it is written whole or not at all, is host/files.h's. */
#include "tools/call.h"
#include "tools/rows.h"

#include <unistd.h>

#define BELOW "reports"

/* For the words of the answer alone: what was there may change meanwhile. */
static bool is_there(const struct files *files, struct str path) {
  struct err err = {0};
  int fd = -1;
  if (files_open(files, path, FILES_READ, &fd, NULL, &err)) return false;
  close(fd);
  return true;
}

/* Its own later changes are no conflict. False: no memory. */
static bool saw(struct rein_call *call, struct str path, struct str content) {
  struct err err = {0};
  struct buf real;
  int fd = -1;
  if (files_open(call->house->files, path, FILES_READ, &fd, NULL, &err))
    return err.code != REIN_MEMORY;
  buf_init(&real, 4096); /* PATH_MAX */
  enum rein_code code = files_path_of(call->house->files, fd, &real);
  bool ok =
      code == REIN_OK ? call_saw(call, buf_str(&real), files_hash(content)) : code != REIN_MEMORY;
  close(fd);
  buf_release(&real);
  return ok;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  const struct files *files = call->house->files;
  struct str path = call_text(call, "path"), content = call_text(call, "content");
  if (!files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("write_report"));
  bool replaced = is_there(files, path);
  if (files_write_below(files, BELOW, path, content, &err)) return call_fail(call, &err);
  if (!saw(call, path, content)) return REIN_MEMORY;
  struct num_text room;
  struct buf text;
  buf_init(&text, 8192);
  CALL_NOTE(&text, call, replaced ? T_TOOLS_REPORT_REPLACED : T_TOOLS_REPORT_NEW, path,
            str_num(&room, (int64_t)content.n));
  return call_give(call, &text);
}

const struct rein_tool tool_write_report = {
    .name = "write_report",
    .description =
        "Writes a text file below the folder reports/ of the project; it can write nowhere else. "
        "Use it to hand over a longer result as a file. Folders on the way are made; a file that "
        "is already there is replaced as a whole. The result says what was written and its size.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"File to write, relative to the project "
        "root and beginning with reports/, for example reports/summary.md.\"},"
        "\"content\":{\"type\":\"string\",\"description\":\"The whole text of the file.\"}},"
        "\"required\":[\"path\",\"content\"],\"additionalProperties\":false}",
    .touches = REIN_WRITES,
    .paths = "path",
    .verdict = REIN_ALLOW,
    .run = run,
};
