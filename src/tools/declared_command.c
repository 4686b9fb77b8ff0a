/* A command or git, as a pack describes it: an argument list, never shell text. A
 * value stays one element, and cannot become an option: one that begins with a
 * hyphen is refused unless "--" stands before it. Held by the sandbox as exec is.
 */
#include "tools/declared_inside.h"

#include "base/utf8.h"
#include "host/child.h"
#include "host/git.h"

#define WORDS_MAX 1024              /* of one argument list, spread lists included */
#define WORD_BYTES_MAX (128u << 10) /* the kernel's own ceiling (MAX_ARG_STRLEN) */
#define HEAD_BYTES 20000
#define TAIL_BYTES 9000
#define TIMEOUT_S 60

struct order {
  struct rein_call *call;
  const struct pack_tool *tool;
  struct fill_from from;
  const char *words[WORDS_MAX + 1];
  size_t count;
  bool options_over; /* "--" stands before */
};

static bool cancelled(void *ctx) {
  return rein_call_cancelled(ctx);
}

/* ---- words ---------------------------------------------------------------------------- */

static enum rein_code add(struct order *o, struct str word, bool given, struct err *err) {
  struct num_text room;
  struct str copy;
  if (str_has(word, (struct str){"\0", 1})) return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_NUL);
  if (given && !o->options_over && str_starts(word, STR("-")))
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_PACK_HYPHEN, word);
  if (o->count == WORDS_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_MANY, str_num(&room, WORDS_MAX));
  if (!arena_str(&o->call->arena, word, &copy)) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  o->words[o->count++] = copy.p;
  o->options_over = o->options_over || (!given && str_is(word, "--"));
  return REIN_OK;
}

static enum rein_code add_list(struct order *o, const struct json *list, struct err *err) {
  enum rein_code code = REIN_OK;
  for (const struct json *one = list->first; !code && one; one = one->next)
    code = add(o, one->kind == JSON_STRING ? one->text : one->source, true, err);
  return code;
}

static enum rein_code add_template(struct order *o, struct str text, struct err *err) {
  struct str name = STR_NONE;
  struct piece first;
  struct str rest = text;
  bool alone = template_alone(text, &name), absent = false;
  const struct json *value = alone ? template_argument(o->call->doc, name) : NULL;
  if (json_is(value, JSON_ARRAY)) return add_list(o, value, err);
  bool given = template_next(&rest, &first) == 1 && first.kind != PIECE_TEXT;
  struct buf word;
  buf_init(&word, WORD_BYTES_MAX);
  enum rein_code code = template_fill(&word, text, FILL_TEXT, &o->from, &absent, err);
  if (!code && !absent) code = add(o, buf_str(&word), given, err);
  buf_release(&word);
  return code;
}

static enum rein_code read_words(struct order *o, const struct json *argv, struct err *err) {
  enum rein_code code = REIN_OK;
  o->count = 0;
  o->options_over = false;
  for (const struct json *one = argv->first; !code && one; one = one->next)
    code = add_template(o, json_text(one), err);
  o->words[o->count] = NULL;
  return code;
}

/* ---- environment ------------------------------------------------------------------------ */

/* NAME=value of the secrets that the tool names; they live as long as the call. */
static enum rein_code read_env(const struct order *o, const char **env, struct err *err) {
  const struct json *one = o->tool->secrets ? o->tool->secrets->first : NULL;
  size_t n = 0;
  for (; one && n < PACK_SECRETS_MAX; one = one->next) {
    const struct pack_secret *secret = pack_secret(o->tool->pack, json_text(one));
    struct str pair;
    struct buf b;
    if (!secret || !secret->value.n)
      return CALL_ERR(err, REIN_INPUT, T_PACK_NO_SECRET, json_text(one), o->tool->pack->name);
    buf_init(&b, WORD_BYTES_MAX);
    buf_put(&b, secret->name);
    buf_c(&b, '=');
    buf_put(&b, secret->value);
    bool ok = !b.fail && arena_str(&o->call->arena, buf_str(&b), &pair);
    buf_release(&b);
    if (!ok) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
    env[n++] = pair.p;
  }
  env[n] = NULL;
  return REIN_OK;
}

/* ---- run ---------------------------------------------------------------------------------- */

static int64_t limit_ms(const struct order *o) {
  return (o->tool->timeout_s ? o->tool->timeout_s : TIMEOUT_S) * 1000;
}

