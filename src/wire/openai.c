/* Headers, ids, arguments and usage of both OpenAI wires. */
#include "wire/openai.h"

#include "wire/draft.h"
#include "wire/put.h"
#include "wire/quirks.h"
#include "wire/words.h"

void openai_put_headers(struct buf *out, struct str key) {
  buf_lit(out, "accept: text/event-stream\n");
  key = str_trim(key);
  if (!words_header_safe(key)) return;
  buf_lit(out, "authorization: Bearer ");
  buf_put(out, key);
  buf_c(out, '\n');
}

void openai_put_id(struct json_out *w, const char *key, struct str id) {
  struct buf b;
  buf_init(&b, id.n + 32);
  words_put_short_id(&b, id);
  put_made(w, key, &b);
}

void openai_put_args(struct json_out *w, const struct block *call) {
  struct buf b;
  if (!call->args_bad) {
    json_key(w, "arguments");
    json_put_text(w, call->args);
    return;
  }
  buf_init(&b, w->buf->max);
  struct json_out inner = json_out(&b);
  json_open(&inner, '{');
  json_key(&inner, "INVALID_JSON");
  json_put_text(&inner, call->args);
  json_close(&inner, '}');
  put_made(w, "arguments", &b);
}

struct str openai_args(const struct json *args) {
  if (!args || json_is(args, JSON_NULL)) return STR_NONE;
  return json_is(args, JSON_STRING) ? json_text(args) : args->source;
}

void openai_put_result(struct json_out *w, const char *key, const struct block *result) {
  struct buf b;
  buf_init(&b, w->buf->max);
  if (result->is_error) buf_put(&b, ERROR_MARK);
  buf_put(&b, result->text);
  put_made(w, key, &b);
}

void openai_put_cache_key(struct json_out *w, const struct request *r, const struct quirks *q) {
  struct buf b;
  if (!q->cache_key || r->cache_key == 0) return;
  buf_init(&b, 64);
  buf_fmt(&b, "rein-%016llx", (unsigned long long)r->cache_key);
  put_made(w, "prompt_cache_key", &b);
}

/* -- usage -- */

/* -1: not said, or no count. */
static int64_t count_of(const struct json *object, const char *key) {
  int64_t n;
  if (!json_int(json_get(object, key), &n) || n < 0) return -1;
  return n < DRAFT_TOKENS_MAX ? n : DRAFT_TOKENS_MAX;
}

static int64_t some(int64_t n) {
  return n > 0 ? n : 0;
}

/* Reasoning is part of the output; a server that leaves it out of that count
 * (xAI) has it in the total alone. */
void openai_usage(struct draft *draft, const struct json *usage, const struct usage_names *names) {
  const struct json *details = json_get(usage, names->input_details);
  int64_t input = count_of(usage, names->input), output = count_of(usage, names->output);
  int64_t total = count_of(usage, "total_tokens"), cached = count_of(details, "cached_tokens");
  struct usage seen;
  draft_count(&seen);
  if (cached < 0) cached = count_of(usage, "prompt_cache_hit_tokens"); /* DeepSeek */
  if (input >= 0) {
    seen.cache_read = some(cached);
    seen.cache_write = some(count_of(details, "cache_write_tokens"));
    seen.input = some(input - seen.cache_read - seen.cache_write);
  }
  seen.output = output;
  if (input >= 0 && output >= 0 && total - input > output) seen.output = total - input;
  draft_usage(draft, &seen);
}
