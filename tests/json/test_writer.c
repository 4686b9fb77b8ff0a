/* The writer, and every allocation of reader and writer failing in turn. */
#include "support/test.h"

#include "base/utf8.h"
#include "json/json.h"
#include "json/write.h"
#include "support/oom.h"
#include "text/text.h"

static void write_sample(struct buf *b) {
  struct json_out w = json_out(b);
  json_open(&w, '{');
  json_key(&w, "path");
  json_put_text(&w, STR("a\"b\\\n\x01\x1f\x7f한"));
  json_key(&w, "none");
  json_open(&w, '[');
  json_close(&w, ']');
  json_key_str(&w, STR("k\t"));
  json_open(&w, '[');
  json_put_num(&w, INT64_MIN);
  json_put_bool(&w, true);
  json_put_bool(&w, false);
  json_put_null(&w);
  json_put_raw(&w, STR("{\"raw\": 1.0}"));
  json_open(&w, '{');
  json_close(&w, '}');
  json_put_num(&w, 0);
  json_close(&w, ']');
  json_key(&w, "last");
  json_put_num(&w, 7);
  json_close(&w, '}');
}

static void places_commas_and_quotes(void **state) {
  (void)state;
  struct buf b = {.max = 10000};
  write_sample(&b);
  assert_text(buf_str(&b), "{\"path\":\"a\\\"b\\\\\\n\\u0001\\u001f\x7f한\",\"none\":[],\"k\\t\":["
                           "-9223372036854775808,true,false,null,{\"raw\": 1.0},{},0],\"last\":7}");
  buf_release(&b);
}

static void quotes_anything(void **state) {
  (void)state;
  struct buf b = {.max = 10000};
  json_quote(&b, STR_NONE);
  json_quote(&b, STR("\b\f\n\r\t\0/"));
  json_quote(&b, STR("\xFF"
                     "a\xED\xA0\x80"
                     "b\xED\xA0\xBD\xED\xB8\x80\xE2\x82"));
  assert_text(buf_str(&b), "\"\"\"\\b\\f\\n\\r\\t\\u0000/\"\"\xEF\xBF\xBD"
                           "a\xEF\xBF\xBD"
                           "b😀\xEF\xBF\xBD\"");
  buf_release(&b);
}

/* Reads a text with escapes, many members and twins, and writes it in each way. */
static bool reads_and_writes(void *ctx) {
  struct str text = *(const struct str *)ctx;
  struct arena arena;
  arena_init(&arena, 1 << 20);
  struct buf b = {.max = 1 << 20};
  struct json *doc = NULL;
  struct err err = {0};
  enum rein_code code = json_parse(&arena, text, JSON_COMMENTS, &doc, &err);
  assert_true(code == REIN_OK || (code == REIN_MEMORY && err.text == T_JSON_MEMORY && !doc));
  if (!code) {
    json_canon(&b, doc, true);
    json_mend(&b, text);
    write_sample(&b);
    utf8_repair(&b, STR("\xFF"));
    assert_true(b.fail == REIN_OK || b.fail == REIN_MEMORY);
    code = b.fail;
  }
  buf_release(&b);
  arena_release(&arena);
  return code == REIN_OK;
}

static void every_allocation_fails(void **state) {
  (void)state;
  struct buf text = {.max = 1 << 20};
  buf_lit(&text, "/* c */ [");
  for (int i = 0; i < 40; i++)
    buf_fmt(&text, "{\"a\\n%d\":[\" \\u0041\",1.50,{}],\"b\":0},", i);
  buf_c(&text, '{');
  for (int i = 0; i < 40; i++)
    buf_fmt(&text, "\"k%d\":%d,", i % 30, i);
  buf_lit(&text, "\"\":null}]");
  struct str s = buf_str(&text);
  assert_true(oom_each(reads_and_writes, &s) > 20);
  buf_release(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_commas_and_quotes),
      cmocka_unit_test(quotes_anything),
      cmocka_unit_test(every_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
