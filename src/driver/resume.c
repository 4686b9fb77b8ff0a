/* A run that goes on from its journal: its agent was rebuilt by a replay, its
 * clock goes on where it stood, and what nobody knows is told. What is done about
 * it is the machine's (core/resume.c).
 */
#include "base/mem.h"
#include "driver/replay.h"
#include "driver/run.h"
#include "text/text.h"

static const struct rein_tool *find_row(const struct resume_rows *given, const char *name) {
  for (size_t i = 0; i < given->count; i++)
    if (strcmp(given->rows[i].name, name) == 0) return &given->rows[i];
  return NULL;
}

enum rein_code resume_rows(void *ctx, struct agent_config *config, struct err *err) {
  const struct resume_rows *given = ctx;
  for (size_t i = 0; i < config->row_count; i++) {
    /* The rows were just read into the replay's own memory. */
    struct rein_tool *row = (struct rein_tool *)(uintptr_t)&config->rows[i];
    const struct rein_tool *now = find_row(given, row->name);
    if (!now) return ERR(err, REIN_INPUT, T_DRIVER_RESUME_TOOL, str_of(row->name));
    row->run = now->run;
    row->ctx = now->ctx;
    row->limit_ms = now->limit_ms;
  }
  return REIN_OK;
}

enum rein_code resume_take(struct run *run, struct replay *replay, struct err *err) {
  run->past = *replay;
  *replay = (struct replay){0};
  run->agent = run->past.agent;
  run->past.agent = NULL;
  agent_measure(run->agent, false);
  run->seen = run->past.seen;
  run->past.seen = NULL;
  run->born_ms = loop_now(run->driver->loop) - run->past.at_ms;
  run->end = *agent_ended(run->agent);
  if (run->line.fail) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return REIN_OK;
}

static bool is_other_model(const struct run *run) {
  const struct agent_config *was = agent_config(run->agent), *now = &run->spec.agent;
  return was->wire != now->wire || !str_eq(was->model, now->model);
}

enum rein_code driver_go_on(struct run *run, struct str words, const struct rein_limits *limits,
                            struct err *err) {
  char *copy = NULL;
  bool spoken = !str_blank(words);
  if (run->broken) return ERR(err, REIN_INPUT, T_DRIVER_BROKEN_RUN, run_id(run));
  if (run->live) return ERR(err, REIN_INPUT, T_DRIVER_STILL_RUNS, run_id(run));
  if (!spoken && !agent_goes_on(run->agent))
    return ERR(err, REIN_INPUT, T_DRIVER_RESUME_ENDED, run_id(run));
  if (spoken && !(copy = mem_resize(NULL, words.n)))
    return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  if (spoken) memcpy(copy, words.p, words.n);
  run->live = true;
  run->driver->live++;
  run->end.outcome = REIN_OUTCOME_NONE;
  run->began_ms = run_now(run);
  run->ended_ms = -1;
  if (limits) {
    run->limits = *limits;
    run_note(run, &(struct note){.kind = EVENT_LIMITS});
  }
  if (is_other_model(run))
    run_note(run, &(struct note){.kind = EVENT_REWRITE, .rewrite = REWRITE_MODEL});
  run_note(run,
           &(struct note){.kind = EVENT_RESUME, .words = copy, .words_n = spoken ? words.n : 0});
  return REIN_OK;
}

/* ---- what is told -------------------------------------------------------------- */

static void warn(struct run *run, enum text_id id, struct str one, struct str two) {
  const struct watch *watch = &run->spec.watch;
  struct buf words;
  if (!watch->warn) return;
  buf_init(&words, RECORD_BYTES_KEPT);
  TEXT_PUT(&words, run->spec.agent.lang, id, one, two);
  if (words.fail)
    run_break_memory(run);
  else
    watch->warn(watch->ctx, run, buf_str(&words));
  buf_release(&words);
}

static void tell_lost(struct run *run) {
  struct call_view call;
  for (size_t i = 0; agent_nth_call(run->agent, i, &call); i++)
    if (call.lost) warn(run, T_DRIVER_RESUME_LOST, call.name, utf8_head(call.args, 200));
}

void resume_deliver(struct run *run, const struct note *note) {
  struct err err = {0};
  struct agent_stats before = agent_stats(run->agent);
  struct num_text tokens;
  run_deliver(run, &(struct event){.kind = EVENT_RESUME,
                                   .text = {note->words, note->words_n},
                                   .wall_ms = run_wall_ms()});
  if (run->broken) return;
  if (agent_keep_blocks(run->agent, false, &err) != REIN_OK)
    run_break(run, REIN_OUTCOME_INTERNAL, &err);
  int64_t lost = agent_stats(run->agent).spent - before.spent;
  if (lost > 0) warn(run, T_DRIVER_RESUME_RESENT, str_num(&tokens, lost), STR_NONE);
  tell_lost(run);
}

void resume_deliver_model(struct run *run) {
  const struct agent_config *now = &run->spec.agent;
  struct arena kept;
  struct str was;
  arena_init(&kept, RECORD_BYTES_KEPT);
  if (!arena_str(&kept, agent_config(run->agent)->model, &was)) run_break_memory(run);
  run_deliver(
      run, &(struct event){.kind = EVENT_REWRITE,
                           .rewrite = REWRITE_MODEL,
                           .to = {str_of(now->wire->name), now->model, now->address, now->facts}});
  if (!run->broken) warn(run, T_DRIVER_RESUME_MODEL, now->model, was);
  arena_release(&kept);
}
