/* The streams of the three wires, as the fact sheets show them. */
#include "support/speak.h"

#include "base/utf8.h"
#include "json/write.h"

#define PIECE_POINTS 16
#define ITEMS_MAX (4u << 20)

/* One event: its name in a line of its own where the wire has one. */
static struct json_out event(struct buf *out, const char *name) {
  if (name) buf_fmt(out, "event: %s\n", name);
  buf_lit(out, "data: ");
  struct json_out w = json_out(out);
  json_open(&w, '{');
  if (name) json_key(&w, "type");
  if (name) json_put_text(&w, str_of(name));
  return w;
}

static void event_end(struct json_out *w) {
  json_close(w, '}');
  buf_lit(w->buf, "\n\n");
}

static void member(struct json_out *w, const char *key, const char *text) {
  json_key(w, key);
  json_put_text(w, str_of(text));
}

static void number(struct json_out *w, const char *key, int64_t n) {
  json_key(w, key);
  json_put_num(w, n);
}

static void open_member(struct json_out *w, const char *key, char bracket) {
  json_key(w, key);
  json_open(w, bracket);
}

static void named(struct json_out *w, const char *key, const char *prefix, int64_t n) {
  struct buf b;
  buf_init(&b, 128);
  buf_fmt(&b, "%s%lld", prefix, (long long)n);
  member(w, key, buf_z(&b));
  buf_release(&b);
}

static struct str next_piece(struct str *rest, const struct said *said) {
  struct str piece = utf8_head(*rest, said->piece ? said->piece : PIECE_POINTS);
  *rest = str_part(*rest, piece.n, rest->n);
  return piece;
}

/* -- Messages -- */

static struct json_out at_block(struct buf *out, const char *name, int64_t index, const char *key,
                                const char *type) {
  struct json_out w = event(out, name);
  number(&w, "index", index);
  open_member(&w, key, '{');
  member(&w, "type", type);
  return w;
}

static void at_block_end(struct json_out *w) {
  json_close(w, '}');
  event_end(w);
}

static void deltas(struct buf *out, const struct said *said, int64_t index, const char *type,
                   const char *key, struct str text) {
  while (text.n) {
    struct json_out w = at_block(out, "content_block_delta", index, "delta", type);
    json_key(&w, key);
    json_put_text(&w, next_piece(&text, said));
    at_block_end(&w);
  }
}

static void block_end(struct buf *out, int64_t index) {
  struct json_out w = event(out, "content_block_stop");
  number(&w, "index", index);
  event_end(&w);
}

static void message_begins(struct buf *out, const struct said *said) {
  struct json_out w = event(out, "message_start");
  open_member(&w, "message", '{');
  named(&w, "id", "msg_", said->id);
  member(&w, "type", "message");
  member(&w, "role", "assistant");
  member(&w, "model", "m");
  json_key(&w, "content");
  json_put_raw(&w, STR("[]"));
  if (said->prompt >= 0) {
    open_member(&w, "usage", '{');
    number(&w, "input_tokens", said->prompt - said->cached - said->fresh);
    number(&w, "cache_read_input_tokens", said->cached);
    number(&w, "cache_creation_input_tokens", said->fresh);
    number(&w, "output_tokens", 1);
    json_close(&w, '}');
  }
  at_block_end(&w);
}

static size_t message_ends(struct buf *out, const struct said *said) {
  struct json_out w = event(out, "message_delta");
  open_member(&w, "delta", '{');
  member(&w, "stop_reason",
         said->stop         ? said->stop
         : said->cut        ? "max_tokens"
         : said->call_count ? "tool_use"
                            : "end_turn");
  json_close(&w, '}');
  if (said->output >= 0) {
    open_member(&w, "usage", '{');
    number(&w, "output_tokens", said->output);
    json_close(&w, '}');
  }
  event_end(&w);
  size_t whole = out->n;
  w = event(out, "message_stop");
  event_end(&w);
  return whole;
}

static size_t speak_anthropic(struct buf *out, const struct said *said) {
  int64_t index = 0;
  struct json_out w;
  message_begins(out, said);
  if (said->thinking.n) {
    w = at_block(out, "content_block_start", index, "content_block", "thinking");
    member(&w, "thinking", "");
    member(&w, "signature", "");
    at_block_end(&w);
    deltas(out, said, index, "thinking_delta", "thinking", said->thinking);
    deltas(out, said, index, "signature_delta", "signature", STR("c2lnbmVk"));
    block_end(out, index++);
  }
  if (said->text.n) {
    w = at_block(out, "content_block_start", index, "content_block", "text");
    member(&w, "text", "");
    at_block_end(&w);
    deltas(out, said, index, "text_delta", "text", said->text);
    block_end(out, index++);
  }
  for (size_t i = 0; i < said->call_count; i++) {
    w = at_block(out, "content_block_start", index, "content_block", "tool_use");
    member(&w, "id", said->calls[i].id);
    member(&w, "name", said->calls[i].name);
    json_key(&w, "input");
    json_put_raw(&w, STR("{}"));
    at_block_end(&w);
    deltas(out, said, index, "input_json_delta", "partial_json", said->calls[i].args);
    block_end(out, index++);
  }
  return message_ends(out, said);
}

