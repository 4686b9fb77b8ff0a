/* The steps that changing a file has, whatever the change is. */
#include "tools/change.h"

#include <sys/stat.h>

static enum rein_code changed(const struct change *c, struct err *err) {
  return CALL_ERR(err, REIN_INPUT, T_HOST_WRITE_CHANGED, c->place.asked);
}

/* Of a link that is deleted, nothing was read. */
static enum rein_code compare(struct change *c, struct err *err) {
  uint64_t seen = 0;
  c->known = call_knows(c->call, buf_str(&c->place.path), &seen);
  if (!c->place.there) {
    c->want.state = FILES_NONE;
    c->vanished = c->known && seen;
    return REIN_OK;
  }
  if (c->place.is_link) return REIN_OK;
  enum rein_code code = files_place_read(&c->place, CHANGE_BYTES_MAX, &c->old, err);
  if (code != REIN_OK) return code;
  c->want = (struct files_want){FILES_SAME, files_hash(buf_str(&c->old))};
  return c->known && seen != c->want.hash ? changed(c, err) : REIN_OK;
}

enum rein_code change_open(struct change *c, struct rein_call *call, enum files_aim aim,
                           struct err *err) {
  *c = (struct change){.call = call, .place.dir = -1};
  buf_init(&c->old, CHANGE_BYTES_MAX + 1);
  enum rein_code code =
      files_place_open(call->house->files, call_text(call, "path"), aim, &c->place, err);
  return code == REIN_OK ? compare(c, err) : code;
}

void change_close(struct change *c) {
  files_place_close(&c->place);
  buf_release(&c->old);
}

enum rein_code change_write(struct change *c, struct str bytes, struct err *err) {
  if (!call_saw(c->call, buf_str(&c->place.path), files_hash(bytes)))
    return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  enum rein_code code = files_place_write(&c->place, bytes, &c->want, &c->done, err);
  /* Not written: what was seen before is what still counts. */
  if (code != REIN_OK && err->text != T_HOST_WRITE_SYNC) c->call->saw.path = STR_NONE;
  return code;
}

static struct str last_name(struct str path) {
  struct str before, name = path;
  (void)str_split_last(path, '/', &before, &name);
  return name;
}

static void note_path(const struct change *c, struct buf *out) {
  struct str real = buf_str(&c->place.path);
  if (c->place.other) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_OTHER_FORM, c->place.asked, real);
  } else if (!str_eq(last_name(real), last_name(c->place.asked))) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_CHANGE_LINK, c->place.asked, real);
  }
}

void change_notes(const struct change *c, struct buf *out) {
  struct num_text room;
  note_path(c, out);
  if (c->done.links > 1) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_CHANGE_NAMES, str_num(&room, c->done.links));
  }
  if (c->done.owner_lost) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_CHANGE_OWNER, STR_NONE);
  }
  if (c->done.attrs_lost) {
    buf_c(out, '\n');
    CALL_NOTE(out, c->call, T_TOOLS_CHANGE_ATTRS, STR_NONE);
  }
}
