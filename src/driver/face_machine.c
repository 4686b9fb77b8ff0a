/* rein_machine: the machine for programs with a loop of their own. The same
 * agent, wire and attempt as under rein_run, and the same journal; the caller
 * is the driver. Nothing here waits, reads or calls back.
 */
#include "base/mem.h"
#include "base/utf8.h"
#include "core/record.h"
#include "driver/address.h"
#include "driver/driver.h"
#include "driver/face.h"
#include "driver/face_report.h"
#include "text/text.h"
#include "wire/attempt.h"

#define TEXT_BYTES_MAX (512u << 20) /* one record or one reply's text */

struct rein_machine {
  struct face face;
  struct secret key;
  struct address address;
  struct agent *agent;
  struct journal *journal;
  struct attempt *attempt; /* of the request in flight; NULL none */
  uint32_t attempt_id;
  int64_t now_ms; /* the newest time that the caller told */
  int64_t idle_ms;
  int64_t idle_at_ms;    /* the request is given up on then; INT64_MAX: never */
  bool over;             /* its last event came; its end is not waited for */
  bool shown, withdrawn; /* pieces were given out; they do not count */
  uint32_t abort;        /* a request that was given up on here; 0 none */
  struct arena arena;    /* of a fault's words */
  struct buf line, rule, text, reason;
};

static void drop_attempt(struct rein_machine *m) {
  attempt_free(m->attempt);
  m->attempt = NULL;
  m->over = false;
  m->idle_at_ms = INT64_MAX;
}

/* The one door: into the journal, then into the machine. */
static enum rein_code feed(struct rein_machine *m, struct event *event) {
  struct err err;
  event->at_ms = m->now_ms;
  buf_release(&m->line);
  record_put(&m->line, event);
  if (m->line.fail) return m->line.fail;
  enum rein_code code = m->journal->kind->append(m->journal, buf_str(&m->line), &err);
  return code == REIN_OK ? agent_feed(m->agent, event, &err) : code;
}

static void see(struct rein_machine *m, int64_t now_ms) {
  if (now_ms > m->now_ms) m->now_ms = now_ms;
}

static void idle_again(struct rein_machine *m) {
  m->idle_at_ms = m->idle_ms == REIN_OFF ? INT64_MAX : m->now_ms + m->idle_ms;
}

/* -- life -- */

static enum rein_code write_start(struct rein_machine *m, struct err *err) {
  record_put_start(&m->line, agent_config(m->agent),
                   &(struct record_head){.rein = STR(REIN_VERSION)});
  if (m->line.fail) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return m->journal->kind->append(m->journal, buf_str(&m->line), err);
}

static enum rein_code build(struct rein_machine *m, const struct rein_options *options,
                            struct err *err) {
  struct num_text room;
  enum rein_code code = face_open(options, FACE_MACHINE, &m->face, err);
  if (code != REIN_OK) return code;
  const struct rein_options *o = &m->face.o;
  m->idle_ms = o->idle_ms ? o->idle_ms : IDLE_MS_DEFAULT;
  if (m->idle_ms < 0 && m->idle_ms != REIN_OFF)
    return ERR(err, REIN_INPUT, T_DRIVER_BAD_IDLE, str_num(&room, o->idle_ms));
  code = run_seed_make(&m->face.config.jitter_seed, err);
  if (code == REIN_OK) code = secret_take(&m->key, str_of(o->api_key), err);
  if (code == REIN_OK)
    code = address_init(&m->address, m->face.config.wire, str_of(o->base_url), &m->key, err);
  m->face.config.address = str_of(m->address.url);
  if (code == REIN_OK) code = journal_open_memory(&m->journal, err);
  if (code == REIN_OK) code = agent_new(&m->face.config, &m->agent, err);
  return code == REIN_OK ? write_start(m, err) : code;
}

static enum rein_code say(struct rein_machine *m, const char *task, struct err *err) {
  struct str words = str_of(task);
  if (!utf8_valid(words)) return ERR(err, REIN_INPUT, T_FACE_UTF8, STR("the task"));
  if (str_blank(words)) return ERR(err, REIN_INPUT, T_CORE_BLANK_WORDS);
  enum rein_code code = feed(m, &(struct event){.kind = EVENT_SAY, .text = words});
  return code == REIN_OK ? code : ERR(err, code, T_DRIVER_NO_MEMORY);
}

