/* The fleet: runs are made, told words, cancelled and dropped here. What makes
 * a run go on is in drive.c. */
#include "driver/driver.h"

#include "base/mem.h"
#include "driver/run.h"
#include "text/text.h"
#include "wire/wires.h"

enum rein_code driver_new(struct loop *loop, struct http *http, struct driver **driver,
                          struct err *err) {
  struct driver *d = mem_zero(sizeof *d);
  if (!d) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  d->loop = loop;
  d->http = http;
  *driver = d;
  return REIN_OK;
}

static void run_free(struct run *run) {
  if (run->agent) {
    send_drop(run);
    call_drop_all(run);
    seen_drop(&run->seen);
    ask_drop_all(run);
  }
  if (run->link) {
    *run->link = run->next;
    if (run->next) run->next->link = run->link;
  }
  if (run->live) run->driver->live--;
  for (size_t i = 0; i < run->note_count; i++)
    note_release(&run->notes[i]);
  mem_free(run->notes);
  if (run->timer) loop_timer_free(run->timer);
  agent_free(run->agent);
  replay_close(&run->past);
  if (run->spec.journal) run->spec.journal->kind->close(run->spec.journal);
  address_release(&run->address);
  buf_release(&run->line);
  secret_release(&run->key);
  mem_free(run->id);
  mem_free(run);
}

void driver_free(struct driver *driver) {
  if (!driver) return;
  while (driver->runs)
    run_free(driver->runs);
  calls_wait(driver);
  mem_free(driver);
}

static enum rein_code check_numbers(const struct run_spec *spec, struct err *err) {
  struct num_text room;
  if (spec->id.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_NO_ID);
  if (spec->idle_ms < 0 && spec->idle_ms != REIN_OFF)
    return ERR(err, REIN_INPUT, T_DRIVER_BAD_IDLE, str_num(&room, spec->idle_ms));
  for (size_t i = 0; i < spec->agent.row_count; i++) {
    const struct rein_tool *row = &spec->agent.rows[i];
    if (row->limit_ms < 0 && row->limit_ms != REIN_OFF)
      return ERR(err, REIN_INPUT, T_DRIVER_BAD_CALL_LIMIT, str_of(row->name),
                 str_num(&room, row->limit_ms));
  }
  return REIN_OK;
}

static enum rein_code prepare(struct run *run, struct replay *replay, struct err *err) {
  struct agent_config *config = &run->spec.agent;
  enum rein_code code = check_numbers(&run->spec, err);
  if (code != REIN_OK) return code;
  if (run->spec.idle_ms == 0) run->spec.idle_ms = IDLE_MS_DEFAULT;
  if ((code = secret_take(&run->key, run->spec.key, err)) != REIN_OK) return code;
  run->spec.key = STR_NONE;
  code = address_init(&run->address, config->wire, run->spec.base_url, &run->key, err);
  if (code != REIN_OK) return code;
  run->spec.base_url = STR_NONE;
  config->address = run->spec.script ? STR("offline") : str_of(run->address.url);
  run->id = mem_resize(NULL, run->spec.id.n + 1);
  if (!run->id) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  memcpy(run->id, run->spec.id.p, run->spec.id.n);
  run->id[run->spec.id.n] = '\0';
  run->spec.id.p = run->id;
  config->wires = wire_by_name;
  if (run->spec.files) config->root = str_of(run->spec.files->root);
  code = replay ? resume_take(run, replay, err) : agent_new(config, &run->agent, err);
  if (code != REIN_OK) return code;
  if (loop_timer_new(run->driver->loop, run_pump, run, &run->timer) != REIN_OK)
    return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  return replay ? REIN_OK : keep_start(run, err);
}

static enum rein_code add(struct driver *driver, const struct run_spec *spec, struct replay *replay,
                          struct run **run, struct err *err) {
  struct run *r = mem_zero(sizeof *r);
  if (!r) {
    spec->journal->kind->close(spec->journal);
    return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  }
  r->driver = driver;
  r->spec = *spec;
  r->born_ms = loop_now(driver->loop);
  r->timer_ms = INT64_MAX;
  r->began_ms = r->ended_ms = -1;
  r->end.outcome = REIN_OUTCOME_NONE;
  buf_init(&r->line, RECORD_BYTES_MAX);
  enum rein_code code = prepare(r, replay, err);
  if (code != REIN_OK) {
    run_free(r);
    return code;
  }
  r->next = driver->runs;
  r->link = &driver->runs;
  if (r->next) r->next->link = &r->next;
  driver->runs = r;
  if (spec->watch.record && !replay)
    spec->watch.record(spec->watch.ctx, r, buf_str(&r->line), NULL);
  if (!replay) tell_tools(r);
  *run = r;
  return REIN_OK;
}

enum rein_code driver_add(struct driver *driver, const struct run_spec *spec, struct run **run,
                          struct err *err) {
  return add(driver, spec, NULL, run, err);
}

enum rein_code driver_resume(struct driver *driver, const struct run_spec *spec,
                             struct replay *replay, struct run **run, struct err *err) {
  enum rein_code code = add(driver, spec, replay, run, err);
  replay_close(replay);
  return code;
}

enum rein_code driver_say(struct run *run, struct str words, struct err *err) {
  if (run->broken) return ERR(err, REIN_INPUT, T_DRIVER_BROKEN_RUN, run_id(run));
  if (run->live) return ERR(err, REIN_INPUT, T_DRIVER_STILL_RUNS, run_id(run));
  if (str_blank(words)) return ERR(err, REIN_INPUT, T_CORE_BLANK_WORDS);
  char *copy = mem_resize(NULL, words.n + 1);
  if (!copy) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  if (words.n > 0) memcpy(copy, words.p, words.n);
  run->live = true;
  run->driver->live++;
  run->end.outcome = REIN_OUTCOME_NONE;
  if (run->began_ms < 0) run->began_ms = run_now(run);
  run->ended_ms = -1;
  run_note(run, &(struct note){.kind = EVENT_SAY, .words = copy, .words_n = words.n});
  return REIN_OK;
}

void driver_cancel(struct run *run, int signal) {
  if (run->live) run_note(run, &(struct note){.kind = EVENT_CANCEL, .number = signal});
}

const struct agent *run_agent(const struct run *run) {
  return run->agent;
}

const struct agent_end *run_ended(const struct run *run) {
  return &run->end;
}

struct str run_id(const struct run *run) {
  return run->spec.id;
}

struct journal *run_journal(const struct run *run) {
  return run->spec.journal;
}

int64_t run_ms(const struct run *run) {
  if (run->began_ms < 0) return 0;
  return (run->ended_ms >= 0 ? run->ended_ms : run_now(run)) - run->began_ms;
}