/* -- Responses -- */

/* Its items, finished ones collected for the last event. */
struct response {
  struct buf *out;
  const struct said *said;
  int64_t index;
  struct buf items, item;
};

static void item_event(struct response *r, const char *name) {
  struct json_out w = event(r->out, name);
  number(&w, "output_index", r->index);
  json_key(&w, "item");
  json_put_raw(&w, buf_str(&r->item));
  event_end(&w);
}

static struct json_out item_open(struct response *r, const char *type) {
  buf_reset(&r->item);
  struct json_out w = json_out(&r->item);
  json_open(&w, '{');
  member(&w, "type", type);
  named(&w, "id", type, r->said->id * 100 + r->index);
  return w;
}

static void item_done(struct response *r) {
  item_event(r, "response.output_item.done");
  if (r->items.n) buf_c(&r->items, ',');
  buf_put(&r->items, buf_str(&r->item));
  r->index++;
}

static void item_deltas(struct response *r, const char *name, struct str text) {
  while (text.n) {
    struct json_out w = event(r->out, name);
    number(&w, "output_index", r->index);
    json_key(&w, "delta");
    json_put_text(&w, next_piece(&text, r->said));
    event_end(&w);
  }
}

static void put_reasoning(struct response *r, struct str text) {
  struct json_out w = item_open(r, "reasoning");
  open_member(&w, "summary", '[');
  if (text.n) {
    json_open(&w, '{');
    member(&w, "type", "summary_text");
    json_key(&w, "text");
    json_put_text(&w, text);
    json_close(&w, '}');
  }
  json_close(&w, ']');
  member(&w, "encrypted_content", "c2VjcmV0");
  json_close(&w, '}');
}

static void put_message(struct response *r, struct str text) {
  struct json_out w = item_open(r, "message");
  member(&w, "role", "assistant");
  open_member(&w, "content", '[');
  if (text.n) {
    json_open(&w, '{');
    member(&w, "type", "output_text");
    json_key(&w, "text");
    json_put_text(&w, text);
    json_close(&w, '}');
  }
  json_close(&w, ']');
  json_close(&w, '}');
}

static void put_function(struct response *r, const struct said_call *call, struct str args) {
  struct json_out w = item_open(r, "function_call");
  member(&w, "call_id", call->id);
  member(&w, "name", call->name);
  json_key(&w, "arguments");
  json_put_text(&w, args);
  json_close(&w, '}');
}

static size_t response_ends(struct response *r) {
  const struct said *said = r->said;
  const char *reason = said->stop ? said->stop : said->cut ? "max_output_tokens" : NULL;
  struct json_out w = event(r->out, reason ? "response.incomplete" : "response.completed");
  open_member(&w, "response", '{');
  named(&w, "id", "resp_", said->id);
  member(&w, "status", reason ? "incomplete" : "completed");
  if (reason) {
    open_member(&w, "incomplete_details", '{');
    member(&w, "reason", reason);
    json_close(&w, '}');
  }
  open_member(&w, "output", '[');
  if (r->items.n) json_put_raw(&w, buf_str(&r->items));
  json_close(&w, ']');
  if (said->prompt >= 0 || said->output >= 0) {
    open_member(&w, "usage", '{');
    if (said->prompt >= 0) {
      number(&w, "input_tokens", said->prompt);
      open_member(&w, "input_tokens_details", '{');
      number(&w, "cached_tokens", said->cached);
      json_close(&w, '}');
    }
    if (said->output >= 0) number(&w, "output_tokens", said->output);
    json_close(&w, '}');
  }
  json_close(&w, '}');
  event_end(&w);
  return r->out->n;
}

