/* SEND: one attempt of a request, over HTTP or from a script. The answer's
 * bytes go into an attempt, which makes a REPLY or FAILED of them. Retries are
 * the machine's decision, never this file's.
 */
#include "base/mem.h"
#include "driver/run.h"
#include "text/text.h"

#include <time.h>

/* An answer of this size is an attack or an accident: the largest model output
 * is under a megabyte. */
#define SEND_BODY_MAX (256u << 20)
/* After a whole message's last event the connection may still bring its own end,
 * and is then used again; servers that never close are not waited for longer, and
 * those that failed not at all. */
#define OVER_GRACE_MS 100

struct sending {
  struct run *run;
  uint32_t id;
  size_t body_n; /* bytes of the request */
  struct attempt *attempt;
  struct http_call *http;      /* NULL: offline, or it ended */
  struct script_answer answer; /* offline */
  struct str body;             /* the machine's; while it is held */
  bool summary;                /* of a compaction is asked for */
  bool held;                   /* until its record is safe */
  bool scripted, over, ended;
  bool shown; /* text was streamed of it */
  enum attempt_end end;
  int64_t due_ms; /* INT64_MAX: never */
  char why[WHY_BYTES_MAX];
  size_t why_n;
  struct arena arena; /* masked copies */
};

static void sending_free(struct sending *s) {
  http_abort(s->http);
  attempt_free(s->attempt);
  buf_release(&s->answer.headers);
  buf_release(&s->answer.body);
  arena_release(&s->arena);
  mem_free(s);
}

void send_drop(struct run *run) {
  if (!run->sending) return;
  sending_free(run->sending);
  run->sending = NULL;
}

int64_t send_due(const struct run *run) {
  const struct sending *s = run->sending;
  if (!s || s->ended) return INT64_MAX;
  return s->scripted ? 0 : s->due_ms;
}

static void end_with(struct sending *s, enum attempt_end end, struct str why) {
  if (s->ended) return;
  s->ended = true;
  s->end = s->over ? ATTEMPT_CLOSED : end;
  s->why_n = why.n < sizeof s->why ? why.n : sizeof s->why;
  if (s->why_n > 0) memcpy(s->why, why.p, s->why_n);
  run_note(s->run, &(struct note){.kind = EVENT_REPLY, .id = s->id});
}

static void idle_again(struct sending *s) {
  int64_t idle_ms = s->run->spec.idle_ms;
  s->due_ms = idle_ms == REIN_OFF ? INT64_MAX : run_now(s->run) + idle_ms;
}

/* -- what HTTP tells -- */

static void on_status(void *ctx, int status) {
  struct sending *s = ctx;
  attempt_status(s->attempt, status);
}

static void on_header(void *ctx, struct str name, struct str value) {
  struct sending *s = ctx;
  attempt_header(s->attempt, name, value);
}

static void on_bytes(void *ctx, struct str bytes) {
  struct sending *s = ctx;
  const struct watch *watch = &s->run->spec.watch;
  struct str piece;
  bool thinking;
  attempt_bytes(s->attempt, bytes);
  if (attempt_withdrawn(s->attempt) && s->shown) {
    s->shown = false;
    if (watch->withdrawn) watch->withdrawn(watch->ctx, s->run);
  }
  while (attempt_piece(s->attempt, &piece, &thinking)) {
    if (s->summary) continue; /* of a compaction: no answer */
    s->shown = s->shown || !thinking;
    if (watch->piece) watch->piece(watch->ctx, s->run, piece, thinking);
  }
  if (s->over) return;
  if (attempt_moved(s->attempt)) idle_again(s);
  if (!attempt_over(s->attempt)) return;
  s->over = true;
  s->due_ms = run_now(s->run) + (attempt_whole(s->attempt) ? OVER_GRACE_MS : 0);
  run_wake(s->run, s->due_ms);
}

static void on_end(void *ctx, enum http_end end, struct str why) {
  static const enum attempt_end ends[] = {
      [HTTP_WHOLE] = ATTEMPT_CLOSED,  [HTTP_CONNECT] = ATTEMPT_CONNECT,
      [HTTP_BROKEN] = ATTEMPT_BROKEN, [HTTP_SLOW] = ATTEMPT_STALLED,
      [HTTP_BIG] = ATTEMPT_BROKEN,
  };
  struct sending *s = ctx;
  s->http = NULL;
  end_with(s, ends[end], why);
}

/* -- start -- */

static void start_http(struct sending *s, struct str body) {
  struct err err = {0};
  struct run *run = s->run;
  struct http_request request = {.method = "POST",
                                 .url = run->address.url,
                                 .headers = run->address.line,
                                 .body = body,
                                 .body_max = SEND_BODY_MAX};
  struct http_answer answer = {on_status, on_header, on_bytes, on_end, s};
  enum rein_code code = http_start(run->driver->http, &request, &answer, &s->http, &err);
  if (code == REIN_OK) return;
  if (code == REIN_MEMORY) {
    run_break_memory(run);
    return;
  }
  struct buf why;
  buf_init(&why, 2048);
  err_put(&why, run->spec.agent.lang, &err);
  end_with(s, ATTEMPT_CONNECT, buf_str(&why));
  buf_release(&why);
}

