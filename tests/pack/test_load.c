/* Packs as files: those that come with rein, and those with a slip in them. */
#include "support/oom.h"
#include "support/test.h"

#include "pack/pack.h"
#include "text/text.h"

#define ROOM (32u << 20)

static enum rein_code load(struct arena *arena, struct str text, struct pack **pack,
                           struct err *err) {
  *err = (struct err){0};
  return pack_load(arena, text, pack, err);
}

/* What a call touches is what it does, whatever the pack says of it. */
static void test_touches(void **state) {
  static const struct {
    const char *http;
    unsigned touches;
  } rows[] = {
      {"{\"path\":\"/\"}", REIN_READS_PRIVATE | REIN_OUTSIDE},
      {"{\"path\":\"/\"},\"touches\":[\"nothing\",\"reads_outside\"]",
       REIN_TOUCHES_NOTHING | REIN_READS_PRIVATE | REIN_READS_OUTSIDE},
      {"{\"path\":\"/\",\"method\":\"POST\"},\"touches\":[\"reads_outside\"]",
       REIN_READS_PRIVATE | REIN_READS_OUTSIDE | REIN_OUTSIDE | REIN_WRITES},
      {"{\"path\":\"/\",\"method\":\"POST\",\"reads\":true}", REIN_READS_PRIVATE | REIN_OUTSIDE},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct arena arena;
    struct pack *pack;
    struct err err;
    struct buf text;
    arena_init(&arena, ROOM);
    buf_init(&text, 4096);
    buf_fmt(&text,
            "{\"pack\":\"p\",\"url\":\"https://a.example\",\"tools\":[{\"name\":\"t\","
            "\"description\":\"d\",\"schema\":{},\"http\":%s}]}",
            rows[i].http);
    assert_int_equal(load(&arena, buf_str(&text), &pack, &err), REIN_OK);
    assert_int_equal(pack->tools[0].touches, rows[i].touches);
    buf_release(&text);
    arena_release(&arena);
  }
}

static void test_shipped(void **state) {
  struct arena arena;
  struct pack *pack;
  struct err err;
  size_t tools = 0;
  (void)state;
  arena_init(&arena, ROOM);
  for (size_t i = 0; pack_shipped_name(i); i++) {
    struct str text;
    assert_true(pack_shipped(str_of(pack_shipped_name(i)), &text));
    assert_int_equal(load(&arena, text, &pack, &err), REIN_OK);
    assert_str(pack->name, str_of(pack_shipped_name(i)));
    for (size_t k = 0; k < pack->tool_count; k++)
      assert_true(pack->tools[k].touches & REIN_READS_PRIVATE);
    tools += pack->tool_count;
  }
  assert_true(tools >= 15);
  struct str none;
  assert_false(pack_shipped(STR("notio"), &none));
  arena_release(&arena);
}

#define HTTP(body) "{\"pack\":\"p\",\"url\":\"https://a.example\",\"secrets\":{\"KEY\":\"k\"}," body
#define TOOL(schema, http)                                                                         \
  HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":" schema ",\"http\":" http     \
       "}]}")
#define Q "{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}}}"
#define RQ "{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"]}"

