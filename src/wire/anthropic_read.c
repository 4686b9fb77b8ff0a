/* The Messages API, what comes back: one event of the stream into the draft.
 *
 * Tolerant in what does not matter (order of members, padding, unknown events,
 * blocks and deltas, a doubled message_start), strict in what does: arguments
 * without a call, an event that is no JSON.
 */
#include "wire/anthropic.h"
#include "wire/payload.h"

/* -- usage and ends -- */

static void take(const struct json *usage, const char *key, int64_t *count) {
  if (!json_int(json_get(usage, key), count)) *count = -1;
}

/* Cumulative in every event that has it. The totals leave out what a server did
 * on its own behalf ("iterations"); rein asks for none of that. */
static void read_usage(struct draft *d, const struct json *usage, bool at_end) {
  struct usage seen;
  draft_count(&seen);
  seen.known_output = at_end; /* the start counts a token or none */
  take(usage, "input_tokens", &seen.input);
  take(usage, "output_tokens", &seen.output);
  take(usage, "cache_read_input_tokens", &seen.cache_read);
  take(usage, "cache_creation_input_tokens", &seen.cache_write);
  draft_usage(d, &seen);
}

static enum stop stop_of(struct str word) {
  static const struct {
    const char *word;
    enum stop stop;
  } known[] = {
      {"end_turn", STOP_END},
      {"stop_sequence", STOP_END},
      {"tool_use", STOP_TOOLS},
      {"max_tokens", STOP_LENGTH},
      {"refusal", STOP_REFUSAL},
      {"pause_turn", STOP_PAUSE},
      {"model_context_window_exceeded", STOP_CONTEXT},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_is(word, known[i].word)) return known[i].stop;
  return STOP_UNKNOWN;
}

static void on_message_delta(struct draft *d, const struct json *event) {
  struct str word = payload_text(json_get(event, "delta"), "stop_reason");
  read_usage(d, json_get(event, "usage"), true);
  if (word.n) draft_stop(d, stop_of(word), word);
}

static void on_message_stop(struct draft *d, const struct json *event) {
  (void)event;
  draft_done(d);
}

static void on_error(struct draft *d, const struct json *event) {
  (void)payload_error(d, event);
}

/* -- the message and its blocks -- */

/* A second start of the same message is a slip; another message's start means
 * that all before it was dropped by the server (seen with fallbacks). Where a
 * server names none, blocks in between tell the one from the other. */
static void on_message_start(struct draft *d, const struct json *event) {
  const struct json *message = json_get(event, "message");
  struct str id = payload_text(message, "id"), before = draft_named(d);
  struct draft_view newest;
  if (before.n ? !str_eq(id, before) : draft_back(d, 0, &newest)) draft_restart(d);
  if (!str_eq(id, draft_named(d)) || !draft_began(d))
    draft_id(d, id, payload_text(message, "model"));
  read_usage(d, json_get(message, "usage"), false);
}

static int64_t index_of(const struct draft *d, const struct json *event) {
  int64_t index;
  return json_int(json_get(event, "index"), &index) ? index : draft_newest(d);
}

/* A text, or the source of what a server put in its place; blank is nothing. */
static struct str said(const struct json *value) {
  if (!value || json_is(value, JSON_NULL)) return STR_NONE;
  if (json_is(value, JSON_STRING) && str_blank(json_text(value))) return STR_NONE;
  return value->source;
}

static void start_call(struct draft *d, int64_t index, const struct json *block) {
  const struct json *input = json_get(block, "input");
  draft_open(d, index, BLOCK_TOOL_USE);
  draft_call(d, index, payload_text(block, "id"), payload_text(block, "name"));
  /* A placeholder {}, but for servers that send the whole call at once; what is
   * no object then is kept as well, so that nothing runs in its place. */
  bool placeholder = json_is(input, JSON_OBJECT) && input->count == 0;
  if (!placeholder) draft_raw(d, index, said(input));
}

static void start_thinking(struct draft *d, int64_t index, const struct json *block) {
  struct str signature = payload_text(block, "signature");
  draft_open(d, index, BLOCK_THINKING);
  draft_text(d, index, payload_text(block, "thinking"));
  if (signature.n) draft_signature(d, index, signature);
}

/* A start is a new block, also where the index is missing or given twice: the
 * one that is still open there ends. The same call again is a slip. */
static bool is_new(struct draft *d, int64_t index, struct str id) {
  struct draft_view there;
  if (!draft_find(d, index, &there) || there.closed) return true;
  if (id.n && str_eq(id, there.id)) return false;
  draft_close(d, index);
  return true;
}