static void start_script(struct sending *s, struct str body) {
  struct err err = {0};
  struct run *run = s->run;
  s->scripted = true;
  enum rein_code code =
      script_answer(run->spec.script, str_of(run->spec.agent.wire->path), body, &s->answer, &err);
  if (code != REIN_OK) run_break(run, REIN_OUTCOME_INTERNAL, &err);
}

void send_start(struct run *run, const struct action *action) {
  send_drop(run);
  struct sending *s = mem_zero(sizeof *s);
  if (!s) {
    run_break_memory(run);
    return;
  }
  run->sending = s;
  s->run = run;
  s->id = action->id;
  s->body_n = action->body.n;
  s->summary = agent_compacts(run->agent);
  arena_init(&s->arena, 64u << 20);
  s->due_ms = INT64_MAX;
  if (attempt_new(run->spec.agent.wire, action->id, &s->attempt) != REIN_OK) {
    run_break_memory(run);
    return;
  }
  attempt_speak(s->attempt, run->spec.agent.lang);
  s->held = true;
  s->body = action->body;
}

bool send_held(const struct run *run) {
  return run->sending && run->sending->held;
}

void send_go(struct run *run) {
  struct sending *s = run->sending;
  if (run->broken || !send_held(run)) return;
  s->held = false;
  idle_again(s);
  if (run->spec.script)
    start_script(s, s->body);
  else
    start_http(s, s->body);
}

/* -- what time brings -- */

static void play_script(struct sending *s) {
  struct str rest = buf_str(&s->answer.headers), line, name, value;
  s->scripted = false;
  on_status(s, s->answer.status);
  on_header(s, STR("content-type"), s->answer.content_type);
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &name, &value)) on_header(s, name, str_trim(value));
  on_bytes(s, buf_str(&s->answer.body));
  end_with(s, ATTEMPT_CLOSED, STR_NONE);
}

void send_look(struct run *run, int64_t now_ms) {
  struct sending *s = run->sending;
  if (!s || s->ended) return;
  if (s->scripted) {
    play_script(s);
    return;
  }
  if (s->due_ms > now_ms) return;
  struct buf why, idle;
  buf_init(&why, 256);
  buf_init(&idle, 64);
  duration_put(&idle, run->spec.agent.lang, run->spec.idle_ms);
  TEXT_PUT(&why, run->spec.agent.lang, T_DRIVER_SEND_STALLED, buf_str(&idle));
  buf_release(&idle);
  end_with(s, ATTEMPT_STALLED, buf_str(&why));
  buf_release(&why);
}

/* -- the end -- */

static void tell_log(struct sending *s) {
  const struct watch *watch = &s->run->spec.watch;
  struct str raw = attempt_raw_error(s->attempt), told;
  if (!watch->note || raw.n == 0) return;
  if (secret_tidy(&s->arena, &s->run->key, raw, &told))
    watch->note(watch->ctx, s->run, told);
  else
    run_break_memory(s->run);
}

/* An answer that a lowered output limit cut is asked for once more. */
static void withdraw(const struct sending *s) {
  const struct watch *watch = &s->run->spec.watch;
  if (s->shown && watch->withdrawn) watch->withdrawn(watch->ctx, s->run);
  if (!agent_compacts(s->run->agent)) tell(s->run, T_DRIVER_SEND_CUT, STR_NONE, STR_NONE);
}

static void tell_failure(struct run *run, const struct sending *s, const struct fault *fault,
                         bool at_once) {
  const struct watch *watch = &run->spec.watch;
  if (s->shown && watch->withdrawn) watch->withdrawn(watch->ctx, run);
  if (run->broken || agent_ended(run->agent)->outcome != REIN_OUTCOME_NONE) return;
  if (!watch->retry) return;
  int64_t wait = agent_deadline(run->agent) - run_now(run);
  watch->retry(watch->ctx, run, fault, at_once || wait < 0 ? 0 : wait);
}

void send_deliver(struct run *run, uint32_t id) {
  struct sending *s = run->sending;
  struct event event;
  struct fault fault;
  if (!s || s->id != id || !s->ended) return; /* dropped meanwhile */
  run->sending = NULL;
  attempt_end(s->attempt, s->end, (struct str){s->why, s->why_n}, run_now(run), (int64_t)time(NULL),
              &event);
  tell_log(s);
  tell_dropped(run, attempt_dropped(s->attempt));
  if (event.kind == EVENT_FAILED) {
    fault = *event.fault;
    if (!secret_tidy_fault(&s->arena, &run->key, &fault)) run_break_memory(run);
    event.fault = &fault;
  }
  /* The event may be given the masked copy, which is gone after its delivery. */
  const struct reply *said = event.reply;
  size_t notes = run->note_count;
  struct agent_stats before = agent_stats(run->agent);
  run_deliver(run, &event);
  if (agent_withdrew(run->agent)) withdraw(s);
  if (event.kind == EVENT_REPLY) tell_doubts(run, said, &before, s->body_n);
  /* What the machine wanted at once (a rewrite, a reservation) is noted already. */
  if (event.kind == EVENT_FAILED) tell_failure(run, s, &fault, run->note_count > notes);
  sending_free(s);
}
