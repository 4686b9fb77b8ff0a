/* Conversations made up from a seed, and their requests: for the tests that
 * look at what goes out. */
#pragma once

#include "base/arena.h"
#include "shared.h"

#define TALK_MAX 64
#define TALK_BLOCKS 40

struct talk_test {
  const struct wire *wire;
  const struct quirks *quirks;
  struct arena arena;
  uint64_t seed;
  struct str messages[TALK_MAX];
  enum role roles[TALK_MAX];
  size_t count;
  struct str tools;
};

static inline uint64_t talk_dice(struct talk_test *t, uint64_t n) {
  t->seed = t->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (t->seed >> 33) % n;
}

static inline void talk_add(struct talk_test *t, enum role role, const struct block *blocks,
                            size_t count) {
  struct buf b;
  struct message m = {role, blocks, count};
  buf_init(&b, 1 << 20);
  assert_true(t->count < TALK_MAX);
  bool sent = t->wire->put_message(&b, &m, false, t->quirks);
  assert_int_equal(b.fail, REIN_OK);
  t->messages[t->count] = STR_NONE;
  if (sent) assert_true(arena_str(&t->arena, buf_str(&b), &t->messages[t->count]));
  t->roles[t->count++] = role;
  buf_release(&b);
}

static inline struct str talk_word(struct talk_test *t) {
  static const char *const words[] = {"가나다", "\"quoted\" {[",       "a\\b\n}]", "🙂", "plain",
                                      "]}",     "{\"type\":\"text\",", " \t"};
  return str_of(words[talk_dice(t, sizeof words / sizeof *words)]);
}

/* A turn: a reply of up to `most` blocks, then the results of its calls. */
static inline void talk_turn(struct talk_test *t, size_t most) {
  static const char signed_raw[] =
      "{\"signature\":\"s}\",\"type\":\"thinking\",\"thinking\":\"{ \\\" ]\" }";
  static const char item_raw[] =
      "{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[],\"encrypted_content\":\"} ]\"}";
  static const char chat_raw[] = "{\"reasoning_content\":\"} ]\"}";
  const char *raw = t->wire == &wire_anthropic ? signed_raw
                    : t->wire == &wire_openai  ? item_raw
                                               : chat_raw;
  struct block said[TALK_BLOCKS] = {0}, results[TALK_BLOCKS] = {0};
  size_t n = 1 + talk_dice(t, most), calls = 0;
  for (size_t i = 0; i < n; i++) {
    struct num_text *room = arena_new(&t->arena, struct num_text);
    assert_non_null(room);
    struct str id = str_num(room, (int64_t)(t->count * 100 + i));
    switch (talk_dice(t, 4)) {
    case 0: said[i] = (struct block){.kind = BLOCK_TEXT, .text = talk_word(t)}; break;
    case 1:
      said[i] =
          (struct block){.kind = BLOCK_THINKING, .raw = str_of(raw), .wire = str_of(t->wire->name)};
      break;
    default:
      said[i] = (struct block){.kind = BLOCK_TOOL_USE,
                               .id = id,
                               .name = STR("read_file"),
                               .args = talk_dice(t, 8) ? STR("{\"path\": \"a\", \"n\":1.0}")
                                                       : STR("{\"path\": \"a"),
                               .args_bad = false};
      said[i].args_bad = !str_ends(said[i].args, STR("}"));
      results[calls++] = (struct block){.kind = BLOCK_TOOL_RESULT,
                                        .id = id,
                                        .text = STR("(no output)"),
                                        .is_error = talk_dice(t, 3) == 0};
    }
  }
  if (calls == 0) return;
  talk_add(t, ROLE_ASSISTANT, said, n);
  if (talk_dice(t, 3) == 0)
    results[calls++] = (struct block){.kind = BLOCK_TEXT, .text = STR("a note")};
  talk_add(t, ROLE_USER, results, calls);
}

static inline void talk_start_on(struct talk_test *t, const struct wire *wire, uint64_t seed) {
  struct tool tool = {.name = STR("read_file"), .schema = STR("{\"type\":\"object\"}")};
  struct buf tools;
  *t = (struct talk_test){.wire = wire, .seed = seed};
  arena_init(&t->arena, 16u << 20);
  buf_init(&tools, 4096);
  wire->put_tools(&tools, &tool, 1);
  assert_true(arena_str(&t->arena, buf_str(&tools), &t->tools));
  buf_release(&tools);
  talk_add(t, ROLE_USER, &(struct block){.kind = BLOCK_TEXT, .text = STR("안녕, 읽어 줘")}, 1);
}

static inline void talk_start(struct talk_test *t, uint64_t seed) {
  talk_start_on(t, &wire_anthropic, seed);
}

static inline void talk_request(struct talk_test *t, struct buf *out, bool no_tools) {
  struct request r = {.model = STR("claude-x"),
                      .system = STR("Be brief."),
                      .tools = t->tools,
                      .messages = t->messages,
                      .roles = t->roles,
                      .count = t->count,
                      .output_limit = 4096 - (int64_t)t->count,
                      .no_tools = no_tools,
                      .quirks = t->quirks};
  t->wire->put_request(out, &r);
  assert_int_equal(out->fail, REIN_OK);
}
