/* What a run of 50 turns is billed, by the cache rules of the Messages API as the fact
 * sheet has them, played here: entries are written at breakpoints alone and read from at
 * most 20 blocks before one; a prefix of fewer than 1,024 tokens is not kept. Units are
 * those of an uncached token: a write costs 1.25, a read 0.1. Held: marks left out, each
 * request begins with the whole of the one before it; no more than four marks; and the
 * bill is within 5 % of the least possible, also where a turn adds many blocks.
 *
 * The lines that begin with "|" are the table of docs/BUDGETS.md (bench/billing).
 */
#include "base/hash.h"
#include "core/agent.h"
#include "json/json.h"
#include "shared.h"
#include "wire/wires.h"

#define TURNS 50
#define ENTRIES_MAX 1024
#define BLOCKS_MAX 8192
#define LOOKBACK 20
#define KEPT_LEAST 1024
#define BYTES_A_TOKEN 4
#define MARK STR(",\"cache_control\":{\"type\":\"ephemeral\"}")

struct piece {
  size_t end; /* of the block, in the body without marks */
  bool marked;
};

struct server {
  uint64_t entries[ENTRIES_MAX];
  size_t entry_count;
  struct piece pieces[BLOCKS_MAX];
  size_t piece_count;
  struct buf plain, before; /* this body and the last one, without marks */
  size_t ends_before;       /* of its last message */
  int64_t hundredths, naive, least, prompt_before, fresh_before;
  struct usage usage;
};

static int no_tool(struct rein_call *call) {
  (void)call;
  return 0;
}

static int64_t tokens(size_t bytes) {
  return (int64_t)bytes / BYTES_A_TOKEN;
}

/* The body without marks, and where each marked block ends in it. */
static void strip(struct server *s, struct str body, size_t *marks, size_t *count) {
  *count = 0;
  buf_reset(&s->plain);
  for (size_t i = 0; i < body.n;) {
    struct str rest = str_part(body, i, body.n);
    if (str_starts(rest, MARK)) {
      assert_true(*count < 4);
      marks[(*count)++] = s->plain.n + 1; /* the block's brace follows */
      i += MARK.n;
    } else {
      buf_c(&s->plain, body.p[i++]);
    }
  }
}

static void add_pieces(struct server *s, const struct json *list) {
  for (const struct json *b = list ? list->first : NULL; b; b = b->next) {
    assert_true(s->piece_count < BLOCKS_MAX);
    size_t end = (size_t)(b->source.p - s->plain.p) + b->source.n;
    s->pieces[s->piece_count++] = (struct piece){.end = end};
  }
}

static void read_body(struct server *s, struct str body) {
  struct arena arena;
  struct json *doc = NULL;
  size_t marks[4], count;
  strip(s, body, marks, &count);
  s->piece_count = 0;
  arena_init(&arena, 64u << 20);
  assert_int_equal(json_parse(&arena, buf_str(&s->plain), JSON_STRICT, &doc, NULL), REIN_OK);
  add_pieces(s, json_get(doc, "tools"));
  add_pieces(s, json_get(doc, "system"));
  const struct json *messages = json_get(doc, "messages");
  for (const struct json *m = messages->first; m; m = m->next)
    add_pieces(s, json_get(m, "content"));
  size_t found = 0;
  for (size_t i = 0; i < s->piece_count; i++)
    for (size_t k = 0; k < count; k++)
      if (s->pieces[i].end == marks[k]) found += s->pieces[i].marked = true;
  assert_int_equal(found, count);
  if (s->before.n) { /* all but what stands behind the last message is as it was */
    assert_true(s->plain.n > s->ends_before);
    assert_memory_equal(s->plain.p, s->before.p, s->ends_before);
  }
  s->ends_before = (size_t)(messages->source.p - s->plain.p) + messages->source.n - 1;
  buf_reset(&s->before);
  buf_put(&s->before, buf_str(&s->plain));
  arena_release(&arena);
}

static uint64_t prefix(const struct server *s, size_t i) {
  return hash_str(str_part(buf_str(&s->plain), 0, s->pieces[i].end));
}

static bool is_kept(const struct server *s, uint64_t hash) {
  for (size_t i = 0; i < s->entry_count; i++)
    if (s->entries[i] == hash) return true;
  return false;
}

/* How much is read for a breakpoint at block j. */
static size_t read_from(const struct server *s, size_t j) {
  for (size_t k = j + 1; k > 0 && j + 1 - k < LOOKBACK; k--)
    if (is_kept(s, prefix(s, k - 1))) return s->pieces[k - 1].end;
  return 0;
}

static void bill(struct server *s, struct str body) {
  size_t read = 0, written = 0;
  read_body(s, body);
  for (size_t j = 0; j < s->piece_count; j++) {
    if (!s->pieces[j].marked) continue;
    size_t from = read_from(s, j);
    if (from > read) read = from;
    if (tokens(s->pieces[j].end) >= KEPT_LEAST) written = s->pieces[j].end;
  }
  for (size_t j = 0; j < s->piece_count; j++) {
    bool keep = s->pieces[j].marked && tokens(s->pieces[j].end) >= KEPT_LEAST;
    if (!keep || is_kept(s, prefix(s, j))) continue;
    assert_true(s->entry_count < ENTRIES_MAX);
    s->entries[s->entry_count++] = prefix(s, j);
  }
  int64_t all = tokens(s->plain.n), hit = tokens(read);
  int64_t made = written > read ? tokens(written) - hit : 0;
  s->usage = (struct usage){.input = all - hit - made,
                            .cache_read = hit,
                            .cache_write = made,
                            .output = 60,
                            .known_input = true,
                            .known_output = true};
  s->hundredths += 100 * s->usage.input + 10 * hit + 125 * made;
  s->naive += 100 * all;
  s->least += 10 * s->prompt_before + 125 * (all - s->prompt_before);
  s->fresh_before = all - s->prompt_before;
  s->prompt_before = all;
}

