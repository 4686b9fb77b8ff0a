/* Making and running the first look. */
#include "regex/look.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "regex/made.h"

/* Literals of a worth below this stand in so many lines that the filter, which
 * knows the whole pattern, is quicker. */
#define WORTH_MIN 60

static bool is_letter(unsigned char c) {
  unsigned char lower = c | 0x20;
  return lower >= 'a' && lower <= 'z';
}

/* ---- making -------------------------------------------------------------------------- */

/* Where the rarest byte of a literal is; of a letter both cases count. */
static size_t rarest(const struct literal *l, bool folds) {
  size_t best = 0;
  unsigned least = UINT32_MAX;
  for (size_t i = 0; i < l->n; i++) {
    unsigned char c = (unsigned char)l->p[i];
    unsigned common = literal_common(c);
    if (folds && is_letter(c)) common += literal_common(c ^ 0x20);
    if (common < least) {
      least = common;
      best = i;
    }
  }
  return best;
}

static bool add_probes(struct look *look, size_t i) {
  const struct literal *l = &look->literals.one[i];
  size_t at = rarest(l, look->folds);
  unsigned char c = (unsigned char)l->p[at];
  bool both = look->folds && is_letter(c);
  if (look->probes + 1 + both > PROBES_MAX) return false;
  look->probe[look->probes++] = (struct probe){c, (unsigned char)i, (uint16_t)at};
  if (both) look->probe[look->probes++] = (struct probe){c ^ 0x20, (unsigned char)i, (uint16_t)at};
  return true;
}

static bool known(const struct literals *set, struct str text) {
  for (size_t i = 0; i < set->n; i++)
    if (str_eq((struct str){set->one[i].p, set->one[i].n}, text)) return true;
  return false;
}

/* The literal in another form, where that differs; false: there is no room. */
static enum rein_code add_form(struct literals *set, size_t i, enum utf8_form form, bool *room) {
  struct buf b;
  buf_init(&b, 16 * LITERAL_BYTES_MAX);
  utf8_form(&b, (struct str){set->one[i].p, set->one[i].n}, form);
  enum rein_code code = b.fail;
  if (!code && !known(set, buf_str(&b))) {
    *room = set->n < LITERALS_MAX && b.n <= LITERAL_BYTES_MAX;
    if (*room) {
      memcpy(set->one[set->n].p, b.p, b.n);
      set->one[set->n++].n = b.n;
    }
  }
  buf_release(&b);
  return code;
}

static enum rein_code add_forms(struct literals *set, bool *room) {
  enum rein_code code = REIN_OK;
  for (size_t i = 0, n = set->n; i < n && *room && !code; i++) {
    code = add_form(set, i, UTF8_COMPOSED, room);
    if (!code && *room) code = add_form(set, i, UTF8_APART, room);
  }
  return code;
}

static enum rein_code make_filter(struct look *look, const struct tree *tree, const uint16_t *fold,
                                  bool forms) {
  look->literals.n = look->probes = 0;
  look->filter = mem_resize(NULL, sizeof *look->filter);
  if (!look->filter) return REIN_MEMORY;
  if (filter_make(tree, fold, forms, look->filter)) return REIN_OK;
  mem_free(look->filter);
  look->filter = NULL;
  return REIN_OK;
}

enum rein_code look_make(struct look *look, const struct tree *tree, const uint16_t *fold,
                         bool forms) {
  bool room = true;
  look->folds = fold != NULL;
  literals_find(tree, look->folds, &look->literals);
  if (look->literals.worth < WORTH_MIN) return make_filter(look, tree, fold, forms);
  enum rein_code code = forms ? add_forms(&look->literals, &room) : REIN_OK;
  if (code) return code;
  for (size_t i = 0; i < look->literals.n && room; i++)
    room = add_probes(look, i);
  return room ? REIN_OK : make_filter(look, tree, fold, forms);
}

void look_release(struct look *look) {
  mem_free(look->filter);
}

void look_run_release(struct look_run *run) {
  filter_run_free(run->filter);
}

/* ---- running ------------------------------------------------------------------------- */

static bool same_but_case(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
    if (x != y && ((x ^ y) != 0x20 || !is_letter(x))) return false;
  }
  return true;
}

/* The first place from `from` on where a probe's literal stands; text.n: none. */
static size_t probe_next(const struct look *look, const struct probe *probe, struct str text,
                         size_t from) {
  const struct literal *l = &look->literals.one[probe->literal];
  if (l->n > text.n) return text.n;
  const char *p = text.p + from + probe->at, *end = text.p + text.n - (l->n - 1 - probe->at);
  while (p < end && (p = memchr(p, probe->byte, (size_t)(end - p)))) {
    const char *start = p - probe->at;
    bool same = look->folds ? same_but_case(start, l->p, l->n) : memcmp(start, l->p, l->n) == 0;
    if (same) return (size_t)(start - text.p);
    p++;
  }
  return text.n;
}

bool regex_look_at(const struct regex *regex, struct regex_scratch *scratch, struct str text) {
  struct look_run *run = regex_scratch_look(scratch);
  const struct look *look = &regex->look;
  run->text = text;
  for (size_t i = 0; i < look->probes; i++)
    run->next[i] = probe_next(look, &look->probe[i], text, 0);
  if (look->filter && !run->filter) run->filter = filter_run_new(look->filter);
  return !look->filter || run->filter;
}

size_t regex_look_next(const struct regex *regex, struct regex_scratch *scratch, size_t from) {
  struct look_run *run = regex_scratch_look(scratch);
  const struct look *look = &regex->look;
  if (from >= run->text.n) return run->text.n;
  if (look->filter) return filter_next(look->filter, run->filter, run->text, from);
  if (look->probes == 0) return from;
  size_t first = run->text.n;
  for (size_t i = 0; i < look->probes; i++) {
    if (run->next[i] < from) run->next[i] = probe_next(look, &look->probe[i], run->text, from);
    first = run->next[i] < first ? run->next[i] : first;
  }
  return first;
}

bool regex_looks(const struct regex *regex) {
  return regex->look.filter || regex->look.probes > 0;
}
