/* What all who walk a pattern's tree share: its text in UTF-16, and complaints
 * with a position that a person can count to.
 */
#include "regex/tree.h"

#include "base/utf8.h"

/* Characters of the pattern that a sentence quotes: the position tells the rest. */
#define QUOTE_MAX 24

enum rein_code tree_refuse(const struct tree *tree, size_t unit_at, enum text_id text,
                           struct str what, int64_t limit) {
  size_t byte = tree->bytes[unit_at < tree->n ? unit_at : tree->n];
  struct num_text position_text, limit_text;
  struct str position =
      str_num(&position_text, (int64_t)utf8_count(str_part(tree->pattern, 0, byte)) + 1);
  struct str quote = utf8_head(what, QUOTE_MAX);
  struct buf shown;
  buf_init(&shown, 64 * QUOTE_MAX);
  utf8_show(&shown, quote, false);
  if (quote.n < what.n) buf_lit(&shown, "…");
  ERR(tree->err, REIN_INPUT, text, position, buf_str(&shown), str_num(&limit_text, limit));
  buf_release(&shown);
  if (tree->err) tree->err->at = byte;
  return REIN_INPUT;
}

struct str tree_source(const struct tree *tree, size_t from, size_t to) {
  size_t first = tree->bytes[from < tree->n ? from : tree->n];
  size_t end = tree->bytes[to < tree->n ? to : tree->n];
  /* Half of a surrogate pair is shown as the whole character. */
  struct str rest = str_part(tree->pattern, first, tree->pattern.n);
  uint32_t cp;
  if (end <= first && from < to) return str_part(rest, 0, utf8_next(rest, &cp));
  return str_part(rest, 0, end - first);
}

/* The pattern in UTF-16: JavaScript without the u flag knows nothing else. */
static enum rein_code widen(struct tree *t) {
  t->units = arena_array(&t->arena, uint16_t, t->pattern.n + 1);
  t->bytes = arena_array(&t->arena, uint16_t, t->pattern.n + 1);
  if (!t->units || !t->bytes) return REIN_MEMORY;
  for (size_t i = 0; i < t->pattern.n;) {
    uint32_t cp;
    size_t n = utf8_next(str_part(t->pattern, i, 4), &cp);
    t->bytes[t->n] = (uint16_t)i;
    if (n == 0) return tree_refuse(t, t->n, T_REGEX_NOT_UTF8, STR_NONE, 0);
    if (cp > 0xffff) {
      t->units[t->n++] = (uint16_t)(0xd7c0 + (cp >> 10));
      t->bytes[t->n] = (uint16_t)i;
      cp = 0xdc00 + (cp & 0x3ff);
    }
    t->units[t->n++] = (uint16_t)cp;
    i += n;
  }
  t->bytes[t->n] = (uint16_t)t->pattern.n;
  return REIN_OK;
}

enum rein_code tree_init(struct tree *tree, struct str pattern, struct err *err) {
  *tree = (struct tree){.pattern = pattern, .err = err};
  arena_init(&tree->arena, TREE_BYTES_MAX);
  struct num_text length, limit;
  if (pattern.n > REGEX_PATTERN_MAX)
    return ERR(err, REIN_INPUT, T_REGEX_TOO_LONG, str_num(&length, (int64_t)pattern.n),
               str_num(&limit, REGEX_PATTERN_MAX));
  return widen(tree);
}

void tree_release(struct tree *tree) {
  arena_release(&tree->arena);
}
