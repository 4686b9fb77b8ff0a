/* A scripted reply as the bytes that the Responses API streams: items with
 * their pieces, each whole at its end, and all of them in the last event. */
#include "base/utf8.h"
#include "wire/script_parts.h"

/* `items` collects the finished ones. */
struct items {
  struct stage *stage;
  struct buf all;
};

/* Event of the item at hand. */
static struct json_out open_place(struct stage *s, const char *type) {
  struct json_out w = stage_open_event(s, type);
  json_key(&w, "output_index");
  json_put_num(&w, s->index);
  return w;
}

static void put_delta(struct stage *s, const char *type, const char *part, struct str piece) {
  struct json_out w = open_place(s, type);
  if (part) json_key(&w, part);
  if (part) json_put_num(&w, 0);
  json_key(&w, "delta");
  json_put_text(&w, piece);
  stage_close_event(s, &w);
}

static void put_in_pieces(struct stage *s, const char *type, const char *part, struct str text,
                          size_t points) {
  while (text.n) {
    struct str piece = utf8_head(text, points);
    put_delta(s, type, part, piece);
    text = str_part(text, piece.n, text.n);
  }
}

static void put_item_event(struct stage *s, const char *type, struct str item) {
  struct json_out w = open_place(s, type);
  json_key(&w, "item");
  json_put_raw(&w, item);
  stage_close_event(s, &w);
}

static void open_item(struct stage *s, struct json_out *w, const char *type, const char *prefix) {
  json_open(w, '{');
  json_key(w, "type");
  json_put_text(w, str_of(type));
  stage_id(s, w, "id", prefix, (size_t)s->index + 1);
}

static void finish_item(struct items *items, struct buf *item) {
  struct stage *s = items->stage;
  put_item_event(s, "response.output_item.done", buf_str(item));
  if (items->all.n) buf_c(&items->all, ',');
  buf_put(&items->all, buf_str(item));
  if (item->fail) s->out->fail = item->fail;
  buf_release(item);
  s->index++;
}

/* -- the kinds of items -- */

static struct buf reasoning_item(struct stage *s, struct str text) {
  struct buf item;
  buf_init(&item, SCRIPT_TEXT_MAX);
  struct json_out w = json_out(&item);
  open_item(s, &w, "reasoning", "rs_script_");
  json_key(&w, "summary");
  json_open(&w, '[');
  if (text.n) {
    json_open(&w, '{');
    json_key(&w, "type");
    json_put_text(&w, STR("summary_text"));
    json_key(&w, "text");
    json_put_text(&w, text);
    json_close(&w, '}');
  }
  json_close(&w, ']');
  json_key(&w, "encrypted_content");
  json_put_text(&w, text.n ? STAGE_SECRET : STR("not whole yet"));
  json_close(&w, '}');
  return item;
}

static struct buf message_item(struct stage *s, struct str text) {
  struct buf item;
  buf_init(&item, SCRIPT_TEXT_MAX);
  struct json_out w = json_out(&item);
  open_item(s, &w, "message", "msg_script_");
  json_key(&w, "role");
  json_put_text(&w, STR("assistant"));
  json_key(&w, "status");
  json_put_text(&w, text.n ? STR("completed") : STR("in_progress"));
  json_key(&w, "content");
  json_open(&w, '[');
  if (text.n) {
    json_open(&w, '{');
    json_key(&w, "type");
    json_put_text(&w, STR("output_text"));
    json_key(&w, "text");
    json_put_text(&w, text);
    json_key(&w, "annotations");
    json_put_raw(&w, STR("[]"));
    json_close(&w, '}');
  }
  json_close(&w, ']');
  json_close(&w, '}');
  return item;
}

static struct buf call_item(struct stage *s, const struct json *call, struct str args, bool whole) {
  struct buf item;
  buf_init(&item, 2 * SCRIPT_TEXT_MAX);
  struct json_out w = json_out(&item);
  open_item(s, &w, "function_call", "fc_script_");
  stage_id(s, &w, "call_id", "call_script_", s->calls);
  json_key(&w, "name");
  json_put_text(&w, json_text(json_get(call, "name")));
  json_key(&w, "arguments");
  json_put_text(&w, args);
  json_key(&w, "status");
  json_put_text(&w, whole ? STR("completed") : STR("in_progress"));
  json_close(&w, '}');
  return item;
}