/* What is wrong, and the sentence that says so. */
static const struct {
  const char *text;
  enum text_id why;
} slips[] = {
    {"{\"pack\":\"p\"}", T_PACK_SHAPE},
    {"{\"pack\":\"P p\",\"tools\":[]}", T_PACK_SHAPE},
    {TOOL(Q, "{\"path\":\"/x\",\"nonsense\":1}"), T_PACK_SHAPE},
    {TOOL(Q, "{\"path\":\"x\"}"), T_PACK_SHAPE},
    {TOOL(Q, "{\"path\":\"/x\",\"method\":\"get\"}"), T_PACK_SHAPE},
    {TOOL(Q, "{\"path\":\"/{{q}}\"}"), T_PACK_CHECK_OPTIONAL},
    {TOOL(RQ, "{\"path\":\"/{{other}}\"}"), T_PACK_CHECK_ARGUMENT},
    {TOOL(RQ, "{\"path\":\"/{{q\"}"), T_PACK_CHECK_BRACES},
    {TOOL(RQ, "{\"path\":\"/q}}\"}"), T_PACK_CHECK_BRACES},
    {TOOL(RQ, "{\"path\":\"/{q}\"}"), T_PACK_CHECK_PATH},
    {TOOL(RQ, "{\"path\":\"/{{ }}\"}"), T_PACK_CHECK_BRACES},
    {TOOL(RQ, "{\"path\":\"/a b\"}"), T_PACK_CHECK_PATH},
    {TOOL(RQ, "{\"path\":\"/a?b={{q}}\"}"), T_PACK_CHECK_PATH},
    {TOOL(RQ, "{\"path\":\"/가\"}"), T_PACK_CHECK_PATH},
    {TOOL(RQ, "{\"path\":\"/a/../{{q}}\"}"), T_PACK_CHECK_PATH},
    {TOOL(RQ, "{\"path\":\"/${KEY}\"}"), T_PACK_CHECK_SECRET_PLACE},
    {TOOL(RQ, "{\"path\":\"/x\",\"query\":{\"k\":\"${KEY}\"}}"), T_PACK_CHECK_SECRET_PLACE},
    {TOOL(RQ, "{\"path\":\"/x\",\"method\":\"POST\",\"body\":{\"k\":[\"${KEY}\"]}}"),
     T_PACK_CHECK_SECRET_PLACE},
    {TOOL(RQ, "{\"path\":\"/x\",\"headers\":{\"A\":\"${OTHER}\"}}"), T_PACK_CHECK_SECRET},
    {TOOL(RQ, "{\"path\":\"/x\",\"method\":\"POST\",\"body\":{\"a\":{\"b\":\"{{c}}\"}}}"),
     T_PACK_CHECK_ARGUMENT},
    {TOOL(RQ, "{\"path\":\"/x\",\"paging\":{\"cursor\":\"/c\"}}"), T_PACK_CHECK_PAGING},
    {TOOL(RQ, "{\"path\":\"/x\",\"paging\":{\"number\":\"page\"}}"), T_PACK_CHECK_PAGING},
    {TOOL(RQ, "{\"path\":\"/x\",\"paging\":{\"pages\":3}}"), T_PACK_CHECK_PAGING},
    {TOOL("{\"type\":\"nonsense\"}", "{\"path\":\"/x\"}"), T_PACK_CHECK_SCHEMA},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{}}]}"), T_PACK_KIND},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"http\":{\"path\":\"/"
          "\"},\"git\":{\"run\":[[\"status\"]]}}]}"),
     T_PACK_KIND},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"http\":{\"path\":\"/"
          "\"}},{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"http\":{\"path\":\"/\"}}]}"),
     T_PACK_TWICE},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":" RQ
          ",\"command\":{\"argv\":[\"{{q}}\"]}}]}"),
     T_PACK_CHECK_PROGRAM},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":" RQ
          ",\"git\":{\"run\":[[\"-c\",\"x=y\"]]}}]}"),
     T_PACK_CHECK_PROGRAM},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"steps\":[{\"as\":\"a\","
          "\"path\":\"/\",\"method\":\"POST\"},{\"as\":\"b\",\"path\":\"/\"}]}]}"),
     T_PACK_CHECK_STEPS},
    {HTTP("\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"steps\":[{\"path\":\"/"
          "\"},{\"as\":\"b\",\"path\":\"/\"}]}]}"),
     T_PACK_CHECK_AS},
    {"{\"pack\":\"p\",\"tools\":[{\"name\":\"t\",\"description\":\"d\",\"schema\":{},\"http\":{"
     "\"path\":\"/\"}}]}",
     T_PACK_CHECK_URL},
    {"{\"pack\":\"p\",\"url\":\"http://a.example\",\"tools\":[{\"name\":\"t\",\"description\":"
     "\"d\",\"schema\":{},\"http\":{\"path\":\"/\"}}]}",
     T_PACK_URL},
};

static void test_slips(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    struct arena arena;
    struct pack *pack;
    struct err err;
    arena_init(&arena, ROOM);
    enum rein_code code = load(&arena, str_of(slips[i].text), &pack, &err);
    if (code != REIN_INPUT || err.text != slips[i].why) print_error("slip %zu\n", i);
    assert_int_equal(code, REIN_INPUT);
    assert_int_equal(err.text, slips[i].why);
    arena_release(&arena);
  }
}

