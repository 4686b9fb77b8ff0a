/* Defaults and checks of the valves' numbers. The valves themselves sit in agent.c. */
#include "core/limits.h"

#include "text/text.h"

static bool fill(int64_t *limit, int64_t fallback) {
  if (*limit == 0) *limit = fallback;
  if (*limit == REIN_ZERO) *limit = 0;
  return *limit >= 0 || *limit == REIN_OFF;
}

static enum rein_code bad(struct err *err, struct str name, int64_t value) {
  struct num_text room;
  return ERR(err, REIN_INPUT, T_CORE_BAD_LIMIT, name, str_num(&room, value));
}

static enum rein_code fill_compaction(struct rein_limits *l, struct err *err) {
  bool fine = fill(&l->compact_at, COMPACT_AT_DEFAULT);
  bool percent = l->compact_at == REIN_OFF || (l->compact_at > 0 && l->compact_at <= 100);
  if (!fine || !percent) return bad(err, STR("compact_at"), l->compact_at);
  if (l->context_window < 0) return bad(err, STR("context_window"), l->context_window);
  return REIN_OK;
}

enum rein_code limits_fill(struct rein_limits *l, struct err *err) {
  if (!fill(&l->max_turns, TURNS_DEFAULT)) return bad(err, STR("max_turns"), l->max_turns);
  if (!fill(&l->token_budget, TOKENS_DEFAULT))
    return bad(err, STR("token_budget"), l->token_budget);
  if (!fill(&l->cost_uusd, REIN_OFF)) return bad(err, STR("cost_uusd"), l->cost_uusd);
  if (!fill(&l->time_ms, REIN_OFF)) return bad(err, STR("time_ms"), l->time_ms);
  enum rein_code code = fill_compaction(l, err);
  if (code) return code;
  if (l->max_turns == REIN_OFF && l->token_budget == REIN_OFF && l->cost_uusd == REIN_OFF &&
      l->time_ms == REIN_OFF)
    return ERR(err, REIN_INPUT, T_CORE_NO_LIMITS);
  return REIN_OK;
}
