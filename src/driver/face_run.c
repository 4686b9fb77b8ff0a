/* rein_run: one run from words to an outcome, on a loop of its own that lives
 * as long as the call. The house is built, one run is driven, all is taken down;
 * what may happen in between is the machine's and the driver's.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "core/action.h"
#include "driver/face.h"
#include "driver/face_report.h"
#include "driver/stream.h"
#include "text/text.h"

#include <assert.h>

#define CANCEL_LOOK_MS 40          /* a cancel is seen within fifty */
#define LINE_BYTES_MAX (64u << 20) /* of a streamed piece, escaped */

struct session {
  struct face face;
  struct loop *loop;
  struct http *http;
  struct driver *driver;
  struct run *run;
  struct loop_timer *look;   /* at the caller's cancel */
  struct approval *approval; /* the question that is open; NULL none */
  struct rein_report *report;
};

/* -- approval: on a pool thread, so that time and cancel hold meanwhile -- */

struct approval {
  struct session *session; /* NULL: the run did not wait */
  rein_approve_fn fn;
  void *ctx;
  uint32_t call;
  enum rein_verdict verdict;
  struct rein_question question;
  struct arena arena; /* of the question's texts */
  char reason[ASK_REASON_MAX + 1];
};

static void approval_free(struct approval *a) {
  arena_release(&a->arena);
  mem_free(a);
}

static void approve(void *ctx) {
  struct approval *a = ctx;
  a->verdict = a->fn(a->ctx, &a->question, a->reason, sizeof a->reason);
  a->reason[sizeof a->reason - 1] = '\0';
}

static void approved(void *ctx) {
  struct approval *a = ctx;
  struct session *s = a->session;
  if (s) {
    struct buf reason;
    buf_init(&reason, ASK_REASON_MAX);
    s->approval = NULL;
    buf_put(&reason, str_of(a->reason));
    bool decided = a->verdict == REIN_ALLOW || a->verdict == REIN_DENY;
    if (!decided && reason.n == 0)
      TEXT_PUT(&reason, s->face.config.model_lang, T_DRIVER_ASK_UNDECIDED);
    driver_answer(s->run, a->call, a->verdict, BY_PERSON, buf_str(&reason), false);
    buf_release(&reason);
  }
  approval_free(a);
}

static void dropped(void *ctx) {
  approval_free(ctx);
}

static bool fill_question(struct approval *a, const struct action *ask) {
  struct str name, text, why;
  arena_init(&a->arena, ask->args.n + (1u << 20));
  if (!arena_str(&a->arena, ask->tool->name, &name) || !arena_str(&a->arena, ask->args, &text) ||
      !arena_str(&a->arena, ask->rule, &why))
    return false;
  a->question = (struct rein_question){name.p, text.p, text.n, why.p, ask->tainted, ask->unclear};
  return true;
}

static void on_ask(void *ctx, struct run *run, const struct action *ask) {
  struct session *s = ctx;
  struct approval *a = mem_zero(sizeof *a);
  bool ok = a && fill_question(a, ask);
  if (ok) {
    a->session = s;
    a->call = ask->id;
    a->fn = s->face.o.approve;
    a->ctx = s->face.o.approve_ctx;
    ok = loop_work(s->loop, approve, approved, dropped, a) == REIN_OK;
  }
  if (ok) {
    s->approval = a;
    return;
  }
  if (a) approval_free(a);
  struct str why = str_of(text_raw(T_DRIVER_NO_MEMORY, s->face.config.model_lang));
  driver_answer(run, ask->id, REIN_DENY, BY_NOBODY, why, false);
}

/* -- watching -- */

static void hear(struct session *s, struct str line) {
  if (line.n > 0) s->face.o.hear(s->face.o.hear_ctx, line.p, line.n);
}

static void on_record(void *ctx, struct run *run, struct str line, const struct event *event) {
  (void)run;
  (void)event;
  hear(ctx, line);
}

static void on_piece(void *ctx, struct run *run, struct str text, bool thinking) {
  (void)run;
  struct buf line;
  buf_init(&line, LINE_BYTES_MAX);
  stream_put_piece(&line, text, thinking);
  if (!line.fail) hear(ctx, buf_str(&line));
  buf_release(&line);
}

static void on_withdrawn(void *ctx, struct run *run) {
  (void)run;
  struct buf line;
  buf_init(&line, LINE_BYTES_MAX);
  stream_put_withdrawn(&line);
  if (!line.fail) hear(ctx, buf_str(&line));
  buf_release(&line);
}

static void on_retry(void *ctx, struct run *run, const struct fault *fault, int64_t wait_ms) {
  (void)run;
  struct buf line;
  buf_init(&line, LINE_BYTES_MAX);
  stream_put_retry(&line, fault, wait_ms);
  if (!line.fail) hear(ctx, buf_str(&line));
  buf_release(&line);
}

