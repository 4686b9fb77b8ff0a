/* Members of a record: see field.h. */
#include "core/field.h"

void field_text(struct json_out *w, const char *key, struct str text) {
  json_key(w, key);
  json_put_text(w, text);
}

void field_some(struct json_out *w, const char *key, struct str text) {
  if (text.n) field_text(w, key, text);
}

void field_word(struct json_out *w, const char *key, const char *word) {
  if (word) field_text(w, key, str_of(word));
}

void field_num(struct json_out *w, const char *key, int64_t v) {
  json_key(w, key);
  json_put_num(w, v);
}

void field_bool(struct json_out *w, const char *key, bool v) {
  if (!v) return;
  json_key(w, key);
  json_put_bool(w, v);
}

void field_limits(struct json_out *w, const struct rein_limits *l) {
  json_key(w, "limits");
  json_open(w, '{');
  field_num(w, "max_turns", l->max_turns);
  field_num(w, "token_budget", l->token_budget);
  field_num(w, "cost_uusd", l->cost_uusd);
  field_num(w, "time_ms", l->time_ms);
  field_num(w, "no_progress", l->no_progress);
  field_bool(w, "wrap_up", l->wrap_up);
  field_num(w, "compact_at", l->compact_at);
  if (l->context_window) field_num(w, "context_window", l->context_window);
  json_close(w, '}');
}

static void put_rates(struct json_out *w, const char *key, const struct rates *r) {
  json_key(w, key);
  json_open(w, '{');
  field_num(w, "input", r->input);
  field_num(w, "cache_read", r->cache_read);
  field_num(w, "cache_write", r->cache_write);
  field_num(w, "output", r->output);
  json_close(w, '}');
}

void field_facts(struct json_out *w, const struct model_facts *f) {
  if (!f->priced && !f->window) return;
  json_key(w, "facts"); /* micro-dollars per million tokens; tokens */
  json_open(w, '{');
  if (f->priced) put_rates(w, "rates", &f->rates);
  if (f->long_above) field_num(w, "long_above", f->long_above);
  if (f->long_above) put_rates(w, "long_rates", &f->long_rates);
  if (f->window) field_num(w, "window", f->window);
  if (f->tokenizer) field_word(w, "tokenizer", tokenizer_word(f->tokenizer));
  json_close(w, '}');
}

struct str field_get_text(const struct json *doc, const char *key) {
  return json_text(json_get(doc, key));
}

int64_t field_get_num(const struct json *doc, const char *key, int64_t absent) {
  int64_t v;
  return json_int(json_get(doc, key), &v) ? v : absent;
}

bool field_get_bool(const struct json *doc, const char *key) {
  return json_true(json_get(doc, key));
}

struct rein_limits field_get_limits(const struct json *doc) {
  const struct json *l = json_get(doc, "limits");
  return (struct rein_limits){
      .max_turns = field_get_num(l, "max_turns", REIN_OFF),
      .token_budget = field_get_num(l, "token_budget", REIN_OFF),
      .cost_uusd = field_get_num(l, "cost_uusd", REIN_OFF),
      .time_ms = field_get_num(l, "time_ms", REIN_OFF),
      .no_progress = (enum rein_no_progress)field_get_num(l, "no_progress", REIN_PROGRESS_DEFAULT),
      .wrap_up = field_get_bool(l, "wrap_up"),
      .compact_at = field_get_num(l, "compact_at", REIN_OFF), /* before there was any: none */
      .context_window = field_get_num(l, "context_window", 0)};
}

static struct rates get_rates(const struct json *doc) {
  return (struct rates){.input = field_get_num(doc, "input", 0),
                        .cache_read = field_get_num(doc, "cache_read", 0),
                        .cache_write = field_get_num(doc, "cache_write", 0),
                        .output = field_get_num(doc, "output", 0)};
}

struct model_facts field_get_facts(const struct json *doc) {
  const struct json *f = json_get(doc, "facts"), *rates = json_get(f, "rates");
  return (struct model_facts){.priced = json_is(rates, JSON_OBJECT),
                              .rates = get_rates(rates),
                              .long_above = field_get_num(f, "long_above", 0),
                              .long_rates = get_rates(json_get(f, "long_rates")),
                              .window = field_get_num(f, "window", 0),
                              .tokenizer = tokenizer_of(field_get_text(f, "tokenizer"))};
}
