/* Chat Completions, what comes back: one chunk into the draft. Tolerant of what
 * servers really do (fact sheet "openai-chat" §3; rows are cited by number): ids
 * that are missing, repeat or change, an index that is always 0 or not there,
 * arguments as objects, usage anywhere, reasoning in five forms.
 *
 * A call is a block whose index is the server's own; where it gives none, one
 * that no server gives.
 */
#include "wire/openai.h"
#include "wire/payload.h"
#include "wire/think.h"
#include "wire/words.h"

#define AT_TEXT INT64_MIN
#define AT_THINKING (INT64_MIN + 1)
#define AT_REFUSAL (INT64_MIN + 2)
#define AT_FIRST_UNNUMBERED (INT64_MAX - DRAFT_BLOCKS_MAX)

static struct str member(const struct json *object, const char *key) {
  return payload_text(object, key);
}

/* -- text and reasoning -- */

static void add_text(struct draft *d, int64_t at, enum block_kind kind, struct str piece) {
  if (piece.n == 0) return;
  draft_open(d, at, kind);
  draft_text(d, at, piece);
}

/* Shown as it comes; kept under its own name, for a server that wants it back. */
static void add_reasoning(struct draft *d, const char *key, struct str piece, bool show) {
  if (piece.n == 0) return;
  draft_open(d, AT_THINKING, BLOCK_THINKING);
  draft_patch(d, AT_THINKING, str_of(key), PATCH_TEXT, piece);
  if (show) draft_text(d, AT_THINKING, piece);
}

static void add_details(struct draft *d, const struct json *list, bool show) {
  if (!json_is(list, JSON_ARRAY)) return;
  for (const struct json *one = list->first; one; one = one->next) {
    draft_open(d, AT_THINKING, BLOCK_THINKING);
    draft_patch(d, AT_THINKING, STR("reasoning_details"), PATCH_EACH, one->source);
    if (show) draft_text(d, AT_THINKING, member(one, "text"));
  }
}

/* Some servers send the same under two names: it is shown once. */
static void read_reasoning(struct draft *d, const struct json *delta) {
  struct str content = member(delta, "reasoning_content"), bare = member(delta, "reasoning");
  add_reasoning(d, "reasoning_content", content, true);
  add_reasoning(d, "reasoning", bare, content.n == 0);
  add_details(d, json_get(delta, "reasoning_details"), content.n + bare.n == 0);
}

/* Some leave the reasoning in the answer, between tags. */
static void add_answer(struct draft *d, struct str piece) {
  struct str part;
  bool thinking;
  while (think_next(draft_think(d), &piece, &part, &thinking))
    if (thinking)
      add_reasoning(d, "reasoning", part, true);
    else
      add_text(d, AT_TEXT, BLOCK_TEXT, part);
}

static void end_answer(struct draft *d) {
  struct str part;
  bool thinking;
  if (!think_end(draft_think(d), &part, &thinking)) return;
  if (thinking)
    add_reasoning(d, "reasoning", part, true);
  else
    add_text(d, AT_TEXT, BLOCK_TEXT, part);
}

/* Mistral: a list of parts, thinking among them. */
static void read_parts(struct draft *d, const struct json *parts) {
  for (const struct json *part = parts->first; part; part = part->next) {
    const struct json *thinking = json_get(part, "thinking");
    add_text(d, AT_TEXT, BLOCK_TEXT, member(part, "text"));
    add_reasoning(d, "reasoning", json_text(thinking), true);
    if (!json_is(thinking, JSON_ARRAY)) continue;
    for (const struct json *t = thinking->first; t; t = t->next)
      add_reasoning(d, "reasoning", member(t, "text"), true);
  }
}

static void read_content(struct draft *d, const struct json *delta) {
  const struct json *content = json_get(delta, "content");
  struct str refusal = member(delta, "refusal");
  add_answer(d, json_text(content));
  if (json_is(content, JSON_ARRAY)) read_parts(d, content);
  add_text(d, AT_REFUSAL, BLOCK_TEXT, refusal);
  if (refusal.n) draft_refuse(d);
}

/* -- calls -- */

struct entry {
  const struct json *json;
  struct str id, name;
  struct str args;
};

