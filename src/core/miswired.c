/* Signs of a tool that is wired to the wrong thing: see miswired.h. A result says
 * nothing when it is an error, empty, or what the tool has answered before.
 */
#include "core/miswired.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/mem.h"
#include "json/json.h"
#include "text/text.h"

#define MISWIRED_MAX ((size_t)64 << 20) /* bytes kept of calls; what comes later is not looked at */
#define SOURCE_MAX ((size_t)16 << 20)   /* bytes searched; beyond it nothing is called made up */
#define HEAD_MAX 120                    /* bytes shown of arguments and results */

enum {
  NUMBERS = 16,    /* numbers of one call's arguments that are followed */
  NARROW_AT = 8,   /* calls of one shape before anything is said of them */
  NARROW_WIDE = 4, /* their numbers span at most this many for each call */
  MADE_UP_AT = 3,  /* made-up values that failed, before anything is said */
  EXAMPLES = 3,
  NAME_LEAST = 4, /* bytes of a name with digits in it: shorter ones stand anywhere */
  NAME_MOST = 64,
  PATH_MOST = 256,
};

/* Values of one kind that stood nowhere and failed. */
struct made_up {
  size_t count;
  struct str examples[EXAMPLES];
};

enum kind { KIND_PATH, KIND_NAME, KINDS };

struct tool_seen {
  struct tool_seen *next;
  struct str name;
  size_t calls;
  struct made_up made_up[KINDS];
};

/* Calls of one tool whose arguments differ in their digits alone. */
struct shape {
  struct shape *next;
  struct tool_seen *tool;
  uint64_t hash; /* of the arguments without their digits */
  size_t calls, dull;
  size_t numbers;
  int64_t least[NUMBERS], most[NUMBERS];
  struct str args, said; /* of the newest call */
};

/* A call that is to be answered, then one that was: what came is remembered. */
struct call_seen {
  struct call_seen *next; /* older */
  struct tool_seen *tool;
  uint32_t id;
  struct str args;
  bool answered;
  uint64_t result;
};

struct miswired {
  struct arena arena;
  struct buf sources;
  struct tool_seen *tools;
  struct shape *shapes;
  struct call_seen *calls;
  uint32_t last_id;
};

struct miswired *miswired_new(void) {
  struct miswired *m = mem_zero(sizeof *m);
  if (!m) return NULL;
  arena_init(&m->arena, MISWIRED_MAX);
  buf_init(&m->sources, SOURCE_MAX);
  return m;
}

void miswired_free(struct miswired *m) {
  if (!m) return;
  arena_release(&m->arena);
  buf_release(&m->sources);
  mem_free(m);
}

bool miswired_source(struct miswired *m, struct str text) {
  buf_put(&m->sources, text);
  buf_c(&m->sources, '\n');
  return m->sources.fail != REIN_MEMORY;
}

/* ---- values that stood nowhere --------------------------------------------------- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool has_blank(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] <= ' ') return true;
  return false;
}

static bool is_path(struct str s) {
  if (s.n < NAME_LEAST || s.n > PATH_MOST || has_blank(s)) return false;
  if (str_find_char(s, '/') < s.n) return true;
  size_t dot = s.n;
  while (dot > 0 && s.p[dot - 1] != '.')
    dot--;
  return dot > 1 && s.n - dot >= 1 && s.n - dot <= 5;
}

/* An id, a key, a number of some size: not a word, not a sentence, not a page. */
static bool is_name(struct str s) {
  if (s.n < NAME_LEAST || s.n > NAME_MOST || has_blank(s)) return false;
  for (size_t i = 0; i < s.n; i++)
    if (is_digit(s.p[i])) return true;
  return false;
}

static bool stood(const struct miswired *m, struct str value) {
  return m->sources.fail != REIN_OK || str_has(buf_str(&m->sources), value);
}

static bool note_value(struct miswired *m, struct tool_seen *tool, struct str value) {
  enum kind kind = is_path(value) ? KIND_PATH : KIND_NAME;
  if ((kind == KIND_NAME && !is_name(value)) || stood(m, value)) return true;
  struct made_up *made_up = &tool->made_up[kind];
  for (size_t i = 0; i < made_up->count && i < EXAMPLES; i++)
    if (str_eq(made_up->examples[i], value)) return true;
  if (made_up->count < EXAMPLES && !arena_str(&m->arena, value, &made_up->examples[made_up->count]))
    return false;
  made_up->count++;
  return true;
}

