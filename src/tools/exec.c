/* exec: a command in the sandbox. What may run is the policy's business, how it is
 * held the host's (host/child.h); here its arguments become an argument list, and
 * what came of it a result: exit status first, then head, error lines and tail. */
#include "base/utf8.h"
#include "host/child.h"
#include "tools/call.h"
#include "tools/rows.h"

#include <stdlib.h>

#define TIMEOUT_S_DEFAULT 120
#define TIMEOUT_S_MAX 3600
#define HEAD_BYTES 20000 /* with the tail and the error lines below what a result may have */
#define TAIL_BYTES 9000
#define ARGS_MAX 4096
#define TEXT_BYTES_MAX (1u << 20)

struct command {
  struct rein_call *call;
  const char **argv;
  int64_t timeout_s;
};

static bool cancelled(void *ctx) {
  return rein_call_cancelled(ctx);
}

/* ---- what is asked ------------------------------------------------------------------ */

static const char *text_of(struct rein_call *call, struct str text, struct err *err) {
  struct str copy;
  if (str_has(text, (struct str){"\0", 1})) {
    (void)CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_NUL);
    return NULL;
  }
  if (!arena_str(&call->arena, text, &copy)) {
    (void)ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
    return NULL;
  }
  return copy.p;
}

static enum rein_code read_argv(struct command *c, const struct json *list, struct err *err) {
  struct num_text room;
  if (list->count == 0) return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_EMPTY);
  if (list->count > ARGS_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_MANY, str_num(&room, ARGS_MAX));
  c->argv = arena_array(&c->call->arena, const char *, list->count + 1);
  if (!c->argv) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  size_t n = 0;
  for (const struct json *word = list->first; word; word = word->next)
    if (!(c->argv[n++] = text_of(c->call, json_text(word), err))) return err->code;
  return c->argv[0][0] ? REIN_OK : CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_EMPTY);
}

static enum rein_code read_text(struct command *c, struct str text, struct err *err) {
  if (str_blank(text)) return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_EMPTY);
  c->argv = arena_array(&c->call->arena, const char *, 4);
  if (!c->argv) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  c->argv[0] = "/bin/sh";
  c->argv[1] = "-c";
  c->argv[2] = text_of(c->call, text, err);
  return c->argv[2] ? REIN_OK : err->code;
}

static bool given(const struct json *member) {
  return member && !json_is(member, JSON_NULL);
}

static enum rein_code read_command(struct command *c, struct err *err) {
  const struct json *argv = json_get(c->call->doc, "argv");
  const struct json *text = json_get(c->call->doc, "command");
  struct num_text room;
  if (given(argv) == given(text)) return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_ONE);
  if (!call_whole(c->call, "timeout_s", 1, TIMEOUT_S_DEFAULT, &c->timeout_s, err)) return err->code;
  if (c->timeout_s > TIMEOUT_S_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_EXEC_TIMEOUT, str_num(&room, TIMEOUT_S_MAX));
  return given(argv) ? read_argv(c, argv, err) : read_text(c, call_text(c->call, "command"), err);
}

/* ---- what came of it ----------------------------------------------------------------- */

static void put_end(struct buf *out, const struct command *c, const struct child_end *end) {
  enum rein_lang lang = call_lang(c->call);
  struct num_text room;
  switch (end->how) {
  case CHILD_EXITED: TEXT_PUT(out, lang, T_TOOLS_EXEC_EXITED, str_num(&room, end->number)); break;
  case CHILD_SIGNALLED: {
    struct num_text other;
    const char *name = sigabbrev_np(end->number);
    TEXT_PUT(out, lang, T_TOOLS_EXEC_SIGNALLED, name ? str_of(name) : str_num(&other, end->number));
    break;
  }
  case CHILD_LATE: TEXT_PUT(out, lang, T_TOOLS_EXEC_LATE, str_num(&room, c->timeout_s)); break;
  case CHILD_FLOODED:
    TEXT_PUT(out, lang, T_TOOLS_EXEC_FLOODED, str_num(&room, CHILD_FLOOD_BYTES));
    break;
  case CHILD_PROCS: TEXT_PUT(out, lang, T_TOOLS_EXEC_PROCS, str_num(&room, end->number)); break;
  case CHILD_CANCELLED: TEXT_PUT(out, lang, T_TOOLS_EXEC_CANCELLED); break;
  }
  if (end->left) {
    buf_c(out, ' ');
    TEXT_PUT(out, lang, T_TOOLS_EXEC_LEFT);
  }
}

