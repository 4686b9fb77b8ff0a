/* Reads a request for a script, whatever wire it came over: the user's newest
 * words, how many replies stand behind them, and what the calls since then
 * returned. */
#include "base/utf8.h"
#include "wire/openai.h"
#include "wire/script_parts.h"

/* The texts of a message's (or a result's) content, one after the other. */
static enum rein_code texts_of(struct arena *arena, const struct json *content, struct str *text) {
  struct buf b;
  if (!json_is(content, JSON_ARRAY)) {
    *text = json_text(content);
    return REIN_OK;
  }
  buf_init(&b, 64u << 20);
  for (const struct json *block = content->first; block; block = block->next) {
    struct str type = json_text(json_get(block, "type"));
    if (!str_is(type, "text") && !str_is(type, "input_text")) continue;
    if (b.n) buf_c(&b, '\n');
    buf_put(&b, json_text(json_get(block, "text")));
  }
  bool fine = b.fail == REIN_OK && (b.n == 0 || arena_str(arena, buf_str(&b), text));
  if (b.n == 0) *text = STR_NONE;
  buf_release(&b);
  return fine ? REIN_OK : REIN_MEMORY;
}

static bool has_results(const struct json *message) {
  const struct json *content = json_get(message, "content");
  if (!json_is(content, JSON_ARRAY)) return false;
  for (const struct json *block = content->first; block; block = block->next)
    if (str_is(json_text(json_get(block, "type")), "tool_result")) return true;
  return false;
}

static bool says(const struct json *when, struct str words) {
  struct str part = json_text(when);
  if (!json_is(when, JSON_ARRAY)) return part.n && str_has(words, part);
  for (const struct json *one = when->first; one; one = one->next)
    if (str_has(words, json_text(one))) return true;
  return false;
}

/* The scenario of these words; `named`: only one that names them. */
static const struct scenario *match(const struct script *s, struct str words, bool named) {
  for (size_t i = 0; i < s->count; i++)
    if (s->scenarios[i].when ? says(s->scenarios[i].when, words) : !named) return &s->scenarios[i];
  return NULL;
}

static bool has_hangul(struct str text) {
  uint32_t cp;
  for (size_t n; text.n && (n = utf8_next(text, &cp)) > 0; text = str_part(text, n, text.n))
    if ((cp >= 0xAC00 && cp <= 0xD7A3) || (cp >= 0x1100 && cp <= 0x11FF) ||
        (cp >= 0x3130 && cp <= 0x318F))
      return true;
  return false;
}

/* What was heard of a request so far. */
struct listener {
  struct arena *arena;
  const struct script *script;
  struct talk *talk;
  bool beside;   /* results stand right before */
  bool replying; /* Responses: the item before is the model's, too */
};

/* Text beside results may be a note of the harness: it counts as the user's
 * words only where a scenario names it. */
static bool hear_words(struct listener *l, struct str words, bool beside) {
  if (str_blank(words)) return false;
  const struct scenario *scenario = match(l->script, words, beside);
  if (beside && !scenario) return false;
  l->talk->words = words;
  l->talk->scenario = scenario;
  l->talk->replies = l->talk->result_count = 0;
  return true;
}

static void hear_reply(struct listener *l) {
  l->talk->replies++;
  l->talk->replies_in_all++;
}

static enum rein_code hear_result(struct listener *l, const struct json *content, bool is_error) {
  if (l->talk->result_count == SCRIPT_RESULTS_MAX) return REIN_OK;
  struct talk_result *r = &l->talk->results[l->talk->result_count++];
  *r = (struct talk_result){.is_error = is_error};
  return texts_of(l->arena, content, &r->text);
}

/* -- Messages -- */

static enum rein_code hear_message(struct listener *l, const struct json *message) {
  const struct json *content = json_get(message, "content");
  struct str words = STR_NONE;
  if (str_is(json_text(json_get(message, "role")), "assistant")) {
    hear_reply(l);
    return REIN_OK;
  }
  enum rein_code code = texts_of(l->arena, content, &words);
  if (code != REIN_OK || hear_words(l, words, has_results(message))) return code;
  if (!json_is(content, JSON_ARRAY)) return code;
  for (const struct json *block = content->first; block && code == REIN_OK; block = block->next)
    if (str_is(json_text(json_get(block, "type")), "tool_result"))
      code = hear_result(l, json_get(block, "content"), json_true(json_get(block, "is_error")));
  return code;
}

