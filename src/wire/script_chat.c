/* A scripted reply as the chunks that Chat Completions streams, with the usage
 * in a chunk of its own and [DONE] behind it. */
#include "base/utf8.h"
#include "wire/script_parts.h"

static struct json_out open_chunk(struct stage *s) {
  buf_lit(s->out, "data: ");
  struct json_out w = json_out(s->out);
  json_open(&w, '{');
  stage_id(s, &w, "id", "chatcmpl-script-", 0);
  json_key(&w, "object");
  json_put_text(&w, STR("chat.completion.chunk"));
  json_key(&w, "created");
  json_put_num(&w, 0);
  json_key(&w, "model");
  json_put_text(&w, STR("script"));
  json_key(&w, "choices");
  json_open(&w, '[');
  return w;
}

static struct json_out open_delta(struct stage *s) {
  struct json_out w = open_chunk(s);
  json_open(&w, '{');
  json_key(&w, "index");
  json_put_num(&w, 0);
  json_key(&w, "delta");
  json_open(&w, '{');
  return w;
}

static void close_delta(struct stage *s, struct json_out *w, struct str finish) {
  json_close(w, '}');
  json_key(w, "finish_reason");
  if (finish.n)
    json_put_text(w, finish);
  else
    json_put_null(w);
  json_close(w, '}');
  json_close(w, ']');
  stage_close_event(s, w);
}

static void put_in_pieces(struct stage *s, const char *key, struct str text) {
  while (text.n) {
    struct str piece = utf8_head(text, PIECE_POINTS);
    struct json_out w = open_delta(s);
    json_key(&w, key);
    json_put_text(&w, piece);
    close_delta(s, &w, STR_NONE);
    text = str_part(text, piece.n, text.n);
  }
}

/* -- calls -- */

static struct json_out open_entry(struct stage *s) {
  struct json_out w = open_delta(s);
  json_key(&w, "tool_calls");
  json_open(&w, '[');
  json_open(&w, '{');
  json_key(&w, "index");
  json_put_num(&w, s->index);
  return w;
}

static void close_entry(struct stage *s, struct json_out *w, const char *name, struct str args) {
  json_key(w, "function");
  json_open(w, '{');
  if (name) json_key(w, "name");
  if (name) json_put_text(w, str_of(name));
  json_key(w, "arguments");
  json_put_text(w, args);
  json_close(w, '}');
  json_close(w, '}');
  json_close(w, ']');
  close_delta(s, w, STR_NONE);
}

static void put_call(struct stage *s, const struct json *call) {
  struct buf args, name;
  struct json_out w = open_entry(s);
  stage_id(s, &w, "id", "call_script_", ++s->calls);
  json_key(&w, "type");
  json_put_text(&w, STR("function"));
  buf_init(&name, SCRIPT_TEXT_MAX);
  buf_put(&name, json_text(json_get(call, "name")));
  close_entry(s, &w, buf_z(&name), STR_NONE);
  stage_args(s, call, &args);
  for (struct str rest = buf_str(&args); rest.n;) {
    struct str piece = utf8_head(rest, PIECE_ARGS);
    w = open_entry(s);
    close_entry(s, &w, NULL, piece);
    rest = str_part(rest, piece.n, rest.n);
  }
  if (name.fail) s->out->fail = name.fail;
  buf_release(&name);
  buf_release(&args);
  s->index++;
}

/* -- the end -- */

/* A script's stop reasons are the Messages API's. */
static struct str finish_of(const struct stage *s) {
  if (s->stop.n == 0) return s->calls ? STR("tool_calls") : STR("stop");
  if (str_is(s->stop, "end_turn")) return STR("stop");
  if (str_is(s->stop, "tool_use")) return STR("tool_calls");
  if (str_is(s->stop, "max_tokens")) return STR("length");
  if (str_is(s->stop, "refusal")) return STR("content_filter");
  return s->stop;
}

static void put_usage(struct stage *s) {
  int64_t input = stage_tokens(s->play->body_bytes), output = stage_tokens(s->written);
  struct json_out w = open_chunk(s);
  json_close(&w, ']');
  json_key(&w, "usage");
  json_open(&w, '{');
  json_key(&w, "prompt_tokens");
  json_put_num(&w, input);
  json_key(&w, "completion_tokens");
  json_put_num(&w, output);
  json_key(&w, "total_tokens");
  json_put_num(&w, input + output);
  json_close(&w, '}');
  stage_close_event(s, &w);
}

void stage_chat(struct stage *s) {
  struct json_out w = open_delta(s);
  json_key(&w, "role");
  json_put_text(&w, STR("assistant"));
  json_key(&w, "content");
  json_put_text(&w, STR_NONE);
  close_delta(s, &w, STR_NONE);
  put_in_pieces(s, "reasoning_content", s->thinking);
  put_in_pieces(s, "content", s->words);
  for (const struct json *call = s->first_call; call; call = call->next)
    put_call(s, call);
  w = open_delta(s);
  close_delta(s, &w, finish_of(s));
  put_usage(s);
  buf_lit(s->out, "data: [DONE]\n\n");
}
