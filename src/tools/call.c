/* A call's arguments and answer: what a tool's function sees of rein, its own
 * or an embedder's. Shaping for the model is core/shape.h, running is the driver's. */
#include "tools/call.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <time.h>

#define SHOW_POINTS_MAX 80 /* of a value in a sentence: an error holds 200 code points */
#define SHOW_HEAD 50
#define SHOW_TAIL 25
#define NOTICE_MAX 1024
#define VALUES_MAX 10 /* {0} to {9} */

struct call_arg {
  struct call_arg *next;
  const struct json *node;
  struct str key;
  struct str text;     /* mended; terminated */
  const char *visible; /* the same without NUL bytes, for those who see terminated text only */
};

static const struct call_house no_house;

/* ---- making one --------------------------------------------------------- */

static bool copy_mended(struct arena *arena, struct str raw, struct str *copy) {
  struct buf b;
  buf_init(&b, CALL_ARENA_MAX);
  utf8_repair(&b, raw);
  bool ok = !b.fail && arena_str(arena, buf_str(&b), copy);
  buf_release(&b);
  return ok;
}

/* A NUL would end the text early for a caller that sees a terminated string:
 * another name than the one that was judged. U+FFFD keeps it a different one. */
static bool copy_visible(struct arena *arena, struct str text, const char **visible) {
  if (!str_has(text, (struct str){"\0", 1})) {
    *visible = text.p;
    return true;
  }
  struct buf b;
  struct str copy = STR_NONE;
  buf_init(&b, CALL_ARENA_MAX);
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i])
      buf_c(&b, text.p[i]);
    else
      buf_lit(&b, "\xef\xbf\xbd");
  bool ok = !b.fail && arena_str(arena, buf_str(&b), &copy);
  buf_release(&b);
  *visible = copy.p;
  return ok;
}

static bool copy_arg(struct rein_call *call, const struct json *node, struct call_arg **made) {
  struct call_arg *arg = arena_new(&call->arena, struct call_arg);
  if (!arg) return false;
  arg->node = node;
  arg->key = node->key;
  struct str raw = node->kind == JSON_STRING ? node->text : node->source;
  if (!copy_mended(&call->arena, raw, &arg->text) ||
      !copy_visible(&call->arena, arg->text, &arg->visible))
    return false;
  *made = arg;
  return true;
}

static bool copy_args(struct rein_call *call) {
  struct call_arg **last = &call->first;
  for (const struct json *node = call->doc->first; node; node = node->next) {
    if (node->kind == JSON_NULL) continue; /* the way of strict modes to say "not there" */
    if (!copy_arg(call, node, last)) return false;
    last = &(*last)->next;
  }
  return true;
}

static enum rein_code read_args(struct rein_call *call, struct str args, struct err *err) {
  if (!arena_str(&call->arena, str_blank(args) ? STR("{}") : args, &call->args))
    return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  struct json *doc = NULL;
  enum rein_code code = json_parse(&call->arena, call->args, JSON_STRICT | JSON_UNIQUE, &doc, err);
  if (code) return code;
  if (doc->kind != JSON_OBJECT)
    return ERR(err, REIN_INPUT, T_TOOLS_ARGS_OBJECT, str_of(call->row->name));
  call->doc = doc;
  return copy_args(call) ? REIN_OK : ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
}

enum rein_code call_new(const struct rein_tool *row, const struct call_house *house,
                        struct str args, struct rein_call **made, struct err *err) {
  *made = NULL;
  struct rein_call *call = mem_zero(sizeof *call);
  if (!call) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  call->row = row;
  call->house = house ? house : &no_house;
  arena_init(&call->arena, CALL_ARENA_MAX);
  atomic_init(&call->cancelled, false);
  enum rein_code code = read_args(call, args, err);
  if (code)
    call_free(call);
  else
    *made = call;
  return code;
}

void call_free(struct rein_call *call) {
  if (!call) return;
  buf_release(&call->result);
  arena_release(&call->arena);
  mem_free(call);
}

/* ---- arguments ---------------------------------------------------------- */

static const struct call_arg *find(const struct rein_call *call, const char *name) {
  for (const struct call_arg *arg = call->first; arg; arg = arg->next)
    if (str_is(arg->key, name)) return arg;
  return NULL;
}

void *rein_call_ctx(const struct rein_call *call) {
  return call->row->ctx;
}

const char *rein_call_args(const struct rein_call *call, size_t *len) {
  if (len) *len = call->args.n;
  return call->args.p;
}

const char *rein_call_text(const struct rein_call *call, const char *name, const char *absent) {
  const struct call_arg *arg = find(call, name);
  if (arg) return arg->visible;
  return absent ? absent : "";
}

int64_t rein_call_int(const struct rein_call *call, const char *name, int64_t absent) {
  const struct call_arg *arg = find(call, name);
  int64_t v = 0;
  return arg && json_int(arg->node, &v) ? v : absent;
}

bool rein_call_bool(const struct rein_call *call, const char *name, bool absent) {
  const struct call_arg *arg = find(call, name);
  if (!arg || (arg->node->kind != JSON_TRUE && arg->node->kind != JSON_FALSE)) return absent;
  return arg->node->kind == JSON_TRUE;
}

bool rein_call_cancelled(const struct rein_call *call) {
  return atomic_load_explicit(&call->cancelled, memory_order_relaxed);
}

enum rein_lang call_lang(const struct rein_call *call) {
  return call->house->model_lang;
}

struct str call_text(const struct rein_call *call, const char *name) {
  const struct call_arg *arg = find(call, name);
  return arg ? arg->text : STR_NONE;
}

