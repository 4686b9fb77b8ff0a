/* Makes an agent from what is fixed for a run: checks the rows, parses their
 * schemas once, and serialises the tool list. Nothing here changes later.
 */
#include "core/limits.h"
#include "core/state.h"

#include "base/mem.h"
#include "schema/schema.h"

#define FIXED_MAX (64u << 20) /* tools, refusals, remembered calls of one run */

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
}

/* Why the tool cannot be sent, in words: they stand in the journal too. */
static enum rein_code leave_out(struct agent *a, struct tool *t, enum text_id text,
                                const struct err *why, struct err *err) {
  struct buf words, whole;
  if (why->code == REIN_MEMORY) return no_memory(err);
  buf_init(&words, 4096);
  buf_init(&whole, 8192);
  err_put(&words, a->config.lang, why);
  TEXT_PUT(&whole, a->config.lang, text, buf_str(&words));
  bool kept = !words.fail && !whole.fail && arena_str(&a->fixed, buf_str(&whole), &t->left_out);
  buf_release(&words);
  buf_release(&whole);
  return kept ? REIN_OK : no_memory(err);
}

static enum rein_code read_schema(struct agent *a, struct tool *t, struct err *err) {
  struct json *doc = NULL;
  struct err why = {0};
  struct schema_options options = {.hold_formats = true, .lang = a->config.model_lang};
  if (json_parse(&a->fixed, t->schema, JSON_UNIQUE, &doc, &why))
    return leave_out(a, t, T_CORE_TOOL_NO_JSON, &why, err);
  t->schema_doc = doc;
  if (schema_new(doc, &options, &t->checker, &why))
    return leave_out(a, t, T_CORE_TOOL_BAD_SCHEMA, &why, err);
  return REIN_OK;
}

static enum rein_code read_volatile(struct agent *a, size_t i, struct err *err) {
  const char *pattern = a->tools[i].row->volatile_text;
  if (!pattern) return REIN_OK;
  return regex_new(str_of(pattern), 0, &a->volatile_text[i], err);
}

static enum rein_code read_row(struct agent *a, size_t i, struct err *err) {
  const struct rein_tool *row = &a->config.rows[i];
  struct tool *t = &a->tools[i];
  *t = (struct tool){.row = row,
                     .name = str_of(row->name),
                     .description = str_of(row->description),
                     .schema = str_of(row->schema),
                     .touches = row->touches,
                     .verdict = row->verdict};
  if (t->touches == REIN_TOUCHES_UNDECLARED) t->touches = REIN_WRITES | REIN_OUTSIDE;
  struct decision d = policy_judge(a->config.policy, t->name, t->verdict);
  t->offered = d.verdict != REIN_DENY;
  enum rein_code code = read_schema(a, t, err);
  return code ? code : read_volatile(a, i, err);
}

static enum rein_code read_rows(struct agent *a, struct err *err) {
  size_t n = a->config.row_count;
  struct num_text have, most;
  if (n > TOOLS_MAX)
    return ERR(err, REIN_INPUT, T_CORE_TOO_MANY_TOOLS, str_num(&have, (int64_t)n),
               str_num(&most, TOOLS_MAX));
  a->tools = arena_array(&a->fixed, struct tool, n + 1);
  a->volatile_text = arena_array(&a->fixed, struct regex *, n + 1);
  if (!a->tools || !a->volatile_text) return no_memory(err);
  for (size_t i = 0; i < n; i++) {
    enum rein_code code = read_row(a, i, err);
    a->tool_count = i + 1;
    if (code) return code;
  }
  return offer_tools(a, err);
}

static enum rein_code read_config(struct agent *a, struct err *err) {
  struct agent_config *c = &a->config;
  struct num_text room;
  enum rein_code code = limits_fill(&c->limits, err);
  if (code) return code;
  if (c->limits.cost_uusd != REIN_OFF && !c->facts.priced)
    return ERR(err, REIN_INPUT, T_CORE_NO_PRICE, c->model);
  if (c->output_limit == 0) c->output_limit = OUTPUT_LIMIT_DEFAULT;
  if (c->output_limit < 0)
    return ERR(err, REIN_INPUT, T_CORE_BAD_OUTPUT_LIMIT, str_num(&room, c->output_limit));
  if (c->retries == 0) c->retries = RETRIES_DEFAULT;
  if (c->retries < 0) c->retries = 0;
  if (c->lang == REIN_LANG_DEFAULT) c->lang = REIN_ENGLISH;
  if (c->model_lang == REIN_LANG_DEFAULT) c->model_lang = REIN_ENGLISH;
  if (!arena_str(&a->fixed, c->model, &c->model) || !arena_str(&a->fixed, c->system, &c->system))
    return no_memory(err);
  return REIN_OK;
}

enum rein_code agent_new(const struct agent_config *config, struct agent **agent, struct err *err) {
  *agent = NULL;
  struct agent *a = mem_zero(sizeof *a);
  if (!a) return no_memory(err);
  a->config = *config;
  a->state = STATE_READY;
  a->started = -1;
  a->now = INT64_MIN;
  a->end.outcome = REIN_OUTCOME_NONE;
  arena_init(&a->fixed, FIXED_MAX);
  const struct wire *wire = config->wire;
  struct str server = config->quirks.n ? config->quirks : config->address;
  transcript_init(&a->talk, wire, wire->find_quirks ? wire->find_quirks(server) : NULL);
  buf_init(&a->sending.body, TRANSCRIPT_MAX);
  buf_init(&a->text, TRANSCRIPT_MAX);
  buf_init(&a->compact.summary, TRANSCRIPT_MAX);
  a->talk.tokenizer = config->facts.tokenizer ? config->facts.tokenizer : wire->tokenizer;
  enum rein_code code = read_config(a, err);
  if (code == REIN_OK) code = read_rows(a, err);
  if (code) {
    agent_free(a);
    return code;
  }
  progress_init(&a->progress, a->config.limits.no_progress);
  budget_limits(&a->budget, &a->config.limits);
  budget_price(&a->budget, &a->config.facts);
  *agent = a;
  return REIN_OK;
}

void agent_free(struct agent *a) {
  if (!a) return;
  for (size_t i = 0; i < a->tool_count; i++) {
    regex_free(a->volatile_text[i]);
    schema_free(a->tools[i].checker);
    schema_free(a->tools[i].members);
  }
  turn_release(&a->turn);
  transcript_release(&a->talk);
  progress_release(&a->progress);
  buf_release(&a->sending.body);
  buf_release(&a->tools_json);
  buf_release(&a->text);
  buf_release(&a->compact.summary);
  arena_release(&a->fixed);
  mem_free(a);
}
