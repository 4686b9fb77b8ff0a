/* Verdicts and times for whoever compares: another validator, the bench.
 *
 *   test_pairs FILE          FILE holds lines of JSON, {"schema":…,"values":[…]};
 *                            a line for each: "bad" and why, or a letter for each
 *                            value: y fits, n does not, l over a limit
 *   test_pairs --time FILE   for each line: nanoseconds of one compilation, of checking
 *                            all its values once, and of that without asking why not
 *
 * Without FILE it tests what attacks a schema can hold.
 */
#include "schema/schema.h"

#include "support/oom.h"
#include "support/test.h"

#include <stdlib.h>
#include <time.h>

#define LINE_BYTES_MAX (16u << 20)
#define ROUND_NS 20000000 /* of one measurement; the best of several counts */
#define ROUNDS 9

struct pair {
  struct arena arena;
  struct json *doc;
  const struct json *values; /* of a measurement */
  struct schema *schema;
  struct err err;
  enum rein_code code;
};

static void pair_open(struct pair *p, struct str text) {
  *p = (struct pair){.code = REIN_OK};
  arena_init(&p->arena, 256u << 20);
  p->code = json_parse(&p->arena, text, JSON_STRICT, &p->doc, &p->err);
  if (!p->code) p->code = schema_new(json_get(p->doc, "schema"), NULL, &p->schema, &p->err);
}

static void pair_close(struct pair *p) {
  schema_free(p->schema);
  arena_release(&p->arena);
}

static char letter(enum rein_code code) {
  return code == REIN_OK ? 'y' : code == REIN_INPUT ? 'n' : 'l';
}

static void verdicts(struct str line) {
  struct pair p;
  struct buf out;
  pair_open(&p, line);
  buf_init(&out, LINE_BYTES_MAX);
  if (p.code) {
    buf_lit(&out, "bad ");
    schema_line(&out, REIN_ENGLISH, &p.err);
  } else {
    const struct json *values = json_get(p.doc, "values");
    for (const struct json *v = values->first; v; v = v->next)
      buf_c(&out, letter(schema_check(p.schema, v, NULL)));
  }
  puts(buf_z(&out));
  buf_release(&out);
  pair_close(&p);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compile_once(struct pair *p) {
  struct schema *schema;
  if (schema_new(json_get(p->doc, "schema"), NULL, &schema, NULL)) abort();
  schema_free(schema);
}

static void check_once(struct pair *p) {
  struct err err; /* filled, for the other validator says what is wrong too */
  for (const struct json *v = p->values; v; v = v->next)
    if (schema_check(p->schema, v, &err) == REIN_MEMORY) abort();
}

static void judge_once(struct pair *p) {
  for (const struct json *v = p->values; v; v = v->next)
    if (schema_check(p->schema, v, NULL) == REIN_MEMORY) abort();
}

static double best_ns(struct pair *p, void (*once)(struct pair *p)) {
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int64_t began = now_ns(), n = 0;
    while (now_ns() - began < ROUND_NS)
      for (int i = 0; i < 16; i++, n++)
        once(p);
    double took = (double)(now_ns() - began) / (double)n;
    best = round == 0 || took < best ? took : best;
  }
  return best;
}

static void times(struct str line) {
  struct pair p;
  pair_open(&p, line);
  if (p.code) abort();
  p.values = json_get(p.doc, "values")->first;
  double compile = best_ns(&p, compile_once);
  double check = best_ns(&p, check_once);
  printf("%.1f %.1f %.1f\n", compile, check, best_ns(&p, judge_once));
  pair_close(&p);
}

static int each_line(const char *path, void (*visit)(struct str line)) {
  FILE *f = fopen(path, "rb");
  char *line = NULL;
  size_t cap = 0;
  if (!f) return 2;
  for (ssize_t n; (n = getline(&line, &cap, f)) > 0;)
    visit((struct str){line, (size_t)n - (line[n - 1] == '\n')});
  free(line);
  return fclose(f) || fflush(stdout) ? 2 : 0;
}

/* ---- attacks ---------------------------------------------------------------- */