static bool note_values(struct miswired *m, struct tool_seen *tool, struct str args) {
  struct arena scratch;
  struct json *doc = NULL;
  bool fine = true;
  arena_init(&scratch, MISWIRED_MAX);
  enum rein_code code = json_parse(&scratch, args, JSON_STRICT, &doc, NULL);
  for (const struct json *v = code ? NULL : doc->first; v && fine; v = v->next)
    if (v->kind == JSON_STRING || v->kind == JSON_NUMBER) fine = note_value(m, tool, v->text);
  arena_release(&scratch);
  return fine && code != REIN_MEMORY;
}

/* ---- calls of one shape ------------------------------------------------------------ */

/* The numbers of the arguments, and a hash of what is around them. */
static size_t numbers_of(struct str args, int64_t *numbers, uint64_t *hash) {
  size_t n = 0;
  *hash = HASH_START;
  for (size_t i = 0; i < args.n; i++) {
    *hash = hash_add(*hash, is_digit(args.p[i]) ? STR("#") : str_part(args, i, 1));
    if (!is_digit(args.p[i])) continue;
    int64_t v = 0;
    for (; i < args.n && is_digit(args.p[i]); i++)
      v = v < INT64_MAX / 16 ? v * 10 + (args.p[i] - '0') : v;
    i--;
    if (n < NUMBERS) numbers[n++] = v;
  }
  return n;
}

static struct shape *find_shape(struct miswired *m, const struct call_seen *call,
                                int64_t *numbers) {
  uint64_t hash;
  size_t n = numbers_of(call->args, numbers, &hash);
  for (struct shape *s = m->shapes; s; s = s->next)
    if (s->tool == call->tool && s->hash == hash && s->numbers == n) return s;
  struct shape *s = arena_array(&m->arena, struct shape, 1);
  if (!s) return NULL;
  *s = (struct shape){.next = m->shapes, .tool = call->tool, .hash = hash, .numbers = n};
  for (size_t i = 0; i < n; i++)
    s->least[i] = s->most[i] = numbers[i];
  m->shapes = s;
  return s;
}

static bool note_shape(struct miswired *m, const struct call_seen *call, struct str said,
                       bool dull) {
  int64_t numbers[NUMBERS];
  struct shape *s = find_shape(m, call, numbers);
  if (!s) return false;
  s->calls++;
  s->dull += dull;
  for (size_t i = 0; i < s->numbers; i++) {
    if (numbers[i] < s->least[i]) s->least[i] = numbers[i];
    if (numbers[i] > s->most[i]) s->most[i] = numbers[i];
  }
  s->args = call->args;
  return !dull || arena_str(&m->arena, str_part(said, 0, HEAD_MAX), &s->said);
}

/* The number that moves most, if all of them stay within a narrow range. */
static bool is_narrow(const struct shape *s, size_t *moves) {
  int64_t widest = 0;
  for (size_t i = 0; i < s->numbers; i++) {
    int64_t wide = s->most[i] - s->least[i];
    if (wide <= widest) continue;
    widest = wide;
    *moves = i;
  }
  bool enough = s->calls >= NARROW_AT && s->dull * 5 >= s->calls * 4;
  return enough && widest >= NARROW_AT / 2 && widest <= (int64_t)(NARROW_WIDE * s->calls);
}

/* ---- records ----------------------------------------------------------------------- */

static struct tool_seen *find_tool(struct miswired *m, struct str name) {
  for (struct tool_seen *t = m->tools; t; t = t->next)
    if (str_eq(t->name, name)) return t;
  struct tool_seen *t = arena_array(&m->arena, struct tool_seen, 1);
  if (!t) return NULL;
  *t = (struct tool_seen){.next = m->tools};
  if (!arena_str(&m->arena, name, &t->name)) return NULL;
  m->tools = t;
  return t;
}

/* As the machine numbers them: one after another, those of a refused reply not. */
static bool hear_reply(struct miswired *m, const struct reply *reply) {
  for (size_t i = 0; i < reply->count; i++) {
    const struct block *b = &reply->blocks[i];
    if (b->kind != BLOCK_TOOL_USE || reply->stop == STOP_REFUSAL) continue;
    struct call_seen *call = arena_array(&m->arena, struct call_seen, 1);
    if (!call) return false;
    *call = (struct call_seen){.next = m->calls, .id = ++m->last_id};
    call->tool = find_tool(m, b->name);
    if (!call->tool || !arena_str(&m->arena, b->args, &call->args)) return false;
    m->calls = call;
  }
  return true;
}