static void put_middle(struct buf *out, const struct command *c, const struct child_out *printed) {
  struct num_text cut, lines;
  buf_lit(out, "\n");
  TEXT_PUT(out, call_lang(c->call), T_TOOLS_EXEC_CUT, str_num(&cut, printed->cut),
           str_num(&lines, printed->error_lines));
  buf_lit(out, "\n");
  buf_put(out, buf_str(&printed->errors));
}

/* Bytes of any kind as text; a character that a cut halved is repaired like the rest. */
static void put_output(struct buf *out, const struct command *c, const struct child_out *printed) {
  struct buf tail;
  buf_init(&tail, printed->tail_max + 1);
  child_out_put_tail(printed, &tail);
  utf8_repair(out, buf_str(&printed->head));
  if (printed->cut) put_middle(out, c, printed);
  if (printed->cut) TEXT_PUT(out, call_lang(c->call), T_TOOLS_EXEC_TAIL);
  if (printed->cut) buf_c(out, '\n');
  utf8_repair(out, buf_str(&tail));
  if (tail.fail) out->fail = tail.fail;
  buf_release(&tail);
}

static int answer(const struct command *c, const struct child_end *end,
                  const struct child_out *printed) {
  struct buf out;
  buf_init(&out, TEXT_BYTES_MAX);
  put_end(&out, c, end);
  buf_c(&out, '\n');
  put_output(&out, c, printed);
  return call_give(c->call, &out);
}

static int run_command(struct command *c, struct err *err) {
  const struct call_house *house = c->call->house;
  struct child_out out;
  struct child_end end = {0};
  struct child_spec spec = {.sandbox = house->sandbox,
                            .argv = c->argv,
                            .root = house->files->root,
                            .limit_ms = c->timeout_s * 1000,
                            .out = &out,
                            .cancelled = cancelled,
                            .ctx = c->call};
  child_out_init(&out, HEAD_BYTES, TAIL_BYTES);
  enum rein_code code = child_run(&spec, &end, err);
  int given_code = code ? call_fail(c->call, err) : answer(c, &end, &out);
  child_out_release(&out);
  return given_code;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct command c = {.call = call};
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("exec"));
  if (!call->house->sandbox) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_SANDBOX, STR("exec"));
  if (read_command(&c, &err)) return call_fail(call, &err);
  return run_command(&c, &err);
}

const struct rein_tool tool_exec = {
    .name = "exec",
    .description =
        "Runs one command in the project root and gives back how it ended and what it printed, "
        "stdout and stderr together. Use argv for a program with its arguments, command for shell "
        "text (/bin/sh -c). Nothing can be typed into it; it runs in a sandbox that can write the "
        "project alone and has no network unless that was opened. What it leaves running in the "
        "background is ended with it. Of long output the head, the tail and lines that look like "
        "errors are shown: to see more, run a narrower command, or send it to a file and read "
        "that.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"argv\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,"
              "\"description\":\"The program and its arguments, one each, as in [\\\"make\\\", "
              "\\\"check\\\"]. No shell reads them.\"},"
              "\"command\":{\"type\":\"string\",\"description\":\"Shell text, in place of argv.\"},"
              "\"timeout_s\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600,\"description\":"
              "\"Seconds after which it is ended, 120 unless given.\"}},"
              "\"required\":[],\"additionalProperties\":false}",
    .touches = REIN_READS_PRIVATE | REIN_WRITES,
    .commands = "argv,command",
    .verdict = REIN_ASK,
    .limit_ms = (TIMEOUT_S_MAX + 10) * 1000, /* its own limit comes first, with what it printed */
    .run = run,
};