static void ends_with(struct str schema, const char *value, enum rein_code made,
                      enum rein_code checked, enum text_id text) {
  struct pair p;
  struct buf b;
  buf_init(&b, 8u << 20);
  buf_lit(&b, "{\"schema\":");
  buf_put(&b, schema);
  buf_lit(&b, ",\"value\":");
  buf_put(&b, str_of(value));
  buf_c(&b, '}');
  int64_t began = now_ns();
  pair_open(&p, buf_str(&b));
  assert_int_equal(p.code, made);
  if (!p.code) p.code = schema_check(p.schema, json_get(p.doc, "value"), &p.err);
  if (!made) assert_int_equal(p.code, checked);
  if (text) assert_int_equal(p.err.text, text);
  /* About half a second of plain code; the sanitizers are slow. */
  assert_true(now_ns() - began < INT64_C(20000000000));
  pair_close(&p);
  buf_release(&b);
}

static void references_that_never_end(void **state) {
  (void)state;
  ends_with(STR("{\"$ref\":\"#\"}"), "1", REIN_INPUT, REIN_OK, T_SCHEMA_LOOP);
  ends_with(STR("{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"anyOf\":[true,"
                "{\"$ref\":\"#/$defs/a\"}]}}}"),
            "1", REIN_INPUT, REIN_OK, T_SCHEMA_LOOP);
  ends_with(STR("{\"$dynamicAnchor\":\"a\",\"not\":{\"$dynamicRef\":\"#a\"}}"), "1", REIN_INPUT,
            REIN_OK, T_SCHEMA_LOOP);
  ends_with(STR("{\"$ref\":\"https://example.com/x\"}"), "1", REIN_INPUT, REIN_OK,
            T_SCHEMA_REF_UNKNOWN);
  ends_with(STR("{\"$ref\":\"#/nowhere\"}"), "1", REIN_INPUT, REIN_OK, T_SCHEMA_REF_NOWHERE);
}

