/* The driver's small parts: keys and their masks, providers, addresses, names,
 * lines between records. */
#include "driver/address.h"
#include "driver/provider.h"
#include "driver/secret.h"
#include "driver/stream.h"
#include "driver/world.h"
#include "support/test.h"
#include "support/oom.h"

static struct err refuse(struct str raw) {
  struct secret secret = {0};
  struct err err = {0};
  assert_int_equal(secret_take(&secret, raw, &err), REIN_INPUT);
  assert_null(secret.p);
  return err;
}

static void test_keys(void **state) {
  struct secret secret = {0};
  struct err err = {0};
  char long_key[KEY_BYTES_MAX + 2];
  (void)state;
  assert_int_equal(secret_take(&secret, STR(" \tsk-1\r\n"), &err), REIN_OK);
  assert_text(secret_str(&secret), "sk-1");
  secret_release(&secret);
  secret_release(&secret);
  assert_int_equal(secret_take(&secret, STR_NONE, &err), REIN_OK);
  assert_null(secret.p);
  assert_int_equal(refuse(STR(" \n")).text, T_DRIVER_KEY_BLANK);
  assert_int_equal(refuse(STR("sk 1")).text, T_DRIVER_KEY_BYTE);
  assert_int_equal(refuse(STR("sk\n1")).text, T_DRIVER_KEY_BYTE);
  assert_int_equal(refuse(STR("sk\x01")).text, T_DRIVER_KEY_BYTE);
  assert_int_equal(refuse(STR("sk\0k")).text, T_DRIVER_KEY_BYTE);
  assert_int_equal(refuse(STR("ㄴㅏ")).text, T_DRIVER_KEY_BYTE);
  memset(long_key, 'k', sizeof long_key);
  assert_int_equal(refuse((struct str){long_key, sizeof long_key}).text, T_DRIVER_KEY_LONG);
}

static void masks(const char *key, const char *text, const char *want) {
  struct secret secret = {0};
  struct err err;
  struct buf out;
  assert_int_equal(secret_take(&secret, str_of(key), &err), REIN_OK);
  buf_init(&out, 65536);
  secret_mask(&out, &secret, str_of(text));
  assert_string_equal(buf_z(&out), want);
  buf_release(&out);
  secret_release(&secret);
}

static void test_masks(void **state) {
  (void)state;
  masks("sk-abcdef", "invalid key sk-abcdef.", "invalid key [key].");
  masks("sk-abcdef", "sk-abcdefsk-abcdef", "[key][key]");
  masks("sk-abcdef", "", "");
  masks("sk-abcdef", "sk-abcde", "sk-abcde");
  masks("sk/a+b=c", "at ?key=sk%2Fa%2Bb%3Dc&x", "at ?key=[key]&x");
  masks("sk\"ab\\c", "{\"key\":\"sk\\\"ab\\\\c\"}", "{\"key\":\"[key]\"}");
  masks("sk-abcdef", "Basic c2stYWJjZGVm", "Basic [key]");
  masks("ab", "a cab", "a cab"); /* too short to be one */
}

/* -- providers -- */

static void no_provider(const char *name, enum text_id text) {
  struct provider provider;
  struct err err = {0};
  assert_int_equal(provider_open(str_of(name), STR_NONE, &provider, &err), REIN_INPUT);
  assert_int_equal(err.text, text);
  provider_close(&provider);
}

static void test_providers(void **state) {
  struct provider p;
  struct err err;
  struct str path;
  (void)state;
  assert_int_equal(provider_open(STR("anthropic/claude/x"), STR_NONE, &p, &err), REIN_OK);
  assert_text(p.model, "claude/x");
  assert_ptr_equal(p.wire, &wire_anthropic);
  assert_null(p.script);
  provider_close(&p);
  assert_int_equal(provider_open(STR("openai/gpt-5"), STR_NONE, &p, &err), REIN_OK);
  assert_ptr_equal(p.wire, &wire_openai);
  provider_close(&p);
  assert_int_equal(provider_open(STR("chat/qwen/x:free"), STR_NONE, &p, &err), REIN_OK);
  assert_ptr_equal(p.wire, &wire_chat);
  assert_text(p.model, "qwen/x:free");
  provider_close(&p);
  assert_int_equal(provider_open(STR("demo"), STR_NONE, &p, &err), REIN_OK);
  assert_non_null(p.script);
  provider_close(&p);
  assert_true(provider_script_path(STR("script:a:b"), &path));
  assert_text(path, "a:b");
  assert_false(provider_script_path(STR("anthropic/x"), &path));
  assert_int_equal(provider_open(STR("script:x"),
                                 STR("{\"scenarios\":[{\"replies\":[{\"text\":\"a\"}]}]}"), &p,
                                 &err),
                   REIN_OK);
  assert_non_null(p.script);
  provider_close(&p);
  assert_int_equal(provider_open(STR("script:x"), STR("{"), &p, &err), REIN_INPUT);
  provider_close(&p);
  no_provider("", T_DRIVER_PROVIDER_NONE);
  no_provider("claude", T_DRIVER_PROVIDER_BARE);
  no_provider("anthropic", T_DRIVER_MODEL_NONE);
  no_provider("anthropic/", T_DRIVER_MODEL_NONE);
  no_provider("openai", T_DRIVER_MODEL_NONE);
  no_provider("chat/", T_DRIVER_MODEL_NONE);
  no_provider("/x", T_DRIVER_PROVIDER_UNKNOWN);
  no_provider("google/x", T_DRIVER_PROVIDER_UNKNOWN);
  no_provider("script:", T_DRIVER_SCRIPT_NONE);
  no_provider("anthropic/a\x01", T_DRIVER_MODEL_BYTE);
  no_provider("anthropic/a\xff", T_DRIVER_MODEL_BYTE);
}

