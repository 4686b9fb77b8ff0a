/* A scripted reply, made ready for whichever wire plays it: which texts are
 * said, which calls are made. The bytes are script_messages.c's,
 * script_responses.c's and script_chat.c's. */
#include "text/text.h"
#include "wire/put.h"
#include "wire/script_parts.h"

#define BYTES_PER_TOKEN 4 /* counted so, since nobody knows a script's tokenizer */

struct json_out stage_open_event(struct stage *s, const char *type) {
  buf_lit(s->out, "event: ");
  buf_put(s->out, str_of(type));
  buf_lit(s->out, "\ndata: ");
  struct json_out w = json_out(s->out);
  put_typed(&w, type);
  return w;
}

void stage_close_event(struct stage *s, struct json_out *w) {
  json_close(w, '}');
  buf_lit(s->out, "\n\n");
}

int64_t stage_tokens(size_t bytes) {
  return bytes < BYTES_PER_TOKEN ? 1 : (int64_t)(bytes / BYTES_PER_TOKEN);
}

void stage_id(struct stage *s, struct json_out *w, const char *key, const char *prefix,
              size_t number) {
  struct buf id;
  buf_init(&id, 128);
  buf_put(&id, str_of(prefix));
  buf_fmt(&id, "%zu", s->play->talk->replies_in_all + 1);
  if (number) buf_fmt(&id, "_%zu", number);
  json_key(w, key);
  json_put_text(w, buf_str(&id));
  if (id.fail) s->out->fail = id.fail;
  buf_release(&id);
}

void stage_args(struct stage *s, const struct json *call, struct buf *args) {
  const struct json *input = json_get(call, "input");
  buf_init(args, SCRIPT_TEXT_MAX);
  if (input) fill_json(args, s->play->arena, input, s->play->talk);
  s->written += args->n;
  if (args->fail) s->out->fail = args->fail;
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

static void put_words(struct buf *out, const struct play *p) {
  struct str text = STR_NONE;
  if (any_error(p->talk)) text = chosen_text(p, "text_if_error");
  if (text.n == 0) text = chosen_text(p, "text");
  fill(out, p->arena, text, p->talk);
  if (!p->reply) TEXT_PUT(out, p->talk->korean ? REIN_KOREAN : REIN_ENGLISH, T_WIRE_SCRIPT_OVER);
}

void play_reply(struct buf *out, const struct play *play) {
  struct buf words;
  struct stage s = {.out = out, .play = play};
  buf_init(&words, SCRIPT_TEXT_MAX);
  put_words(&words, play);
  s.words = buf_str(&words);
  s.thinking = chosen_text(play, "thinking");
  s.stop = chosen_text(play, "stop");
  s.written = s.words.n + s.thinking.n;
  /* A wrap-up takes no calls: it gets the words alone. */
  const struct json *calls = play->talk->no_tools ? NULL : json_get(play->reply, "calls");
  s.first_call = calls ? calls->first : NULL;
  switch (play->wire) {
  case SCRIPT_MESSAGES: stage_messages(&s); break;
  case SCRIPT_RESPONSES: stage_responses(&s); break;
  case SCRIPT_CHAT: stage_chat(&s); break;
  }
  if (words.fail) out->fail = words.fail;
  buf_release(&words);
}