/* -- the wires of OpenAI's making: errors are told by their text -- */

static enum rein_code hear_output(struct listener *l, const struct json *content) {
  struct talk_result *r = &l->talk->results[l->talk->result_count];
  l->beside = true;
  l->replying = false;
  if (l->talk->result_count == SCRIPT_RESULTS_MAX) return REIN_OK;
  enum rein_code code = hear_result(l, content, false);
  r->is_error = str_starts(r->text, ERROR_MARK);
  if (r->is_error) r->text = str_part(r->text, ERROR_MARK.n, r->text.n);
  return code;
}

static enum rein_code hear_user(struct listener *l, const struct json *content) {
  struct str words = STR_NONE;
  enum rein_code code = texts_of(l->arena, content, &words);
  if (code == REIN_OK) (void)hear_words(l, words, l->beside);
  l->beside = l->replying = false;
  return code;
}

static enum rein_code hear_chat(struct listener *l, const struct json *message) {
  struct str role = json_text(json_get(message, "role"));
  const struct json *content = json_get(message, "content");
  if (str_is(role, "tool")) return hear_output(l, content);
  if (str_is(role, "user")) return hear_user(l, content);
  l->beside = false;
  if (str_is(role, "assistant")) hear_reply(l);
  return REIN_OK;
}

/* Items of the model that stand together are one reply. */
static enum rein_code hear_item(struct listener *l, const struct json *item) {
  struct str type = json_text(json_get(item, "type")), role = json_text(json_get(item, "role"));
  if (str_is(type, "function_call_output")) return hear_output(l, json_get(item, "output"));
  if (str_is(role, "user")) return hear_user(l, json_get(item, "content"));
  if (str_is(role, "system") || str_is(role, "developer")) return REIN_OK;
  if (!l->replying) hear_reply(l);
  l->replying = true;
  l->beside = false;
  return REIN_OK;
}

/* -- a request -- */

static enum rein_code hear(struct listener *l, enum script_wire wire, const struct json *one) {
  switch (wire) {
  case SCRIPT_MESSAGES: return hear_message(l, one);
  case SCRIPT_RESPONSES: return hear_item(l, one);
  case SCRIPT_CHAT: return hear_chat(l, one);
  }
  return REIN_INPUT;
}

static enum rein_code hear_all(struct listener *l, enum script_wire wire, const struct json *doc) {
  bool items = wire == SCRIPT_RESPONSES;
  const struct json *list = json_get(doc, items ? "input" : "messages");
  enum rein_code code = REIN_OK;
  if (items && json_is(list, JSON_STRING)) return hear_user(l, list);
  if (!json_is(list, JSON_ARRAY) || list->count == 0) return REIN_INPUT;
  for (const struct json *one = list->first; one && code == REIN_OK; one = one->next)
    code = hear(l, wire, one);
  return code;
}

enum rein_code talk_read(struct arena *arena, const struct script *script, enum script_wire wire,
                         struct str body, struct talk *talk) {
  struct json *doc = NULL;
  struct listener l = {.arena = arena, .script = script, .talk = talk};
  *talk = (struct talk){.scenario = NULL};
  enum rein_code code = json_parse(arena, body, JSON_STRICT, &doc, NULL);
  if (code != REIN_OK) return code;
  talk->results = arena_array(arena, struct talk_result, SCRIPT_RESULTS_MAX);
  if (!talk->results) return REIN_MEMORY;
  code = hear_all(&l, wire, doc);
  const struct json *choice = json_get(doc, "tool_choice");
  struct str word =
      json_is(choice, JSON_OBJECT) ? json_text(json_get(choice, "type")) : json_text(choice);
  talk->no_tools = str_is(word, "none");
  talk->korean = has_hangul(talk->words);
  return code;
}
