/* Chat Completions, what goes out, to whoever serves it: what one server needs
 * and another refuses is a row in quirks.c. What comes back is read in
 * chat_read.c.
 */
#include "base/hash.h"
#include "wire/openai.h"
#include "wire/put.h"
#include "wire/quirks.h"
#include "wire/wires.h"
#include "wire/words.h"

#define THINKING_TREE_MAX (1u << 30) /* the tree of the longest reasoning */

/* -- tools -- */

static void put_tools(struct buf *out, const struct tool *tools, size_t count) {
  if (count == 0) return;
  struct json_out w = json_out(out);
  json_open(&w, '[');
  for (size_t i = 0; i < count; i++) {
    put_typed(&w, "function");
    json_key(&w, "function");
    json_open(&w, '{');
    put_tool_members(&w, &tools[i], "parameters");
    if (tools[i].strict) {
      json_key(&w, "strict");
      json_put_bool(&w, true);
    }
    json_close(&w, '}');
    json_close(&w, '}');
  }
  json_close(&w, ']');
}

/* -- ids -- */

static bool is_nine(struct str id) {
  for (size_t i = 0; i < id.n; i++) {
    char c = id.p[i];
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!fine) return false;
  }
  return id.n == 9;
}

static void put_id(struct json_out *w, const char *key, struct str id, const struct quirks *q) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  char nine[9];
  uint64_t h = hash_end(hash_str(id));
  if (!q->ids_of_9 || is_nine(id)) {
    openai_put_id(w, key, id);
    return;
  }
  for (size_t i = 0; i < sizeof nine; i++, h /= 62)
    nine[i] = letters[h % 62];
  json_key(w, key);
  json_put_text(w, (struct str){nine, sizeof nine});
}

/* -- the user -- */

static void put_role(struct json_out *w, const char *role) {
  json_open(w, '{');
  json_key(w, "role");
  json_put_text(w, str_of(role));
}

static void put_result(struct json_out *w, const struct block *b, const struct quirks *q) {
  put_role(w, "tool");
  put_id(w, "tool_call_id", b->id, q);
  openai_put_result(w, "content", b);
  json_close(w, '}');
}

/* The texts of a message as one string: few servers take a list of parts. */
static void join_texts(struct buf *text, const struct message *m, const char *between) {
  for (size_t i = 0; i < m->count; i++) {
    if (m->blocks[i].kind != BLOCK_TEXT || words_blank(m->blocks[i].text)) continue;
    if (text->n) buf_put(text, str_of(between));
    buf_put(text, m->blocks[i].text);
  }
}

static void put_user(struct json_out *w, const struct message *m, const struct quirks *q) {
  struct buf text;
  for (size_t i = 0; i < m->count; i++)
    if (m->blocks[i].kind == BLOCK_TOOL_RESULT) put_result(w, &m->blocks[i], q);
  buf_init(&text, w->buf->max);
  join_texts(&text, m, "\n\n");
  if (text.n) {
    put_role(w, "user");
    json_key(w, "content");
    json_put_text(w, buf_str(&text));
    json_close(w, '}');
  }
  if (text.fail) w->buf->fail = text.fail;
  buf_release(&text);
}

/* -- the model's reasoning -- */

/* Members of a detail that come in pieces; the signature comes last. */
static const char *const pieced[] = {"text", "summary", "data", "signature"};
#define PIECED (sizeof pieced / sizeof *pieced)

static bool is_pieced(struct str key) {
  for (size_t i = 0; i < PIECED; i++)
    if (str_is(key, pieced[i])) return true;
  return false;
}

static void put_pieced(struct json_out *w, const struct json *first, const struct json *end,
                       const char *key) {
  struct buf whole;
  bool there = false;
  buf_init(&whole, w->buf->max);
  for (const struct json *d = first; d != end; d = d->next) {
    there = there || json_get(d, key);
    buf_put(&whole, json_text(json_get(d, key)));
  }
  if (there) {
    json_key(w, key);
    json_put_text(w, buf_str(&whole));
  }
  if (whole.fail) w->buf->fail = whole.fail;
  buf_release(&whole);
}