/* -- addresses -- */

static void address(const char *base, enum rein_code code, const char *url) {
  struct address a = {0};
  struct secret key = {0};
  struct err err = {0};
  assert_int_equal(secret_take(&key, STR("sk-abcdef"), &err), REIN_OK);
  assert_int_equal(address_init(&a, &wire_anthropic, str_of(base), &key, &err), code);
  if (code == REIN_OK) {
    assert_string_equal(a.url, url);
    assert_string_equal(a.line[0], "content-type: application/json");
    size_t n = 0;
    while (a.line[n])
      n++;
    assert_true(n >= 4 && n < ADDRESS_LINES_MAX);
  }
  address_release(&a);
  secret_release(&key);
}

static void test_addresses(void **state) {
  (void)state;
  address("", REIN_OK, "https://api.anthropic.com/v1/messages");
  address("http://127.0.0.1:8080", REIN_OK, "http://127.0.0.1:8080/v1/messages");
  address("https://x.example/proxy//", REIN_OK, "https://x.example/proxy/v1/messages");
  address("file:///etc/passwd", REIN_INPUT, NULL);
  address("api.anthropic.com", REIN_INPUT, NULL);
  address("http://", REIN_INPUT, NULL);
  address("http:///v1", REIN_INPUT, NULL);
  address("https://a b", REIN_INPUT, NULL);
  address("https://a\n", REIN_INPUT, NULL);
  address("https://key@x.example", REIN_INPUT, NULL);
  address("https://x.example/a@b", REIN_OK, "https://x.example/a@b/v1/messages");
}

/* -- names and lines -- */

static void test_names(void **state) {
  struct run_name a, b;
  struct err err;
  uint64_t seed = 0, other = 0;
  (void)state;
  assert_int_equal(run_id_make(&a, &err), REIN_OK);
  assert_int_equal(run_id_make(&b, &err), REIN_OK);
  assert_int_equal(strlen(a.s), 22);
  assert_int_equal(a.s[8], '-');
  assert_int_equal(a.s[15], '-');
  assert_int_equal(strspn(a.s, "0123456789abcdef-"), 22);
  assert_string_not_equal(a.s, b.s);
  assert_int_equal(run_seed_make(&seed, &err), REIN_OK);
  assert_int_equal(run_seed_make(&other, &err), REIN_OK);
  assert_true(seed != other);
}

static void test_lines(void **state) {
  const struct fault fault = {.kind = FAULT_OVERLOADED, .status = 529, .message = STR("a\"b")};
  struct buf out;
  (void)state;
  buf_init(&out, 4096);
  stream_put_piece(&out, STR("Hel\n"), false);
  assert_string_equal(buf_z(&out), "{\"stream\":\"piece\",\"text\":\"Hel\\n\"}");
  buf_reset(&out);
  stream_put_piece(&out, STR("hm"), true);
  assert_string_equal(buf_z(&out), "{\"stream\":\"piece\",\"thinking\":\"hm\"}");
  buf_reset(&out);
  stream_put_warning(&out, STR("odd \"x\""));
  assert_string_equal(buf_z(&out), "{\"stream\":\"warning\",\"text\":\"odd \\\"x\\\"\"}");
  buf_reset(&out);
  stream_put_withdrawn(&out);
  assert_string_equal(buf_z(&out), "{\"stream\":\"withdrawn\"}");
  buf_reset(&out);
  stream_put_retry(&out, &fault, 500);
  assert_string_equal(buf_z(&out), "{\"stream\":\"retry\",\"wait_ms\":500,\"fault\":\"overloaded\","
                                   "\"status\":529,\"message\":\"a\\\"b\"}");
  buf_release(&out);
}

static void test_outcomes(void **state) {
  (void)state;
  assert_string_equal(rein_outcome_word(REIN_OUTCOME_NO_PROGRESS), "no_progress");
  assert_int_equal(rein_outcome_exit(REIN_OUTCOME_NO_PROGRESS), 14);
  assert_string_equal(rein_outcome_word(REIN_OUTCOME_NONE), "none");
  assert_int_equal(rein_outcome_exit(REIN_OUTCOME_FINISHED), 0);
}

/* -- every allocation of the parts fails in turn -- */