static struct entry entry_of(const struct json *json) {
  const struct json *function = json_get(json, "function");
  return (struct entry){.json = json,
                        .id = member(json, "id"),
                        .name = member(function, "name"),
                        .args = openai_args(json_get(function, "arguments"))}; /* row 10 */
}

static bool is_complete(struct draft *d, struct str args) {
  struct arena arena;
  struct json *doc = NULL;
  args = str_trim(args);
  if (!str_ends(args, STR("}"))) return false; /* spares the parser each piece */
  arena_init(&arena, 16 * (size_t)DRAFT_BYTES_MAX);
  enum rein_code code = json_parse(&arena, args, JSON_STRICT, &doc, NULL);
  if (code == REIN_MEMORY) draft_lost(d, code);
  arena_release(&arena);
  return code == REIN_OK;
}

/* Whether an entry under the index or the id of a call is another call (§5, step 1):
 * names are never sent in pieces, so another name is another call. */
static bool is_another(struct draft *d, const struct draft_view *call, const struct entry *e) {
  if (e->name.n == 0 || call->name.n == 0) return false; /* row 3: ids change, names do not */
  if (e->id.n && !str_eq(e->id, call->id)) return true;  /* row 4 */
  if (!str_eq(e->name, call->name)) return true;
  return e->args.n > 0 && is_complete(d, call->body); /* else the name is said again: row 7 */
}

static int64_t next_unnumbered(const struct draft *d) {
  struct draft_view v;
  int64_t next = AT_FIRST_UNNUMBERED;
  for (size_t i = 0; draft_back(d, i, &v); i++)
    next += v.kind == BLOCK_TOOL_USE;
  return next;
}

/* The open call of that id. */
static bool find_named(const struct draft *d, struct str id, struct draft_view *call) {
  for (size_t i = 0; id.n && draft_back(d, i, call); i++)
    if (call->kind == BLOCK_TOOL_USE && !call->closed && str_eq(id, call->id)) return true;
  return false;
}

static bool find_last(const struct draft *d, struct draft_view *call) {
  for (size_t i = 0; draft_back(d, i, call); i++)
    if (call->kind == BLOCK_TOOL_USE && !call->closed) return true;
  return false;
}

/* Where the index tells nothing (row 5): the call of that id, or a new one if the
 * entry has a name, or the last one. */
static int64_t find_unnumbered(struct draft *d, const struct entry *e) {
  struct draft_view v;
  if (find_named(d, e->id, &v)) {
    if (!is_another(d, &v, e)) return v.index;
    draft_close(d, v.index);
  } else if (e->name.n == 0 && find_last(d, &v)) {
    return v.index;
  }
  return next_unnumbered(d);
}

static int64_t find_call(struct draft *d, const struct entry *e) {
  struct draft_view v;
  int64_t index;
  if (!json_int(json_get(e->json, "index"), &index)) return find_unnumbered(d, e);
  if (index < 0 || index >= AT_FIRST_UNNUMBERED) return find_unnumbered(d, e);
  if (draft_find(d, index, &v) && !v.closed) {
    if (is_another(d, &v, e)) draft_close(d, index);
  } else if (e->name.n == 0 && (e->id.n ? find_named(d, e->id, &v) : find_last(d, &v))) {
    return v.index; /* a piece of a call that began under another index */
  }
  return index;
}

/* Members that nobody here knows are kept: a signature may be among them
 * (row 27). */
static void keep_members(struct draft *d, int64_t index, const struct json *entry) {
  static const char *const known[] = {"index", "id", "type", "function", NULL};
  for (const struct json *m = entry->first; m; m = m->next) {
    bool plain = json_is(m, JSON_NULL);
    for (size_t i = 0; known[i]; i++)
      plain = plain || str_is(m->key, known[i]);
    if (!plain) draft_patch(d, index, m->key, PATCH_VALUE, m->source);
  }
}

static void read_calls(struct draft *d, const struct json *list) {
  if (!json_is(list, JSON_ARRAY)) return;
  for (const struct json *json = list->first; json; json = json->next) {
    if (!json_is(json, JSON_OBJECT)) continue;
    struct entry e = entry_of(json);
    int64_t index = find_call(d, &e);
    draft_open(d, index, BLOCK_TOOL_USE);
    draft_call(d, index, e.id, e.name);
    draft_text(d, index, e.args);
    keep_members(d, index, json);
  }
}

