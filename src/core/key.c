/* What the no-progress valve compares: a call and a result as numbers that are
 * equal when they mean the same. Spelling and volatile parts are left out.
 */
#include "core/state.h"

#include "base/hash.h"

#define KEY_TEXT_MAX (64u << 20)
#define VOLATILE_LINE_MAX (16u << 10) /* bytes: longer lines count whole, or time goes quadratic */

static bool listed(const char *names, struct str name) {
  struct str rest = str_of(names), one;
  while (str_next(&rest, ',', &one))
    if (str_eq(str_trim(one), name)) return true;
  return false;
}

uint64_t key_of_call(const struct tool *tool, const struct block *use, const struct json *doc) {
  uint64_t h = hash_str(use->name);
  if (!doc) return hash_end(hash_add(h, str_trim(use->args)));
  const char *left_out = tool ? tool->row->volatile_args : NULL;
  uint64_t members = 0; /* a sum: the order of keys does not count */
  for (const struct json *m = doc->first; m; m = m->next) {
    if (json_is(m, JSON_NULL)) continue; /* strict modes' "absent" */
    if (left_out && listed(left_out, m->key)) continue;
    struct buf canon;
    buf_init(&canon, KEY_TEXT_MAX);
    json_canon(&canon, m, true);
    struct str value = canon.fail ? m->source : buf_str(&canon);
    members += hash_end(hash_add(hash_num(hash_str(m->key), m->key.n), value));
    buf_release(&canon);
  }
  return hash_end(hash_num(h, members));
}

static enum rein_code add_line(const struct regex *left_out, struct regex_scratch *scratch,
                               struct str line, uint64_t *h) {
  struct str match;
  size_t at = 0;
  while (at <= line.n && line.n <= VOLATILE_LINE_MAX) {
    enum regex_hit hit = regex_match(left_out, scratch, line, at, &match);
    if (hit == REGEX_NO_MEMORY) return REIN_MEMORY;
    if (hit != REGEX_YES) break;
    size_t start = (size_t)(match.p - line.p);
    *h = hash_add(*h, str_part(line, at, start - at));
    at = start + match.n + (match.n == 0);
    if (match.n == 0) *h = hash_add(*h, str_part(line, start, 1));
  }
  if (at < line.n) *h = hash_add(*h, str_part(line, at, line.n - at));
  *h = hash_add(*h, STR("\n"));
  return REIN_OK;
}

enum rein_code key_of_result(const struct regex *volatile_text, struct str text, bool is_error,
                             uint64_t *key) {
  uint64_t h = hash_num(HASH_START, is_error);
  if (!volatile_text) {
    *key = hash_end(hash_add(h, text));
    return REIN_OK;
  }
  struct regex_scratch *scratch;
  if (regex_scratch_new(volatile_text, &scratch)) return REIN_MEMORY;
  struct str line;
  enum rein_code code = REIN_OK;
  while (code == REIN_OK && str_next(&text, '\n', &line))
    code = add_line(volatile_text, scratch, line, &h);
  regex_scratch_free(scratch);
  *key = hash_end(h);
  return code;
}
