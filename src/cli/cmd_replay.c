/* rein replay: a run done again without a provider and without a tool, from its
 * journal alone. Each request must come out as it went, byte for byte; with other
 * limits it tells how far the run would have come.
 */
#include "base/hash.h"
#include "cli/command.h"
#include "cli/going_on.h"
#include "cli/session.h"
#include "core/limits.h"
#include "core/record.h"

struct again {
  struct cli *cli;
  bool other; /* limits are given: what if */
  size_t requests, unsaid;
  size_t wrong; /* the first request whose bytes differ, from 1; 0 none */
  size_t record;
  struct {
    int64_t bytes;
    uint64_t hash;
  } said;
  int64_t went, got; /* bytes of the one that differs, then and now */
  size_t wrong_at;   /* its record */
  size_t ended_at;   /* the record after which it would have ended; 0 it did not */
};

static void take_limit(const struct cli *cli, enum option_id id, int64_t *limit) {
  const struct value *v = cli_value(cli, id);
  if (v->from == FROM_FLAG) *limit = v->num == 0 ? REIN_ZERO : v->num;
}

static enum rein_code on_start(void *ctx, struct agent_config *config, struct err *err) {
  struct again *a = ctx;
  (void)err;
  if (!a->other) return REIN_OK;
  take_limit(a->cli, OPTION_ID_MAX_TURNS, &config->limits.max_turns);
  take_limit(a->cli, OPTION_ID_TOKEN_BUDGET, &config->limits.token_budget);
  take_limit(a->cli, OPTION_ID_COST_LIMIT, &config->limits.cost_uusd);
  take_limit(a->cli, OPTION_ID_TIME_LIMIT, &config->limits.time_ms);
  if (cli_value(a->cli, OPTION_ID_NO_PROGRESS)->from == FROM_FLAG)
    config->limits.no_progress = setup_progress(a->cli);
  return REIN_OK;
}

/* With limits of one's own, those of a resume do not count; and what came after
 * an end that was none then, is passed over. */
static bool on_event(void *ctx, size_t record, struct event *event, const struct agent *agent) {
  struct again *a = ctx;
  a->record = record;
  if (event->kind == EVENT_GRANTED) {
    a->said.bytes = event->body.bytes;
    a->said.hash = event->body.hash;
  }
  if (!a->other) return true;
  bool ended = agent_ended(agent)->outcome != REIN_OUTCOME_NONE;
  if (ended && event->kind != EVENT_OUTCOME && a->ended_at == 0) a->ended_at = record;
  return a->ended_at == 0 && event->kind != EVENT_LIMITS && a->wrong == 0;
}

static void on_action(void *ctx, const struct action *action) {
  struct again *a = ctx;
  if (action->kind != ACTION_SEND || a->wrong) return;
  a->requests++;
  a->unsaid += a->said.bytes == 0;
  bool same = a->said.bytes == 0 || (a->said.bytes == (int64_t)action->body.n &&
                                     a->said.hash == hash_bytes(action->body));
  if (same) return;
  a->wrong = a->requests;
  a->wrong_at = a->record;
  a->went = a->said.bytes;
  a->got = (int64_t)action->body.n;
}

static int tell_exact(struct cli *cli, const struct again *a) {
  struct num_text one, two, three, four;
  if (a->wrong) {
    cli_say(cli, T_CLI_REPLAY_DIFFERS, str_num(&one, (int64_t)a->wrong),
            str_num(&two, (int64_t)a->wrong_at + 1), str_num(&three, a->went),
            str_num(&four, a->got));
    return rein_outcome_exit(REIN_OUTCOME_CHECK);
  }
  struct buf out;
  buf_init(&out, 4096);
  TEXT_PUT(&out, cli->lang, T_CLI_REPLAY_SAME, str_num(&one, (int64_t)a->requests));
  buf_c(&out, '\n');
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

static int tell_other(struct cli *cli, const struct again *a, const struct replay *replay) {
  struct agent_stats stats = agent_stats(replay->agent);
  const struct agent_end *end = agent_ended(replay->agent);
  struct num_text turns, spent, at;
  struct buf out;
  bool ended = end->outcome != REIN_OUTCOME_NONE;
  enum text_id told = !ended        ? T_CLI_REPLAY_FURTHER
                      : a->ended_at ? T_CLI_REPLAY_ENDS
                                    : T_CLI_REPLAY_WHOLE;
  buf_init(&out, 65536);
  if (a->wrong)
    TEXT_PUT(&out, cli->lang, T_CLI_REPLAY_PARTS, str_num(&at, (int64_t)a->wrong),
             str_num(&turns, stats.turns), str_num(&spent, stats.spent));
  else
    TEXT_PUT(&out, cli->lang, told, str_of(rein_outcome_word(end->outcome)),
             str_num(&turns, stats.turns), str_num(&spent, stats.spent),
             str_num(&at, (int64_t)a->ended_at));
  buf_c(&out, '\n');
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

static int replay(struct cli *cli, struct journal *journal) {
  static const enum option_id limits[] = {OPTION_ID_MAX_TURNS, OPTION_ID_TOKEN_BUDGET,
                                          OPTION_ID_COST_LIMIT, OPTION_ID_TIME_LIMIT,
                                          OPTION_ID_NO_PROGRESS};
  struct again a = {.cli = cli};
  struct replay replayed;
  struct err err = {0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    a.other = a.other || cli_value(cli, limits[i])->from == FROM_FLAG;
  struct replay_watch watch = {
      .start = on_start, .event = on_event, .action = on_action, .ctx = &a, .bodies = true};
  int exit = replay_open(journal, SIZE_MAX, &watch, &replayed, &err) ? going_on_fail(cli, &err) : 0;
  if (!exit) exit = a.other ? tell_other(cli, &a, &replayed) : tell_exact(cli, &a);
  replay_close(&replayed);
  return exit;
}

static int run(struct cli *cli) {
  return going_on_read(cli, replay);
}

const struct command command_replay = {
    .name = "replay",
    .summary = T_CLI_CMD_REPLAY,
    .usage = "ID|FILE|--last [options]",
    .takes = TAKES(LAST) | TAKES(STORE) | TAKES(CONFIG) | TAKES(MAX_TURNS) | TAKES(TOKEN_BUDGET) |
             TAKES(COST_LIMIT) | TAKES(TIME_LIMIT) | TAKES(NO_PROGRESS),
    .configured = true,
    .run = run,
};
