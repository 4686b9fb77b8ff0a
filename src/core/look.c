/* Looking at an agent from outside: reports, terminals, journals, tests. Reads,
 * and changes nothing.
 */
#include "core/state.h"

#include "base/hash.h"

const struct agent_end *agent_ended(const struct agent *a) {
  return &a->end;
}

struct str agent_text(const struct agent *a) {
  return buf_str(&a->text);
}

struct agent_stats agent_stats(const struct agent *a) {
  return (struct agent_stats){
      .turns = a->turns,
      .requests = a->requests,
      .usage = a->budget.usage,
      .spent = a->budget.spent,
      .reserved = a->budget.reserved,
      .cost = a->budget.facts.priced ? a->budget.cost : -1,
      .prompt = a->budget.known ? a->budget.prompt : 0,
      .time_ms = a->started < 0 ? 0 : a->now - a->started,
  };
}

bool agent_withdrew(const struct agent *a) {
  return a->sending.withdrawn;
}

bool agent_compacts(const struct agent *a) {
  return a->compact.on;
}

bool agent_heard_summary(const struct agent *a) {
  return a->compact.heard;
}

struct compacted agent_compacted(const struct agent *a) {
  const struct compact *c = &a->compact;
  return (struct compacted){(int64_t)c->cut, (int64_t)c->all, c->before};
}

const struct finding *agent_findings(const struct agent *a) {
  return a->findings.first;
}

struct str agent_loosened(const struct agent *a, struct str *words) {
  const struct tool *t = a->tool_count ? &a->tools[a->sending.loose] : NULL;
  *words = a->sending.refused;
  return t && t->loosened ? t->name : STR_NONE;
}

const struct rein_limits *agent_limits(const struct agent *a) {
  return &a->config.limits;
}

const struct agent_config *agent_config(const struct agent *a) {
  return &a->config;
}

bool agent_call(const struct agent *a, uint32_t id, struct call_view *view) {
  for (size_t i = 0; i < a->turn.count; i++) {
    const struct call *c = &a->turn.calls[i];
    if (c->id != id) continue;
    bool answered = c->state == CALL_ANSWERED;
    *view = (struct call_view){.id = id,
                               .name = c->use->name,
                               .args = c->args,
                               .result = answered ? buf_str(&c->result) : STR_NONE,
                               .answered = answered,
                               .is_error = c->is_error,
                               .ran = c->progress.ran,
                               .refused = c->refused,
                               .lost = c->lost};
    return true;
  }
  return false;
}

bool agent_nth_call(const struct agent *a, size_t i, struct call_view *view) {
  return i < a->turn.count && agent_call(a, a->turn.calls[i].id, view);
}

size_t agent_refusals(const struct agent *a) {
  return a->refusals.count;
}

void agent_refusal(const struct agent *a, size_t i, struct str *tool, struct str *args,
                   struct str *why, enum decider *by) {
  const struct refusal *r = &a->refusals.v[i];
  *tool = r->tool;
  *args = r->args;
  *why = r->why;
  *by = r->by;
}

const char *agent_state(const struct agent *a) {
  static const char *const words[] = {
#define STATE_X(id, word) [STATE_##id] = word,
      STATES(STATE_X)
#undef STATE_X
  };
  return words[a->state];
}

static uint64_t add_turn(uint64_t h, const struct turn *turn) {
  for (size_t i = 0; i < turn->count; i++) {
    const struct call *c = &turn->calls[i];
    h = hash_num(h, c->id);
    h = hash_num(h, (uint64_t)c->state << 8 | (uint64_t)c->is_error << 4 |
                        (uint64_t)c->run_given << 3 | (uint64_t)c->heard << 2 |
                        (uint64_t)c->refused << 1 | c->abort_given);
    h = hash_num(h, c->progress.what);
    h = hash_num(h, c->progress.result);
    h = hash_add(h, buf_str(&c->result));
  }
  return h;
}

static uint64_t add_numbers(uint64_t h, const struct agent *a) {
  const int64_t numbers[] = {a->now,
                             a->started,
                             a->turns,
                             a->requests,
                             a->budget.spent,
                             a->budget.reserved,
                             a->budget.prompt,
                             a->budget.output,
                             a->budget.usage.input,
                             a->budget.usage.output,
                             a->sending.id,
                             a->sending.abort,
                             a->sending.in_flight,
                             a->sending.retries,
                             a->sending.resume_at,
                             a->sending.output_limit,
                             a->sending.repairs,
                             a->sending.repair,
                             a->compact.on,
                             a->compact.ready,
                             a->compact.tries,
                             (int64_t)a->compact.cut,
                             a->compact.expected,
                             a->repaired,
                             a->next_call,
                             a->nudged,
                             (int64_t)a->refusals.count,
                             a->refusals.nobody,
                             a->taint.read_private,
                             a->taint.seen_outside,
                             (int64_t)a->remembered.count,
                             a->end.outcome,
                             a->end.signal,
                             (int64_t)a->talk.open,
                             (int64_t)a->progress.turn_count,
                             (int64_t)a->progress.blocked_turns,
                             a->progress.blocked_once,
                             a->progress.idle_turns};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    h = hash_num(h, (uint64_t)numbers[i]);
  return h;
}

uint64_t agent_digest(const struct agent *a) {
  uint64_t h = hash_num(HASH_START, (uint64_t)a->state);
  h = hash_num(h, (uint64_t)a->give);
  h = add_numbers(h, a);
  for (size_t i = 0; i < a->talk.count; i++)
    h = hash_add(h, a->talk.bytes[i]);
  h = hash_add(h, buf_str(&a->sending.body));
  h = hash_add(h, buf_str(&a->text));
  h = hash_add(h, buf_str(&a->compact.summary));
  return hash_end(add_turn(h, &a->turn));
}
