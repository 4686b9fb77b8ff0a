/* Templates in a script's texts (docs/SCRIPTS.md lists them):
 *
 *   {{result 2}}             all of the second result since the user's words
 *   {{result 2 line 1}}      its first line
 *   {{result 2 /a/b}}        what stands there when the result is JSON
 *   {{error}}                the first line of the first error among the results
 *   {{words}}                the user's words
 */
#include "json/write.h"
#include "wire/script_parts.h"

enum what { FILL_WORDS, FILL_ERROR, FILL_RESULT };

struct template {
  enum what what;
  int64_t number, line; /* from 1; line 0: all of it */
  struct str pointer;
};

static bool take_word(struct str *rest, struct str *word) {
  *rest = str_trim(*rest);
  return str_next(rest, ' ', word) && word->n;
}

static bool in_range(struct str text, int64_t *number) {
  return str_to_num(text, number) && *number >= 1 && *number <= SCRIPT_RESULTS_MAX * 1000;
}

static bool read_template(struct str inner, struct template *t) {
  struct str word, rest = inner;
  *t = (struct template){.what = FILL_WORDS};
  if (!take_word(&rest, &word)) return false;
  rest = str_trim(rest);
  if (str_is(word, "words")) return rest.n == 0;
  t->what = FILL_ERROR;
  if (str_is(word, "error")) return rest.n == 0;
  t->what = FILL_RESULT;
  if (!str_is(word, "result") || !take_word(&rest, &word) || !in_range(word, &t->number))
    return false;
  rest = str_trim(rest);
  if (rest.n == 0) return true;
  t->pointer = rest;
  if (rest.p[0] == '/') return true;
  t->pointer = STR_NONE;
  return take_word(&rest, &word) && str_is(word, "line") && in_range(str_trim(rest), &t->line);
}

/* Takes what stands before the next template, and the template's inside. */
static bool next_template(struct str *rest, struct str *before, struct str *inner) {
  size_t open = str_find(*rest, STR("{{"));
  struct str behind = str_part(*rest, open + 2, rest->n);
  size_t close = open < rest->n ? str_find(behind, STR("}}")) : behind.n;
  if (open >= rest->n || close >= behind.n) return false;
  *before = str_part(*rest, 0, open);
  *inner = str_part(behind, 0, close);
  *rest = str_part(behind, close + 2, behind.n);
  return true;
}

bool fill_check(struct str text, struct str *unknown) {
  struct str before;
  struct template t;
  while (next_template(&text, &before, unknown))
    if (!read_template(*unknown, &t)) return false;
  return true;
}

static struct str line_of(struct str text, int64_t number) {
  struct str line = STR_NONE;
  for (; number > 0; number--)
    if (!str_next(&text, '\n', &line)) return STR_NONE;
  return str_ends(line, STR("\r")) ? str_part(line, 0, line.n - 1) : line;
}

static void put_pointed(struct buf *out, struct arena *arena, struct str text, struct str pointer) {
  struct json *doc = NULL;
  const struct json *node = NULL;
  if (json_parse(arena, text, JSON_STRICT, &doc, NULL) == REIN_OK) node = json_point(doc, pointer);
  if (!node) {
    buf_lit(out, "(-)");
  } else if (json_is(node, JSON_STRING)) {
    buf_put(out, node->text);
  } else {
    buf_put(out, node->source);
  }
}

static void put_result(struct buf *out, struct arena *arena, const struct template *t,
                       const struct talk *talk) {
  if ((size_t)t->number > talk->result_count) {
    buf_lit(out, "(-)");
    return;
  }
  struct str text = talk->results[t->number - 1].text;
  if (t->pointer.n)
    put_pointed(out, arena, text, t->pointer);
  else
    buf_put(out, t->line ? line_of(text, t->line) : text);
}

static void put_error(struct buf *out, const struct talk *talk) {
  for (size_t i = 0; i < talk->result_count; i++)
    if (talk->results[i].is_error) {
      buf_put(out, line_of(talk->results[i].text, 1));
      return;
    }
  buf_lit(out, "(-)");
}

void fill(struct buf *out, struct arena *arena, struct str text, const struct talk *talk) {
  struct str before, inner;
  struct template t;
  while (next_template(&text, &before, &inner)) {
    buf_put(out, before);
    if (!read_template(inner, &t)) continue;
    switch (t.what) {
    case FILL_WORDS: buf_put(out, talk->words); break;
    case FILL_ERROR: put_error(out, talk); break;
    case FILL_RESULT: put_result(out, arena, &t, talk); break;
    }
  }
  buf_put(out, text);
}

static void fill_string(struct buf *out, struct arena *arena, const struct json *node,
                        const struct talk *talk) {
  struct buf text;
  if (!talk || !str_has(node->text, STR("{{"))) {
    buf_put(out, node->source);
    return;
  }
  buf_init(&text, SCRIPT_TEXT_MAX);
  fill(&text, arena, node->text, talk);
  json_quote(out, buf_str(&text));
  if (text.fail) out->fail = text.fail;
  buf_release(&text);
}

void fill_json(struct buf *out, struct arena *arena, const struct json *node,
               const struct talk *talk) {
  bool object = json_is(node, JSON_OBJECT);
  if (json_is(node, JSON_STRING)) {
    fill_string(out, arena, node, talk);
    return;
  }
  if (!object && !json_is(node, JSON_ARRAY)) {
    buf_put(out, node->source);
    return;
  }
  buf_c(out, object ? '{' : '[');
  for (const struct json *child = node->first; child; child = child->next) {
    if (child != node->first) buf_c(out, ',');
    if (object) json_quote(out, child->key);
    if (object) buf_c(out, ':');
    fill_json(out, arena, child, talk);
  }
  buf_c(out, object ? '}' : ']');
}
