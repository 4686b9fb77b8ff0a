/* Signs of a server that is set up wrongly: see doubt.h. */
#include "wire/doubt.h"

#include "base/utf8.h"
#include "wire/words.h"

#define MARK_POINTS 60 /* of a call as text: enough to recognise it */
/* Bytes of a token at most: measured texts have 1.4 to 5.3 (fact sheet "tokens" §1), and
 * runs of blanks in source code more. */
#define TOKEN_BYTES_MAX 10
#define PROMPT_BYTES_MIN 8192 /* below it templates and counts of blanks weigh too much */

/* -- calls left as text -- */

static const char *const marks[] = {
    "<tool_call>",
    "<tool_calls>",
    "<function_call>",
    "<function=",
    "<function_calls",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<|tool_call",
    "<|tool▁call",
    "<｜tool▁call",
    "<invoke name=",
    "<tool_use>",
    "<|channel|>commentary to=functions.",
    "<start_function_call>",
};

static size_t find_mark(struct str text) {
  size_t first = text.n;
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    size_t at = str_find(text, str_of(marks[i]));
    if (at < first) first = at;
  }
  return first;
}

static struct str past_blanks(struct str s) {
  while (s.n && strchr(" \t\r\n", s.p[0]) && s.p[0])
    s = str_part(s, 1, s.n);
  return s;
}

static bool take(struct str *s, struct str word) {
  if (!str_starts(*s, word)) return false;
  *s = past_blanks(str_part(*s, word.n, s->n));
  return true;
}

/* {"name": "TOOL", and arguments under a name that templates use. */
static bool is_call_object(struct str text, struct str name) {
  struct str rest = text;
  bool head = take(&rest, STR("{")) && take(&rest, STR("\"name\"")) && take(&rest, STR(":")) &&
              take(&rest, STR("\"")) && take(&rest, name) && take(&rest, STR("\"")) &&
              take(&rest, STR(","));
  return head &&
         (str_starts(rest, STR("\"arguments\"")) || str_starts(rest, STR("\"parameters\"")));
}

static size_t find_object(struct str text, const struct str *names, size_t count) {
  for (size_t at = str_find_char(text, '{'); at < text.n;) {
    struct str rest = str_part(text, at, text.n);
    for (size_t i = 0; i < count; i++)
      if (is_call_object(rest, names[i])) return at;
    at += 1 + str_find_char(str_part(rest, 1, rest.n), '{');
  }
  return text.n;
}

struct str doubt_left_call(const struct reply *reply, const struct str *names, size_t count) {
  struct str found = STR_NONE;
  for (size_t i = 0; i < reply->count; i++) {
    const struct block *b = &reply->blocks[i];
    if (b->kind == BLOCK_TOOL_USE) return STR_NONE;
    if (b->kind != BLOCK_TEXT || found.n || count == 0) continue;
    size_t mark = find_mark(b->text), object = find_object(b->text, names, count);
    found = str_part(b->text, mark < object ? mark : object, b->text.n);
  }
  return utf8_head(found, MARK_POINTS);
}

/* -- prompts cut silently -- */

bool doubt_cut_prompt(const struct doubt_sizes *s) {
  if (s->prompt <= 0 || s->body < PROMPT_BYTES_MIN) return false;
  if (s->prompt < (int64_t)(s->body / TOKEN_BYTES_MAX)) return true;
  if (s->prompt_before <= 0 || s->body <= s->body_before + PROMPT_BYTES_MIN) return false;
  int64_t grown = s->prompt - s->prompt_before + s->output_before;
  return grown < (int64_t)((s->body - s->body_before) / TOKEN_BYTES_MAX);
}
