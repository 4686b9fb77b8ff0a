/* The Messages API, what goes out: tools, messages, the request, headers. What
 * comes back is read in anthropic_read.c.
 *
 * A message is serialised once, without cache marks; a request is spliced from
 * such messages, and the marks are put between their bytes. So, marks left out,
 * a request begins with the bytes of the one before it.
 */
#include "json/write.h"
#include "wire/anthropic.h"
#include "wire/wires.h"
#include "wire/put.h"
#include "wire/quirks.h"
#include "wire/words.h"

#include <assert.h>

#define MARK STR(",\"cache_control\":{\"type\":\"ephemeral\"}")
/* A mark is found again from at most 20 blocks behind it (prompt caching,
 * "lookback"); two are left for what a server counts otherwise. */
#define MARK_EVERY 18
#define MARKS_MAX 3 /* the fourth, of the four that are allowed, is the system prompt's */

/* -- tools -- */

static void put_tools(struct buf *out, const struct tool *tools, size_t count) {
  if (count == 0) return;
  struct json_out w = json_out(out);
  json_open(&w, '[');
  for (size_t i = 0; i < count; i++) {
    json_open(&w, '{');
    put_tool_members(&w, &tools[i], "input_schema");
    if (tools[i].strict) {
      json_key(&w, "strict");
      json_put_bool(&w, true);
    }
    json_close(&w, '}');
  }
  json_close(&w, ']');
}

/* -- messages -- */

static void put_id(struct json_out *w, const char *key, struct str id) {
  struct buf b;
  buf_init(&b, id.n + 32);
  words_put_id(&b, id);
  put_made(w, key, &b);
}

static void put_call(struct json_out *w, const struct block *b) {
  put_typed(w, "tool_use");
  put_id(w, "id", b->id);
  put_call_name(w, b->name);
  json_key(w, "input");
  if (!b->args_bad) {
    json_put_raw(w, b->args);
  } else {
    json_open(w, '{');
    json_key(w, "INVALID_JSON");
    json_put_text(w, b->args);
    json_close(w, '}');
  }
  json_close(w, '}');
}

static void put_result(struct json_out *w, const struct block *b) {
  put_typed(w, "tool_result");
  put_id(w, "tool_use_id", b->id);
  if (b->text.n) {
    json_key(w, "content");
    json_put_text(w, b->text);
  }
  if (b->is_error) {
    json_key(w, "is_error");
    json_put_bool(w, true);
  }
  json_close(w, '}');
}

static void put_text(struct json_out *w, const struct block *b) {
  put_typed(w, "text");
  json_key(w, "text");
  json_put_text(w, b->text);
  json_close(w, '}');
}

static bool is_sent(const struct block *b, bool drop_thinking) {
  switch (b->kind) {
  case BLOCK_TEXT: return !words_blank(b->text);
  case BLOCK_TOOL_USE:
  case BLOCK_TOOL_RESULT: return true;
  case BLOCK_THINKING: return !drop_thinking && b->raw.n && str_is(b->wire, wire_anthropic.name);
  case BLOCK_OPAQUE: return b->raw.n && str_is(b->wire, wire_anthropic.name);
  }
  return false;
}

static void put_block(struct json_out *w, const struct block *b) {
  switch (b->kind) {
  case BLOCK_TEXT: put_text(w, b); break;
  case BLOCK_TOOL_USE: put_call(w, b); break;
  case BLOCK_TOOL_RESULT: put_result(w, b); break;
  case BLOCK_THINKING:
  case BLOCK_OPAQUE: json_put_raw(w, b->raw); break;
  }
}

/* A message of thinking alone is refused: "the final block … cannot be thinking". */
static bool is_sendable(const struct message *m, bool drop_thinking) {
  for (size_t i = 0; i < m->count; i++)
    if (m->blocks[i].kind != BLOCK_THINKING && is_sent(&m->blocks[i], drop_thinking)) return true;
  return false;
}

/* Results first ("tool_result blocks must come first in the content array"). */
static bool put_message(struct buf *out, const struct message *m, bool drop_thinking,
                        const struct quirks *quirks) {
  (void)quirks; /* messages are alike everywhere */
  if (!is_sendable(m, drop_thinking)) return false;
  buf_put(out, m->role == ROLE_USER ? USER_HEAD : ASSISTANT_HEAD);
  struct json_out w = json_out(out);
  for (int results = 1; results >= 0; results--)
    for (size_t i = 0; i < m->count; i++)
      if ((m->blocks[i].kind == BLOCK_TOOL_RESULT) == (results == 1) &&
          is_sent(&m->blocks[i], drop_thinking))
        put_block(&w, &m->blocks[i]);
  buf_lit(out, "]}");
  return true;
}

/* -- the request -- */

struct mark {
  size_t message;
  size_t at; /* bytes of the message before it: the block's last brace follows */
};

struct marks {
  struct mark all[MARKS_MAX];
  size_t count;
};

/* The place of the quote that closes the string which begins at `at`. */
static size_t string_end(struct str text, size_t at) {
  const char *first = text.p + at + 1, *end = text.p + text.n;
  for (const char *p = first; (p = memchr(p, '"', (size_t)(end - p))); p++) {
    const char *slash = p;
    while (slash > first && slash[-1] == '\\')
      slash--;
    if ((p - slash) % 2 == 0) return (size_t)(p - text.p);
  }
  return text.n;
}

