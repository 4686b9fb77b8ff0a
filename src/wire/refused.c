/* The table of what servers refuse in a request, and what is done about it: once, and
 * remembered for the run (fact sheets "retries" §2.3, "openai-chat" §3). A refusal that
 * the table does not name is never repaired. How the change is made: quirks.c.
 */
#include "wire/refused.h"

#include "wire/words.h"

enum blame {
  REFUSED,  /* the member must not be there */
  WANTED,   /* it must be there */
  SENTENCE, /* these words alone say it */
};

static const struct row {
  const char *wires; /* their names */
  const char *says;  /* the member, as a word of its own; or the sentence */
  enum blame blame;
  enum rewrite repair;
} table[] = {
    {"chat", "stream_options", REFUSED, REWRITE_NO_USAGE_ASKED},
    {"chat", "include_usage", REFUSED, REWRITE_NO_USAGE_ASKED},
    {"chat openai", "include_obfuscation", REFUSED, REWRITE_NO_PADDING},
    {"openai", "stream_options", REFUSED, REWRITE_NO_PADDING},
    {"chat", "max_tokens", REFUSED, REWRITE_NEW_LIMIT},
    {"chat", "max_completion_tokens", REFUSED, REWRITE_OLD_LIMIT},
    {"chat", "reasoning_content", WANTED, REWRITE_ECHO},
    {"chat", "reasoning_content", REFUSED, REWRITE_NO_ECHO},
    {"chat", "reasoning_details", REFUSED, REWRITE_NO_ECHO},
    {"chat", "reasoning", REFUSED, REWRITE_NO_ECHO},
    {"chat", "extra_content", REFUSED, REWRITE_PLAIN_CALLS},
    {"chat", "a-z, A-Z, 0-9, with a length of 9", SENTENCE, REWRITE_IDS_OF_9},
    {"openai", "include", REFUSED, REWRITE_NO_INCLUDE},
    {"openai", "encrypted content is not supported", SENTENCE, REWRITE_NO_INCLUDE},
    {"chat openai", "tool_choice", REFUSED, REWRITE_NO_TOOL_CHOICE},
    {"anthropic", "cache_control", REFUSED, REWRITE_NO_MARKS},
};

static bool any(struct str text, const char *const *parts) {
  for (; *parts; parts++)
    if (words_have(text, str_of(*parts))) return true;
  return false;
}

static bool is_blamed(const struct error_words *w, enum blame blame) {
  static const char *const refusing[] = {
      "unsupported",  "not supported",   "not support",   "unknown",     "unrecognized",
      "unrecognised", "extra_forbidden", "extra inputs",  "unexpected",  "not permitted",
      "not allowed",  "not accepted",    "not available", "extra field", NULL};
  static const char *const wanting[] = {"missing", "required", "must be passed", "must be provided",
                                        NULL};
  switch (blame) {
  case REFUSED:
    return any(w->message, refusing) || any(w->type, refusing) || any(w->code, refusing);
  case WANTED: return any(w->message, wanting);
  case SENTENCE: return true;
  }
  return false;
}

static bool is_letter(struct str s, size_t i) {
  char c = i < s.n ? s.p[i] : ' ';
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A member whose name is an English word must stand in quotes, in a path, or alone. */
static bool is_meant(struct str text, struct str member, size_t at) {
  bool word = str_find_char(member, '_') == member.n;
  bool alone = text.n == member.n;
  return !word || alone || (at > 0 && strchr("'\"`.[", text.p[at - 1]));
}

/* Where the member stands as a word of its own, and not as the owner of the one that
 * is meant ("stream_options.include_usage"); text.n: nowhere. */
static size_t find_member(struct str text, struct str member) {
  for (size_t i = 0; i + member.n <= text.n; i++) {
    size_t end = i + member.n;
    if (!str_eq(str_part(text, i, member.n), member)) continue;
    bool part = (i > 0 && is_letter(text, i - 1)) || is_letter(text, end);
    bool owner = end < text.n && text.p[end] == '.' && is_letter(text, end + 1);
    if (!part && !owner && is_meant(text, member, i)) return i;
  }
  return text.n;
}

static size_t place_of(const struct row *row, struct str text) {
  struct str says = str_of(row->says);
  size_t at =
      row->blame == SENTENCE ? (words_have(text, says) ? 0 : text.n) : find_member(text, says);
  return at < text.n ? at : SIZE_MAX;
}

/* A refusal may name two members ("use X instead of Y"): the first one is blamed. */
static enum rewrite look(const struct wire *wire, const struct error_words *words,
                         struct str text) {
  enum rewrite repair = REWRITE_NONE;
  size_t first = SIZE_MAX;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const struct row *row = &table[i];
    struct str names = str_of(row->wires);
    size_t at = place_of(row, text);
    bool ours = str_has(names, str_of(wire->name));
    if (!ours || at >= first || !is_blamed(words, row->blame)) continue;
    first = at;
    repair = row->repair;
  }
  return repair;
}

enum rewrite refused_part(const struct wire *wire, const struct error_words *words) {
  enum rewrite repair = look(wire, words, words->param);
  return repair != REWRITE_NONE ? repair : look(wire, words, words->message);
}