/* -- ends -- */

static enum stop stop_of(struct str word) {
  static const struct {
    const char *word;
    enum stop stop;
  } known[] = {
      {"stop", STOP_END},
      {"end_turn", STOP_END},
      {"stop_sequence", STOP_END},
      {"eos", STOP_END},
      {"tool_calls", STOP_TOOLS},
      {"tool_use", STOP_TOOLS},
      {"function_call", STOP_TOOLS},
      {"length", STOP_LENGTH},
      {"max_tokens", STOP_LENGTH},
      {"content_filter", STOP_REFUSAL},
      {"refusal", STOP_REFUSAL},
      {"model_context_window_exceeded", STOP_CONTEXT},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (str_eq_nocase(word, str_of(known[i].word))) return known[i].stop;
  return STOP_UNKNOWN;
}

/* Words for a reply that the server could not finish: the same bytes may succeed. */
static bool is_given_up(struct str word) {
  static const char *const words[] = {"error", "abort", "insufficient_system_resource", NULL};
  for (size_t i = 0; words[i]; i++)
    if (str_is(word, words[i])) return true;
  return false;
}

/* "" is null (row 14), and the first word stands (rows 16, 43). */
static void read_finish(struct draft *d, const struct json *choice) {
  struct str word = member(choice, "finish_reason");
  if (word.n == 0) word = member(choice, "finishReason");
  if (word.n == 0 || draft_stopped(d)) return;
  end_answer(d);
  if (is_given_up(word))
    payload_fail(d, FAULT_BROKEN, T_WIRE_GAVE_UP, word);
  else
    draft_stop(d, stop_of(word), word);
}

static void read_usage(struct draft *d, const struct json *chunk) {
  static const struct usage_names names = {"prompt_tokens", "completion_tokens",
                                           "prompt_tokens_details"};
  const struct json *usage = json_get(chunk, "usage");
  if (!json_is(usage, JSON_OBJECT)) usage = json_get(json_get(chunk, "x_groq"), "usage");
  openai_usage(d, usage, &names);
}

/* -- chunks -- */

/* Ids change from chunk to chunk with some servers, and are empty at first with
 * others: the first one counts. */
static void read_names(struct draft *d, const struct json *chunk) {
  struct str id = member(chunk, "id");
  if (draft_named(d).n == 0 && (id.n || !draft_began(d))) draft_id(d, id, member(chunk, "model"));
}

static bool is_error(const struct json *chunk, struct str name) {
  const struct json *error = json_get(chunk, "error");
  return (error && !json_is(error, JSON_NULL)) || str_is(name, "error") ||
         str_is(member(chunk, "object"), "error");
}

static void read_error(struct draft *d, const struct json *chunk) {
  if (!payload_error(d, chunk)) payload_fail(d, FAULT_BROKEN, T_WIRE_GAVE_UP, STR("error"));
}

static void read_chunk(struct draft *d, struct str name, const struct json *chunk) {
  const struct json *choice = json_at(json_get(chunk, "choices"), 0);
  const struct json *delta = json_get(choice, "delta");
  read_usage(d, chunk);
  if (is_error(chunk, name)) {
    read_error(d, chunk);
    return;
  }
  read_names(d, chunk);
  if (!json_is(delta, JSON_OBJECT)) delta = json_get(choice, "message"); /* row 39 */
  read_reasoning(d, delta);
  read_content(d, delta);
  read_calls(d, json_get(delta, "tool_calls"));
  read_finish(d, choice);
}

/* [DONE] without a finish_reason is an end like any other (row 18). */
void chat_on_event(struct draft *draft, const struct sse_event *event) {
  draft_lenient(draft);
  draft_stop_ends(draft);
  if (!payload_is_done(event)) {
    payload_read(draft, event, read_chunk);
    return;
  }
  end_answer(draft);
  if (!draft_stopped(draft)) draft_stop(draft, STOP_END, STR("[DONE]"));
  draft_done(draft);
}
