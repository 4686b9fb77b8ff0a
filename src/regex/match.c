/* Matches a line: widened to UTF-16 (and folded where case is ignored), given
 * to PCRE2 with a count of steps, and the answer told in bytes again.
 *
 * PCRE2's own match limit is counted anew at each position of the line, and its
 * JIT counts only some of the steps; so the pattern carries callouts (emit.c)
 * and they count here, over the whole call.
 */
#include "regex/regex.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "regex/made.h"

/* Bytes of a line: longer ones are no text that a person wrote. */
#define LINE_BYTES_MAX ((size_t)64 << 20)
/* Of one call, in about nanoseconds of the JIT; its clock is the callouts. */
#define STEPS_MAX 25000000
#define STEPS_CALLOUT 12
/* The interpreter takes about eight times as long for the same. */
#define STEPS_MAX_PLAIN (STEPS_MAX / 8)
/* Second fence, for what lies between callouts. */
#define MATCH_LIMIT 10000000
#define HEAP_LIMIT_KIB (32 << 10)
/* The JIT's stack: for a loop over a group about 30 bytes an iteration. It is
 * mapped when used. */
#define JIT_STACK_START ((size_t)32 << 10)
#define JIT_STACK_MAX ((size_t)8 << 20)

struct regex_scratch {
  pcre2_match_data *data;
  pcre2_match_context *context;
  pcre2_jit_stack *stack;
  uint16_t *unit; /* the line */
  size_t n, cap;
  bool ascii;  /* units and bytes are the same */
  size_t last; /* where the last callout was */
  int64_t steps, took;
  struct look_run look;
};

struct look_run *regex_scratch_look(struct regex_scratch *scratch) {
  return &scratch->look;
}

static int on_callout(pcre2_callout_block *block, void *ctx) {
  struct regex_scratch *s = ctx;
  size_t here = block->current_position;
  size_t moved = here > s->last ? here - s->last : s->last - here;
  s->last = here;
  s->steps -= (int64_t)(STEPS_CALLOUT + block->callout_number + moved);
  return s->steps > 0 ? 0 : PCRE2_ERROR_CALLOUT;
}

static bool set_up(struct regex_scratch *s, const struct regex *regex) {
  s->data = pcre2_match_data_create(1, regex->memory);
  s->context = pcre2_match_context_create(regex->memory);
  if (!s->data || !s->context) return false;
  pcre2_set_callout(s->context, on_callout, s);
  pcre2_set_match_limit(s->context, MATCH_LIMIT);
  pcre2_set_heap_limit(s->context, HEAP_LIMIT_KIB);
  if (!regex->jit) return true;
  s->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MAX, regex->memory);
  pcre2_jit_stack_assign(s->context, NULL, s->stack);
  return s->stack != NULL;
}

enum rein_code regex_scratch_new(const struct regex *regex, struct regex_scratch **scratch) {
  *scratch = NULL;
  struct regex_scratch *s = mem_zero(sizeof *s);
  if (!s || !set_up(s, regex)) {
    regex_scratch_free(s);
    return REIN_MEMORY;
  }
  *scratch = s;
  return REIN_OK;
}

void regex_scratch_free(struct regex_scratch *s) {
  if (!s) return;
  look_run_release(&s->look);
  pcre2_jit_stack_free(s->stack);
  pcre2_match_context_free(s->context);
  pcre2_match_data_free(s->data);
  mem_free(s->unit);
  mem_free(s);
}

int64_t regex_took(const struct regex_scratch *s) {
  return s->took;
}

static bool make_room(struct regex_scratch *s, size_t n) {
  if (n <= s->cap) return true;
  size_t cap = n + n / 2 + 256;
  uint16_t *unit = mem_resize(s->unit, cap * sizeof *unit);
  if (!unit) return false;
  s->unit = unit;
  s->cap = cap;
  return true;
}

