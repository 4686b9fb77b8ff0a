/* git_diff: what changed, by the hardened git of host/git.h. Options are those of this
 * list alone, spelled out: none of them writes, runs a program or reads elsewhere. */
#include "base/utf8.h"
#include "host/git.h"
#include "tools/call.h"
#include "tools/rows.h"

#define ARGS_MAX 48
#define LIMIT_MS 60000
#define HEAD_BYTES 24000
#define TAIL_BYTES 5000
#define TEXT_BYTES_MAX (1u << 20)

/* One that ends in = takes a value; one that ends in * any rest. */
static const char *const options[] = {"--cached",
                                      "--staged",
                                      "--stat",
                                      "--stat=",
                                      "--numstat",
                                      "--shortstat",
                                      "--summary",
                                      "--name-only",
                                      "--name-status",
                                      "--raw",
                                      "-p",
                                      "--patch",
                                      "-u",
                                      "-U*",
                                      "--unified=",
                                      "--word-diff",
                                      "--word-diff=",
                                      "-w",
                                      "-b",
                                      "--ignore-all-space",
                                      "--ignore-space-change",
                                      "--ignore-space-at-eol",
                                      "--ignore-blank-lines",
                                      "-M*",
                                      "-C*",
                                      "--find-renames",
                                      "--find-copies",
                                      "--no-renames",
                                      "--diff-filter=",
                                      "-S*",
                                      "-G*",
                                      "--pickaxe-all",
                                      "--pickaxe-regex",
                                      "-W",
                                      "--function-context",
                                      "--minimal",
                                      "--patience",
                                      "--histogram",
                                      "--diff-algorithm=",
                                      "--compact-summary",
                                      "--dirstat",
                                      "--no-prefix",
                                      "--merge-base",
                                      "-R",
                                      "-a",
                                      "--text",
                                      "--full-index",
                                      "--check",
                                      "--inter-hunk-context=",
                                      "--cc"};

static bool fits(struct str arg, struct str option) {
  char end = option.p[option.n - 1];
  if (end == '*') return str_starts(arg, str_part(option, 0, option.n - 1));
  return end == '=' ? str_starts(arg, option) : str_eq(arg, option);
}

static bool allowed(struct str arg) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (fits(arg, str_of(options[i]))) return true;
  return false;
}

static enum rein_code take(struct rein_call *call, struct str arg, bool paths, const char **out,
                           struct err *err) {
  struct str copy;
  if (str_has(arg, (struct str){"\0", 1}) || arg.n == 0)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_GIT_ARG, arg);
  if (!paths && arg.p[0] == '-' && !allowed(arg))
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_GIT_OPTION, arg);
  if (!arena_str(&call->arena, arg, &copy)) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  *out = copy.p;
  return REIN_OK;
}

static enum rein_code read_args(struct rein_call *call, const char **argv, struct err *err) {
  static const char *const first[] = {"diff",
                                      "--no-ext-diff",
                                      "--no-textconv",
                                      "--no-color",
                                      "--ignore-submodules=dirty",
                                      "--submodule=short"};
  const struct json *args = json_get(call->doc, "args");
  size_t n = 0;
  bool paths = false;
  struct num_text room;
  for (; n < sizeof first / sizeof *first; n++)
    argv[n] = first[n];
  if (!json_is(args, JSON_ARRAY)) args = NULL;
  if (args && args->count > ARGS_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_GIT_MANY, str_num(&room, ARGS_MAX));
  for (const struct json *a = args ? args->first : NULL; a; a = a->next) {
    struct str arg = json_text(a);
    bool dashes = !paths && str_is(arg, "--");
    enum rein_code code = dashes ? REIN_OK : take(call, arg, paths, &argv[n], err);
    if (code) return code;
    if (dashes) argv[n] = "--";
    paths = paths || dashes;
    n++;
  }
  argv[n] = NULL;
  return REIN_OK;
}

static int answer(struct rein_call *call, const struct child_out *printed) {
  struct buf out, tail;
  struct num_text room;
  buf_init(&out, TEXT_BYTES_MAX);
  buf_init(&tail, TAIL_BYTES + 1);
  if (printed->bytes == 0) TEXT_PUT(&out, call_lang(call), T_TOOLS_GIT_SAME);
  utf8_repair(&out, buf_str(&printed->head));
  if (printed->cut) {
    buf_c(&out, '\n');
    TEXT_PUT(&out, call_lang(call), T_TOOLS_GIT_CUT, str_num(&room, printed->cut));
    buf_c(&out, '\n');
  }
  child_out_put_tail(printed, &tail);
  utf8_repair(&out, buf_str(&tail));
  if (tail.fail) out.fail = tail.fail;
  buf_release(&tail);
  return call_give(call, &out);
}

static int fail(struct rein_call *call, const struct child_end *end, struct child_out *errors) {
  struct num_text room;
  struct str words = str_trim(buf_str(&errors->head));
  if (end->how == CHILD_LATE)
    return CALL_FAIL(call, REIN_LIMIT, T_TOOLS_GIT_LATE, str_num(&room, LIMIT_MS / 1000));
  if (end->how == CHILD_CANCELLED)
    return CALL_FAIL(call, REIN_CANCELLED, T_TOOLS_CANCELLED, STR("git_diff"));
  return CALL_FAIL(call, REIN_PEER, T_TOOLS_GIT_FAILED, words);
}

static bool cancelled(void *ctx) {
  return rein_call_cancelled(ctx);
}

static int run_git(struct rein_call *call, const char *const *argv, struct err *err) {
  struct child_out out, errors;
  struct child_end end = {0};
  child_out_init(&out, HEAD_BYTES, TAIL_BYTES);
  child_out_init(&errors, 4096, 0);
  struct git_spec spec = {.sandbox = call->house->sandbox,
                          .root = call->house->files->root,
                          .args = argv,
                          .out = &out,
                          .errors = &errors,
                          .limit_ms = LIMIT_MS,
                          .cancelled = cancelled,
                          .ctx = call};
  enum rein_code code = git_run(&spec, &end, err);
  /* --check ends with 2 where it found something, which is its answer. */
  bool fine = end.how == CHILD_EXITED && (end.number == 0 || (end.number == 2 && out.bytes));
  int given;
  if (code)
    given = call_fail(call, err);
  else
    given = fine ? answer(call, &out) : fail(call, &end, &errors);
  child_out_release(&out);
  child_out_release(&errors);
  return given;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  const char *argv[ARGS_MAX + 8];
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("git_diff"));
  if (!call->house->sandbox)
    return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_SANDBOX, STR("git_diff"));
  if (read_args(call, argv, &err)) return call_fail(call, &err);
  return run_git(call, argv, &err);
}

const struct rein_tool tool_git_diff = {
    .name = "git_diff",
    .description =
        "Shows what changed in the project by git diff: without args the work tree against the "
        "index, with [\"--staged\"] the index against HEAD, with two revisions the one against "
        "the other. Paths stand behind \"--\". It changes nothing, runs no program that the "
        "repository names and uses no network; options that would are refused. Long diffs are "
        "cut in the middle: use [\"--stat\"] first, then name paths.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"args\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":"
              "\"Arguments of git diff, one each, as in [\\\"HEAD~1\\\", \\\"--\\\", "
              "\\\"src\\\"].\"}},"
              "\"required\":[],\"additionalProperties\":false}",
    .touches = REIN_READS_PRIVATE,
    .paths = "args",
    .verdict = REIN_ALLOW,
    .run = run,
};
