/* The Responses API, what comes back: one event of the stream into the draft.
 *
 * A block is an item, known by its output_index alone: proxies change the ids of
 * items from event to event. The finished item is trusted over its pieces, which
 * small servers leave out, and goes back as it is.
 */
#include "wire/openai.h"
#include "wire/payload.h"

struct place {
  struct draft *draft;
  const struct json *event;
  int64_t index;
};

static struct str member(const struct json *object, const char *key) {
  return payload_text(object, key);
}

/* -- items -- */

static bool is_call(struct str type) {
  return str_is(type, "function_call") || str_is(type, "custom_tool_call");
}

static enum block_kind kind_of(const struct json *item) {
  struct str type = member(item, "type");
  if (is_call(type)) return BLOCK_TOOL_USE;
  if (str_is(type, "message")) return BLOCK_TEXT;
  if (str_is(type, "reasoning")) return BLOCK_THINKING;
  return BLOCK_OPAQUE;
}

/* Results answer a call by its call_id; other items are told apart by their id. */
static struct str id_of(const struct json *item) {
  struct str id = member(item, "call_id");
  return id.n || kind_of(item) == BLOCK_TOOL_USE ? id : member(item, "id");
}

/* The texts of a message, a refusal's words too. */
static void put_parts(struct buf *text, const struct json *item, bool *refused) {
  const struct json *content = json_get(item, "content");
  if (json_is(content, JSON_STRING)) buf_put(text, content->text);
  for (const struct json *part = content ? content->first : NULL; part; part = part->next) {
    struct str refusal = member(part, "refusal");
    buf_put(text, refusal.n ? refusal : member(part, "text"));
    *refused = *refused || refusal.n > 0;
  }
}

static void settle_message(struct draft *d, int64_t index, const struct json *item) {
  bool refused = false;
  struct buf text;
  buf_init(&text, DRAFT_BYTES_MAX);
  put_parts(&text, item, &refused);
  if (text.fail)
    draft_lost(d, text.fail);
  else
    draft_settle(d, index, buf_str(&text));
  if (refused) draft_refuse(d);
  buf_release(&text);
}

static struct str args_of(const struct json *item) {
  const struct json *args = json_get(item, "arguments");
  return openai_args(args ? args : json_get(item, "input")); /* custom tools */
}

static void settle_call(struct draft *d, int64_t index, const struct json *item) {
  draft_call(d, index, id_of(item), member(item, "name"));
  draft_settle(d, index, args_of(item));
}

/* A call under the index of an open one that it is not: another id, and another
 * name or arguments that do not go on from its own. */
static bool is_another(const struct draft_view *call, const struct json *item) {
  struct str id = id_of(item), name = member(item, "name");
  if (call->kind != BLOCK_TOOL_USE || id.n == 0 || call->id.n == 0 || str_eq(id, call->id))
    return false;
  bool renamed = name.n && call->name.n && !str_eq(name, call->name);
  return renamed || !str_starts(args_of(item), call->body);
}

static bool open_item(struct draft *d, int64_t index, const struct json *item) {
  struct draft_view there;
  enum block_kind kind = kind_of(item);
  if (!json_is(item, JSON_OBJECT)) return false;
  if (draft_find(d, index, &there) && !there.closed &&
      (there.kind != kind || is_another(&there, item)))
    draft_close(d, index);
  draft_open(d, index, kind);
  draft_call(d, index, id_of(item), member(item, "name"));
  return true;
}

static void finish_item(struct draft *d, int64_t index, const struct json *item) {
  if (!open_item(d, index, item)) return;
  switch (kind_of(item)) {
  case BLOCK_TEXT:
    settle_message(d, index, item);
    draft_item(d, index, item->source);
    break;
  case BLOCK_TOOL_USE:
    settle_call(d, index, item);
    draft_item(d, index, item->source);
    break;
  case BLOCK_THINKING:
  case BLOCK_OPAQUE: draft_raw(d, index, item->source); break;
  case BLOCK_TOOL_RESULT: break;
  }
  draft_close(d, index);
}