/* The length of the object that the text begins with. */
static size_t object_length(struct str text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (c == '"')
      i = string_end(text, i);
    else if (c == '{')
      depth++;
    else if (c == '}' && --depth == 0)
      return i + 1;
  }
  return text.n;
}

/* Takes the next block off a message that put_message wrote; `*from` starts 0. */
static bool next_block(struct str message, size_t *from, struct str *block) {
  size_t start = *from + 1; /* behind a comma */
  if (*from == 0) start = str_starts(message, USER_HEAD) ? USER_HEAD.n : ASSISTANT_HEAD.n;
  struct str rest = str_part(message, start, message.n);
  *block = str_part(rest, 0, object_length(rest));
  *from = start + block->n;
  return *from + strlen("]}") < message.n; /* more than the message's own end follows */
}

/* Blocks of which it is known that they may carry a mark; signed ones never. */
static bool takes_mark(struct str block) {
  return str_starts(block, STR("{\"type\":\"text\",")) ||
         str_starts(block, STR("{\"type\":\"tool_use\",")) ||
         str_starts(block, STR("{\"type\":\"tool_result\","));
}

static void add_mark(struct marks *marks, const struct request *r, size_t message, size_t end) {
  assert(marks->count < MARKS_MAX && r->messages[message].p[end - 1] == '}');
  marks->all[marks->count++] = (struct mark){message, end - 1};
}

/* The end of a message's last block. */
static size_t last_end(struct str message) {
  return message.n - 2;
}

/* Between two user messages that are far apart: the first block from the
 * MARK_EVERYth on that takes a mark. */
static void add_middle(struct marks *marks, const struct request *r, size_t after, size_t until) {
  size_t seen = 0;
  for (size_t i = after + 1; i <= until; i++) {
    size_t from = 0;
    struct str block;
    bool more = r->messages[i].n > 0;
    while (more) {
      more = next_block(r->messages[i], &from, &block);
      if (++seen < MARK_EVERY || !takes_mark(block)) continue;
      if (i < until || more) add_mark(marks, r, i, from);
      return;
    }
  }
}

static struct marks find_marks(const struct request *r) {
  struct marks marks = {.count = 0};
  size_t newest = r->count, before = r->count;
  for (size_t i = r->count; i > 0 && before == r->count; i--) {
    if (r->roles[i - 1] != ROLE_USER || r->messages[i - 1].n == 0) continue;
    if (newest == r->count)
      newest = i - 1;
    else
      before = i - 1;
  }
  if (before < r->count) {
    add_mark(&marks, r, before, last_end(r->messages[before]));
    add_middle(&marks, r, before, newest);
  }
  if (newest < r->count) add_mark(&marks, r, newest, last_end(r->messages[newest]));
  return marks;
}

static void put_mark(struct buf *out, const struct request *r) {
  if (!r->quirks || !r->quirks->no_marks) buf_put(out, MARK);
}

static void put_messages(struct buf *out, const struct request *r) {
  struct marks marks = find_marks(r);
  size_t next = 0;
  bool comma = false;
  for (size_t i = 0; i < r->count; i++) {
    struct str m = r->messages[i];
    size_t from = 0;
    if (m.n == 0) continue;
    if (comma) buf_c(out, ',');
    comma = true;
    for (; next < marks.count && marks.all[next].message == i; next++) {
      buf_put(out, str_part(m, from, marks.all[next].at - from));
      put_mark(out, r);
      from = marks.all[next].at;
    }
    buf_put(out, str_part(m, from, m.n));
  }
}

/* What may change between two requests stands behind the messages. */
static void put_request(struct buf *out, const struct request *r) {
  buf_lit(out, "{\"model\":");
  json_quote(out, r->model);
  if (r->tools.n) {
    buf_lit(out, ",\"tools\":");
    buf_put(out, r->tools);
  }
  if (!words_blank(r->system)) {
    buf_lit(out, ",\"system\":[{\"type\":\"text\",\"text\":");
    json_quote(out, r->system);
    put_mark(out, r);
    buf_lit(out, "}]");
  }
  buf_lit(out, ",\"messages\":[");
  put_messages(out, r);
  buf_lit(out, "],\"max_tokens\":");
  buf_num(out, r->output_limit);
  buf_lit(out, ",\"stream\":true");
  if (r->no_tools && r->tools.n) buf_lit(out, ",\"tool_choice\":{\"type\":\"none\"}");
  buf_c(out, '}');
}

static void put_headers(struct buf *out, struct str key) {
  buf_lit(out, "anthropic-version: 2023-06-01\naccept: text/event-stream\n");
  key = str_trim(key);
  if (!words_header_safe(key)) return;
  buf_lit(out, "x-api-key: ");
  buf_put(out, key);
  buf_c(out, '\n');
}

static const char *dialect(const struct quirks *q, bool strict) {
  (void)q;
  return strict ? "anthropic-strict" : "anthropic";
}

const struct wire wire_anthropic = {
    .name = "anthropic",
    .base_url = "https://api.anthropic.com",
    .path = "/v1/messages",
    .key_env = "ANTHROPIC_API_KEY",
    .url_env = "ANTHROPIC_BASE_URL",
    .tokenizer = TOKENIZER_CLAUDE_2026,
    .overhead_tokens = 1024, /* hidden words for tools: 286 to 804 tokens, by model */
    .find_quirks = quirks_find,
    .repair = quirks_repair,
    .dialect = dialect,
    .put_tools = put_tools,
    .put_message = put_message,
    .put_request = put_request,
    .put_headers = put_headers,
    .on_event = anthropic_on_event,
};