enum rein_code rein_machine_new(const struct rein_options *options, const char *task,
                                int64_t now_ms, struct rein_machine **machine,
                                struct rein_error *error) {
  struct err err = {0};
  if (!machine) {
    (void)ERR(&err, REIN_INPUT, T_FACE_MISSING, STR("machine"));
    return face_fail(error, face_lang(options), &err);
  }
  *machine = NULL;
  struct rein_machine *m = mem_zero(sizeof *m);
  if (!m) {
    (void)ERR(&err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
    return face_fail(error, face_lang(options), &err);
  }
  m->now_ms = now_ms;
  m->idle_at_ms = INT64_MAX;
  arena_init(&m->arena, TEXT_BYTES_MAX);
  buf_init(&m->line, TEXT_BYTES_MAX);
  buf_init(&m->rule, TEXT_BYTES_MAX);
  buf_init(&m->text, TEXT_BYTES_MAX);
  buf_init(&m->reason, TEXT_BYTES_MAX);
  enum rein_code code = build(m, options, &err);
  if (code == REIN_OK) code = say(m, task, &err);
  if (code != REIN_OK) {
    rein_machine_free(m);
    return face_fail(error, face_lang(options), &err);
  }
  *machine = m;
  return REIN_OK;
}

void rein_machine_free(struct rein_machine *machine) {
  struct rein_machine *m = machine;
  if (!m) return;
  attempt_free(m->attempt);
  agent_free(m->agent);
  if (m->journal) m->journal->kind->close(m->journal);
  address_release(&m->address);
  secret_release(&m->key);
  face_close(&m->face);
  arena_release(&m->arena);
  buf_release(&m->line);
  buf_release(&m->rule);
  buf_release(&m->text);
  buf_release(&m->reason);
  mem_free(m);
}

/* -- what it wants -- */

static void want_send(struct rein_machine *m, const struct action *action, struct rein_want *want) {
  static const struct fault lost = {.kind = FAULT_CONNECT,
                                    .message = {"out of memory", 13},
                                    .retry_after_ms = -1,
                                    .should_retry = -1};
  drop_attempt(m);
  m->shown = false;
  if (attempt_new(m->face.config.wire, action->id, &m->attempt) != REIN_OK) {
    (void)feed(m, &(struct event){.kind = EVENT_FAILED, .id = action->id, .fault = &lost});
    return; /* the machine tries again later, or ends */
  }
  attempt_speak(m->attempt, m->face.config.lang);
  m->attempt_id = action->id;
  idle_again(m);
  want->kind = REIN_WANT_SEND;
  want->url = m->address.url;
  want->headers = m->address.line;
  want->body = action->body.p;
  want->body_len = action->body.n;
}

static void want_call(struct rein_machine *m, const struct action *action, struct rein_want *want,
                      enum rein_want_kind kind) {
  want->kind = kind;
  want->tool = m->face.given[action->tool->row - m->face.rows];
  want->args = action->args.p;
  want->args_len = action->args.n;
  buf_reset(&m->rule);
  buf_put(&m->rule, action->rule);
  want->rule = buf_z(&m->rule);
  want->tainted = action->tainted;
  want->unclear = action->unclear;
}

static void rewrite(struct rein_machine *m, const struct action *action) {
  struct event event = {.kind = EVENT_REWRITE, .id = action->id, .rewrite = action->rewrite};
  if (action->rewrite == REWRITE_COMPACT) event.compacted = agent_compacted(m->agent);
  (void)feed(m, &event);
}

/* One action; it may be something that the caller need not do. */
static void perform(struct rein_machine *m, const struct action *action, struct rein_want *want) {
  want->id = action->id;
  switch (action->kind) {
  case ACTION_NONE: return;
  case ACTION_RESERVE:
    (void)feed(m, &(struct event){.kind = EVENT_GRANTED,
                                  .id = action->id,
                                  .tokens = action->tokens,
                                  .compacts = agent_compacts(m->agent)});
    return;
  case ACTION_REWRITE: rewrite(m, action); return;
  case ACTION_SEND: want_send(m, action, want); return;
  case ACTION_ASK: want_call(m, action, want, REIN_WANT_ASK); return;
  case ACTION_RUN: want_call(m, action, want, REIN_WANT_RUN); return;
  case ACTION_ABORT_SEND:
    drop_attempt(m);
    want->kind = REIN_WANT_ABORT_SEND;
    return;
  case ACTION_ABORT_RUN: want->kind = REIN_WANT_ABORT_RUN; return;
  case ACTION_DONE:
    want->kind = REIN_WANT_DONE;
    want->outcome = action->outcome;
    return;
  }
}

enum rein_want_kind rein_machine_next(struct rein_machine *machine, struct rein_want *want) {
  struct action action;
  *want = (struct rein_want){.kind = REIN_WANT_NOTHING, .outcome = REIN_OUTCOME_NONE};
  if (machine->abort) {
    want->kind = REIN_WANT_ABORT_SEND;
    want->id = machine->abort;
    machine->abort = 0;
    return want->kind;
  }
  while (want->kind == REIN_WANT_NOTHING && agent_next(machine->agent, &action))
    perform(machine, &action, want);
  return want->kind;
}

/* -- the answer of a request -- */

static void withdraw(struct rein_machine *m) {
  m->withdrawn = m->withdrawn || m->shown;
  m->shown = false;
}

bool rein_machine_withdrawn(struct rein_machine *machine) {
  bool withdrawn = machine->withdrawn;
  machine->withdrawn = false;
  return withdrawn;
}

static enum rein_code finish(struct rein_machine *m, enum attempt_end end, struct str why) {
  struct event event;
  struct fault fault;
  bool ok = true;
  if (m->over) end = ATTEMPT_CLOSED;
  /* Wall time is not known here: a retry-after that is a date does not count. */
  attempt_end(m->attempt, end, why, m->now_ms, 0, &event);
  if (event.kind == EVENT_FAILED) {
    fault = *event.fault;
    ok = secret_tidy_fault(&m->arena, &m->key, &fault);
    event.fault = &fault;
    withdraw(m);
  }
  enum rein_code code = ok ? feed(m, &event) : REIN_MEMORY;
  if (agent_withdrew(m->agent)) withdraw(m);
  drop_attempt(m);
  return code;
}

static bool is_open(const struct rein_machine *m, uint32_t id) {
  return m->attempt && m->attempt_id == id;
}

enum rein_code rein_machine_status(struct rein_machine *machine, uint32_t id, int status) {
  if (is_open(machine, id)) attempt_status(machine->attempt, status);
  return REIN_OK;
}

enum rein_code rein_machine_header(struct rein_machine *machine, uint32_t id, const char *name,
                                   const char *value) {
  if (is_open(machine, id)) attempt_header(machine->attempt, str_of(name), str_of(value));
  return REIN_OK;
}

enum rein_code rein_machine_bytes(struct rein_machine *machine, uint32_t id, const char *bytes,
                                  size_t len) {
  struct rein_machine *m = machine;
  if (!is_open(m, id) || m->over) return REIN_OK;
  attempt_bytes(m->attempt, (struct str){bytes, len});
  if (attempt_withdrawn(m->attempt)) withdraw(m);
  if (attempt_moved(m->attempt)) idle_again(m);
  m->over = attempt_over(m->attempt);
  return REIN_OK;
}

bool rein_machine_piece(struct rein_machine *machine, const char **text, size_t *len,
                        bool *thinking) {
  struct rein_machine *m = machine;
  struct str piece;
  if (agent_compacts(m->agent)) return false; /* no answer: the journal has it */
  if (!m->attempt || !attempt_piece(m->attempt, &piece, thinking)) return false;
  *text = piece.p;
  *len = piece.n;
  m->shown = m->shown || !*thinking;
  return true;
}

enum rein_code rein_machine_end(struct rein_machine *machine, uint32_t id, bool ok, const char *why,
                                int64_t now_ms) {
  see(machine, now_ms);
  if (!is_open(machine, id)) return REIN_OK;
  return finish(machine, ok ? ATTEMPT_CLOSED : ATTEMPT_BROKEN, str_of(why));
}

/* -- time -- */

int64_t rein_machine_deadline(const struct rein_machine *machine) {
  int64_t due = agent_deadline(machine->agent);
  if (machine->over) return machine->now_ms;
  return machine->idle_at_ms < due ? machine->idle_at_ms : due;
}

enum rein_code rein_machine_tick(struct rein_machine *machine, int64_t now_ms) {
  struct rein_machine *m = machine;
  struct buf why, idle;
  enum rein_code code = REIN_OK;
  see(m, now_ms);
  if (m->attempt && (m->over || m->idle_at_ms <= m->now_ms)) {
    buf_init(&why, 256);
    buf_init(&idle, 64);
    duration_put(&idle, m->face.config.lang, m->idle_ms);
    TEXT_PUT(&why, m->face.config.lang, T_DRIVER_SEND_STALLED, buf_str(&idle));
    buf_release(&idle);
    m->abort = m->attempt_id;
    code = finish(m, ATTEMPT_STALLED, buf_str(&why));
    buf_release(&why);
  }
  if (code == REIN_OK && agent_deadline(m->agent) <= m->now_ms)
    code = feed(m, &(struct event){.kind = EVENT_TICK});
  return code;
}

/* -- calls -- */

/* Texts of the caller are mended before they are written down. */
static enum rein_code feed_text(struct rein_machine *m, struct event *event, struct str text) {
  struct buf mended;
  buf_init(&mended, TEXT_BYTES_MAX);
  utf8_repair(&mended, text);
  event->text = buf_str(&mended);
  enum rein_code code = mended.fail ? mended.fail : feed(m, event);
  buf_release(&mended);
  return code;
}

enum rein_code rein_machine_verdict(struct rein_machine *machine, uint32_t id,
                                    enum rein_verdict verdict, const char *reason, int64_t now_ms) {
  see(machine, now_ms);
  enum rein_verdict said = verdict == REIN_ALLOW ? REIN_ALLOW : REIN_DENY;
  struct event event = {.kind = EVENT_VERDICT, .id = id, .verdict = {said, BY_PERSON, false}};
  return feed_text(machine, &event, str_of(reason));
}

enum rein_code rein_machine_started(struct rein_machine *machine, uint32_t id, int64_t now_ms) {
  see(machine, now_ms);
  return feed(machine, &(struct event){.kind = EVENT_STARTED, .id = id});
}

enum rein_code rein_machine_result(struct rein_machine *machine, uint32_t id, const char *text,
                                   size_t len, bool is_error, int64_t now_ms) {
  see(machine, now_ms);
  struct event event = {.kind = EVENT_RESULT, .id = id, .is_error = is_error};
  return feed_text(machine, &event, (struct str){text, len == SIZE_MAX ? strlen(text) : len});
}

enum rein_code rein_machine_cancel(struct rein_machine *machine, int64_t now_ms) {
  see(machine, now_ms);
  struct str by = str_of(text_raw(T_DRIVER_EMBEDDER, machine->face.config.lang));
  return feed(machine, &(struct event){.kind = EVENT_CANCEL, .text = by});
}

/* -- looking -- */

const char *rein_machine_record(const struct rein_machine *machine, size_t i, size_t *len) {
  struct str line;
  /* A journal in memory has nothing that could fail. */
  if (machine->journal->kind->record(machine->journal, i, &line, NULL)) line = STR_NONE;
  if (len) *len = line.n;
  return line.n > 0 ? line.p : NULL;
}

const char *rein_machine_text(struct rein_machine *machine) {
  buf_reset(&machine->text);
  buf_put(&machine->text, agent_text(machine->agent));
  return buf_z(&machine->text);
}

/* A provider's own words may stand in it. */
static void put_why(struct rein_machine *m, enum rein_lang lang, const struct err *why) {
  struct buf plain;
  buf_init(&plain, TEXT_BYTES_MAX);
  err_put(&plain, lang, why);
  secret_mask(&m->reason, &m->key, buf_str(&plain));
  if (plain.fail) m->reason.fail = plain.fail;
  buf_release(&plain);
}

const char *rein_machine_reason(struct rein_machine *machine) {
  const struct agent_end *end = agent_ended(machine->agent);
  enum rein_lang lang = machine->face.config.lang;
  buf_reset(&machine->reason);
  if (end->why.text != T_NONE)
    put_why(machine, lang, &end->why);
  else if (end->outcome == REIN_OUTCOME_NONE)
    TEXT_PUT(&machine->reason, lang, T_DRIVER_RUNNING);
  else
    TEXT_PUT(&machine->reason, lang, T_DRIVER_FINISHED);
  return buf_z(&machine->reason);
}

int64_t rein_machine_turns(const struct rein_machine *machine) {
  return agent_stats(machine->agent).turns;
}

int64_t rein_machine_requests(const struct rein_machine *machine) {
  return agent_stats(machine->agent).requests;
}

struct rein_usage rein_machine_usage(const struct rein_machine *machine) {
  struct usage usage = agent_stats(machine->agent).usage;
  return face_usage(&usage);
}

int64_t rein_machine_cost_uusd(const struct rein_machine *machine) {
  return face_cost(agent_stats(machine->agent).cost);
}
