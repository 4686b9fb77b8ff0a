/* Prices: the table, what a config says before it, whole money, and the ceiling of cost
 * as the machine keeps it. That it holds on random lives is tests/wire/test_budgets.c's.
 */
#include "core/price.h"
#include "play.h"
#include "support/shared.h"
#include "wire/wires.h"

static struct model_facts facts_of(const char *model, const char *json, enum rein_code want) {
  struct arena arena;
  struct json *doc = NULL;
  struct model_facts facts;
  struct err err = {0};
  arena_init(&arena, 1 << 20);
  if (json) assert_int_equal(json_parse(&arena, str_of(json), JSON_STRICT, &doc, NULL), REIN_OK);
  assert_int_equal(model_facts(str_of(model), doc, &facts, &err), want);
  arena_release(&arena);
  return facts;
}

static void test_table(void **state) {
  struct model_row row, other;
  size_t n = 0;
  (void)state;
  for (; model_row(n, &row); n++) {
    const struct rates *r = &row.facts.rates;
    assert_true(row.facts.priced && strlen(row.as_of) == strlen("2026-11-30") && row.source[0]);
    assert_true(r->cache_read < r->input && r->input <= r->cache_write && r->input < r->output);
    for (size_t i = 0; i < n && model_row(i, &other); i++)
      assert_string_not_equal(row.name, other.name);
  }
  assert_true(n > 20);
}

static void test_names(void **state) {
  struct model_facts f;
  (void)state;
  assert_true(model_find(STR("claude-haiku-4-5-20251001"), &f));
  assert_int_equal(f.rates.input, 1000000);
  assert_int_equal(f.window, 200000);
  assert_true(model_find(STR("claude-opus-5"), &f) && f.rates.output == 25000000);
  assert_true(model_find(STR("claude-opus-5-5"), &f) && f.rates.output == 20000000);
  assert_true(model_find(STR("gpt-5.4-2026-03-05"), &f) && f.rates.input == 2500000);
  assert_false(model_find(STR("claude-opus-5-50"), &f) || f.priced || f.window);
  assert_false(model_find(STR("gpt-5.4-nano"), &f));
  assert_false(model_find(STR(""), &f));
}

