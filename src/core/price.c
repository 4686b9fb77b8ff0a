/* The table of models, and sums by it. See price.h. */
#include "core/price.h"

#include "json/json.h"
#include "json/number.h"
#include "text/text.h"

#define MICRO_PER_DOLLAR INT64_C(1000000)
#define MILLI 1000                   /* micro-dollars: models.def has milli-dollars */
#define DOLLARS_MAX INT64_C(1000000) /* pico-dollars of more do not fit an int64 */
#define TOKENS_MAX INT64_C(1000000000)

#define RATES(in, read, write, out)                                                                \
  { MILLI *INT64_C(in), MILLI *INT64_C(read), MILLI *INT64_C(write), MILLI *INT64_C(out) }

static const struct model_row table[] = {
#define MODEL(id, in, read, write, out, holds, tokens, day, from)                                  \
  {id,                                                                                             \
   day,                                                                                            \
   from,                                                                                           \
   {.priced = true,                                                                                \
    .rates = RATES(in, read, write, out),                                                          \
    .window = holds,                                                                               \
    .tokenizer = TOKENIZER_##tokens}},
#define LONG(id, from, in, read, write, out)
#include "core/models.def"
#undef MODEL
#undef LONG
};
#define ROWS (sizeof table / sizeof *table)

static const struct {
  const char *name;
  int64_t above;
  struct rates rates;
} long_table[] = {
#define MODEL(id, in, read, write, out, holds, tokens, day, from)
#define LONG(id, from, in, read, write, out) {id, from, RATES(in, read, write, out)},
#include "core/models.def"
#undef MODEL
#undef LONG
};

bool model_row(size_t i, struct model_row *row) {
  if (i >= ROWS) return false;
  *row = table[i];
  for (size_t k = 0; k < sizeof long_table / sizeof *long_table; k++) {
    if (strcmp(long_table[k].name, row->name) != 0) continue;
    row->facts.long_above = long_table[k].above;
    row->facts.long_rates = long_table[k].rates;
  }
  return true;
}

/* "-20251001", "-2025-10-01": the same model, of a day. */
static bool is_date(struct str rest) {
  size_t digits = 0;
  for (size_t i = 0; i < rest.n; i++) {
    if (rest.p[i] >= '0' && rest.p[i] <= '9')
      digits++;
    else if (rest.p[i] != '-')
      return false;
  }
  bool whole = rest.n == strlen("-20251001") || rest.n == strlen("-2025-10-01");
  return digits == strlen("20251001") && whole && rest.p[0] == '-';
}

bool model_find(struct str model, struct model_facts *facts) {
  struct model_row row;
  *facts = (struct model_facts){.priced = false};
  for (size_t i = 0; model_row(i, &row); i++) {
    struct str name = str_of(row.name);
    if (!str_starts(model, name)) continue;
    if (model.n > name.n && !is_date(str_part(model, name.n, model.n))) continue;
    *facts = row.facts;
    return true;
  }
  return false;
}

/* -- numbers -------------------------------------------------------------- */

int64_t money_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t money_times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

bool price_read(struct str text, int64_t *uusd) {
  struct json_decimal d = json_decimal(text);
  size_t n = json_digits(&d);
  int64_t value = 0;
  if (n == 0) {
    *uusd = 0;
    return true;
  }
  /* digits × 10^exponent dollars: six places more are micro-dollars. */
  if (d.minus || d.huge || d.exponent < -6 || d.exponent > 9 || n > 15) return false;
  for (size_t i = 0; i < n; i++)
    value = value * 10 + (json_digit(&d, i) - '0');
  for (int64_t e = d.exponent + 6; e > 0; e--)
    value = money_times(value, 10);
  *uusd = value;
  return value <= DOLLARS_MAX * MICRO_PER_DOLLAR;
}

void money_put(struct buf *out, int64_t pico) {
  int64_t micro = pico / PICO_PER_MICRO + (pico % PICO_PER_MICRO > 0);
  int64_t rest = micro % MICRO_PER_DOLLAR, places = 6;
  buf_num(out, micro / MICRO_PER_DOLLAR);
  if (rest == 0) return;
  for (; rest % 10 == 0; rest /= 10)
    places--;
  buf_fmt(out, ".%0*lld", (int)places, (long long)rest);
}

/* -- what the config says ------------------------------------------------- */

/* Where each member of a model goes. */
struct member {
  const char *key;
  size_t at; /* in struct model_facts */
  bool tokens;
};
static const struct member members[] = {
    {"input", offsetof(struct model_facts, rates.input), false},
    {"output", offsetof(struct model_facts, rates.output), false},
    {"cache_read", offsetof(struct model_facts, rates.cache_read), false},
    {"cache_write", offsetof(struct model_facts, rates.cache_write), false},
    {"long_above", offsetof(struct model_facts, long_above), true},
    {"long_input", offsetof(struct model_facts, long_rates.input), false},
    {"long_output", offsetof(struct model_facts, long_rates.output), false},
    {"long_cache_read", offsetof(struct model_facts, long_rates.cache_read), false},
    {"long_cache_write", offsetof(struct model_facts, long_rates.cache_write), false},
    {"window", offsetof(struct model_facts, window), true},
};
#define MEMBERS (sizeof members / sizeof *members)

static int64_t *place(struct model_facts *facts, const struct member *m) {
  return (int64_t *)(void *)((char *)facts + m->at);
}

static enum rein_code bad_member(const struct json *node, struct str model, enum text_id id,
                                 struct err *err) {
  return ERR(err, REIN_INPUT, id, model, node->key, node->source);
}

static enum rein_code take_member(const struct json *node, struct str model,
                                  struct model_facts *facts, struct err *err) {
  size_t i = 0;
  int64_t value;
  while (i < MEMBERS && !str_is(node->key, members[i].key))
    i++;
  if (i == MEMBERS) return bad_member(node, model, T_CORE_MODEL_KEY, err);
  if (!json_is(node, JSON_NUMBER)) return bad_member(node, model, T_CORE_MODEL_NUMBER, err);
  bool fine = members[i].tokens ? json_int(node, &value) && value > 0 && value <= TOKENS_MAX
                                : price_read(node->source, &value);
  if (!fine) return bad_member(node, model, T_CORE_MODEL_NUMBER, err);
  *place(facts, &members[i]) = value;
  return REIN_OK;
}

/* Rates that were not given, of those that were. */
static void fill(struct rates *r, const struct rates *from) {
  if (r->input < 0) r->input = from->input;
  if (r->output < 0) r->output = from->output;
  if (r->cache_read < 0) r->cache_read = from == r ? r->input : from->cache_read;
  if (r->cache_write < 0) r->cache_write = from == r ? r->input : from->cache_write;
}

/* A rate was given at all. */
static bool names_money(const struct json *node) {
  for (const struct json *m = node->first; m; m = m->next)
    if (!str_is(m->key, "window")) return true;
  return false;
}

static enum rein_code read_model(const struct json *node, struct model_facts *facts,
                                 struct err *err) {
  const struct rates unset = {-1, -1, -1, -1};
  struct model_facts given = {.rates = unset, .long_rates = unset};
  enum rein_code code = REIN_OK;
  if (!json_is(node, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_CORE_MODEL_OBJECT, node->key);
  for (const struct json *m = node->first; m && !code; m = m->next)
    code = take_member(m, node->key, &given, err);
  if (code) return code;
  if (!given.window) given.window = facts->window;
  given.tokenizer = facts->tokenizer;
  given.priced = given.rates.input >= 0 && given.rates.output >= 0;
  if (!names_money(node)) {
    facts->window = given.window;
    return REIN_OK;
  }
  if (!given.priced) return ERR(err, REIN_INPUT, T_CORE_MODEL_HALF, node->key);
  fill(&given.rates, &given.rates);
  fill(&given.long_rates, &given.rates);
  *facts = given;
  return REIN_OK;
}

enum rein_code models_check(const struct json *models, struct err *err) {
  enum rein_code code = REIN_OK;
  if (models && !json_is(models, JSON_OBJECT))
    return ERR(err, REIN_INPUT, T_CORE_MODEL_OBJECT, STR("models"));
  for (const struct json *m = models ? models->first : NULL; m && !code; m = m->next)
    code = read_model(m, &(struct model_facts){0}, err);
  return code;
}

enum rein_code model_facts(struct str model, const struct json *models, struct model_facts *facts,
                           struct err *err) {
  (void)model_find(model, facts);
  enum rein_code code = models_check(models, err);
  for (const struct json *m = models ? models->first : NULL; m && !code; m = m->next)
    if (str_eq(m->key, model)) code = read_model(m, facts, err);
  return code;
}

/* -- sums ----------------------------------------------------------------- */

static const struct rates *rates_at(const struct model_facts *f, int64_t prompt) {
  return f->long_above > 0 && prompt > f->long_above ? &f->long_rates : &f->rates;
}

int64_t price_of(const struct model_facts *f, const struct usage *u) {
  const struct rates *r = rates_at(f, usage_prompt(u));
  int64_t sum = money_add(money_times(u->input, r->input), money_times(u->output, r->output));
  sum = money_add(sum, money_times(u->cache_read, r->cache_read));
  return money_add(sum, money_times(u->cache_write, r->cache_write));
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* A long prompt may turn out a short one, at whatever is dearer. */
static int64_t dearest(const struct rates *r) {
  return larger(r->input, larger(r->cache_read, r->cache_write));
}

int64_t price_prompt_max(const struct model_facts *f, int64_t prompt) {
  const struct rates *r = rates_at(f, prompt);
  return larger(money_times(prompt, dearest(r)),
                r == &f->rates ? 0 : money_times(f->long_above, dearest(&f->rates)));
}

int64_t price_output_rate(const struct model_facts *f, int64_t prompt) {
  return larger(f->rates.output, rates_at(f, prompt)->output);
}
