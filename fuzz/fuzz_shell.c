/* The shell reader and a policy over it: any text, whole and cut. What a rule with
 * a pattern allows has one reading, and no word of it holds what would be put in. */
#include "policy/policy.h"

#include <stdlib.h>

#define CUTS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char rules[] = "{\"rules\":{\"exec(git diff *)\":\"allow\",\"exec(cat *)\":\"allow\","
                            "\"exec(rm *)\":\"deny\",\"path(**/.env)\":\"deny\"}}";
static const struct rein_tool row = {.name = "exec", .verdict = REIN_ASK, .commands = "command"};

static void judge(const struct policy *policy, struct str command) {
  struct arena arena;
  struct decision d;
  struct subject s;
  struct json text = {.kind = JSON_STRING, .text = command, .key = STR("command")};
  struct json args = {.kind = JSON_OBJECT, .first = &text, .count = 1};
  arena_init(&arena, 256u << 20);
  if (subject_read(&arena, &row, &args, STR("/r"), &s) == REIN_OK &&
      policy_decide(&arena, policy, &s, &d) == REIN_OK && d.verdict == REIN_ALLOW) {
    if (s.shells[0].unclear || !s.shells[0].count) abort();
    for (const struct shell_command *c = s.shells[0].first; c; c = c->next)
      for (size_t i = 0; i < c->count; i++)
        if (!c->words[i].fixed || c->guess) abort();
  }
  arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena;
  struct json *doc;
  struct policy policy;
  struct err err;
  struct str all = {(const char *)data, size};
  arena_init(&arena, 1u << 20);
  if (json_parse(&arena, str_of(rules), 0, &doc, &err) || policy_load(&arena, doc, &policy, &err))
    abort();
  judge(&policy, all);
  for (size_t n = 0; n < size && n < CUTS_MAX; n++)
    judge(&policy, str_part(all, 0, n));
  arena_release(&arena);
  return 0;
}