static void on_item_added(const struct place *p) {
  (void)open_item(p->draft, p->index, json_get(p->event, "item"));
}

/* An item that ends twice is one item; two under one index are two. */
static void on_item_done(const struct place *p) {
  const struct json *item = json_get(p->event, "item");
  struct draft_view there;
  bool closed = draft_find(p->draft, p->index, &there) && there.closed;
  if (closed && there.kind == kind_of(item) && str_eq(there.id, id_of(item))) return;
  finish_item(p->draft, p->index, item);
}

/* -- pieces -- */

/* A piece whose item was never announced opens it; one for another kind of item,
 * or for one that has ended, is dropped. */
static bool opens(const struct place *p, enum block_kind kind) {
  struct draft_view there;
  if (!draft_find(p->draft, p->index, &there)) draft_open(p->draft, p->index, kind);
  return draft_find(p->draft, p->index, &there) && !there.closed && there.kind == kind;
}

static void on_text(const struct place *p) {
  if (opens(p, BLOCK_TEXT)) draft_text(p->draft, p->index, member(p->event, "delta"));
}

static void on_refusal(const struct place *p) {
  on_text(p);
  draft_refuse(p->draft);
}

/* Whole parts count where no piece came: a message may have several. */
static void on_text_done(const struct place *p) {
  struct draft_view there;
  if (!opens(p, BLOCK_TEXT) || !draft_find(p->draft, p->index, &there) || there.body.n) return;
  draft_text(p->draft, p->index, member(p->event, "text"));
}

static void on_thinking(const struct place *p) {
  if (opens(p, BLOCK_THINKING)) draft_text(p->draft, p->index, member(p->event, "delta"));
}

/* Parts of a summary are paragraphs. */
static void on_summary_part(const struct place *p) {
  struct draft_view there;
  if (!opens(p, BLOCK_THINKING) || !draft_find(p->draft, p->index, &there)) return;
  if (there.body.n) draft_text(p->draft, p->index, STR("\n\n"));
}

static void on_args(const struct place *p) {
  if (opens(p, BLOCK_TOOL_USE)) draft_text(p->draft, p->index, member(p->event, "delta"));
}

static void on_args_done(const struct place *p) {
  if (!opens(p, BLOCK_TOOL_USE)) return;
  draft_call(p->draft, p->index, STR_NONE, member(p->event, "name"));
  draft_settle(p->draft, p->index, args_of(p->event));
}

/* -- the response -- */

static void read_usage(struct draft *d, const struct json *response) {
  static const struct usage_names names = {"input_tokens", "output_tokens", "input_tokens_details"};
  openai_usage(d, json_get(response, "usage"), &names);
}

static void on_created(const struct place *p) {
  const struct json *response = json_get(p->event, "response");
  if (draft_named(p->draft).n == 0)
    draft_id(p->draft, member(response, "id"), member(response, "model"));
}

static bool find_call(const struct draft *d, const struct json *item, struct draft_view *call) {
  struct str id = id_of(item);
  if (kind_of(item) != BLOCK_TOOL_USE || id.n == 0) return false;
  for (size_t i = 0; draft_back(d, i, call); i++)
    if (call->kind == BLOCK_TOOL_USE && str_eq(call->id, id)) return true;
  return false;
}

static bool calls(const struct draft *d) {
  struct draft_view there;
  for (size_t i = 0; draft_back(d, i, &there); i++)
    if (there.kind == BLOCK_TOOL_USE) return true;
  return false;
}

/* What the events left out stands in the finished response; some proxies send
 * it without its items. */
static void take_output(struct draft *d, const struct json *response) {
  const struct json *output = json_get(response, "output");
  if (!json_is(output, JSON_ARRAY)) return;
  int64_t i = 0;
  for (const struct json *item = output->first; item; item = item->next, i++) {
    struct draft_view there = {.index = i};
    bool stands = find_call(d, item, &there) || draft_find(d, i, &there);
    if (!stands || !there.closed) finish_item(d, there.index, item);
  }
}

