/* Classes of errors by status and words (fact sheets "retries" §2 and the
 * wires' own error tables). Words decide where a status is too coarse: money
 * against pace in 429, and what a 400 blames. */
#include "wire/errors.h"

#include "wire/words.h"

/* Codes are words, and with some servers the status as a number. */
static struct str word_of(const struct json *node) {
  return json_is(node, JSON_NUMBER) ? node->text : json_text(node);
}

struct str error_type(const struct error_words *words) {
  return words->type.n && !str_is(words->type, "error") ? words->type : words->code;
}

bool error_read(const struct json *doc, struct error_words *words) {
  const struct json *error = json_get(doc, "error");
  *words = (struct error_words){.request_id = json_text(json_get(doc, "request_id"))};
  bool flat =
      json_is(json_get(doc, "type"), JSON_STRING) || json_is(json_get(doc, "object"), JSON_STRING);
  bool named = str_is(json_text(json_get(doc, "type")), "error") ||
               str_is(json_text(json_get(doc, "object")), "error");
  if (json_is(error, JSON_STRING)) {
    words->message = json_text(error);
    return true;
  }
  if (!json_is(error, JSON_OBJECT)) {
    error = doc;
    if (!named && (flat || !json_is(json_get(doc, "message"), JSON_STRING))) return false;
  }
  words->type = json_text(json_get(error, "type"));
  words->code = word_of(json_get(error, "code"));
  words->detail = json_text(json_get(json_get(error, "details"), "error_code"));
  words->message = json_text(json_get(error, "message"));
  words->param = json_text(json_get(error, "param"));
  return true;
}

static bool any(struct str text, const char *const *parts) {
  for (; *parts; parts++)
    if (words_have(text, str_of(*parts))) return true;
  return false;
}

/* Money, not pace: waiting does not help. */
static bool is_quota(const struct error_words *w) {
  static const char *const words[] = {"insufficient_quota",   "credit_balance", "spend_limit",
                                      "usage_limit_exceeded", "billing_error",  NULL};
  static const char *const sentences[] = {"credit balance is too low", "specified api usage limits",
                                          "exceeded your current quota", "insufficient credits",
                                          NULL};
  return any(w->type, words) || any(w->code, words) || any(w->detail, words) ||
         any(w->message, sentences);
}

static bool is_context(const struct error_words *w) {
  static const char *const words[] = {"context_length_exceeded", "exceed_context_size", NULL};
  static const char *const sentences[] = {"prompt is too long",
                                          "exceeds the context window",
                                          "maximum prompt length is",
                                          "reduce the length of the messages",
                                          "maximum context length",
                                          "exceeds the available context size",
                                          "greater than the context length",
                                          "context window exceeds limit",
                                          "exceeded model token limit",
                                          NULL};
  bool google = words_have(w->message, STR("input token count")) &&
                words_have(w->message, STR("exceeds the maximum"));
  bool copilot =
      words_have(w->message, STR("token")) && words_have(w->message, STR("exceeds the limit of"));
  return google || copilot || any(w->type, words) || any(w->code, words) ||
         any(w->message, sentences);
}

/* A signed block is refused: bound to another conversation, or changed. */
static bool is_bound(const struct error_words *w) {
  bool thinking = words_have(w->message, STR("thinking"));
  return (thinking && words_have(w->message, STR("signature"))) ||
         (thinking && words_have(w->message, STR("cannot be modified"))) ||
         str_is(w->code, "invalid_encrypted_content") ||
         words_have(w->message, STR("was provided without its required")); /* Responses */
}

static bool is_schema(const struct error_words *w) {
  static const char *const sentences[] = {
      "input_schema",          "invalid schema",          "json schema",
      "function_declarations", "failed to parse grammar", NULL};
  return str_is(w->code, "invalid_function_parameters") || str_starts(w->message, STR("tools.")) ||
         any(w->message, sentences);
}

/* The server could not read, or would not take, a call that its own model wrote. */
static bool is_miscall(const struct error_words *w) {
  return str_is(w->code, "tool_use_failed") || str_is(w->type, "tool_use_failed") ||
         words_have(w->message, STR("tool call validation failed"));
}

static enum fault_kind blamed(const struct error_words *w) {
  if (is_quota(w)) return FAULT_QUOTA;
  if (is_miscall(w)) return FAULT_MISCALL;
  if (is_context(w)) return FAULT_CONTEXT;
  if (is_bound(w)) return FAULT_BOUND;
  if (is_schema(w)) return FAULT_SCHEMA;
  return FAULT_INVALID;
}

enum fault_kind error_class(int status, const struct error_words *words, bool paced) {
  switch (status) {
  case 401:
  case 403: return FAULT_AUTH;
  case 402: return FAULT_QUOTA;
  case 408:
  case 409:
  case 425: return FAULT_OVERLOADED;
  case 429:
    /* Anthropic: a 429 with a detail and no time to come back is about money. */
    return is_quota(words) || (words->detail.n && !paced) ? FAULT_QUOTA : FAULT_OVERLOADED;
  default: return status >= 500 ? FAULT_OVERLOADED : blamed(words);
  }
}

enum fault_kind error_in_stream(const struct error_words *words) {
  static const char *const busy[] = {"overloaded", "api_error",    "rate_limit",
                                     "timeout",    "server_error", "unavailable",
                                     "slow_down",  "conflict",     NULL};
  static const char *const shut[] = {"authentication", "permission", "invalid_api_key", NULL};
  static const char *const wrong[] = {"invalid_request", "not_found",    "request_too_large",
                                      "invalid_",        "unsupported_", NULL};
  int64_t status;
  if (str_to_num(words->code, &status) && status >= 400 && status <= 599)
    return error_class((int)status, words, false);
  if (is_quota(words)) return FAULT_QUOTA;
  if (any(words->type, busy) || any(words->code, busy)) return FAULT_OVERLOADED;
  if (any(words->type, shut) || any(words->code, shut)) return FAULT_AUTH;
  enum fault_kind kind = blamed(words);
  if (kind != FAULT_INVALID || any(words->type, wrong) || any(words->code, wrong)) return kind;
  /* An error that nobody here knows came while the message was being made: the
   * message is broken, and the same bytes may well succeed. */
  return FAULT_BROKEN;
}