static bool is_empty(struct str text) {
  static const char *const words[] = {"", "[]", "{}", "null", "\"\"", "0", "none", "not found"};
  text = str_trim(text);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_eq_nocase(text, str_of(words[i]))) return true;
  return false;
}

static bool was_said(const struct call_seen *call, uint64_t result) {
  for (const struct call_seen *c = call->next; c; c = c->next)
    if (c->answered && c->tool == call->tool && c->result == result) return true;
  return false;
}

static bool hear_result(struct miswired *m, const struct event *e) {
  struct call_seen *call = m->calls;
  while (call && call->id != e->id)
    call = call->next;
  if (!call || call->answered) return true;
  call->answered = true;
  call->result = hash_str(e->text);
  call->tool->calls++;
  bool empty = e->is_error || is_empty(e->text);
  bool dull = empty || was_said(call, call->result);
  if (!note_shape(m, call, e->text, dull)) return false;
  return !empty || note_values(m, call->tool, call->args);
}

bool miswired_hear(struct miswired *m, const struct event *e) {
  bool fine = true;
  if (e->kind == EVENT_REPLY) fine = hear_reply(m, e->reply);
  if (e->kind == EVENT_RESULT) fine = hear_result(m, e);
  bool source = e->kind == EVENT_SAY || e->kind == EVENT_RESUME || e->kind == EVENT_VERDICT ||
                (e->kind == EVENT_RESULT && !e->is_error); /* an error names what it did not find */
  if (!fine) return m->arena.full;
  return !source || miswired_source(m, e->text);
}

/* ---- words ------------------------------------------------------------------------- */

/* Where the sentences go. */
struct telling {
  enum rein_lang lang;
  miswired_fn fn;
  void *ctx;
  struct buf out;
  enum rein_code fail;
};

static void tell(struct telling *t) {
  if (t->out.fail)
    t->fail = t->out.fail;
  else
    t->fn(t->ctx, buf_str(&t->out));
  buf_reset(&t->out);
}

static void tell_narrow(struct telling *t, const struct shape *s, size_t moves) {
  struct num_text calls, least, most, dull;
  TEXT_PUT(&t->out, t->lang, T_CORE_MISWIRED_NARROW, s->tool->name,
           str_num(&calls, (int64_t)s->calls), str_num(&least, s->least[moves]),
           str_num(&most, s->most[moves]), str_part(s->args, 0, HEAD_MAX),
           str_num(&dull, (int64_t)s->dull), s->said);
  tell(t);
}

static void tell_made_up(struct telling *t, const struct tool_seen *tool, enum kind kind) {
  const struct made_up *made_up = &tool->made_up[kind];
  struct num_text count, calls;
  struct buf shown;
  buf_init(&shown, 4096);
  for (size_t i = 0; i < made_up->count && i < EXAMPLES; i++) {
    if (i > 0) buf_lit(&shown, ", ");
    buf_put(&shown, str_part(made_up->examples[i], 0, HEAD_MAX));
  }
  TEXT_PUT(&t->out, t->lang, kind == KIND_PATH ? T_CORE_MISWIRED_PATHS : T_CORE_MISWIRED_NAMES,
           tool->name, str_num(&count, (int64_t)made_up->count),
           str_num(&calls, (int64_t)tool->calls), buf_str(&shown));
  if (shown.fail) t->out.fail = shown.fail;
  buf_release(&shown);
  tell(t);
}

/* Calls in a narrow range come first: their values are made up too. */
static void tell_tool(struct telling *t, const struct miswired *m, const struct tool_seen *tool) {
  bool narrow = false;
  size_t moves = 0;
  for (const struct shape *s = m->shapes; s; s = s->next) {
    if (s->tool != tool || !is_narrow(s, &moves)) continue;
    tell_narrow(t, s, moves);
    narrow = true;
  }
  for (int k = 0; k < KINDS && !narrow; k++) {
    size_t count = tool->made_up[k].count;
    if (count >= MADE_UP_AT && count * 2 >= tool->calls) tell_made_up(t, tool, (enum kind)k);
  }
}

bool miswired_tell(const struct miswired *m, enum rein_lang lang, miswired_fn fn, void *ctx) {
  struct telling t = {.lang = lang, .fn = fn, .ctx = ctx};
  buf_init(&t.out, 65536);
  for (const struct tool_seen *tool = m->tools; tool; tool = tool->next)
    tell_tool(&t, m, tool);
  buf_release(&t.out);
  return t.fail == REIN_OK;
}
