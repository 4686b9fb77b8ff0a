/* RUN: a call of a tool on a pool thread. It is journalled as STARTED, and that
 * is committed, before its function is called. A function that fails, floods,
 * is late or forgets to answer costs its call, never the run. One that is given
 * up on keeps its own memory until it returns, unheard: an orphan.
 */
#include "base/mem.h"
#include "driver/run.h"
#include "host/sandbox.h"
#include "text/text.h"
#include "tools/guard.h"
#include "tools/reach.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What is copied for a call: addresses, and paths of files seen. */
#define HOUSE_BYTES_MAX ((size_t)SEEN_MAX * 2 * 4096 + (1u << 20))

struct running {
  struct running *next;   /* of the run's, or of the driver's orphans */
  struct driver *driver;  /* NULL: it is gone, the last to come frees this */
  struct run *run;        /* NULL: given up on */
  struct rein_call *call; /* NULL: it could not be made, see `why` */
  struct str tool;
  uint32_t id;
  bool started, launched, done, timed_out;
  int code;            /* what the function returned */
  int64_t limit_at_ms; /* of the run's clock; INT64_MAX: never */
  struct err why;
  /* What built-in tools need, its own, so that an orphan outlives its run. */
  struct call_house house;
  struct files files;
  struct guard guard;
  struct reach reach;
  struct arena arena;
};

static void running_free(struct running *r) {
  call_free(r->call);
  if (r->house.files) close(r->files.fd);
  sandbox_free(r->house.sandbox);
  arena_release(&r->arena);
  mem_free(r);
}

static struct running **find(struct run *run, uint32_t id) {
  struct running **link = &run->running;
  while (*link && (*link)->id != id)
    link = &(*link)->next;
  return link;
}

static const char *keep_z(struct running *r, struct str s, bool *ok) {
  struct str copy = STR_NONE;
  if (s.n == 0) return NULL;
  *ok = *ok && arena_str(&r->arena, s, &copy);
  return copy.p;
}

/* The list stays its owner's no longer than the run; a call may stay longer. */
static const char *const *keep_list(struct running *r, const char *const *list, bool *ok) {
  size_t n = 0;
  while (list && list[n])
    n++;
  const char **kept = list ? arena_array(&r->arena, const char *, n + 1) : NULL;
  *ok = *ok && (kept || !list);
  for (size_t i = 0; kept && i < n; i++)
    kept[i] = keep_z(r, str_of(list[i]), ok);
  if (kept) kept[n] = NULL;
  return kept;
}

static enum rein_code furnish(struct running *r, const struct tool *tool, struct err *err) {
  const struct run_spec *spec = &r->run->spec;
  bool ok = !(tool->touches & REIN_WRITES) || seen_copy(r->run, &r->arena, &r->house.seen);
  r->house = (struct call_house){
      .seen = r->house.seen,
      .http = r->driver->http,
      .github_url = keep_z(r, spec->github_url, &ok),
      .github_token = keep_z(r, spec->github_token, &ok),
      .model_lang = spec->agent.model_lang,
      .read_points_max = spec->read_points_max,
      .git_env = spec->git_env,
  };
  if (spec->sandbox) r->house.sandbox = sandbox_hold(spec->sandbox);
  if (spec->files) {
    r->files.root = keep_z(r, str_of(spec->files->root), &ok);
    r->files.given = keep_z(r, str_of(spec->files->given), &ok);
    r->files.own.hidden = keep_list(r, spec->files->own.hidden, &ok);
    r->files.own.kept = keep_list(r, spec->files->own.kept, &ok);
    r->files.fd = fcntl(spec->files->fd, F_DUPFD_CLOEXEC, 3);
    if (r->files.fd < 0) return ERR(err, REIN_SYSTEM, T_DRIVER_CALL_FILES, str_of(strerror(errno)));
    r->house.files = &r->files;
  }
  return ok ? REIN_OK : ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
}

