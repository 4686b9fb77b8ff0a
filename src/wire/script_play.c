/* A scripted reply as the bytes that the Messages API streams: each text in
 * several deltas cut between graphemes, arguments in pieces, usage by bytes. */
#include "base/utf8.h"
#include "json/write.h"
#include "text/text.h"
#include "wire/script_parts.h"

#define PIECE_POINTS 12   /* of text per delta: a few words */
#define PIECE_BYTES 40    /* of arguments per delta */
#define BYTES_PER_TOKEN 4 /* counted so, since nobody knows a script's tokenizer */

struct stage {
  struct buf *out;
  const struct play *play;
  int64_t index;  /* of the block */
  size_t written; /* bytes that count as output */
  size_t calls;
};

static struct json_out open_event(struct stage *s, const char *type) {
  buf_lit(s->out, "event: ");
  buf_put(s->out, str_of(type));
  buf_lit(s->out, "\ndata: ");
  struct json_out w = json_out(s->out);
  json_open(&w, '{');
  json_key(&w, "type");
  json_put_text(&w, str_of(type));
  return w;
}

static void close_event(struct stage *s, struct json_out *w) {
  json_close(w, '}');
  buf_lit(s->out, "\n\n");
}

/* Event of the block at hand, with an object `what` opened in it. */
static struct json_out open_inside(struct stage *s, const char *event, const char *what,
                                   const char *type) {
  struct json_out w = open_event(s, event);
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
  close_event(s, w);
}

static void put_delta(struct stage *s, const char *type, const char *key, struct str piece) {
  struct json_out w = open_inside(s, "content_block_delta", "delta", type);
  json_key(&w, key);
  json_put_text(&w, piece);
  close_inside(s, &w);
}

static void stop_block(struct stage *s) {
  struct json_out w = open_event(s, "content_block_stop");
  json_key(&w, "index");
  json_put_num(&w, s->index++);
  close_event(s, &w);
}

static void put_in_pieces(struct stage *s, const char *type, const char *key, struct str text) {
  s->written += text.n;
  while (text.n) {
    struct str piece = utf8_head(text, PIECE_POINTS);
    put_delta(s, type, key, piece);
    text = str_part(text, piece.n, text.n);
  }
}

static void put_text(struct stage *s, struct str text) {
  struct json_out w = open_inside(s, "content_block_start", "content_block", "text");
  json_key(&w, "text");
  json_put_text(&w, STR_NONE);
  close_inside(s, &w);
  put_in_pieces(s, "text_delta", "text", text);
  stop_block(s);
}

static void put_thinking(struct stage *s, struct str text) {
  struct json_out w = open_inside(s, "content_block_start", "content_block", "thinking");
  json_key(&w, "thinking");
  json_put_text(&w, STR_NONE);
  json_key(&w, "signature");
  json_put_text(&w, STR_NONE);
  close_inside(s, &w);
  put_in_pieces(s, "thinking_delta", "thinking", text);
  put_delta(s, "signature_delta", "signature", STR("c2NyaXB0"));
  stop_block(s);
}

/* -- calls -- */

static void put_call_id(struct stage *s, struct json_out *w) {
  struct buf id;
  buf_init(&id, 128);
  buf_fmt(&id, "toolu_script_%zu_%zu", s->play->talk->replies_in_all + 1, ++s->calls);
  json_key(w, "id");
  json_put_text(w, buf_str(&id));
  if (id.fail) s->out->fail = id.fail;
  buf_release(&id);
}

static void put_call(struct stage *s, const struct json *call) {
  const struct json *input = json_get(call, "input");
  struct buf args;
  struct json_out w = open_inside(s, "content_block_start", "content_block", "tool_use");
  put_call_id(s, &w);
  json_key(&w, "name");
  json_put_text(&w, json_text(json_get(call, "name")));
  json_key(&w, "input");
  json_put_raw(&w, STR("{}"));
  close_inside(s, &w);
  put_delta(s, "input_json_delta", "partial_json", STR_NONE);
  buf_init(&args, SCRIPT_TEXT_MAX);
  if (input) fill_json(&args, s->play->arena, input, s->play->talk);
  s->written += args.n;
  for (struct str rest = buf_str(&args); rest.n;) {
    struct str piece = utf8_head(rest, PIECE_BYTES);
    put_delta(s, "input_json_delta", "partial_json", piece);
    rest = str_part(rest, piece.n, rest.n);
  }
  if (args.fail) s->out->fail = args.fail;
  buf_release(&args);
  stop_block(s);
}