static void doubling_references(void **state) {
  (void)state;
  struct buf b;
  buf_init(&b, 1u << 20);
  buf_lit(&b, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
  for (int i = 0; i < 60; i++)
    buf_fmt(&b, "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i,
            i + 1, i + 1);
  buf_lit(&b, "\"d60\":{}}}");
  ends_with(buf_str(&b), "1", REIN_OK, REIN_LIMIT, T_SCHEMA_STEPS);
  buf_release(&b);
}

static void many_values(void **state) {
  (void)state;
  struct buf b;
  buf_init(&b, 1u << 20);
  buf_lit(&b, "{\"enum\":[");
  for (int i = 0; i < 10000; i++)
    buf_fmt(&b, "%s\"value %d\"", i ? "," : "", i);
  buf_lit(&b, "]}");
  ends_with(buf_str(&b), "\"value 9999\"", REIN_OK, REIN_OK, T_NONE);
  ends_with(buf_str(&b), "\"value x\"", REIN_OK, REIN_INPUT, T_SCHEMA_ENUM);
  buf_release(&b);
}

static void patterns_that_explode(void **state) {
  (void)state;
  ends_with(STR("{\"pattern\":\"^(a+)+$\"}"), "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"",
            REIN_OK, REIN_LIMIT, T_SCHEMA_STEPS);
  ends_with(STR("{\"pattern\":\"(\"}"), "1", REIN_INPUT, REIN_OK, T_SCHEMA_PATTERN);
  ends_with(STR("{\"pattern\":\"^\\\\Z\"}"), "1", REIN_INPUT, REIN_OK, T_SCHEMA_PATTERN);
}

static void deep_schemas(void **state) {
  (void)state;
  struct buf b;
  buf_init(&b, 1u << 20);
  for (int i = 0; i < 250; i++)
    buf_lit(&b, "{\"not\":");
  buf_lit(&b, "{}");
  for (int i = 0; i < 250; i++)
    buf_c(&b, '}');
  ends_with(buf_str(&b), "1", REIN_OK, REIN_OK, T_NONE);
  buf_release(&b);
}

/* ---- numbers, characters ------------------------------------------------------ */

static void exact(void **state) {
  (void)state;
  static const struct {
    const char *schema, *value;
    bool fits;
  } rows[] = {
      {"{\"multipleOf\":0.1}", "0.3", true},
      {"{\"multipleOf\":0.01}", "19.99", true},
      {"{\"multipleOf\":0.01}", "19.999", false},
      {"{\"multipleOf\":3}", "9007199254740993", true},
      {"{\"multipleOf\":7}", "1e300", false},
      {"{\"multipleOf\":8}", "1e300", true},
      {"{\"maximum\":9007199254740992}", "9007199254740993", false},
      {"{\"const\":9007199254740993}", "9007199254740992", false},
      {"{\"const\":1}", "1.0", true},
      {"{\"type\":\"integer\"}", "12345678901234567890123e2", true},
      {"{\"type\":\"integer\"}", "1e-1", false},
      {"{\"uniqueItems\":true}", "[1,1.0]", false},
      {"{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1.0}]", false},
      {"{\"maxLength\":2}", "\"🐲🐲\"", true},
      {"{\"pattern\":\"^.$\"}", "\"🐲\"", true},
      {"{\"pattern\":\"^[^a]$\"}", "\"🐲\"", true},
      {"{\"pattern\":\"^[🐉-🐲]+$\"}", "\"🐲🐉\"", true},
      {"{\"pattern\":\"^[^🐉-🐲]$\"}", "\"🐲\"", false},
      {"{\"pattern\":\"^\\\\u{1f432}\\\\ud83d\\\\udc32$\"}", "\"🐲🐲\"", true},
      {"{\"pattern\":\"^\\\\p{Script=Hangul}+$\"}", "\"한글\"", true},
      {"{\"pattern\":\"^\\\\p{Script=Hangul}+$\"}", "\"漢字\"", false},
      {"{\"pattern\":\"^[^\\\\p{L}\\\\d]+$\"}", "\"-+\"", true},
      {"{\"pattern\":\"^[^\\\\p{L}\\\\d]+$\"}", "\"-a\"", false},
      {"{\"pattern\":\"^\\\\P{L}$\"}", "\"𝒳\"", false},
      {"{\"pattern\":\"^[\\\\u0080-\\\\uFFFF]$\"}", "\"가\"", true},
      {"{\"pattern\":\"^[\\\\u0080-\\\\uFFFF]$\"}", "\"🐲\"", false},
      {"{\"pattern\":\"^[\\\\u0000-\\\\uFFFF]$\"}", "\"🐲\"", false},
      {"{\"pattern\":\"[]\"}", "\"🐲\"", false},
      {"{\"pattern\":\"\\\\udc32\"}", "\"🐲\"", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    print_message("%s %s\n", rows[i].schema, rows[i].value);
    ends_with(str_of(rows[i].schema), rows[i].value, REIN_OK, rows[i].fits ? REIN_OK : REIN_INPUT,
              T_NONE);
  }
}

/* ---- memory ------------------------------------------------------------------- */

#define MUCH                                                                                       \
  "{\"schema\":{\"$ref\":\"#/$defs/a\",\"properties\":{\"p\":{\"type\":\"string\",\"pattern\":"    \
  "\"^a+$\",\"format\":\"regex\"},\"n\":{\"multipleOf\":0.5},\"l\":{\"uniqueItems\":true,"         \
  "\"contains\":{\"const\":1}}},\"unevaluatedProperties\":false,\"$defs\":{\"a\":{\"anyOf\":[{"    \
  "\"properties\":{\"x\":{\"enum\":[1,2,3,4,5,6,7,8,9,10]}}},{\"$ref\":\"https://json-schema.org/" \
  "draft/2020-12/schema\"}]}}},\"values\":[{\"p\":\"aa\",\"n\":1.5,\"l\":[1,2,3,4,5,6,7,8,9,10],"  \
  "\"x\":3},{\"x\":11,\"p\":\"b\",\"zz\":1}]}"

static bool scenario(void *ctx) {
  struct pair p;
  (void)ctx;
  pair_open(&p, STR(MUCH));
  enum rein_code code = p.code, wrong = REIN_INPUT;
  if (!code) code = schema_check(p.schema, json_get(p.doc, "values")->first, &p.err);
  if (!code) wrong = schema_check(p.schema, json_get(p.doc, "values")->first->next, &p.err);
  pair_close(&p);
  assert_true(code == REIN_OK || code == REIN_MEMORY);
  assert_true(wrong == REIN_INPUT || wrong == REIN_MEMORY);
  return code == REIN_OK && wrong == REIN_INPUT;
}

static void memory(void **state) {
  (void)state;
  assert_true(oom_each(scenario, NULL) > 0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(references_that_never_end),
      cmocka_unit_test(doubling_references),
      cmocka_unit_test(many_values),
      cmocka_unit_test(patterns_that_explode),
      cmocka_unit_test(deep_schemas),
      cmocka_unit_test(exact),
      cmocka_unit_test(memory),
  };
  if (argc == 3 && strcmp(argv[1], "--time") == 0) return each_line(argv[2], times);
  if (argc == 2) return each_line(argv[1], verdicts);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