/* Rules for paths hold for the file that is opened, not for its name alone. */
static enum rein_code set_guard(struct running *r, const struct action *action, struct err *err) {
  if (!r->house.files) return REIN_OK;
  enum rein_code code = guard_make(&r->guard, &r->arena, r->run->spec.agent.policy,
                                   action->tool->row, action->args, str_of(r->files.root), err);
  if (code == REIN_OK && r->guard.face.may) r->files.guard = &r->guard.face;
  return code;
}

/* Rules for hosts hold for the address that is connected to, not for its name alone. */
static enum rein_code set_reach(struct running *r, const struct action *action, struct err *err) {
  if (!action->tool->row->urls) return REIN_OK;
  r->house.reach = &r->reach;
  return reach_make(&r->reach, &r->arena, r->run->spec.agent.policy, action->tool->row, err);
}

static int64_t limit_at(const struct run *run, const struct rein_tool *row) {
  int64_t limit_ms = row->limit_ms ? row->limit_ms : CALL_MS_DEFAULT;
  int64_t now = run_now(run);
  return limit_ms == REIN_OFF || limit_ms > INT64_MAX - now ? INT64_MAX : now + limit_ms;
}

void call_prepare(struct run *run, const struct action *action) {
  struct running *r = mem_zero(sizeof *r);
  if (!r) {
    run_break_memory(run);
    return;
  }
  r->run = run;
  r->driver = run->driver;
  r->id = action->id;
  r->tool = str_of(action->tool->row->name);
  r->limit_at_ms = INT64_MAX;
  arena_init(&r->arena, HOUSE_BYTES_MAX);
  enum rein_code code = furnish(r, action->tool, &r->why);
  if (code == REIN_OK) code = set_guard(r, action, &r->why);
  if (code == REIN_OK) code = set_reach(r, action, &r->why);
  if (code == REIN_OK)
    code = call_new(action->tool->row, &r->house, action->args, &r->call, &r->why);
  if (code == REIN_MEMORY) {
    running_free(r);
    run_break_memory(run);
    return;
  }
  struct running **link = &run->running;
  while (*link)
    link = &(*link)->next;
  *link = r;
  run_note(run, &(struct note){.kind = EVENT_STARTED, .id = action->id});
}

void call_deliver_started(struct run *run, uint32_t id) {
  struct running *r = *find(run, id);
  if (!r || r->started) return;
  r->started = true;
  run_deliver(run, &(struct event){.kind = EVENT_STARTED, .id = id});
}

/* On a pool thread: touches the call and nothing else. */
static void work(void *ctx) {
  struct running *r = ctx;
  r->code = r->call->row->run(r->call);
}

static void forget_orphan(struct running *r) {
  struct driver *driver = r->driver;
  if (driver) {
    struct running **link = &driver->orphans;
    while (*link != r)
      link = &(*link)->next;
    *link = r->next;
    if (!driver->orphans && driver->leaving) loop_stop(driver->loop);
  }
  running_free(r);
}

static void done(void *ctx) {
  struct running *r = ctx;
  if (!r->run) {
    forget_orphan(r);
    return;
  }
  r->done = true;
  run_note(r->run, &(struct note){.kind = EVENT_RESULT, .id = r->id});
}

/* The loop is gone before the function returned, and so are run and driver. */
static void drop(void *ctx) {
  running_free(ctx);
}

static void launch(struct run *run, struct running *r) {
  r->launched = true;
  if (!r->call) {
    r->done = true;
    run_note(run, &(struct note){.kind = EVENT_RESULT, .id = r->id});
    return;
  }
  r->limit_at_ms = limit_at(run, r->call->row);
  if (loop_work(run->driver->loop, work, done, drop, r) == REIN_OK) return;
  r->launched = false;
  run_break_memory(run);
}

bool call_held(const struct run *run) {
  for (const struct running *r = run->running; r; r = r->next)
    if (r->started && !r->launched) return true;
  return false;
}

void call_launch(struct run *run) {
  for (struct running *r = run->running; r && !run->broken; r = r->next)
    if (r->started && !r->launched) launch(run, r);
}

/* -- answers -- */