static enum stop stop_of(struct str reason) {
  if (str_is(reason, "max_output_tokens")) return STOP_LENGTH;
  if (str_is(reason, "content_filter")) return STOP_REFUSAL;
  return STOP_UNKNOWN;
}

static void end(const struct place *p, enum stop stop, struct str word) {
  const struct json *response = json_get(p->event, "response");
  on_created(p);
  take_output(p->draft, response);
  read_usage(p->draft, response);
  if (stop == STOP_END && calls(p->draft)) stop = STOP_TOOLS;
  draft_stop(p->draft, stop, word);
  draft_done(p->draft);
}

static void on_incomplete(const struct place *p) {
  const struct json *response = json_get(p->event, "response");
  struct str reason = member(json_get(response, "incomplete_details"), "reason");
  end(p, stop_of(reason), reason.n ? reason : STR("incomplete"));
}

static void give_up(const struct place *p, struct str word) {
  const struct json *response = json_get(p->event, "response");
  read_usage(p->draft, response);
  if (!payload_error(p->draft, response))
    payload_fail(p->draft, FAULT_BROKEN, T_WIRE_GAVE_UP, word);
}

static void on_failed(const struct place *p) {
  give_up(p, STR("response.failed"));
}

static void on_cancelled(const struct place *p) {
  give_up(p, STR("response.cancelled"));
}

/* Where the event and the status of its response differ, the status counts. */
static void on_completed(const struct place *p) {
  struct str status = member(json_get(p->event, "response"), "status");
  if (str_is(status, "failed"))
    on_failed(p);
  else if (str_is(status, "cancelled"))
    on_cancelled(p);
  else if (str_is(status, "incomplete"))
    on_incomplete(p);
  else
    end(p, STOP_END, STR("completed"));
}

static void on_error(const struct place *p) {
  if (!payload_error(p->draft, p->event))
    payload_fail(p->draft, FAULT_BROKEN, T_WIRE_GAVE_UP, STR("error"));
}

/* -- events -- */

static int64_t index_of(struct draft *d, const struct json *event, bool added) {
  int64_t index;
  struct draft_view newest;
  if (json_int(json_get(event, "output_index"), &index)) return index;
  bool next = added || !draft_back(d, 0, &newest) || newest.closed;
  return draft_newest(d) + next;
}

static void read_event(struct draft *d, struct str name, const struct json *event) {
  static const struct {
    const char *type;
    void (*read)(const struct place *place);
  } known[] = {
      {"response.created", on_created},
      {"response.in_progress", on_created},
      {"response.output_item.added", on_item_added},
      {"response.output_item.done", on_item_done},
      {"response.output_text.delta", on_text},
      {"response.output_text.done", on_text_done},
      {"response.refusal.delta", on_refusal},
      {"response.reasoning_summary_part.added", on_summary_part},
      {"response.reasoning_summary_text.delta", on_thinking},
      {"response.reasoning_text.delta", on_thinking},
      {"response.function_call_arguments.delta", on_args},
      {"response.function_call_arguments.done", on_args_done},
      {"response.custom_tool_call_input.delta", on_args},
      {"response.custom_tool_call_input.done", on_args_done},
      {"response.completed", on_completed},
      {"response.incomplete", on_incomplete},
      {"response.failed", on_failed},
      {"response.cancelled", on_cancelled},
      {"error", on_error},
  };
  struct str type = member(event, "type");
  if (type.n == 0) type = json_get(event, "error") ? STR("error") : name;
  bool added = str_is(type, "response.output_item.added");
  struct place place = {d, event, index_of(d, event, added)};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_is(type, known[i].type)) known[i].read(&place);
}

void openai_on_event(struct draft *draft, const struct sse_event *event) {
  draft_lenient(draft);
  payload_read(draft, event, read_event);
}
