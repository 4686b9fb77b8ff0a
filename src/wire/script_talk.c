/* Reads a request of the Messages API for a script: the user's newest words,
 * how many replies stand behind them, and what the calls since then returned. */
#include "base/utf8.h"
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
    if (!str_is(json_text(json_get(block, "type")), "text")) continue;
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

/* Text beside results may be a note of the harness: it counts as the user's
 * words only where a scenario names it. */
static enum rein_code take_words(struct arena *arena, const struct script *script,
                                 const struct json *message, struct talk *talk, bool *taken) {
  struct str words = STR_NONE;
  bool named = has_results(message);
  enum rein_code code = texts_of(arena, json_get(message, "content"), &words);
  if (code != REIN_OK || str_blank(words)) return code;
  const struct scenario *scenario = match(script, words, named);
  if (named && !scenario) return REIN_OK;
  *taken = true;
  talk->words = words;
  talk->scenario = scenario;
  talk->replies = talk->result_count = 0;
  return REIN_OK;
}

static enum rein_code take_results(struct arena *arena, const struct json *message,
                                   struct talk *talk) {
  const struct json *content = json_get(message, "content");
  enum rein_code code = REIN_OK;
  if (!json_is(content, JSON_ARRAY)) return code;
  for (const struct json *block = content->first; block && code == REIN_OK; block = block->next) {
    bool result = str_is(json_text(json_get(block, "type")), "tool_result");
    if (!result || talk->result_count == SCRIPT_RESULTS_MAX) continue;
    struct talk_result *r = &talk->results[talk->result_count++];
    r->is_error = json_true(json_get(block, "is_error"));
    code = texts_of(arena, json_get(block, "content"), &r->text);
  }
  return code;
}

static bool has_hangul(struct str text) {
  uint32_t cp;
  for (size_t n; text.n && (n = utf8_next(text, &cp)) > 0; text = str_part(text, n, text.n))
    if ((cp >= 0xAC00 && cp <= 0xD7A3) || (cp >= 0x1100 && cp <= 0x11FF) ||
        (cp >= 0x3130 && cp <= 0x318F))
      return true;
  return false;
}

static enum rein_code take_message(struct arena *arena, const struct script *script,
                                   const struct json *message, struct talk *talk) {
  bool taken = false;
  if (str_is(json_text(json_get(message, "role")), "assistant")) {
    talk->replies++;
    talk->replies_in_all++;
    return REIN_OK;
  }
  enum rein_code code = take_words(arena, script, message, talk, &taken);
  return code == REIN_OK && !taken ? take_results(arena, message, talk) : code;
}

enum rein_code talk_read(struct arena *arena, const struct script *script, struct str body,
                         struct talk *talk) {
  struct json *doc = NULL;
  *talk = (struct talk){.scenario = NULL};
  enum rein_code code = json_parse(arena, body, JSON_STRICT, &doc, NULL);
  if (code != REIN_OK) return code;
  const struct json *messages = json_get(doc, "messages");
  if (!json_is(messages, JSON_ARRAY) || messages->count == 0) return REIN_INPUT;
  talk->results = arena_array(arena, struct talk_result, SCRIPT_RESULTS_MAX);
  if (!talk->results) return REIN_MEMORY;
  for (const struct json *m = messages->first; m && code == REIN_OK; m = m->next)
    code = take_message(arena, script, m, talk);
  struct str choice = json_text(json_get(json_get(doc, "tool_choice"), "type"));
  talk->no_tools = str_is(choice, "none");
  talk->korean = has_hangul(talk->words);
  return code;
}