bool call_whole(const struct rein_call *call, const char *name, int64_t least, int64_t absent,
                int64_t *out, struct err *err) {
  const struct call_arg *arg = find(call, name);
  *out = absent;
  if (!arg || (json_int(arg->node, out) && *out >= least)) return true;
  struct num_text room;
  (void)CALL_ERR(err, REIN_INPUT, T_TOOLS_WHOLE, str_of(name), str_num(&room, least), arg->text);
  return false;
}

/* ---- the answer --------------------------------------------------------- */

/* Not inside a character: the cut must not make well-formed text ill-formed. */
static size_t whole_characters(const char *text, size_t n) {
  size_t back = 0;
  while (back < 3 && back < n && ((unsigned char)text[n - back] & 0xc0) == 0x80)
    back++;
  return n - back;
}

static void put_cut(struct rein_call *call, const char *text, size_t len) {
  struct num_text kept_room, len_room;
  size_t kept = whole_characters(text, CALL_RESULT_MAX);
  buf_put(&call->result, (struct str){text, kept});
  buf_c(&call->result, '\n');
  TEXT_PUT(&call->result, call_lang(call), T_TOOLS_FLOOD, str_num(&kept_room, (int64_t)kept),
           str_num(&len_room, (int64_t)len));
}

static int answer(struct rein_call *call, const char *text, size_t len, bool is_error) {
  if (call->answered) return REIN_INPUT;
  if (len == SIZE_MAX) len = text ? strlen(text) : 0;
  if (!text && len) return REIN_INPUT;
  buf_init(&call->result, CALL_RESULT_MAX + NOTICE_MAX);
  if (len > CALL_RESULT_MAX)
    put_cut(call, text, len);
  else
    buf_put(&call->result, (struct str){text, len});
  if (call->result.fail) {
    enum rein_code code = call->result.fail;
    buf_release(&call->result);
    return (int)code;
  }
  call->answered = true;
  call->is_error = is_error;
  return REIN_OK;
}

int rein_call_result(struct rein_call *call, const char *text, size_t len) {
  return answer(call, text, len, false);
}

int rein_call_error(struct rein_call *call, const char *text, size_t len) {
  return answer(call, text, len, true);
}

int call_fail(struct rein_call *call, const struct err *err) {
  struct buf b;
  buf_init(&b, 8 * ERR_ARGS_MAX);
  err_put(&b, call_lang(call), err);
  int code = b.fail ? (int)b.fail : rein_call_error(call, b.p, b.n);
  buf_release(&b);
  return code;
}

int call_give(struct rein_call *call, struct buf *text) {
  int code = text->fail ? (int)text->fail : rein_call_result(call, buf_z(text), text->n);
  buf_release(text);
  return code;
}

/* ---- sentences ---------------------------------------------------------- */

void call_show(struct buf *out, struct str s) {
  struct buf b;
  buf_init(&b, CALL_ARENA_MAX);
  utf8_repair(&b, s);
  struct str text = buf_str(&b);
  bool whole = utf8_head(text, SHOW_POINTS_MAX).n == text.n;
  utf8_show(out, whole ? text : utf8_head(text, SHOW_HEAD), false);
  if (!whole) {
    buf_lit(out, "…");
    utf8_show(out, utf8_tail(text, SHOW_TAIL), false);
  }
  if (b.fail) out->fail = b.fail;
  buf_release(&b);
}

/* The values one after the other in `room`, and where each of them stands. */
static bool show_values(struct buf *room, const struct str *values, size_t n, struct str *shown) {
  size_t ends[VALUES_MAX];
  for (size_t i = 0; i < n; i++) {
    call_show(room, values[i]);
    ends[i] = room->n;
  }
  for (size_t i = 0; i < n; i++) {
    size_t from = i ? ends[i - 1] : 0;
    shown[i] = str_part(buf_str(room), from, ends[i] - from);
  }
  return !room->fail;
}

void call_note(struct buf *out, const struct rein_call *call, enum text_id id,
               const struct str *values, size_t n) {
  struct str shown[VALUES_MAX];
  struct buf room;
  buf_init(&room, NOTICE_MAX * VALUES_MAX);
  if (show_values(&room, values, n, shown))
    text_put(out, call_lang(call), id, shown, n);
  else
    out->fail = room.fail;
  buf_release(&room);
}

enum rein_code call_err(struct err *err, enum rein_code code, enum text_id id,
                        const struct str *values, size_t n) {
  struct str shown[VALUES_MAX];
  struct buf room;
  buf_init(&room, NOTICE_MAX * VALUES_MAX);
  if (show_values(&room, values, n, shown))
    code = err_fill(err, code, id, shown, n);
  else
    code = ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  buf_release(&room);
  return code;
}

int call_fail_with(struct rein_call *call, enum rein_code code, enum text_id id,
                   const struct str *values, size_t n) {
  struct err err = {0};
  (void)call_err(&err, code, id, values, n);
  return call_fail(call, &err);
}

/* ---- what the run has seen ---------------------------------------------- */

bool call_saw(struct rein_call *call, struct str path, uint64_t hash) {
  call->saw.hash = hash;
  return arena_str(&call->arena, path, &call->saw.path);
}

bool call_knows(const struct rein_call *call, struct str path, uint64_t *hash) {
  for (const struct call_seen *seen = call->house->seen; seen; seen = seen->next) {
    if (!str_eq(seen->path, path)) continue;
    *hash = seen->hash;
    return true;
  }
  return false;
}

/* ---- time --------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct call_clock call_clock(const struct rein_call *call) {
  return (struct call_clock){call, now_ms() + CALL_WORK_MS_MAX};
}

bool call_late(const struct call_clock *clock) {
  return rein_call_cancelled(clock->call) || now_ms() >= clock->until_ms;
}