/* Pieces of one detail, from `first` until `end`: what streaming parted is joined. */
static void put_detail(struct json_out *w, const struct json *first, const struct json *end) {
  json_open(w, '{');
  for (const struct json *m = first->first; m; m = m->next) {
    if (is_pieced(m->key)) continue;
    json_key_str(w, m->key);
    json_put_raw(w, m->source);
  }
  for (size_t i = 0; i < PIECED; i++)
    put_pieced(w, first, end, pieced[i]);
  json_close(w, '}');
}

static bool same(const struct json *a, const struct json *b, const char *key) {
  const struct json *x = json_get(a, key), *y = json_get(b, key);
  return x && y ? str_eq(x->source, y->source) : !x && !y;
}

static void put_details(struct json_out *w, const struct json *list) {
  json_key(w, "reasoning_details");
  json_open(w, '[');
  for (const struct json *d = list->first, *end; d; d = end) {
    end = d->next;
    while (end && same(d, end, "type") && same(d, end, "index"))
      end = end->next;
    put_detail(w, d, end);
  }
  json_close(w, ']');
}

static struct str reasoning_of(const struct json *said) {
  struct str text = json_text(json_get(said, "reasoning_content"));
  return text.n ? text : json_text(json_get(said, "reasoning"));
}

static void put_echo(struct json_out *w, const struct json *said, enum echo echo) {
  const struct json *details = json_get(said, "reasoning_details");
  switch (echo) {
  case ECHO_NONE: break;
  case ECHO_CONTENT:
    json_key(w, "reasoning_content");
    json_put_text(w, reasoning_of(said));
    break;
  case ECHO_DETAILS:
    if (details) {
      put_details(w, details);
    } else if (reasoning_of(said).n) {
      json_key(w, "reasoning");
      json_put_text(w, reasoning_of(said));
    }
    break;
  }
}

static const struct block *own_thinking(const struct message *m, bool drop_thinking) {
  for (size_t i = 0; i < m->count && !drop_thinking; i++) {
    const struct block *b = &m->blocks[i];
    if (b->kind == BLOCK_THINKING && b->raw.n && str_is(b->wire, wire_chat.name)) return b;
  }
  return NULL;
}

static void put_reasoning(struct json_out *w, const struct message *m, bool drop_thinking,
                          const struct quirks *q) {
  const struct block *b = own_thinking(m, drop_thinking);
  struct arena arena;
  struct json *said = NULL;
  if (q->echo == ECHO_NONE) return;
  arena_init(&arena, THINKING_TREE_MAX);
  if (b && json_parse(&arena, b->raw, JSON_STRICT, &said, NULL) == REIN_MEMORY)
    w->buf->fail = REIN_MEMORY;
  put_echo(w, said, q->echo);
  arena_release(&arena);
}

/* -- the model's words and calls -- */

static void put_call(struct json_out *w, const struct block *b, const struct quirks *q) {
  json_open(w, '{');
  put_id(w, "id", b->id, q);
  json_key(w, "type");
  json_put_text(w, STR("function"));
  json_key(w, "function");
  json_open(w, '{');
  put_call_name(w, b->name);
  openai_put_args(w, b);
  json_close(w, '}');
  bool own = b->raw.n > 2 && str_is(b->wire, wire_chat.name) && !q->plain_calls;
  if (own) { /* {"a":…}, as the draft writes it: its members behind ours */
    buf_c(w->buf, ',');
    buf_put(w->buf, str_part(b->raw, 1, b->raw.n - 2));
  }
  json_close(w, '}');
}

static void put_calls(struct json_out *w, const struct message *m, const struct quirks *q) {
  bool open = false;
  for (size_t i = 0; i < m->count; i++) {
    if (m->blocks[i].kind != BLOCK_TOOL_USE) continue;
    if (!open) {
      json_key(w, "tool_calls"); /* never an empty list: servers fail over it */
      json_open(w, '[');
    }
    open = true;
    put_call(w, &m->blocks[i], q);
  }
  if (open) json_close(w, ']');
}

