/* Members that all wires write alike: see put.h. */
#include "wire/put.h"

#include "wire/words.h"

void put_typed(struct json_out *w, const char *type) {
  json_open(w, '{');
  json_key(w, "type");
  json_put_text(w, str_of(type));
}

void put_made(struct json_out *w, const char *key, struct buf *made) {
  json_key(w, key);
  json_put_text(w, buf_str(made));
  if (made->fail) w->buf->fail = made->fail;
  buf_release(made);
}

void put_call_name(struct json_out *w, struct str name) {
  struct buf b;
  buf_init(&b, 128);
  words_put_name(&b, name);
  put_made(w, "name", &b);
}

void put_tool_members(struct json_out *w, const struct tool *tool, const char *schema_key) {
  json_key(w, "name");
  json_put_text(w, tool->name);
  if (tool->description.n) {
    json_key(w, "description");
    json_put_text(w, tool->description);
  }
  json_key(w, schema_key);
  json_put_raw(w, tool->sent.n ? tool->sent : tool->schema);
}
