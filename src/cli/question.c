/* What a question about a call looks like, and what a line answers. Everything
 * shown is what will run, spelled so that nothing can hide; the names of tool
 * and rule are rein's own. */
#include "cli/prompt.h"

#include "cli/reveal.h"

#define VALUE_POINTS_MAX 800 /* of one argument: head and tail, about ten lines */
#define NAME_POINTS_MAX 64
#define SHOWN_MAX 20 /* arguments; the rest is counted */

static bool is_one_of(struct str word, const char *const *words) {
  for (size_t i = 0; words[i]; i++)
    if (str_eq_nocase(word, str_of(words[i]))) return true;
  return false;
}

enum answer prompt_read(struct str line, struct str *reason) {
  static const char *const yes[] = {"y", "yes", "ㅛ", "예", "네", NULL};
  static const char *const no[] = {"n", "no", "ㅜ", "아니오", "아니요", NULL};
  static const char *const view[] = {"v", "ㅍ", NULL};
  struct str word, rest;
  line = str_trim(line);
  if (!line.n) return ANSWER_ENTER;
  if (is_one_of(line, yes)) return ANSWER_YES;
  if (str_is(line, "a")) return ANSWER_THIS;
  if (str_is(line, "A")) return ANSWER_PROJECT;
  if (is_one_of(line, view)) return ANSWER_VIEW;
  *reason = STR_NONE;
  if (is_one_of(line, no)) return ANSWER_NO;
  if (!str_split(line, ' ', &word, &rest) || !is_one_of(word, no)) return ANSWER_OTHER;
  *reason = str_trim(rest);
  return ANSWER_NO;
}

static void put_value(struct buf *out, enum rein_lang lang, const struct json *node, bool all) {
  static const struct str margin = {"\n    | ", 7};
  struct str text = json_is(node, JSON_STRING) ? node->text : node->source;
  struct str inner = str_part(margin, 1, SIZE_MAX);
  bool lines = str_find_char(text, '\n') < text.n;
  if (lines) buf_put(out, margin);
  reveal_cut(out, text, all ? SIZE_MAX : VALUE_POINTS_MAX, inner, lang);
}

static void put_args(struct buf *out, enum rein_lang lang, const struct json *doc, bool all) {
  struct num_text room;
  size_t shown = 0;
  for (const struct json *node = doc->first; node; node = node->next) {
    if (!all && ++shown > SHOWN_MAX) break;
    buf_lit(out, "\n  ");
    reveal_cut(out, node->key, all ? SIZE_MAX : NAME_POINTS_MAX, STR_NONE, lang);
    buf_lit(out, ": ");
    put_value(out, lang, node, all);
  }
  if (shown <= SHOWN_MAX) return;
  buf_lit(out, "\n  ");
  TEXT_PUT(out, lang, T_CLI_ASK_MORE, str_num(&room, (int64_t)(doc->count - SHOWN_MAX)));
}

void prompt_put(struct buf *out, enum rein_lang lang, struct str tool, struct str rule,
                struct str args, bool all) {
  struct arena arena;
  struct json *doc = NULL;
  struct buf shown;
  buf_init(&shown, 4096);
  reveal(&shown, rule, STR_NONE);
  TEXT_PUT(out, lang, T_CLI_ASK_TITLE, tool, buf_str(&shown));
  buf_release(&shown);
  arena_init(&arena, CLI_ARENA_MAX);
  enum rein_code code = json_parse(&arena, args, JSON_STRICT, &doc, NULL);
  if (!code && json_is(doc, JSON_OBJECT))
    put_args(out, lang, doc, all);
  else {
    /* Not an object that can be taken apart: then as it is. */
    buf_lit(out, "\n  ");
    reveal_cut(out, args, all ? SIZE_MAX : VALUE_POINTS_MAX, STR_NONE, lang);
  }
  arena_release(&arena);
}
