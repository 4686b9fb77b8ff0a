/* The first record of a journal: all that is fixed for a run, and never a key. */
#include "core/record.h"

#include "core/field.h"
#include "text/text.h"

#define RECORD_VERSION 1

static void put_form(struct json_out *w, const struct tool_form *form) {
  field_some(w, "sent", form->schema);
  if (form->strict) field_bool(w, "strict", true);
  field_some(w, "left_out", form->left_out);
}

static void put_row(struct json_out *w, const struct rein_tool *row, const struct tool_form *form) {
  json_open(w, '{');
  field_word(w, "name", row->name);
  field_word(w, "description", row->description);
  field_word(w, "schema", row->schema);
  field_num(w, "touches", row->touches);
  field_word(w, "verdict", verdict_word(row->verdict));
  json_key(w, "polls");
  json_put_bool(w, row->polls);
  field_word(w, "volatile_args", row->volatile_args);
  field_word(w, "volatile_text", row->volatile_text);
  field_bool(w, "idempotent", row->idempotent);
  field_word(w, "paths", row->paths);
  field_word(w, "urls", row->urls);
  field_word(w, "commands", row->commands);
  field_word(w, "hosts", row->hosts);
  if (form) put_form(w, form);
  json_close(w, '}');
}

static void put_policy(struct json_out *w, const struct policy *p) {
  json_key(w, "policy");
  json_open(w, '{');
  field_word(w, "default", verdict_word(p ? p->fallback : REIN_ASK));
  json_key(w, "rules");
  json_open(w, '[');
  for (size_t i = 0; p && i < p->count; i++) {
    json_open(w, '{');
    field_text(w, "name", p->rules[i].name);
    field_word(w, "verdict", verdict_word(p->rules[i].verdict));
    field_text(w, "why", p->rules[i].why);
    field_text(w, "source", p->rules[i].source);
    field_bool(w, "flag", p->rules[i].flag);
    json_close(w, '}');
  }
  json_close(w, ']');
  json_key(w, "grants");
  json_open(w, '[');
  for (size_t i = 0; p && i < p->grant_count; i++) {
    json_open(w, '{');
    field_text(w, "tool", p->grants[i].tool);
    field_text(w, "args", p->grants[i].args);
    json_close(w, '}');
  }
  json_close(w, ']');
  json_close(w, '}');
}

/* Up to the wire, where what the machine needs begins. */
static void put_head(struct json_out *w, const struct record_head *head) {
  json_open(w, '{');
  field_word(w, "event", "start");
  field_num(w, "version", RECORD_VERSION);
  field_some(w, "run", head->run);
  field_some(w, "rein", head->rein);
  field_num(w, "wall_ms", head->wall_ms);
  field_some(w, "provider", head->provider);
}

void record_put_restart(struct buf *out, struct str line, const struct record_head *head) {
  struct json_out w = json_out(out);
  size_t at = str_find(line, STR("\"wire\":")); /* no text holds it: its quotes are escaped there */
  put_head(&w, head);
  buf_c(out, ',');
  buf_put(out, str_part(line, at, SIZE_MAX));
}

void record_put_start(struct buf *out, const struct agent_config *c,
                      const struct record_head *head) {
  struct json_out w = json_out(out);
  put_head(&w, head);
  field_word(&w, "wire", c->wire->name);
  field_text(&w, "model", c->model);
  field_text(&w, "address", c->address);
  field_some(&w, "quirks", c->quirks);
  field_facts(&w, &c->facts);
  field_text(&w, "root", c->root);
  field_some(&w, "sandbox", c->sandbox);
  field_text(&w, "system", c->system);
  json_key(&w, "tools");
  json_open(&w, '[');
  for (size_t i = 0; i < c->row_count; i++)
    put_row(&w, &c->rows[i], c->forms ? &c->forms[i] : NULL);
  json_close(&w, ']');
  field_some(&w, "dialect", c->dialect);
  if (c->strict) field_bool(&w, "strict", true);
  if (c->skip_bad_tools) field_bool(&w, "skip_bad_tools", true);
  put_policy(&w, c->policy);
  field_limits(&w, &c->limits);
  field_num(&w, "output_limit", c->output_limit);
  field_num(&w, "retries", c->retries);
  field_num(&w, "jitter_seed", (int64_t)c->jitter_seed);
  field_num(&w, "lang", c->lang);
  field_num(&w, "model_lang", c->model_lang);
  json_close(&w, '}');
}

/* ---- and back ---------------------------------------------------------- */

static enum rein_code bad(struct err *err, const char *what) {
  return ERR(err, REIN_INPUT, T_CORE_BAD_RECORD, str_of(what));
}

/* A terminated copy; NULL in *text when the member is not there. */
static bool text_z(struct arena *arena, const struct json *doc, const char *key,
                   const char **text) {
  const struct json *member = json_get(doc, key);
  struct str copy;
  *text = NULL;
  if (!member) return true;
  if (!arena_str(arena, json_text(member), &copy)) return false;
  *text = copy.p;
  return true;
}

static enum rein_verdict verdict_of(struct str word) {
  enum rein_verdict v = REIN_DENY;
  while (v > REIN_UNDECIDED && !str_is(word, verdict_word(v)))
    v--;
  return v;
}