/* One character at byte i as units; its length in bytes. What is no UTF-8 is
 * one U+FFFD a byte. */
static size_t widen_one(struct str line, size_t i, uint16_t *unit, size_t *units) {
  uint32_t cp;
  size_t n = utf8_next(str_part(line, i, 4), &cp);
  *units = n == 4 ? 2 : 1;
  if (n == 0) cp = 0xfffd;
  if (n == 4) {
    unit[0] = (uint16_t)(0xd7c0 + (cp >> 10));
    cp = 0xdc00 + (cp & 0x3ff);
  }
  unit[*units - 1] = (uint16_t)cp;
  return n > 0 ? n : 1;
}

/* Eight at a time, for that is most of what is searched; returns how many. */
static size_t widen_ascii(struct str line, uint16_t *unit) {
  size_t i = 0;
  for (uint64_t eight; i + sizeof eight <= line.n; i += sizeof eight) {
    memcpy(&eight, line.p + i, sizeof eight);
    if (eight & UINT64_C(0x8080808080808080)) break;
    for (size_t k = 0; k < sizeof eight; k++)
      unit[i + k] = (unsigned char)line.p[i + k];
  }
  for (; i < line.n && !(line.p[i] & 0x80); i++)
    unit[i] = (unsigned char)line.p[i];
  return i;
}

/* Never more units than bytes; returns the unit where byte `from` is, or where
 * the next character starts. */
static size_t widen(struct regex_scratch *s, struct str line, size_t from) {
  size_t i = widen_ascii(line, s->unit), k = i;
  size_t start = from < i ? from : i;
  s->ascii = i == line.n;
  while (i < line.n) {
    size_t units, at = i;
    i += widen_one(line, i, s->unit + k, &units);
    k += units;
    start = at < from ? k : start;
  }
  s->n = k;
  return start;
}

static void fold(struct regex_scratch *s, const uint16_t *table) {
  for (size_t i = 0; i < s->n; i++)
    s->unit[i] = table[s->unit[i]];
}

/* The bytes of units [from, to), both widened to whole characters. */
static struct str narrow(const struct regex_scratch *s, struct str line, size_t from, size_t to) {
  if (s->ascii) return str_part(line, from, to - from);
  size_t first = 0, i = 0, k = 0;
  while (k < to) {
    uint16_t unit[2];
    size_t units;
    first = k <= from ? i : first;
    i += widen_one(line, i, unit, &units);
    k += units;
  }
  if (from >= to) /* nothing was taken; in the middle of a pair: behind it */
    first = i;
  return str_part(line, first, i - first);
}

static enum regex_hit answer(int rc) {
  if (rc >= 0) return REGEX_YES;
  if (rc == PCRE2_ERROR_NOMATCH) return REGEX_NO;
  return rc == PCRE2_ERROR_NOMEMORY ? REGEX_NO_MEMORY : REGEX_GAVE_UP;
}

enum regex_hit regex_match(const struct regex *regex, struct regex_scratch *s, struct str line,
                           size_t from, struct str *match) {
  s->took = 0;
  if (from > line.n) return REGEX_NO;
  if (line.n > LINE_BYTES_MAX) return REGEX_GAVE_UP;
  if (!make_room(s, line.n + 1)) return REGEX_NO_MEMORY;
  size_t start = widen(s, line, from);
  if (regex->fold) fold(s, regex->fold);
  int64_t most = regex->jit ? STEPS_MAX : STEPS_MAX_PLAIN;
  s->steps = most;
  s->last = start;
  int rc = pcre2_match(regex->code, s->unit, s->n, start, PCRE2_NO_UTF_CHECK, s->data, s->context);
  s->took = (most - s->steps) * (STEPS_MAX / most);
  enum regex_hit hit = answer(rc);
  if (hit == REGEX_YES && match) {
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(s->data);
    *match = narrow(s, line, at[0], at[1]);
  }
  return hit;
}