static size_t speak_openai(struct buf *out, const struct said *said) {
  struct response r = {.out = out, .said = said};
  buf_init(&r.items, ITEMS_MAX);
  buf_init(&r.item, ITEMS_MAX);
  struct json_out w = event(out, "response.created");
  open_member(&w, "response", '{');
  named(&w, "id", "resp_", said->id);
  json_close(&w, '}');
  event_end(&w);
  if (said->thinking.n) {
    put_reasoning(&r, STR_NONE);
    item_event(&r, "response.output_item.added");
    item_deltas(&r, "response.reasoning_summary_text.delta", said->thinking);
    put_reasoning(&r, said->thinking);
    item_done(&r);
  }
  if (said->text.n) {
    put_message(&r, STR_NONE);
    item_event(&r, "response.output_item.added");
    item_deltas(&r, "response.output_text.delta", said->text);
    put_message(&r, said->text);
    item_done(&r);
  }
  for (size_t i = 0; i < said->call_count; i++) {
    put_function(&r, &said->calls[i], STR_NONE);
    item_event(&r, "response.output_item.added");
    item_deltas(&r, "response.function_call_arguments.delta", said->calls[i].args);
    put_function(&r, &said->calls[i], said->calls[i].args);
    item_done(&r);
  }
  size_t whole = response_ends(&r);
  buf_release(&r.items);
  buf_release(&r.item);
  return whole;
}

/* -- Chat Completions -- */

static struct json_out chunk(struct buf *out, const struct said *said) {
  struct json_out w = event(out, NULL);
  named(&w, "id", "chatcmpl-", said->id);
  open_member(&w, "choices", '[');
  json_open(&w, '{');
  number(&w, "index", 0);
  open_member(&w, "delta", '{');
  return w;
}

static void chunk_end(struct json_out *w, const char *finish) {
  json_close(w, '}');
  json_key(w, "finish_reason");
  if (finish)
    json_put_text(w, str_of(finish));
  else
    json_put_null(w);
  json_close(w, '}');
  json_close(w, ']');
  event_end(w);
}

static void chunks(struct buf *out, const struct said *said, const char *key, struct str text) {
  while (text.n) {
    struct json_out w = chunk(out, said);
    json_key(&w, key);
    json_put_text(&w, next_piece(&text, said));
    chunk_end(&w, NULL);
  }
}

static void entry(struct buf *out, const struct said *said, size_t i, bool first, struct str args) {
  struct json_out w = chunk(out, said);
  open_member(&w, "tool_calls", '[');
  json_open(&w, '{');
  number(&w, "index", (int64_t)i);
  if (first) member(&w, "id", said->calls[i].id);
  if (first) member(&w, "type", "function");
  open_member(&w, "function", '{');
  if (first) member(&w, "name", said->calls[i].name);
  json_key(&w, "arguments");
  json_put_text(&w, args);
  json_close(&w, '}');
  json_close(&w, '}');
  json_close(&w, ']');
  chunk_end(&w, NULL);
}

static void usage_chunk(struct buf *out, const struct said *said) {
  struct json_out w = event(out, NULL);
  named(&w, "id", "chatcmpl-", said->id);
  json_key(&w, "choices");
  json_put_raw(&w, STR("[]"));
  open_member(&w, "usage", '{');
  if (said->prompt >= 0) {
    number(&w, "prompt_tokens", said->prompt);
    open_member(&w, "prompt_tokens_details", '{');
    number(&w, "cached_tokens", said->cached);
    json_close(&w, '}');
  }
  if (said->output >= 0) number(&w, "completion_tokens", said->output);
  json_close(&w, '}');
  event_end(&w);
}

static size_t speak_chat(struct buf *out, const struct said *said) {
  struct json_out w = chunk(out, said);
  member(&w, "role", "assistant");
  member(&w, "content", "");
  chunk_end(&w, NULL);
  chunks(out, said, "reasoning_content", said->thinking);
  chunks(out, said, "content", said->text);
  for (size_t i = 0; i < said->call_count; i++) {
    entry(out, said, i, true, STR_NONE);
    for (struct str rest = said->calls[i].args; rest.n;)
      entry(out, said, i, false, next_piece(&rest, said));
  }
  w = chunk(out, said);
  chunk_end(&w, said->stop         ? said->stop
                : said->cut        ? "length"
                : said->call_count ? "tool_calls"
                                   : "stop");
  size_t whole = out->n;
  if (said->prompt >= 0 || said->output >= 0) usage_chunk(out, said);
  buf_lit(out, "data: [DONE]\n\n");
  return whole;
}

size_t speak(struct buf *out, enum speaks wire, const struct said *said) {
  switch (wire) {
  case SPEAKS_ANTHROPIC: return speak_anthropic(out, said);
  case SPEAKS_OPENAI: return speak_openai(out, said);
  case SPEAKS_CHAT:
  case SPEAKS_WIRES: break;
  }
  return speak_chat(out, said);
}