static void on_warn(void *ctx, struct run *run, struct str text) {
  (void)run;
  struct buf line;
  buf_init(&line, LINE_BYTES_MAX);
  stream_put_warning(&line, text);
  if (!line.fail) hear(ctx, buf_str(&line));
  buf_release(&line);
}

static void on_look(void *ctx) {
  struct session *s = ctx;
  if (__atomic_load_n(s->face.o.cancel, __ATOMIC_RELAXED))
    driver_cancel(s->run, 0);
  else
    loop_timer_set(s->look, loop_now(s->loop) + CANCEL_LOOK_MS);
}

/* -- the house -- */

static enum rein_code build(struct session *s, struct err *err) {
  const struct rein_options *o = &s->face.o;
  struct http_options http = {.ca_file = o->ca_file, .proxy = o->proxy, .no_proxy = o->no_proxy};
  enum rein_code code = loop_new(&s->loop, err);
  if (code == REIN_OK) code = http_new(s->loop, &http, &s->http, err);
  if (code == REIN_OK) code = driver_new(s->loop, s->http, &s->driver, err);
  if (code == REIN_OK && o->cancel && loop_timer_new(s->loop, on_look, s, &s->look) != REIN_OK)
    code = ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  s->report = face_report_new();
  if (code == REIN_OK && !s->report) code = ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return code;
}

static void take_down(struct session *s) {
  if (s->look) loop_timer_free(s->look);
  if (s->approval) s->approval->session = NULL;
  driver_free(s->driver);
  if (s->http) http_free(s->http);
  if (s->loop) loop_free(s->loop, 0);
  face_close(&s->face);
}

static enum rein_code add(struct session *s, struct err *err) {
  const struct rein_options *o = &s->face.o;
  struct run_name name;
  struct run_spec spec = {
      .agent = s->face.config,
      .base_url = str_of(o->base_url),
      .key = str_of(o->api_key),
      .script = s->face.provider.script,
      .files = o->root ? &s->face.files : NULL,
      .idle_ms = o->idle_ms,
      .ask = o->approve ? on_ask : NULL,
      .ask_ctx = s,
      .github_url = str_of(o->github_url),
      .github_token = str_of(o->github_token),
  };
  if (o->hear)
    spec.watch = (struct watch){.record = on_record,
                                .piece = on_piece,
                                .withdrawn = on_withdrawn,
                                .retry = on_retry,
                                .warn = on_warn,
                                .ctx = s};
  enum rein_code code = run_id_make(&name, err);
  if (code == REIN_OK) code = run_seed_make(&spec.agent.jitter_seed, err);
  if (code == REIN_OK) code = journal_open_memory(&spec.journal, err);
  if (code != REIN_OK) return code;
  spec.id = str_of(name.s);
  return driver_add(s->driver, &spec, &s->run, err);
}

static enum rein_code carry(struct session *s, const char *task, struct err *err) {
  enum rein_code code = build(s, err);
  if (code == REIN_OK && !utf8_valid(str_of(task)))
    code = ERR(err, REIN_INPUT, T_FACE_UTF8, STR("the task"));
  if (code == REIN_OK) code = add(s, err);
  if (code == REIN_OK) code = driver_say(s->run, str_of(task), err);
  if (code != REIN_OK) return code;
  if (s->look) on_look(s);
  loop_run(s->loop);
  assert(run_ended(s->run)->outcome != REIN_OUTCOME_NONE);
  face_report_fill(s->report, s->run, face_lang(&s->face.o));
  if (s->face.o.hear) hear(s, face_report_line(s->report));
  return REIN_OK;
}

enum rein_code rein_run(const struct rein_options *options, const char *task,
                        struct rein_report **report, struct rein_error *error) {
  struct err err = {0};
  enum rein_lang lang = face_lang(options);
  if (!report) {
    (void)ERR(&err, REIN_INPUT, T_FACE_MISSING, STR("report"));
    return face_fail(error, lang, &err);
  }
  *report = NULL;
  struct session *s = mem_zero(sizeof *s);
  if (!s) {
    (void)ERR(&err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
    return face_fail(error, lang, &err);
  }
  enum rein_code code = task ? face_open(options, FACE_RUN, &s->face, &err)
                             : ERR(&err, REIN_INPUT, T_FACE_MISSING, STR("task"));
  if (code == REIN_OK) code = carry(s, task, &err);
  struct rein_report *made = s->report;
  take_down(s);
  mem_free(s);
  if (code == REIN_OK) {
    *report = made;
    return REIN_OK;
  }
  rein_report_free(made);
  return face_fail(error, lang, &err);
}