static bool read_row(struct arena *arena, const struct json *doc, struct rein_tool *row) {
  row->touches = (unsigned)field_get_num(doc, "touches", 0);
  row->verdict = verdict_of(json_text(json_get(doc, "verdict")));
  row->idempotent = field_get_bool(doc, "idempotent");
  row->polls = json_true(json_get(doc, "polls"));
  return text_z(arena, doc, "name", &row->name) &&
         text_z(arena, doc, "description", &row->description) &&
         text_z(arena, doc, "schema", &row->schema) &&
         text_z(arena, doc, "volatile_args", &row->volatile_args) &&
         text_z(arena, doc, "volatile_text", &row->volatile_text) &&
         text_z(arena, doc, "paths", &row->paths) && text_z(arena, doc, "urls", &row->urls) &&
         text_z(arena, doc, "commands", &row->commands) && text_z(arena, doc, "hosts", &row->hosts);
}

static enum rein_code read_rows(struct arena *arena, const struct json *list,
                                struct agent_config *c, struct err *err) {
  if (!json_is(list, JSON_ARRAY)) return bad(err, "tools");
  struct rein_tool *rows = arena_array(arena, struct rein_tool, list->count + 1);
  struct tool_form *forms = arena_array(arena, struct tool_form, list->count + 1);
  if (!rows || !forms) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  c->rows = rows;
  c->forms = forms;
  c->row_count = list->count;
  for (const struct json *t = list->first; t; t = t->next) {
    *forms++ = (struct tool_form){json_text(json_get(t, "sent")), json_true(json_get(t, "strict")),
                                  json_text(json_get(t, "left_out"))};
    if (!read_row(arena, t, rows++)) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  }
  return REIN_OK;
}

static enum rein_code read_rule(struct arena *arena, const struct json *r, struct policy_rule *rule,
                                struct err *err) {
  enum rein_code code = rule_read(arena, json_text(json_get(r, "name")), rule, err);
  rule->verdict = verdict_of(json_text(json_get(r, "verdict")));
  rule->why = json_text(json_get(r, "why"));
  rule->source = json_text(json_get(r, "source"));
  rule->flag = field_get_bool(r, "flag");
  return code;
}

static enum rein_code read_grants(struct arena *arena, const struct json *grants, struct policy *p,
                                  struct err *err) {
  if (!json_is(grants, JSON_ARRAY)) return bad(err, "grants");
  p->grants = arena_array(arena, struct policy_grant, grants->count + 1);
  if (!p->grants) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  for (const struct json *g = grants->first; g; g = g->next)
    p->grants[p->grant_count++] =
        (struct policy_grant){json_text(json_get(g, "tool")), json_text(json_get(g, "args"))};
  return REIN_OK;
}

static enum rein_code read_policy(struct arena *arena, const struct json *doc,
                                  struct agent_config *c, struct err *err) {
  const struct json *rules = json_get(doc, "rules");
  if (!json_is(rules, JSON_ARRAY)) return bad(err, "policy");
  struct policy *p = arena_new(arena, struct policy);
  struct policy_rule *v = arena_array(arena, struct policy_rule, rules->count + 1);
  if (!p || !v) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  *p = (struct policy){.fallback = verdict_of(json_text(json_get(doc, "default"))), .rules = v};
  for (const struct json *r = rules->first; r; r = r->next) {
    enum rein_code code = read_rule(arena, r, &v[p->count++], err);
    if (code) return code;
  }
  c->policy = p;
  return read_grants(arena, json_get(doc, "grants"), p, err);
}

/* Zero is a number in a record and "default" in a config. */
static void keep_zeroes(struct rein_limits *l) {
  int64_t *const numbers[] = {&l->max_turns, &l->token_budget, &l->cost_uusd, &l->time_ms};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (*numbers[i] == 0) *numbers[i] = REIN_ZERO;
}

enum rein_code record_read_start(struct arena *arena, struct str line,
                                 const struct wire *(*wires)(struct str name),
                                 struct agent_config *c, struct record_head *head,
                                 struct err *err) {
  struct json *doc;
  enum rein_code code = json_parse(arena, line, JSON_UNIQUE, &doc, err);
  if (code) return code;
  if (!str_is(json_text(json_get(doc, "event")), "start")) return bad(err, "start");
  if (field_get_num(doc, "version", 0) != RECORD_VERSION) return bad(err, "version");
  *head = (struct record_head){.run = json_text(json_get(doc, "run")),
                               .rein = json_text(json_get(doc, "rein")),
                               .provider = json_text(json_get(doc, "provider")),
                               .wall_ms = field_get_num(doc, "wall_ms", 0)};
  int64_t retries = field_get_num(doc, "retries", 0);
  *c = (struct agent_config){.wires = wires,
                             .wire = wires(json_text(json_get(doc, "wire"))),
                             .model = json_text(json_get(doc, "model")),
                             .address = json_text(json_get(doc, "address")),
                             .quirks = json_text(json_get(doc, "quirks")),
                             .dialect = json_text(json_get(doc, "dialect")),
                             .strict = json_true(json_get(doc, "strict")),
                             .skip_bad_tools = json_true(json_get(doc, "skip_bad_tools")),
                             .facts = field_get_facts(doc),
                             .root = json_text(json_get(doc, "root")),
                             .sandbox = json_text(json_get(doc, "sandbox")),
                             .system = json_text(json_get(doc, "system")),
                             .limits = field_get_limits(doc),
                             .output_limit = field_get_num(doc, "output_limit", 0),
                             .retries = retries ? (int)retries : REIN_OFF,
                             .jitter_seed = (uint64_t)field_get_num(doc, "jitter_seed", 0),
                             .lang = (enum rein_lang)field_get_num(doc, "lang", 0),
                             .model_lang = (enum rein_lang)field_get_num(doc, "model_lang", 0)};
  if (!c->wire) return bad(err, "wire");
  keep_zeroes(&c->limits);
  code = read_rows(arena, json_get(doc, "tools"), c, err);
  return code ? code : read_policy(arena, json_get(doc, "policy"), c, err);
}
