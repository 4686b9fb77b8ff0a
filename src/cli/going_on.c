/* Takes a run of the past out of the store, rebuilds it and hands it to a session.
 * The journal says what is fixed for it; options may name another model, other
 * limits and another folder. */
#include "cli/going_on.h"

#include "cli/command.h"
#include "cli/place.h"
#include "cli/session.h"
#include "cli/task.h"
#include "core/limits.h"
#include "driver/driver.h"
#include "host/loop.h"
#include "store/lines.h"
#include "wire/wires.h"

#define NAME_PARTS_MAX 4096
#define LINES_BYTES_MAX (1u << 30) /* a run that was written out */

/* ---- taking --------------------------------------------------------------------- */

int going_on_fail(struct cli *cli, const struct err *err) {
  int exit = cli_fail(cli, err);
  if (err->code == REIN_HELD) return session_none(cli, REIN_OUTCOME_HELD, 0);
  if (err->code == REIN_SYSTEM) return session_none(cli, REIN_OUTCOME_STORE_FAILED, 0);
  return exit == 2 ? 2 : session_none(cli, REIN_OUTCOME_INTERNAL, 0);
}

int going_on_name(struct cli *cli, struct store *store, struct str *run, size_t *taken) {
  struct err err = {0};
  *taken = 0;
  if (cli_value(cli, OPTION_ID_LAST)->num)
    return store_last(store, &cli->arena, run, &err) ? going_on_fail(cli, &err) : 0;
  if (cli->word_count == 0) return cli_usage(cli, T_CLI_NO_RUN_NAMED, str_of(cli->command->name));
  *taken = 1;
  return arena_str(&cli->arena, cli->words[0], run) ? 0 : cli_no_memory(cli);
}

int going_on_open(struct cli *cli, struct going_on *on) {
  struct err err = {0};
  *on = (struct going_on){0};
  if (loop_new(&on->loop, &err)) return going_on_fail(cli, &err);
  int exit = place_open(cli, on->loop, &on->store);
  if (exit == rein_outcome_exit(REIN_OUTCOME_STORE_FAILED))
    return session_none(cli, REIN_OUTCOME_STORE_FAILED, 0);
  if (!exit && !on->store) return cli_usage(cli, T_CLI_RESUME_NO_STORE, str_of(cli->command->name));
  return exit;
}

static int rebuild(struct cli *cli, struct going_on *on) {
  struct err err = {0};
  struct rein_tool rows[ROWS_MAX];
  int exit = packs_load(cli);
  if (exit) return exit;
  struct resume_rows given = {rows, packs_rows(cli, rows)};
  struct replay_watch watch = {.start = resume_rows, .ctx = &given};
  if (replay_open(on->journal, SIZE_MAX, &watch, &on->replay, &err))
    return going_on_fail(cli, &err);
  return 0;
}

int going_on_take(struct cli *cli, struct str run, struct going_on *on) {
  struct err err = {0};
  size_t taken = 0;
  int exit = going_on_open(cli, on);
  if (exit) return exit;
  on->run = run;
  if (!run.n) exit = going_on_name(cli, on->store, &on->run, &taken);
  if (exit) return exit;
  for (size_t i = taken; i < cli->word_count; i++)
    cli->words[i - taken] = cli->words[i];
  cli->word_count -= taken;
  if (store_take(on->store, on->run, &on->journal, &err)) return going_on_fail(cli, &err);
  return rebuild(cli, on);
}

/* ---- looking and copying ------------------------------------------------------------ */

static void tell_lines(struct cli *cli, struct str path, const struct lines_found *found) {
  struct num_text one, two;
  if (found->nul_bytes)
    cli_say(cli, T_CLI_LINES_NULS, path, str_num(&one, (int64_t)found->nul_bytes));
  if (found->torn_bytes)
    cli_say(cli, T_CLI_LINES_TORN, path, str_num(&one, (int64_t)found->torn_bytes));
  if (found->damaged)
    cli_say(cli, T_CLI_LINES_DAMAGED, path, str_num(&one, (int64_t)found->damaged),
            str_num(&two, (int64_t)found->records));
}

static int look_lines(struct cli *cli, struct str path, struct journal **journal, bool *damaged) {
  struct err err = {0};
  struct str text;
  struct lines_found found;
  if (cli_read_file(cli, path, LINES_BYTES_MAX, &text, &err)) return cli_fail(cli, &err);
  if (lines_open(text, journal, &found, &err)) return going_on_fail(cli, &err);
  tell_lines(cli, path, &found);
  *damaged = found.damaged > 0;
  return 0;
}

static bool is_file(struct str from) {
  return str_find_char(from, '/') < from.n || str_ends(from, STR(".jsonl"));
}

int going_on_look(struct cli *cli, struct store *store, struct str from, struct journal **journal) {
  struct err err = {0};
  bool damaged;
  if (is_file(from)) return look_lines(cli, from, journal, &damaged);
  return store_look(store, from, journal, &err) ? going_on_fail(cli, &err) : 0;
}