/* -- the message -- */

static void put_usage(struct json_out *w, size_t bytes, const char *key) {
  size_t tokens = bytes / BYTES_PER_TOKEN;
  json_key(w, key);
  json_put_num(w, tokens ? (int64_t)tokens : 1);
}

static void start_message(struct stage *s) {
  struct buf id;
  buf_init(&id, 128);
  buf_fmt(&id, "msg_script_%zu", s->play->talk->replies_in_all + 1);
  struct json_out w = open_event(s, "message_start");
  json_key(&w, "message");
  json_open(&w, '{');
  json_key(&w, "id");
  json_put_text(&w, buf_str(&id));
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
  put_usage(&w, s->play->body_bytes, "input_tokens");
  json_key(&w, "output_tokens");
  json_put_num(&w, 1);
  json_close(&w, '}');
  close_inside(s, &w);
  if (id.fail) s->out->fail = id.fail;
  buf_release(&id);
}

static void end_message(struct stage *s, struct str stop) {
  struct json_out w = open_event(s, "message_delta");
  json_key(&w, "delta");
  json_open(&w, '{');
  json_key(&w, "stop_reason");
  json_put_text(&w, stop);
  json_key(&w, "stop_sequence");
  json_put_null(&w);
  json_close(&w, '}');
  json_key(&w, "usage");
  json_open(&w, '{');
  put_usage(&w, s->written, "output_tokens");
  json_close(&w, '}');
  close_event(s, &w);
  w = open_event(s, "message_stop");
  close_event(s, &w);
}

static bool any_error(const struct talk *talk) {
  for (size_t i = 0; i < talk->result_count; i++)
    if (talk->results[i].is_error) return true;
  return false;
}

/* "text", or "text_if_error" where a result since the words is one; either may
 * be {"ko": …, "en": …}, chosen by the words' language. */
static struct str chosen_text(const struct play *p, const char *key) {
  const struct json *text = json_get(p->reply, key);
  if (!json_is(text, JSON_OBJECT)) return json_text(text);
  return json_text(json_get(text, p->talk->korean ? "ko" : "en"));
}

static void put_words(struct stage *s) {
  const struct play *p = s->play;
  struct str text = STR_NONE;
  struct buf b;
  buf_init(&b, SCRIPT_TEXT_MAX);
  if (any_error(p->talk)) text = chosen_text(p, "text_if_error");
  if (text.n == 0) text = chosen_text(p, "text");
  fill(&b, p->arena, text, p->talk);
  if (!p->reply) TEXT_PUT(&b, p->talk->korean ? REIN_KOREAN : REIN_ENGLISH, T_WIRE_SCRIPT_OVER);
  if (b.n) put_text(s, buf_str(&b));
  if (b.fail) s->out->fail = b.fail;
  buf_release(&b);
}

void play_reply(struct buf *out, const struct play *play) {
  struct stage s = {.out = out, .play = play};
  struct str thinking = chosen_text(play, "thinking"), stop = chosen_text(play, "stop");
  const struct json *calls = json_get(play->reply, "calls");
  start_message(&s);
  if (thinking.n) put_thinking(&s, thinking);
  put_words(&s);
  /* A wrap-up takes no calls: it gets the words alone. */
  if (calls && !play->talk->no_tools)
    for (const struct json *call = calls->first; call; call = call->next)
      put_call(&s, call);
  if (stop.n == 0) stop = s.calls ? STR("tool_use") : STR("end_turn");
  end_message(&s, stop);
}
