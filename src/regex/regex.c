/* Makes a pattern: read, checked, written for PCRE2, compiled. Matching is
 * match.c's business.
 */
#include "regex/regex.h"

#include "base/mem.h"
#include "regex/check.h"
#include "regex/emit.h"
#include "regex/fold.h"
#include "regex/made.h"
#include "regex/parse.h"

#include <assert.h>

/* Each group of JavaScript's becomes at most two of PCRE2's. */
#define PARENS_MAX (2 * REGEX_DEPTH_MAX + 8)

static void *give(size_t n, void *ctx) {
  (void)ctx;
  return mem_resize(NULL, n > 0 ? n : 1);
}

static void take_back(void *p, void *ctx) {
  (void)ctx;
  mem_free(p);
}

/* PCRE2's own refusals: what emit.c writes is well-formed, so only its size can
 * be wrong, and anything else is a mistake here, which the sentence reports. */
static enum rein_code explain(const struct tree *tree, int error) {
  struct num_text number;
  if (error == PCRE2_ERROR_HEAP_FAILED) return REIN_MEMORY;
  if (error == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY)
    return tree_refuse(tree, 0, T_REGEX_SCRIPT, STR_NONE, 0);
  if (error == PCRE2_ERROR_PATTERN_TOO_LARGE || error == PCRE2_ERROR_PATTERN_TOO_COMPLICATED)
    return tree_refuse(tree, 0, T_REGEX_TOO_BIG, STR_NONE, 0);
  return tree_refuse(tree, 0, T_REGEX_ENGINE, str_num(&number, error), 0);
}

static enum rein_code compile(struct regex *regex, const struct tree *tree, struct str text) {
  uint16_t *wide = text.n > 0 ? mem_resize(NULL, text.n * sizeof *wide) : NULL;
  pcre2_compile_context *context = pcre2_compile_context_create(regex->memory);
  enum rein_code code = REIN_MEMORY;
  if (!context || (text.n > 0 && !wide)) goto out;
  for (size_t i = 0; i < text.n; i++)
    wide[i] = (unsigned char)text.p[i];
  pcre2_set_parens_nest_limit(context, PARENS_MAX);
  uint32_t options = PCRE2_DOTALL | PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_UCP |
                     PCRE2_NEVER_BACKSLASH_C | (tree->unicode ? PCRE2_UTF : PCRE2_NEVER_UTF);
  static const uint16_t nothing[1];
  int error;
  PCRE2_SIZE at;
  regex->code = pcre2_compile(wide ? wide : nothing, text.n, options, &error, &at, context);
  code = regex->code ? REIN_OK : explain(tree, error);
out:
  pcre2_compile_context_free(context);
  mem_free(wide);
  return code;
}

static enum rein_code translate(struct regex *regex, struct tree *tree, unsigned flags) {
  struct buf text;
  buf_init(&text, EMIT_BYTES_MAX);
  enum rein_code code = parse_tree(tree, regex->fold);
  regex->names_cr = tree->names_cr;
  if (!code) code = check_tree(tree);
  if (!code) code = emit_tree(tree, &text);
  if (!code) code = compile(regex, tree, buf_str(&text));
  if (!code && !tree->unicode)
    code = look_make(&regex->look, tree, regex->fold, flags & REGEX_FORMS);
  buf_release(&text);
  return code;
}

static enum rein_code start(struct regex *regex, unsigned flags) {
  regex->memory = pcre2_general_context_create(give, take_back, NULL);
  if (!regex->memory) return REIN_MEMORY;
  if (!(flags & REGEX_IGNORE_CASE)) return REIN_OK;
  regex->fold = mem_resize(NULL, UNITS_ALL * sizeof *regex->fold);
  if (!regex->fold) return REIN_MEMORY;
  fold_fill(regex->fold);
  return REIN_OK;
}

enum rein_code regex_new(struct str pattern, unsigned flags, struct regex **out, struct err *err) {
  *out = NULL;
  assert(!(flags & REGEX_UNICODE && flags & REGEX_IGNORE_CASE));
  struct tree tree;
  struct regex *regex = mem_zero(sizeof *regex);
  enum rein_code code = tree_init(&tree, pattern, err);
  tree.unicode = flags & REGEX_UNICODE;
  if (!code) code = regex ? start(regex, flags) : REIN_MEMORY;
  if (!code) code = translate(regex, &tree, flags);
  tree_release(&tree);
  if (code == REIN_MEMORY) ERR(err, REIN_MEMORY, T_REGEX_NO_MEMORY);
  if (code) {
    regex_free(regex);
    return code;
  }
  /* Where the system forbids writing code PCRE2 interprets: slower, with the
   * same answers, and with a step limit of its own (match.c). */
  regex->jit = !(flags & REGEX_NO_JIT) && pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE) == 0;
  *out = regex;
  return REIN_OK;
}

void regex_free(struct regex *regex) {
  if (!regex) return;
  pcre2_code_free(regex->code);
  pcre2_general_context_free(regex->memory);
  mem_free(regex->fold);
  look_release(&regex->look);
  mem_free(regex);
}

bool regex_names_cr(const struct regex *regex) {
  return regex->names_cr;
}