static void start_item(struct stage *s, struct buf item) {
  put_item_event(s, "response.output_item.added", buf_str(&item));
  if (item.fail) s->out->fail = item.fail;
  buf_release(&item);
}

static void put_thinking(struct items *items) {
  struct stage *s = items->stage;
  start_item(s, reasoning_item(s, STR_NONE));
  put_in_pieces(s, "response.reasoning_summary_text.delta", "summary_index", s->thinking,
                PIECE_POINTS);
  struct buf whole = reasoning_item(s, s->thinking);
  finish_item(items, &whole);
}

static void put_text(struct items *items) {
  struct stage *s = items->stage;
  start_item(s, message_item(s, STR_NONE));
  put_in_pieces(s, "response.output_text.delta", "content_index", s->words, PIECE_POINTS);
  struct buf whole = message_item(s, s->words);
  finish_item(items, &whole);
}

static void put_call(struct items *items, const struct json *call) {
  struct stage *s = items->stage;
  struct buf args;
  s->calls++;
  stage_args(s, call, &args);
  start_item(s, call_item(s, call, STR_NONE, false));
  put_in_pieces(s, "response.function_call_arguments.delta", NULL, buf_str(&args), PIECE_ARGS);
  struct buf whole = call_item(s, call, buf_str(&args), true);
  finish_item(items, &whole);
  buf_release(&args);
}

/* -- the response -- */

static void put_usage(struct stage *s, struct json_out *w) {
  int64_t input = stage_tokens(s->play->body_bytes), output = stage_tokens(s->written);
  json_key(w, "usage");
  json_open(w, '{');
  json_key(w, "input_tokens");
  json_put_num(w, input);
  json_key(w, "output_tokens");
  json_put_num(w, output);
  json_key(w, "total_tokens");
  json_put_num(w, input + output);
  json_close(w, '}');
}

static struct json_out open_response(struct stage *s, const char *event, struct str status) {
  struct json_out w = stage_open_event(s, event);
  json_key(&w, "response");
  json_open(&w, '{');
  stage_id(s, &w, "id", "resp_script_", 0);
  json_key(&w, "object");
  json_put_text(&w, STR("response"));
  json_key(&w, "model");
  json_put_text(&w, STR("script"));
  json_key(&w, "status");
  json_put_text(&w, status);
  return w;
}

static struct str reason_of(struct str stop) {
  if (stop.n == 0 || str_is(stop, "end_turn") || str_is(stop, "tool_use")) return STR_NONE;
  if (str_is(stop, "max_tokens")) return STR("max_output_tokens");
  if (str_is(stop, "refusal")) return STR("content_filter");
  return stop;
}

static void end_response(struct items *items) {
  struct stage *s = items->stage;
  struct str reason = reason_of(s->stop);
  struct json_out w = reason.n ? open_response(s, "response.incomplete", STR("incomplete"))
                               : open_response(s, "response.completed", STR("completed"));
  if (reason.n) {
    json_key(&w, "incomplete_details");
    json_open(&w, '{');
    json_key(&w, "reason");
    json_put_text(&w, reason);
    json_close(&w, '}');
  }
  json_key(&w, "output");
  json_open(&w, '[');
  if (items->all.n) json_put_raw(&w, buf_str(&items->all));
  json_close(&w, ']');
  put_usage(s, &w);
  json_close(&w, '}');
  stage_close_event(s, &w);
}

void stage_responses(struct stage *s) {
  struct items items = {.stage = s};
  buf_init(&items.all, 4 * SCRIPT_TEXT_MAX);
  struct json_out w = open_response(s, "response.created", STR("in_progress"));
  json_close(&w, '}');
  stage_close_event(s, &w);
  if (s->thinking.n) put_thinking(&items);
  if (s->words.n) put_text(&items);
  for (const struct json *call = s->first_call; call; call = call->next)
    put_call(&items, call);
  end_response(&items);
  if (items.all.fail) s->out->fail = items.all.fail;
  buf_release(&items.all);
}