int going_on_read(struct cli *cli, int (*use)(struct cli *cli, struct journal *journal)) {
  struct going_on on = {0};
  struct journal *journal = NULL;
  struct str name;
  size_t taken = 0;
  int exit = going_on_open(cli, &on);
  if (!exit) exit = going_on_name(cli, on.store, &name, &taken);
  if (!exit && cli->word_count > taken)
    exit = cli_usage(cli, T_CLI_NO_WORDS, str_of(cli->command->name), cli->words[taken]);
  if (!exit) exit = going_on_look(cli, on.store, name, &journal);
  if (!exit) exit = use(cli, journal);
  if (journal) journal->kind->close(journal);
  going_on_release(&on);
  return exit;
}

/* Record i of the copy: the first one gets the new run's name. */
static enum rein_code copy_record(struct journal *from, size_t i, const struct record_head *head,
                                  struct journal *to, bool *more, struct err *err) {
  struct str line;
  struct buf first;
  enum rein_code code = from->kind->record(from, i, &line, err);
  *more = !code && line.n > 0;
  if (!*more) return code;
  if (i > 0) return to->kind->append(to, line, err);
  buf_init(&first, LINES_BYTES_MAX);
  record_put_restart(&first, line, head);
  code = first.fail ? ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY)
                    : to->kind->append(to, buf_str(&first), err);
  buf_release(&first);
  return code;
}

/* Names the new run, as its head says from now on. */
static enum rein_code new_head(struct cli *cli, struct str line, struct record_head *head,
                               struct err *err) {
  struct run_name name;
  struct agent_config config;
  struct str kept;
  if (line.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_REPLAY_EMPTY);
  enum rein_code code = run_id_make(&name, err);
  if (code) return code;
  if (!arena_str(&cli->arena, line, &kept)) return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  code = record_read_start(&cli->arena, kept, wire_by_name, &config, head, err);
  if (code) return code;
  head->rein = STR(REIN_VERSION);
  head->wall_ms = run_wall_ms();
  if (arena_str(&cli->arena, str_of(name.s), &head->run)) return REIN_OK;
  return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
}

static enum rein_code copy(struct cli *cli, struct going_on *on, struct journal *from, size_t count,
                           size_t *copied, struct err *err) {
  struct record_head head;
  struct str line;
  bool more = true;
  *copied = 0;
  enum rein_code code = from->kind->record(from, 0, &line, err);
  if (!code) code = new_head(cli, line, &head, err);
  if (code) return code;
  on->run = head.run;
  code = store_begin(on->store, on->run, head.wall_ms, &on->journal, err);
  for (; !code && more && (!count || *copied < count); *copied += more)
    code = copy_record(from, *copied, &head, on->journal, &more, err);
  return code;
}

int going_on_fork(struct cli *cli, struct str from, size_t count, struct going_on *on) {
  struct err err = {0};
  struct journal *journal = NULL;
  struct num_text have, wanted;
  size_t copied = 0;
  bool damaged = false;
  int exit = is_file(from) ? look_lines(cli, from, &journal, &damaged)
                           : going_on_look(cli, on->store, from, &journal);
  if (exit) return exit;
  if (!count && damaged)
    exit = 2; /* the sentence said how to go on */
  else if (copy(cli, on, journal, count, &copied, &err))
    exit = going_on_fail(cli, &err);
  journal->kind->close(journal);
  if (!exit && copied < count)
    return cli_usage(cli, T_CLI_FORK_SHORT, from, str_num(&have, (int64_t)copied),
                     str_num(&wanted, (int64_t)count));
  return exit ? exit : rebuild(cli, on);
}

/* ---- what is new ------------------------------------------------------------------ */

/* --max-turns 8 replaces, +8 adds. *changed is set when the option was given. */
static int new_limit(struct cli *cli, enum option_id id, int64_t *limit, bool *changed) {
  const struct value *v = cli_value(cli, id);
  if (v->from != FROM_FLAG) return 0;
  *changed = true;
  if (v->adds && *limit == REIN_OFF)
    return cli_usage(cli, T_CLI_ADDS_TO_OFF, str_of(option_rows[id].name), v->text);
  *limit = v->adds ? *limit + v->num : v->num;
  return 0;
}

