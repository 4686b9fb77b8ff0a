/* Draws the status line each second and whenever something begins. What it
 * shows is read from the machine; nothing is counted here. */
#include "cli/status.h"

#define REDRAW_MS 1000 /* the seconds it shows */

/* 950, 12.3k, 1.2m: three figures are enough to see it fill. */
static void put_amount(struct buf *out, int64_t n) {
  if (n < 1000)
    buf_num(out, n);
  else if (n < 100000)
    buf_fmt(out, "%lld.%lldk", (long long)(n / 1000), (long long)(n % 1000 / 100));
  else if (n < 1000000)
    buf_fmt(out, "%lldk", (long long)(n / 1000));
  else
    buf_fmt(out, "%lld.%lldm", (long long)(n / 1000000), (long long)(n % 1000000 / 100000));
}

static void put_of(struct buf *out, int64_t used, int64_t limit) {
  put_amount(out, used);
  if (limit == REIN_OFF) return;
  buf_c(out, '/');
  put_amount(out, limit);
}

/* Only where it is limited: a line has room for what may end the run. */
static void put_cost(struct buf *out, int64_t cost, int64_t limit_uusd) {
  if (limit_uusd == REIN_OFF) return;
  buf_lit(out, " | $");
  money_put(out, cost);
  buf_c(out, '/');
  money_put(out, limit_uusd * PICO_PER_MICRO);
}

static void put_clock(struct buf *out, int64_t ms) {
  int64_t s = ms / 1000;
  if (s >= 3600)
    buf_fmt(out, "%lld:%02lld:%02lld", (long long)(s / 3600), (long long)(s / 60 % 60),
            (long long)(s % 60));
  else
    buf_fmt(out, "%lld:%02lld", (long long)(s / 60), (long long)(s % 60));
}

void status_put(struct buf *out, enum rein_lang lang, const struct agent_stats *stats,
                const struct rein_limits *limits, int64_t ms, struct str doing) {
  TEXT_PUT(out, lang, T_CLI_STATUS_TURNS);
  buf_c(out, ' ');
  put_of(out, stats->turns, limits->max_turns);
  buf_lit(out, " | ");
  TEXT_PUT(out, lang, T_CLI_STATUS_TOKENS);
  buf_c(out, ' ');
  put_of(out, stats->spent, limits->token_budget);
  put_cost(out, stats->cost, limits->cost_uusd);
  buf_lit(out, " | ");
  put_clock(out, ms);
  if (limits->time_ms != REIN_OFF) {
    buf_c(out, '/');
    put_clock(out, limits->time_ms);
  }
  buf_lit(out, " | ");
  buf_put(out, doing);
}

static void draw(struct status *status) {
  if (!status->timer) return;
  struct buf line;
  buf_init(&line, 4096);
  if (status->run && status->doing.n) {
    const struct agent *agent = run_agent(status->run);
    struct agent_stats stats = agent_stats(agent);
    status_put(&line, status->cli->lang, &stats, agent_limits(agent), run_ms(status->run),
               status->doing);
  }
  screen_status(&status->cli->screen, line.fail ? STR_NONE : buf_str(&line));
  buf_release(&line);
}

static void on_second(void *ctx) {
  struct status *status = ctx;
  draw(status);
  loop_timer_set(status->timer, status->doing.n ? loop_now(status->loop) + REDRAW_MS : INT64_MAX);
}

void status_open(struct status *status, struct cli *cli, struct loop *loop) {
  *status = (struct status){.cli = cli, .loop = loop};
  bool text = !cli_value(cli, OPTION_ID_OUTPUT)->text.n ||
              str_is(cli_value(cli, OPTION_ID_OUTPUT)->text, "text");
  if (!cli->screen.moves || !text || cli_value(cli, OPTION_ID_QUIET)->num) return;
  /* Without a timer there is no line; the run itself does not need it. */
  if (loop_timer_new(loop, on_second, status, &status->timer)) status->timer = NULL;
}

void status_close(struct status *status) {
  if (!status->timer) return;
  screen_status(&status->cli->screen, STR_NONE);
  loop_timer_free(status->timer);
  status->timer = NULL;
}

void status_doing(struct status *status, struct run *run, struct str doing) {
  status->run = run;
  status->doing = doing;
  if (!status->timer) return;
  if (doing.n)
    on_second(status);
  else
    draw(status);
}
