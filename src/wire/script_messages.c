/* A scripted reply as the bytes that the Messages API streams: each text in
 * several deltas cut between graphemes, arguments in pieces, usage by bytes. */
#include "base/utf8.h"
#include "wire/script_parts.h"

/* Event of the block at hand, with an object `what` opened in it. */
static struct json_out open_inside(struct stage *s, const char *event, const char *what,
                                   const char *type) {
  struct json_out w = stage_open_event(s, event);
  json_key(&w, "index");
  json_put_num(&w, s->index);
  json_key(&w, what);
  json_open(&w, '{');
  json_key(&w, "type");
  json_put_text(&w, str_of(type));
  return w;
}

static void close_inside(struct stage *s, struct json_out *w) {
  json_close(w, '}');
  stage_close_event(s, w);
}

static void put_delta(struct stage *s, const char *type, const char *key, struct str piece) {
  struct json_out w = open_inside(s, "content_block_delta", "delta", type);
  json_key(&w, key);
  json_put_text(&w, piece);
  close_inside(s, &w);
}

static void stop_block(struct stage *s) {
  struct json_out w = stage_open_event(s, "content_block_stop");
  json_key(&w, "index");
  json_put_num(&w, s->index++);
  stage_close_event(s, &w);
}

static void put_in_pieces(struct stage *s, const char *type, const char *key, struct str text,
                          size_t points) {
  while (text.n) {
    struct str piece = utf8_head(text, points);
    put_delta(s, type, key, piece);
    text = str_part(text, piece.n, text.n);
  }
}

static void put_text(struct stage *s) {
  struct json_out w = open_inside(s, "content_block_start", "content_block", "text");
  json_key(&w, "text");
  json_put_text(&w, STR_NONE);
  close_inside(s, &w);
  put_in_pieces(s, "text_delta", "text", s->words, PIECE_POINTS);
  stop_block(s);
}

static void put_thinking(struct stage *s) {
  struct json_out w = open_inside(s, "content_block_start", "content_block", "thinking");
  json_key(&w, "thinking");
  json_put_text(&w, STR_NONE);
  json_key(&w, "signature");
  json_put_text(&w, STR_NONE);
  close_inside(s, &w);
  put_in_pieces(s, "thinking_delta", "thinking", s->thinking, PIECE_POINTS);
  put_delta(s, "signature_delta", "signature", STAGE_SECRET);
  stop_block(s);
}

static void put_call(struct stage *s, const struct json *call) {
  struct buf args;
  struct json_out w = open_inside(s, "content_block_start", "content_block", "tool_use");
  stage_id(s, &w, "id", "toolu_script_", ++s->calls);
  json_key(&w, "name");
  json_put_text(&w, json_text(json_get(call, "name")));
  json_key(&w, "input");
  json_put_raw(&w, STR("{}"));
  close_inside(s, &w);
  put_delta(s, "input_json_delta", "partial_json", STR_NONE);
  stage_args(s, call, &args);
  put_in_pieces(s, "input_json_delta", "partial_json", buf_str(&args), PIECE_ARGS);
  buf_release(&args);
  stop_block(s);
}

/* -- the message -- */

static void start_message(struct stage *s) {
  struct json_out w = stage_open_event(s, "message_start");
  json_key(&w, "message");
  json_open(&w, '{');
  stage_id(s, &w, "id", "msg_script_", 0);
  json_key(&w, "type");
  json_put_text(&w, STR("message"));
  json_key(&w, "role");
  json_put_text(&w, STR("assistant"));
  json_key(&w, "model");
  json_put_text(&w, STR("script"));
  json_key(&w, "content");
  json_put_raw(&w, STR("[]"));
  json_key(&w, "stop_reason");
  json_put_null(&w);
  json_key(&w, "usage");
  json_open(&w, '{');
  json_key(&w, "input_tokens");
  json_put_num(&w, stage_tokens(s->play->body_bytes));
  json_key(&w, "output_tokens");
  json_put_num(&w, 1);
  json_close(&w, '}');
  close_inside(s, &w);
}

static void end_message(struct stage *s, struct str stop) {
  struct json_out w = stage_open_event(s, "message_delta");
  json_key(&w, "delta");
  json_open(&w, '{');
  json_key(&w, "stop_reason");
  json_put_text(&w, stop);
  json_key(&w, "stop_sequence");
  json_put_null(&w);
  json_close(&w, '}');
  json_key(&w, "usage");
  json_open(&w, '{');
  json_key(&w, "output_tokens");
  json_put_num(&w, stage_tokens(s->written));
  json_close(&w, '}');
  stage_close_event(s, &w);
  w = stage_open_event(s, "message_stop");
  stage_close_event(s, &w);
}

void stage_messages(struct stage *s) {
  start_message(s);
  if (s->thinking.n) put_thinking(s);
  if (s->words.n) put_text(s);
  for (const struct json *call = s->first_call; call; call = call->next)
    put_call(s, call);
  struct str usual = s->calls ? STR("tool_use") : STR("end_turn");
  end_message(s, s->stop.n ? s->stop : usual);
}