static bool parts(void *ctx) {
  struct secret key = {0};
  struct address a = {0};
  struct arena arena;
  struct str told;
  struct err err;
  (void)ctx;
  arena_init(&arena, 1u << 20);
  bool ok = secret_take(&key, STR("sk-abcdef"), &err) == REIN_OK;
  ok = ok && address_init(&a, &wire_anthropic, STR_NONE, &key, &err) == REIN_OK;
  if (ok && secret_tidy(&arena, &key, STR("no such key: sk-abcdef\xff"), &told)) {
    assert_text(told, "no such key: [key]\xef\xbf\xbd");
  } else {
    ok = false;
  }
  address_release(&a);
  secret_release(&key);
  arena_release(&arena);
  return ok;
}

static void test_parts_without_memory(void **state) {
  (void)state;
  assert_true(oom_each(parts, NULL) > 5);
}

/* -- a journal that fails -- */

struct failing {
  struct journal journal;
  int appends, commits; /* until they fail */
  bool closed;
};

static enum rein_code fail_append(struct journal *journal, struct str record, struct err *err) {
  struct failing *f = (struct failing *)journal;
  (void)record;
  return f->appends-- > 0 ? REIN_OK : ERR(err, REIN_SYSTEM, T_STORE_MEMORY_FULL);
}

static enum rein_code fail_commit(struct journal *journal, bool *later, struct err *err) {
  *later = false;
  struct failing *f = (struct failing *)journal;
  return f->commits-- > 0 ? REIN_OK : ERR(err, REIN_SYSTEM, T_STORE_MEMORY_FULL);
}

static enum rein_code fail_record(struct journal *journal, size_t i, struct str *line,
                                  struct err *err) {
  (void)journal;
  (void)i;
  (void)err;
  *line = STR_NONE;
  return REIN_OK;
}

static void fail_close(struct journal *journal) {
  ((struct failing *)journal)->closed = true;
}

static const struct journal_kind failing_kind = {
    .append = fail_append, .commit = fail_commit, .record = fail_record, .close = fail_close};

static atomic_int ran;

static int tool_counts(struct rein_call *call) {
  atomic_fetch_add(&ran, 1);
  return rein_call_result(call, "ran", SIZE_MAX);
}

static bool serve_a_call(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  struct reply_text r;
  (void)ctx;
  (void)peer;
  (void)n;
  (void)body;
  reply_begin(&r);
  reply_call(&r, "toolu_1", "counts", "{}");
  reply_end(&r, "tool_use");
  peer_stream_begin(fd);
  peer_stream(fd, buf_str(&r.b));
  peer_stream_end(fd);
  buf_release(&r.b);
  return true;
}

/* Nothing happens before it is written down: with the n-th write failing, no
 * request has left and no tool has run that the journal does not know. */
static void fails_after(int appends, int commits, size_t requests, int calls) {
  const struct rein_tool row[] = {ROW("counts", tool_counts, NULL)};
  struct failing f = {.journal = {.kind = &failing_kind}, .appends = appends, .commits = commits};
  struct err err = {0};
  struct run *run;
  struct world w;
  atomic_store(&ran, 0);
  world_open(&w, serve_a_call, NULL);
  struct run_spec spec = world_spec(&w, row, 1);
  spec.journal = &f.journal;
  assert_int_equal(driver_add(w.driver, &spec, &run, &err), REIN_OK);
  assert_int_equal(driver_say(run, STR("go"), &err), REIN_OK);
  loop_run(w.loop);
  assert_int_equal(run_ended(run)->outcome, REIN_OUTCOME_STORE_FAILED);
  assert_int_equal(report_exit(run), 23);
  assert_int_equal(peer_count(w.peer), requests);
  assert_int_equal(atomic_load(&ran), calls);
  assert_int_equal(driver_say(run, STR("again"), &err), REIN_INPUT);
  world_close(&w);
  assert_true(f.closed);
}

static void test_a_journal_that_fails(void **state) {
  (void)state;
  fails_after(1, 99, 0, 0); /* the words */
  fails_after(2, 99, 0, 0); /* the grant */
  fails_after(99, 0, 0, 0); /* the commit before the request */
  fails_after(3, 99, 1, 0); /* the reply */
  fails_after(4, 99, 1, 0); /* STARTED */
  fails_after(99, 1, 1, 0); /* the commit before the call */
  fails_after(5, 99, 1, 1); /* the result */
  fails_after(99, 2, 1, 1); /* the commit before the next request */
  struct failing f = {.journal = {.kind = &failing_kind}};
  struct err err = {0};
  struct run *run;
  struct world w;
  world_open(&w, NULL, NULL);
  struct run_spec spec = world_spec(&w, NULL, 0);
  spec.journal = &f.journal;
  assert_int_equal(driver_add(w.driver, &spec, &run, &err), REIN_SYSTEM);
  assert_true(f.closed);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_masks),
      cmocka_unit_test(test_providers),
      cmocka_unit_test(test_addresses),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_outcomes),
      cmocka_unit_test(test_parts_without_memory),
      cmocka_unit_test(test_a_journal_that_fails),
  };
  return cmocka_run_group_tests(tests, world_warm, NULL);
}