static void put_seconds(struct buf *out, int64_t ms) {
  buf_num(out, ms / 1000);
  if (ms % 1000) buf_fmt(out, ".%03d", (int)(ms % 1000));
}

/* The answer in words, and whether it is an error. `out` is for what the tool
 * did not say itself. */
static struct str answer(const struct running *r, struct buf *out, bool *is_error) {
  enum rein_lang lang = r->house.model_lang;
  struct buf sentence;
  struct num_text room;
  *is_error = true;
  buf_init(&sentence, 4096);
  if (!r->call) {
    err_put(&sentence, lang, &r->why);
    TEXT_PUT(out, lang, T_DRIVER_CALL_UNSTARTED, r->tool, buf_str(&sentence));
  } else if (!r->done) {
    put_seconds(&sentence, r->call->row->limit_ms ? r->call->row->limit_ms : CALL_MS_DEFAULT);
    TEXT_PUT(out, lang, T_DRIVER_CALL_SLOW, r->tool, buf_str(&sentence));
  } else if (!r->call->answered) {
    TEXT_PUT(out, lang, T_DRIVER_CALL_MUTE, r->tool, str_num(&room, r->code));
  } else if (r->call->result.fail == REIN_MEMORY) {
    TEXT_PUT(out, lang, T_DRIVER_CALL_LOST, r->tool);
  } else {
    *is_error = r->call->is_error;
    buf_release(&sentence);
    return buf_str(&r->call->result);
  }
  buf_release(&sentence);
  return buf_str(out);
}

/* Its run does not wait for it any more. */
static void give_up(struct running *r) {
  if (!r->launched || r->done) {
    running_free(r);
    return;
  }
  atomic_store(&r->call->cancelled, true);
  r->run = NULL;
  r->next = r->driver->orphans;
  r->driver->orphans = r;
}

void call_deliver_result(struct run *run, uint32_t id) {
  struct running **link = find(run, id), *r = *link;
  struct event event = {.kind = EVENT_RESULT, .id = id};
  struct buf out;
  if (!r || !(r->done || r->timed_out)) return;
  *link = r->next;
  buf_init(&out, 8192);
  event.text = answer(r, &out, &event.is_error);
  if (r->call && r->done) {
    event.seen = r->call->saw.path;
    event.seen_hash = r->call->saw.hash;
  }
  if (out.fail || !seen_keep(&run->seen, &event)) run_break_memory(run);
  run_deliver(run, &event);
  buf_release(&out);
  give_up(r);
}

void call_drop(struct run *run, uint32_t id) {
  struct running **link = find(run, id), *r = *link;
  if (!r) return;
  *link = r->next;
  give_up(r);
}

void call_drop_all(struct run *run) {
  while (run->running)
    call_drop(run, run->running->id);
}

int64_t call_due(const struct run *run) {
  int64_t due = INT64_MAX;
  for (const struct running *r = run->running; r; r = r->next)
    if (!r->done && !r->timed_out && r->limit_at_ms < due) due = r->limit_at_ms;
  return due;
}

void call_look(struct run *run, int64_t now_ms) {
  for (struct running *r = run->running; r; r = r->next) {
    if (r->done || r->timed_out || r->limit_at_ms > now_ms) continue;
    r->timed_out = true;
    run_note(run, &(struct note){.kind = EVENT_RESULT, .id = r->id});
  }
}

static void stop(void *ctx) {
  loop_stop(ctx);
}

void calls_wait(struct driver *driver) {
  struct loop_timer *timer = NULL;
  if (driver->orphans && loop_timer_new(driver->loop, stop, driver->loop, &timer) == REIN_OK) {
    driver->leaving = true;
    loop_timer_set(timer, loop_now(driver->loop) + ORPHAN_GRACE_MS);
    loop_run(driver->loop);
    loop_timer_free(timer);
  }
  for (struct running *r = driver->orphans; r;) {
    struct running *next = r->next;
    r->driver = NULL;
    r->next = NULL;
    r = next;
  }
  driver->orphans = NULL;
}
