/* The lines between the records: what is shown while it happens and is no part
 * of the journal. */
#include "driver/stream.h"

#include "json/write.h"

static struct json_out begin(struct buf *out, const char *what) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "stream");
  json_put_text(&w, str_of(what));
  return w;
}

void stream_put_piece(struct buf *out, struct str text, bool thinking) {
  struct json_out w = begin(out, "piece");
  json_key(&w, thinking ? "thinking" : "text");
  json_put_text(&w, text);
  json_close(&w, '}');
}

void stream_put_withdrawn(struct buf *out) {
  struct json_out w = begin(out, "withdrawn");
  json_close(&w, '}');
}

void stream_put_warning(struct buf *out, struct str text) {
  struct json_out w = begin(out, "warning");
  json_key(&w, "text");
  json_put_text(&w, text);
  json_close(&w, '}');
}

void stream_put_retry(struct buf *out, const struct fault *fault, int64_t wait_ms) {
  struct json_out w = begin(out, "retry");
  json_key(&w, "wait_ms");
  json_put_num(&w, wait_ms);
  json_key(&w, "fault");
  json_put_text(&w, str_of(fault_word(fault->kind)));
  json_key(&w, "status");
  json_put_num(&w, fault->status);
  json_key(&w, "message");
  json_put_text(&w, fault->message);
  json_close(&w, '}');
}
