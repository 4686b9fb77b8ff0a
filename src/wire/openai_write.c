/* The Responses API, what goes out. Nothing is kept on the server: the request
 * holds all items, those of the model as it sent them and in their order, since
 * reasoning is refused without the item that followed it, and the other way
 * round. What comes back is read in openai_read.c.
 */
#include "wire/openai.h"
#include "wire/put.h"
#include "wire/quirks.h"
#include "wire/wires.h"
#include "wire/words.h"

#define OUTPUT_MIN 16            /* a lower max_output_tokens is refused */
#define ITEM_TREE_MAX (1u << 30) /* the tree of the longest item */

/* -- tools -- */

static void put_tools(struct buf *out, const struct tool *tools, size_t count) {
  if (count == 0) return;
  struct json_out w = json_out(out);
  json_open(&w, '[');
  for (size_t i = 0; i < count; i++) {
    put_typed(&w, "function");
    put_tool_members(&w, &tools[i], "parameters");
    json_key(&w, "strict"); /* left out, the server may take it for strict */
    json_put_bool(&w, tools[i].strict);
    json_close(&w, '}');
  }
  json_close(&w, ']');
}

/* -- items of the user -- */

static void put_output(struct json_out *w, const struct block *b) {
  put_typed(w, "function_call_output");
  openai_put_id(w, "call_id", b->id);
  openai_put_result(w, "output", b);
  json_close(w, '}');
}

static void put_words(struct json_out *w, const struct message *m) {
  bool open = false;
  for (size_t i = 0; i < m->count; i++) {
    if (m->blocks[i].kind != BLOCK_TEXT || words_blank(m->blocks[i].text)) continue;
    if (!open) {
      put_typed(w, "message");
      json_key(w, "role");
      json_put_text(w, STR("user"));
      json_key(w, "content");
      json_open(w, '[');
    }
    open = true;
    put_typed(w, "input_text");
    json_key(w, "text");
    json_put_text(w, m->blocks[i].text);
    json_close(w, '}');
  }
  if (!open) return;
  json_close(w, ']');
  json_close(w, '}');
}

/* -- items of the model -- */

static bool is_own(const struct block *b) {
  return b->raw.n && str_is(b->wire, wire_openai.name);
}

static void put_text(struct json_out *w, const struct block *b) {
  put_typed(w, "message");
  json_key(w, "role");
  json_put_text(w, STR("assistant"));
  json_key(w, "content");
  json_put_text(w, b->text);
  json_close(w, '}');
}

static void put_call(struct json_out *w, const struct block *b) {
  put_typed(w, "function_call");
  openai_put_id(w, "call_id", b->id);
  put_call_name(w, b->name);
  openai_put_args(w, b);
  json_close(w, '}');
}

/* A call's item as it came, but for an id that stood twice and arguments that
 * the server would refuse. */
static void put_call_member(struct json_out *w, const struct json *m, const struct block *b) {
  if (str_is(m->key, "call_id")) {
    openai_put_id(w, "call_id", b->id);
  } else if (str_is(m->key, "name")) {
    put_call_name(w, b->name);
  } else if (str_is(m->key, "arguments") && (b->args_bad || !str_eq(json_text(m), b->args))) {
    openai_put_args(w, b);
  } else {
    json_key_str(w, m->key);
    json_put_raw(w, m->source);
  }
}

static bool is_call_item(const struct json *item) {
  return str_is(json_text(json_get(item, "type")), "function_call") && json_get(item, "call_id") &&
         json_get(item, "name") && json_get(item, "arguments");
}

/* Without the reasoning that it belongs to, an item is refused by its id. */
static void put_members(struct json_out *w, const struct json *item, const struct block *b,
                        bool drop_id) {
  json_open(w, '{');
  for (const struct json *m = item->first; m; m = m->next) {
    if (drop_id && str_is(m->key, "id")) continue;
    if (b->kind == BLOCK_TOOL_USE) {
      put_call_member(w, m, b);
      continue;
    }
    json_key_str(w, m->key);
    json_put_raw(w, m->source);
  }
  json_close(w, '}');
}

static void put_own(struct json_out *w, const struct block *b, bool drop_id) {
  struct arena arena;
  struct json *item = NULL;
  arena_init(&arena, ITEM_TREE_MAX);
  enum rein_code code = json_parse(&arena, b->raw, JSON_STRICT, &item, NULL);
  bool fine = code == REIN_OK && json_is(item, JSON_OBJECT);
  if (code == REIN_MEMORY) w->buf->fail = code;
  if (b->kind == BLOCK_TOOL_USE) fine = fine && is_call_item(item);
  if (fine)
    put_members(w, item, b, drop_id);
  else if (b->kind == BLOCK_TOOL_USE)
    put_call(w, b);
  else
    put_text(w, b);
  arena_release(&arena);
}