static int new_limits(struct cli *cli, struct going_on *on) {
  struct rein_limits *l = &on->room;
  struct err err = {0};
  bool changed = cli_value(cli, OPTION_ID_NO_PROGRESS)->from == FROM_FLAG;
  *l = *agent_limits(on->replay.agent);
  const struct {
    enum option_id id;
    int64_t *limit;
  } all[] = {
      {OPTION_ID_MAX_TURNS, &l->max_turns},   {OPTION_ID_TOKEN_BUDGET, &l->token_budget},
      {OPTION_ID_COST_LIMIT, &l->cost_uusd},  {OPTION_ID_TIME_LIMIT, &l->time_ms},
      {OPTION_ID_COMPACT_AT, &l->compact_at}, {OPTION_ID_CONTEXT_WINDOW, &l->context_window}};
  int exit = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all && !exit; i++)
    exit = new_limit(cli, all[i].id, all[i].limit, &changed);
  if (cli_value(cli, OPTION_ID_WRAP_UP)->from == FROM_FLAG) changed = l->wrap_up = true;
  if (cli_value(cli, OPTION_ID_NO_PROGRESS)->from == FROM_FLAG)
    l->no_progress = setup_progress(cli);
  if (exit || !changed) return exit;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (*all[i].limit == 0 && all[i].id != OPTION_ID_CONTEXT_WINDOW)
      *all[i].limit = REIN_ZERO; /* a number here, not the default */
  if (limits_fill(l, &err)) return cli_fail(cli, &err);
  on->limits = l;
  return 0;
}

/* Where the last request went, without what the wire puts behind it. */
static struct str base_of(const struct agent_config *c) {
  struct str path = str_of(c->wire->path);
  bool fits = str_starts(c->address, STR("http")) && str_ends(c->address, path);
  return fits ? str_part(c->address, 0, c->address.n - path.n) : STR_NONE;
}

/* What was recorded holds: the rows say what commands can touch. */
static void fill_sandbox(struct value *values, const struct agent_config *first) {
  bool network = false;
  if (!first->sandbox.n) return;
  for (size_t i = 0; i < first->row_count; i++)
    network |= !strcmp(first->rows[i].name, "exec") && first->rows[i].touches & REIN_OUTSIDE;
  values[OPTION_ID_SANDBOX] = (struct value){.from = FROM_FLAG, .text = first->sandbox};
  values[OPTION_ID_EXEC_NETWORK] = (struct value){.from = FROM_FLAG, .num = network};
}

/* The model and the folder are those of the run, unless named. */
static int fill_options(struct cli *cli, struct going_on *on) {
  struct value *values = cli->options.values;
  const struct agent_config *now = agent_config(on->replay.agent), *first = &on->replay.config;
  struct buf name;
  struct str text = on->replay.head.provider;
  bool same = now->wire == first->wire && str_eq(now->model, first->model);
  bool named = values[OPTION_ID_MODEL].from == FROM_FLAG;
  buf_init(&name, NAME_PARTS_MAX);
  buf_fmt(&name, "%s/", now->wire->name);
  buf_put(&name, now->model);
  bool ok = (same && text.n) || (!name.fail && arena_str(&cli->arena, buf_str(&name), &text));
  buf_release(&name);
  if (!ok) return cli_no_memory(cli);
  if (!named) values[OPTION_ID_MODEL] = (struct value){.from = FROM_FLAG, .text = text};
  struct str base = base_of(now);
  bool known = values[OPTION_ID_BASE_URL].from == FROM_FLAG || named || !base.n;
  if (!known) values[OPTION_ID_BASE_URL] = (struct value){.from = FROM_CONFIG, .text = base};
  fill_sandbox(values, first);
  if (values[OPTION_ID_ROOT].from != FROM_FLAG && first->root.n)
    values[OPTION_ID_ROOT] = (struct value){.from = FROM_FLAG, .text = first->root};
  return 0;
}

/* A cost limit that the run has, or shall have, needs a price: of the model that goes
 * on, and where that is the same one, the price that the run knows will do. */
static int check_price(struct cli *cli, const struct going_on *on, const struct setup *setup) {
  const struct agent_config *was = agent_config(on->replay.agent), *now = &setup->agent;
  bool same = was->wire == now->wire && str_eq(was->model, now->model);
  if (on->room.cost_uusd == REIN_OFF || now->facts.priced || (same && was->facts.priced)) return 0;
  return cli_usage(cli, T_CORE_NO_PRICE, now->model);
}

int going_on_carry(struct cli *cli, struct going_on *on) {
  struct setup setup = {0};
  struct str words = STR_NONE;
  int signum = 0;
  int exit = new_limits(cli, on);
  if (!exit) exit = fill_options(cli, on);
  bool bare = on->replay.config.row_count == 0;
  if (!exit) exit = setup_make(cli, bare ? SETUP_BARE : SETUP_TOOLS, &setup);
  if (!exit) exit = check_price(cli, on, &setup);
  if (!exit && cli->word_count) exit = task_read(cli, &words, &signum);
  if (signum) exit = session_none(cli, REIN_OUTCOME_CANCELLED, signum);
  if (!exit) exit = session_go_on(cli, &setup, on, words);
  setup_release(&setup);
  return exit;
}

void going_on_release(struct going_on *on) {
  replay_close(&on->replay);
  if (on->journal) on->journal->kind->close(on->journal);
  store_close(on->store);
  if (on->loop) loop_free(on->loop, 0);
  *on = (struct going_on){0};
}