static void on_block_start(struct draft *d, const struct json *event) {
  const struct json *block = json_get(event, "content_block");
  struct str type = payload_text(block, "type");
  int64_t index = index_of(d, event);
  if (!json_is(block, JSON_OBJECT) || !is_new(d, index, payload_text(block, "id"))) return;
  if (str_is(type, "text")) {
    draft_open(d, index, BLOCK_TEXT);
    draft_text(d, index, payload_text(block, "text"));
  } else if (str_is(type, "tool_use")) {
    start_call(d, index, block);
  } else if (str_is(type, "thinking")) {
    start_thinking(d, index, block);
  } else {
    draft_open(d, index, str_is(type, "redacted_thinking") ? BLOCK_THINKING : BLOCK_OPAQUE);
    draft_raw(d, index, block->source);
  }
}

static void on_block_stop(struct draft *d, const struct json *event) {
  draft_close(d, index_of(d, event));
}

/* -- deltas -- */

/* A piece of text or thinking; one without a start opens its block itself. */
static void add_text(struct draft *d, int64_t index, struct str piece, enum block_kind kind,
                     const char *opaque_member) {
  enum block_kind there;
  if (!draft_has(d, index, &there))
    draft_open(d, index, kind);
  else if (there == BLOCK_OPAQUE)
    draft_patch(d, index, str_of(opaque_member), PATCH_TEXT, piece);
  else if (there != kind)
    return;
  draft_text(d, index, piece);
}

/* A piece of arguments belongs to a call: without one, a call got lost. */
static void add_args(struct draft *d, int64_t index, struct str piece) {
  enum block_kind there = BLOCK_TEXT;
  (void)draft_has(d, index, &there);
  if (there == BLOCK_TOOL_USE)
    draft_text(d, index, piece);
  else if (there == BLOCK_OPAQUE)
    draft_patch(d, index, STR("input"), PATCH_SOURCE, piece);
  else if (piece.n)
    payload_fail(d, FAULT_GARBLED, T_WIRE_STRAY_ARGS, piece);
}

static void add_compaction(struct draft *d, int64_t index, const struct json *delta) {
  struct str content = payload_text(delta, "content"),
             secret = payload_text(delta, "encrypted_content");
  if (content.n) draft_patch(d, index, STR("content"), PATCH_TEXT, content);
  if (secret.n) draft_patch(d, index, STR("encrypted_content"), PATCH_TEXT, secret);
}

static void on_block_delta(struct draft *d, const struct json *event) {
  const struct json *delta = json_get(event, "delta");
  struct str type = payload_text(delta, "type");
  int64_t index = index_of(d, event);
  enum block_kind kind;
  if (str_is(type, "text_delta")) {
    add_text(d, index, payload_text(delta, "text"), BLOCK_TEXT, "text");
  } else if (str_is(type, "thinking_delta")) {
    add_text(d, index, payload_text(delta, "thinking"), BLOCK_THINKING, "thinking");
  } else if (str_is(type, "input_json_delta")) {
    const struct json *piece = json_get(delta, "partial_json");
    add_args(d, index, json_is(piece, JSON_STRING) ? json_text(piece) : said(piece));
  } else if (str_is(type, "signature_delta")) {
    draft_signature(d, index, payload_text(delta, "signature"));
  } else if (str_is(type, "compaction_delta") && draft_has(d, index, &kind) &&
             kind == BLOCK_OPAQUE) {
    add_compaction(d, index, delta);
  }
}

/* -- events -- */

static const struct {
  const char *type;
  void (*read)(struct draft *d, const struct json *event);
} known[] = {
    {"message_start", on_message_start},
    {"content_block_start", on_block_start},
    {"content_block_delta", on_block_delta},
    {"content_block_stop", on_block_stop},
    {"message_delta", on_message_delta},
    {"message_stop", on_message_stop},
    {"error", on_error},
};

static void read_event(struct draft *d, struct str name, const struct json *event) {
  struct str type = payload_text(event, "type");
  if (type.n == 0) type = json_get(event, "error") ? STR("error") : name;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_is(type, known[i].type)) known[i].read(d, event);
}

/* An event by a name that the protocol does not know, a ping too, may hold what
 * is no JSON at all: nobody reads it. What begins an object is ours to read,
 * since it may name its type. */
static bool is_foreign(const struct sse_event *event) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_is(event->name, known[i].type)) return false;
  if (event->name.n == 0 || str_starts(str_trim(event->data), STR("{"))) return false;
  struct arena scratch;
  struct json *doc;
  arena_init(&scratch, SSE_EVENT_MAX);
  enum rein_code code = json_parse(&scratch, event->data, JSON_STRICT, &doc, NULL);
  arena_release(&scratch);
  return code != REIN_OK && code != REIN_MEMORY;
}

void anthropic_on_event(struct draft *draft, const struct sse_event *event) {
  if (!is_foreign(event)) payload_read(draft, event, read_event);
}