static enum rein_code run_command(struct order *o, struct child_out *out, struct child_out *errors,
                                  struct child_end *end, struct err *err) {
  const char *env[PACK_SECRETS_MAX + 1];
  enum rein_code code = read_words(o, o->tool->argv, err);
  if (!code) code = read_env(o, env, err);
  if (code) return code;
  struct child_spec spec = {.sandbox = o->call->house->sandbox,
                            .argv = o->words,
                            .env = env,
                            .input = o->tool->stdin_arguments ? o->call->args : STR_NONE,
                            .root = o->call->house->files->root,
                            .limit_ms = limit_ms(o),
                            .out = out,
                            .errors = errors,
                            .cancelled = cancelled,
                            .ctx = o->call};
  return child_run(&spec, end, err);
}

static enum rein_code run_git(struct order *o, struct child_out *out, struct child_out *errors,
                              struct child_end *end, struct err *err) {
  struct git_spec spec = {.sandbox = o->call->house->sandbox,
                          .root = o->call->house->files->root,
                          .args = o->words,
                          .env = o->call->house->git_env,
                          .writes = o->tool->git_writes,
                          .out = out,
                          .errors = errors,
                          .limit_ms = limit_ms(o),
                          .cancelled = cancelled,
                          .ctx = o->call};
  enum rein_code code = REIN_OK;
  *end = (struct child_end){0};
  for (const struct json *one = o->tool->argv->first; !code && one; one = one->next) {
    code = read_words(o, one, err);
    if (!code) code = git_run(&spec, end, err);
    if (end->how != CHILD_EXITED || end->number) break;
  }
  return code;
}

static int give(const struct order *o, const struct child_out *printed) {
  struct buf out, tail;
  struct num_text room;
  buf_init(&out, 1u << 20);
  buf_init(&tail, TAIL_BYTES + 1);
  if (!printed->bytes && o->tool->empty.n) buf_put(&out, o->tool->empty);
  if (!printed->bytes && !o->tool->empty.n) TEXT_PUT(&out, call_lang(o->call), T_TOOLS_PACK_SILENT);
  utf8_repair(&out, buf_str(&printed->head));
  if (printed->cut) {
    buf_c(&out, '\n');
    TEXT_PUT(&out, call_lang(o->call), T_TOOLS_GIT_CUT, str_num(&room, printed->cut));
    buf_c(&out, '\n');
  }
  child_out_put_tail(printed, &tail);
  utf8_repair(&out, buf_str(&tail));
  if (tail.fail) out.fail = tail.fail;
  buf_release(&tail);
  return call_give(o->call, &out);
}

static int fail(const struct order *o, const struct child_end *end, const struct child_out *errors,
                const struct child_out *out) {
  struct num_text room;
  /* The first line says it; what follows is where it came from. */
  struct str said = str_trim(buf_str(errors->bytes ? &errors->head : &out->head));
  said = str_part(said, 0, str_find_char(said, '\n'));
  if (end->how == CHILD_CANCELLED)
    return CALL_FAIL(o->call, REIN_CANCELLED, T_TOOLS_CANCELLED, o->tool->name);
  if (end->how == CHILD_LATE)
    return CALL_FAIL(o->call, REIN_LIMIT, T_TOOLS_PACK_LATE, o->tool->name,
                     str_num(&room, limit_ms(o) / 1000));
  return CALL_FAIL(o->call, REIN_PEER, T_TOOLS_PACK_EXIT, o->tool->name,
                   str_num(&room, end->number), said);
}

int declared_command(struct rein_call *call) {
  const struct declared_tool *ctx = call->row->ctx;
  struct order *o = arena_new(&call->arena, struct order);
  struct err err = {0};
  struct child_out out, errors;
  struct child_end end = {0};
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, ctx->tool->name);
  if (!call->house->sandbox)
    return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_SANDBOX, ctx->tool->name);
  if (!o) return CALL_FAIL(call, REIN_MEMORY, T_TOOLS_MEMORY);
  *o = (struct order){
      .call = call, .tool = ctx->tool, .from = {ctx->tool->pack, call->doc, STR("argv")}};
  child_out_init(&out, HEAD_BYTES, TAIL_BYTES);
  child_out_init(&errors, 4096, 0);
  enum rein_code code = ctx->tool->kind == PACK_GIT ? run_git(o, &out, &errors, &end, &err)
                                                    : run_command(o, &out, &errors, &end, &err);
  int given;
  if (code)
    given = call_fail(call, &err);
  else
    given = end.how == CHILD_EXITED && !end.number ? give(o, &out) : fail(o, &end, &errors, &out);
  child_out_release(&out);
  child_out_release(&errors);
  return given;
}