/* -- a run -------------------------------------------------------------------- */

#define CALLS_MAX 40

static void feed(struct agent *a, struct event e) {
  struct err err = {0};
  assert_int_equal(agent_feed(a, &e, &err), REIN_OK);
}

static void answer(struct agent *a, const struct server *s, uint32_t id, int turn, size_t calls) {
  struct block blocks[CALLS_MAX + 2];
  char ids[CALLS_MAX][48], args[CALLS_MAX][64];
  size_t n = 0;
  blocks[n++] = (struct block){.kind = BLOCK_THINKING,
                               .raw = STR("{\"type\":\"thinking\",\"thinking\":\"\","
                                          "\"signature\":\"c2lnbmVk\"}"),
                               .wire = STR("anthropic")};
  blocks[n++] = (struct block){.kind = BLOCK_TEXT, .text = STR("다음 파일을 읽겠습니다.")};
  for (size_t i = 0; i < calls && turn < TURNS; i++) {
    snprintf(ids[i], sizeof ids[i], "toolu_%d_%zu", turn, i);
    snprintf(args[i], sizeof args[i], "{\"path\":\"src/part_%d_%zu.c\"}", turn, i);
    blocks[n++] = (struct block){
        .kind = BLOCK_TOOL_USE, .id = str_of(ids[i]), .name = STR("read"), .args = str_of(args[i])};
  }
  struct reply reply = {.blocks = blocks,
                        .count = n,
                        .stop = turn < TURNS ? STOP_TOOLS : STOP_END,
                        .usage = s->usage};
  feed(a, (struct event){.kind = EVENT_REPLY, .id = id, .reply = &reply});
}

static void run_tool(struct agent *a, uint32_t id, struct buf *text, size_t bytes) {
  buf_reset(text);
  while (text->n < bytes)
    buf_fmt(text, "%zu: return \"%u\\n\"; /* 한 줄 */\n", text->n, (unsigned)id);
  feed(a, (struct event){.kind = EVENT_STARTED, .id = id});
  feed(a, (struct event){.kind = EVENT_RESULT, .id = id, .text = buf_str(text)});
}

static struct agent *new_agent(struct buf *system) {
  static const struct rein_tool rows[] = {{.name = "read",
                                           .description = "reads a file",
                                           .schema = "{\"type\":\"object\"}",
                                           .touches = REIN_READS_PRIVATE,
                                           .verdict = REIN_ALLOW,
                                           .run = no_tool}};
  struct agent *a;
  struct err err = {0};
  while (system->n < 6000)
    buf_lit(system, "Follow the style of the file that you change. ");
  struct agent_config c = {.wire = &wire_anthropic,
                           .model = STR("claude-sonnet-5"),
                           .system = buf_str(system),
                           .rows = rows,
                           .row_count = 1};
  c.limits = (struct rein_limits){.max_turns = REIN_OFF, .token_budget = REIN_OFF};
  c.limits.time_ms = INT64_C(1) << 40;
  assert_int_equal(agent_new(&c, &a, &err), REIN_OK);
  return a;
}

static void check_run(size_t calls, size_t bytes) {
  struct server *s = mem_zero(sizeof *s);
  struct buf system, text;
  struct action action;
  int turn = 0;
  buf_init(&system, 1 << 20);
  buf_init(&text, 1 << 20);
  buf_init(&s->plain, 64u << 20);
  buf_init(&s->before, 64u << 20);
  struct agent *a = new_agent(&system);
  feed(a, (struct event){.kind = EVENT_SAY, .text = STR("이 프로젝트를 정리해 줘")});
  while (agent_next(a, &action)) {
    if (action.kind == ACTION_RESERVE)
      feed(a, (struct event){.kind = EVENT_GRANTED, .id = action.id, .tokens = action.tokens});
    if (action.kind == ACTION_SEND) {
      bill(s, action.body);
      answer(a, s, action.id, turn++, calls);
    }
    if (action.kind == ACTION_RUN) run_tool(a, action.id, &text, bytes);
  }
  assert_int_equal(agent_stats(a).turns, TURNS);
  s->least -= 25 * s->fresh_before; /* nobody reads what the last request would write */
  print_message("| %zu | %lld | %lld | %lld | %lld.%02lld | %lld.%lld |\n", calls,
                (long long)s->naive / 100, (long long)s->least / 100,
                (long long)s->hundredths / 100, (long long)(s->hundredths * 100 / s->least / 100),
                (long long)(s->hundredths * 100 / s->least % 100),
                (long long)(s->naive / s->hundredths),
                (long long)(s->naive * 10 / s->hundredths % 10));
  assert_true(s->hundredths >= s->least);
  assert_true(s->hundredths * 100 <= s->least * 105);
  agent_free(a);
  buf_release(&system);
  buf_release(&text);
  buf_release(&s->plain);
  buf_release(&s->before);
  mem_free(s);
}

static void a_run_is_cheap(void **state) {
  (void)state;
  print_message("| calls a turn | naive | least | billed | of least | naive ÷ billed |\n");
  check_run(1, 2000);
  check_run(3, 1000);
  check_run(12, 500);
  check_run(17, 300);
  check_run(CALLS_MAX, 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_is_cheap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
