/* The rows of a setup with their verdicts. */
#include "cli/tool_list.h"

static const struct {
  unsigned bit;
  const char *word;
} touches[] = {{REIN_TOUCHES_NOTHING, "nothing"},
               {REIN_READS_PRIVATE, "reads private"},
               {REIN_WRITES, "writes"},
               {REIN_OUTSIDE, "outside"},
               {REIN_READS_OUTSIDE, "reads outside"}};

/* A row that declares nothing is taken to write and to reach outside. */
static unsigned touched(const struct rein_tool *row) {
  return row->touches ? row->touches : REIN_WRITES | REIN_OUTSIDE;
}

static struct decision judge(const struct setup *setup, const struct rein_tool *row) {
  return policy_judge(&setup->policy, str_of(row->name), row->verdict);
}

void tool_list_text(struct buf *out, enum rein_lang lang, const struct setup *setup, bool whole) {
  for (size_t i = 0; i < setup->agent.row_count; i++) {
    const struct rein_tool *row = &setup->rows[i];
    struct decision decision = judge(setup, row);
    buf_fmt(out, "%-18s %-6s", row->name, verdict_word(decision.verdict));
    for (size_t k = 0, n = 0; k < sizeof touches / sizeof touches[0]; k++)
      if (touched(row) & touches[k].bit) buf_fmt(out, "%s%s", n++ ? ", " : "", touches[k].word);
    buf_lit(out, " (");
    TEXT_PUT(out, lang, T_CLI_DECIDED_BY, decision.rule);
    buf_lit(out, ")\n");
    if (whole) buf_fmt(out, "    %s\n", row->description);
  }
}

void tool_list_json(struct json_out *w, const struct setup *setup) {
  json_open(w, '[');
  for (size_t i = 0; i < setup->agent.row_count; i++) {
    const struct rein_tool *row = &setup->rows[i];
    struct decision decision = judge(setup, row);
    json_open(w, '{');
    json_key(w, "name");
    json_put_text(w, str_of(row->name));
    json_key(w, "verdict");
    json_put_text(w, str_of(verdict_word(decision.verdict)));
    json_key(w, "rule");
    json_put_text(w, decision.rule);
    json_key(w, "touches");
    json_open(w, '[');
    for (size_t k = 0; k < sizeof touches / sizeof touches[0]; k++)
      if (touched(row) & touches[k].bit) json_put_text(w, str_of(touches[k].word));
    json_close(w, ']');
    json_key(w, "description");
    json_put_text(w, str_of(row->description));
    json_key(w, "schema");
    json_put_raw(w, str_of(row->schema));
    json_close(w, '}');
  }
  json_close(w, ']');
}