static bool is_sent(const struct message *m, size_t i, bool drop_thinking) {
  const struct block *b = &m->blocks[i];
  switch (b->kind) {
  case BLOCK_TEXT: break;
  case BLOCK_TOOL_USE:
  case BLOCK_TOOL_RESULT: return true;
  case BLOCK_THINKING: return !drop_thinking && is_own(b);
  case BLOCK_OPAQUE: return is_own(b);
  }
  for (size_t k = 0; k < i && b->raw.n; k++) /* a server that gave an item out twice */
    if (m->blocks[k].kind == BLOCK_TEXT && str_eq(m->blocks[k].raw, b->raw)) return false;
  return !words_blank(b->text);
}

/* Reasoning is refused "without its required following item". */
static bool is_followed(const struct message *m, size_t i, bool drop_thinking) {
  for (size_t k = i + 1; k < m->count; k++)
    if (m->blocks[k].kind != BLOCK_THINKING && is_sent(m, k, drop_thinking)) return true;
  return false;
}

static void put_item(struct json_out *w, const struct message *m, size_t i, bool drop_thinking) {
  const struct block *b = &m->blocks[i];
  switch (b->kind) {
  case BLOCK_TEXT:
    if (is_own(b) && drop_thinking)
      put_own(w, b, true);
    else if (is_own(b))
      json_put_raw(w, b->raw);
    else
      put_text(w, b);
    break;
  case BLOCK_TOOL_USE:
    if (is_own(b))
      put_own(w, b, drop_thinking);
    else
      put_call(w, b);
    break;
  case BLOCK_THINKING:
    if (is_followed(m, i, drop_thinking)) json_put_raw(w, b->raw);
    break;
  case BLOCK_OPAQUE: json_put_raw(w, b->raw); break;
  case BLOCK_TOOL_RESULT: break;
  }
}

/* A message is several items: what stands between the brackets of "input". */
static bool put_message(struct buf *out, const struct message *m, bool drop_thinking,
                        const struct quirks *quirks) {
  struct json_out w = json_out(out);
  size_t before = out->n;
  (void)quirks;
  if (m->role == ROLE_USER) {
    for (size_t i = 0; i < m->count; i++)
      if (m->blocks[i].kind == BLOCK_TOOL_RESULT) put_output(&w, &m->blocks[i]);
    put_words(&w, m);
  } else {
    for (size_t i = 0; i < m->count; i++)
      if (is_sent(m, i, drop_thinking)) put_item(&w, m, i, drop_thinking);
  }
  return out->n > before;
}

/* -- the request -- */

/* What may change between two requests stands behind the items. */
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
  if (!words_blank(r->system)) {
    json_key(&w, "instructions");
    json_put_text(&w, r->system);
  }
  json_key(&w, "input");
  json_open(&w, '[');
  for (size_t i = 0; i < r->count; i++)
    if (r->messages[i].n) json_put_raw(&w, r->messages[i]);
  json_close(&w, ']');
  json_key(&w, "max_output_tokens");
  json_put_num(&w, r->output_limit > OUTPUT_MIN ? r->output_limit : OUTPUT_MIN);
  json_key(&w, "store");
  json_put_bool(&w, false);
  if (!q->no_include) {
    json_key(&w, "include");
    json_put_raw(&w, STR("[\"reasoning.encrypted_content\"]"));
  }
  json_key(&w, "stream");
  json_put_bool(&w, true);
  if (q->pads) {
    json_key(&w, "stream_options");
    json_put_raw(&w, STR("{\"include_obfuscation\":false}"));
  }
  openai_put_cache_key(&w, r, q);
  if (r->no_tools && r->tools.n && !q->no_tool_choice) {
    json_key(&w, "tool_choice");
    json_put_text(&w, STR("none"));
  }
  json_close(&w, '}');
}

/* A server that speaks Responses is no grammar's, whatever its host. */
static const char *dialect(const struct quirks *q, bool strict) {
  bool plain = q == quirks_find(STR_NONE);
  return quirks_dialect(plain ? quirks_by_name(STR("openai")) : q, strict);
}

const struct wire wire_openai = {
    .name = "openai",
    .base_url = OPENAI_URL,
    .path = "/responses",
    .key_env = OPENAI_KEY_ENV,
    .url_env = OPENAI_URL_ENV,
    .tokenizer = TOKENIZER_O200K,
    .overhead_tokens = 1024, /* hidden system words; tools are written out in another form */
    .find_quirks = quirks_find,
    .repair = quirks_repair,
    .dialect = dialect,
    .put_tools = put_tools,
    .put_message = put_message,
    .put_request = put_request,
    .put_headers = openai_put_headers,
    .on_event = openai_on_event,
};