static bool has_call(const struct message *m) {
  for (size_t i = 0; i < m->count; i++)
    if (m->blocks[i].kind == BLOCK_TOOL_USE) return true;
  return false;
}

static bool put_assistant(struct json_out *w, const struct message *m, bool drop_thinking,
                          const struct quirks *q) {
  struct buf text;
  buf_init(&text, w->buf->max);
  join_texts(&text, m, "");
  bool sent = text.n > 0 || text.fail || has_call(m);
  if (sent) {
    put_role(w, "assistant");
    json_key(w, "content"); /* always: servers refuse a message without it */
    if (text.n || !q->null_content)
      json_put_text(w, buf_str(&text));
    else
      json_put_null(w);
    put_reasoning(w, m, drop_thinking, q);
    put_calls(w, m, q);
    json_close(w, '}');
  }
  if (text.fail) w->buf->fail = text.fail;
  buf_release(&text);
  return sent;
}

/* A message of results is several here: what stands between the brackets of
 * "messages". */
static bool put_message(struct buf *out, const struct message *m, bool drop_thinking,
                        const struct quirks *quirks) {
  const struct quirks *q = quirks ? quirks : quirks_find(STR_NONE);
  struct json_out w = json_out(out);
  size_t before = out->n;
  if (m->role == ROLE_ASSISTANT) return put_assistant(&w, m, drop_thinking, q);
  put_user(&w, m, q);
  return out->n > before || out->fail;
}

/* -- the request -- */

static void put_messages(struct json_out *w, const struct request *r) {
  json_key(w, "messages");
  json_open(w, '[');
  if (!words_blank(r->system)) {
    put_role(w, "system");
    json_key(w, "content");
    json_put_text(w, r->system);
    json_close(w, '}');
  }
  for (size_t i = 0; i < r->count; i++)
    if (r->messages[i].n) json_put_raw(w, r->messages[i]);
  json_close(w, ']');
}

/* What may change between two requests stands behind the messages. */
static void put_request(struct buf *out, const struct request *r) {
  const struct quirks *q = r->quirks ? r->quirks : quirks_find(STR_NONE);
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "model");
  json_put_text(&w, r->model);
  if (r->tools.n) {
    json_key(&w, "tools");
    json_put_raw(&w, r->tools);
  }
  put_messages(&w, r);
  json_key(&w, q->new_limit ? "max_completion_tokens" : "max_tokens");
  json_put_num(&w, r->output_limit);
  json_key(&w, "stream");
  json_put_bool(&w, true);
  if (!q->no_usage_asked) {
    json_key(&w, "stream_options");
    json_open(&w, '{');
    json_key(&w, "include_usage");
    json_put_bool(&w, true);
    if (q->pads) json_key(&w, "include_obfuscation");
    if (q->pads) json_put_bool(&w, false);
    json_close(&w, '}');
  }
  openai_put_cache_key(&w, r, q);
  if (r->no_tools && r->tools.n && !q->no_tool_choice) {
    json_key(&w, "tool_choice");
    json_put_text(&w, STR("none"));
  }
  json_close(&w, '}');
}

const struct wire wire_chat = {
    .name = "chat",
    .base_url = OPENAI_URL,
    .path = "/chat/completions",
    .key_env = OPENAI_KEY_ENV,
    .url_env = OPENAI_URL_ENV,
    .tokenizer = TOKENIZER_CL100K,
    .overhead_tokens = 1024, /* servers put templates of their own around tools and messages */
    .find_quirks = quirks_find,
    .repair = quirks_repair,
    .dialect = quirks_dialect,
    .put_tools = put_tools,
    .put_message = put_message,
    .put_request = put_request,
    .put_headers = openai_put_headers,
    .on_event = chat_on_event,
};