/* Where a secret may go: nowhere but to the host that is written. */
static void test_addresses(void **state) {
  static const char *const good[] = {"https://api.example.com", "https://api.example.com:8443/v1",
                                     "http://localhost:8080",   "http://127.0.0.1:1/x",
                                     "http://[::1]:80",         "https://[2001:db8::1]"};
  static const char *const bad[] = {"http://api.example.com",
                                    "ftp://a.example",
                                    "api.example.com",
                                    "https://",
                                    "https://user:pw@a.example",
                                    "https://a.example\\@b.example",
                                    "https://a.example?x",
                                    "https://a.example#x",
                                    "http://localhost.evil.example",
                                    "http://127.0.0.1.evil.example",
                                    "http://localhost@evil.example",
                                    "https://a example",
                                    "https://a.example\r\nX: y",
                                    "HTTPS://a.example"};
  struct arena arena;
  struct pack pack = {.name = STR("p")};
  struct err err;
  (void)state;
  arena_init(&arena, ROOM);
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    assert_int_equal(pack_set_url(&arena, &pack, str_of(good[i]), &err), REIN_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (pack_set_url(&arena, &pack, str_of(bad[i]), &err) != REIN_INPUT)
      print_error("%s\n", bad[i]);
    assert_int_equal(pack_set_url(&arena, &pack, str_of(bad[i]), &err), REIN_INPUT);
  }
  assert_int_equal(pack_set_url(&arena, &pack, STR("https://a.example/v1//"), &err), REIN_OK);
  assert_text(pack.url, "https://a.example/v1");
  arena_release(&arena);
}

/* Comments are for people: what a provider is sent has none. */
static void test_schema_is_plain(void **state) {
  struct arena arena;
  struct pack *pack;
  struct err err;
  (void)state;
  arena_init(&arena, ROOM);
  struct str text = STR("{\"pack\":\"p\",\"url\":\"https://a.example\",\"tools\":[{\"name\":\"t\","
                        "\"description\":\"d\",\"schema\":{ // words\n \"type\" : \"object\",\n"
                        "\"properties\":{\"n\":{\"minimum\": 1.50 /* exact */}}},"
                        "\"http\":{\"path\":\"/\"}}]}");
  assert_int_equal(load(&arena, text, &pack, &err), REIN_OK);
  assert_text(pack->tools[0].schema,
              "{\"type\":\"object\",\"properties\":{\"n\":{\"minimum\":1.50}}}");
  arena_release(&arena);
}

/* A pack that is cut off anywhere is refused, and nothing is read behind its end. */
static void test_every_cut(void **state) {
  struct str whole;
  (void)state;
  assert_true(pack_shipped(STR("git"), &whole));
  size_t end = whole.n;
  while (end && whole.p[end - 1] != '}')
    end--;
  for (size_t n = 0; n < end; n += 7) {
    struct arena arena;
    struct pack *pack;
    struct err err;
    char *room;
    arena_init(&arena, ROOM);
    struct str part = exact_copy(str_part(whole, 0, n), &room);
    assert_int_equal(load(&arena, part, &pack, &err), REIN_INPUT);
    arena_release(&arena);
    mem_free(room);
  }
}

static bool load_github(void *ctx) {
  struct arena arena;
  struct pack *pack;
  struct err err;
  struct str text;
  (void)ctx;
  assert_true(pack_shipped(STR("github"), &text));
  arena_init(&arena, ROOM);
  enum rein_code code = load(&arena, text, &pack, &err);
  assert_true(code == REIN_OK || code == REIN_MEMORY || code == REIN_LIMIT);
  arena_release(&arena);
  return code == REIN_OK;
}

static void test_memory(void **state) {
  (void)state;
  assert_true(oom_each(load_github, NULL) > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shipped),         cmocka_unit_test(test_touches),
      cmocka_unit_test(test_slips),           cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_schema_is_plain), cmocka_unit_test(test_every_cut),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