static void test_config(void **state) {
  (void)state;
  struct model_facts f = facts_of("m", "{\"m\":{\"input\":3,\"output\":15.5}}", REIN_OK);
  assert_true(f.priced && f.rates.input == 3000000 && f.rates.output == 15500000);
  assert_true(f.rates.cache_read == 3000000 && f.rates.cache_write == 3000000 && !f.window);
  f = facts_of("claude-opus-5", "{\"claude-opus-5\":{\"window\":200000}}", REIN_OK);
  assert_true(f.priced && f.rates.input == 5000000 && f.window == 200000);
  f = facts_of("claude-opus-5", "{\"claude-opus-5\":{\"input\":1e0,\"output\":0.000001}}", REIN_OK);
  assert_true(f.rates.input == 1000000 && f.rates.output == 1 && f.window == 1000000);
  f = facts_of("m", "{\"m\":{\"input\":1,\"output\":2,\"long_above\":100,\"long_input\":9}}",
               REIN_OK);
  assert_true(f.long_above == 100 && f.long_rates.input == 9000000);
  assert_true(f.long_rates.output == 2000000);
  static const char *const bad[] = {"[]",
                                    "{\"x\":1}",
                                    "{\"x\":{\"input\":3}}",
                                    "{\"x\":{\"input\":-3,\"output\":1}}",
                                    "{\"x\":{\"input\":0.0000001,\"output\":1}}",
                                    "{\"x\":{\"input\":1e7,\"output\":1}}",
                                    "{\"x\":{\"input\":\"3\",\"output\":1}}",
                                    "{\"x\":{\"long_above\":5}}",
                                    "{\"x\":{\"window\":0}}",
                                    "{\"x\":{\"window\":1.5}}",
                                    "{\"x\":{\"inptu\":3,\"output\":1}}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    (void)facts_of("m", bad[i], REIN_INPUT);
}

static void check_money(int64_t pico, const char *want) {
  struct buf b;
  buf_init(&b, 64);
  money_put(&b, pico);
  assert_true(str_is(buf_str(&b), want));
  buf_release(&b);
}

static void test_money(void **state) {
  (void)state;
  check_money(0, "0");
  check_money(1, "0.000001");
  check_money(2500000 * PICO_PER_MICRO, "2.5");
  check_money(1155 * PICO_PER_MICRO, "0.001155");
  check_money(12 * INT64_C(1000000) * PICO_PER_MICRO, "12");
  assert_true(money_add(INT64_MAX, 1) == INT64_MAX && money_times(INT64_MAX, 2) == INT64_MAX);
  struct model_facts f = {.priced = true, .rates = {.input = INT64_MAX / 2}};
  assert_true(price_of(&f, &(struct usage){.input = INT64_MAX / 4}) == INT64_MAX);
}

/* Counts of the fact sheet's three shapes, as the wires read them. */
static struct usage usage_of(const struct json *row) {
  const struct json *u = json_get(row, "usage");
  const char *details = "prompt_tokens_details";
  bool anthropic = str_is(json_text(json_get(row, "api")), "anthropic");
  bool chat = str_is(json_text(json_get(row, "api")), "openai");
  struct usage usage = {0};
  int64_t prompt = 0;
  if (!chat) details = "input_tokens_details";
  json_int(json_get(u, chat ? "prompt_tokens" : "input_tokens"), &prompt);
  json_int(json_get(u, chat ? "completion_tokens" : "output_tokens"), &usage.output);
  json_int(json_get(u, "cache_creation_input_tokens"), &usage.cache_write);
  json_int(anthropic ? json_get(u, "cache_read_input_tokens")
                     : json_get(json_get(u, details), "cached_tokens"),
           &usage.cache_read);
  usage.input = anthropic ? prompt : prompt - usage.cache_read;
  if (usage.input < 0) usage.input = 0;
  return usage;
}

static void test_b02(void **state) {
  struct buf file;
  struct arena arena;
  struct json *doc = NULL;
  struct model_facts f = {.priced = true};
  (void)state;
  shared_read(&file, "cases/B02-cache-tokens-in-cost/rows.json");
  arena_init(&arena, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), JSON_STRICT, &doc, NULL), REIN_OK);
  const struct json *price = json_get(doc, "price_per_mtok_micro");
  json_int(json_get(price, "input"), &f.rates.input);
  json_int(json_get(price, "output"), &f.rates.output);
  json_int(json_get(price, "cache_read"), &f.rates.cache_read);
  json_int(json_get(price, "cache_write"), &f.rates.cache_write);
  for (const struct json *row = json_get(doc, "rows")->first; row; row = row->next) {
    struct usage usage = usage_of(row);
    int64_t want;
    assert_true(json_int(json_get(row, "want_micro"), &want));
    assert_int_equal(price_of(&f, &usage), want * PICO_PER_MICRO);
  }
  arena_release(&arena);
  buf_release(&file);
}

/* The largest that a prompt can cost, whatever of it is cached: tried. */
static void test_worst(void **state) {
  static const struct model_facts all[] = {
      {.priced = true, .rates = {3, 1, 4, 15}},
      {.priced = true, .rates = {3, 1, 4, 15}, .long_above = 50, .long_rates = {6, 2, 8, 22}},
      {.priced = true, .rates = {9, 9, 9, 9}, .long_above = 50, .long_rates = {1, 1, 1, 1}}};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (int64_t bound = 0; bound < 120; bound++)
      for (int64_t n = 0; n <= bound; n += 7)
        for (int kind = 0; kind < 3; kind++) {
          struct usage u = {.output = 10};
          *(kind == 0 ? &u.input : kind == 1 ? &u.cache_read : &u.cache_write) = n;
          assert_true(price_of(&all[i], &u) <=
                      price_prompt_max(&all[i], bound) + 10 * price_output_rate(&all[i], bound));
        }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table), cmocka_unit_test(test_names), cmocka_unit_test(test_config),
      cmocka_unit_test(test_money), cmocka_unit_test(test_b02),   cmocka_unit_test(test_worst),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
