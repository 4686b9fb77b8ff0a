/* What one verdict on a typical command costs: bench/policy builds and runs it. */
#include "policy/policy.h"

#include <stdio.h>
#include <time.h>

#define ROUNDS 20000

static const char rules[] =
    "{\"rules\":{\"exec(git diff *)\":\"allow\",\"exec(git status *)\":\"allow\",\"exec(ls *)\":"
    "\"allow\",\"exec(cat *)\":\"allow\",\"exec(rm *)\":\"deny\",\"exec(git push *)\":\"deny\","
    "\"path(**/.env)\":\"deny\",\"path(.git/**)\":\"deny\",\"host(*.internal)\":\"deny\"}}";
static const char *const commands[] = {
    "git diff --stat HEAD~1 -- src/main.c", "cat README.md && cat src/main.c",
    "timeout 5 git status --short && ls -la src", "for f in a b; do cat \"$f\"; done; git push"};
static const struct rein_tool row = {.name = "exec", .verdict = REIN_ASK, .commands = "command"};

static double now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static enum rein_verdict judge(const struct policy *policy, const char *command) {
  struct arena arena;
  struct decision d = {.verdict = REIN_UNDECIDED};
  struct subject s;
  struct json text = {.kind = JSON_STRING, .text = str_of(command), .key = STR("command")};
  struct json args = {.kind = JSON_OBJECT, .first = &text, .count = 1};
  arena_init(&arena, 64u << 20);
  if (subject_read(&arena, &row, &args, STR("/srv/proj"), &s) ||
      policy_decide(&arena, policy, &s, &d))
    d.verdict = REIN_UNDECIDED;
  arena_release(&arena);
  return d.verdict;
}

int main(void) {
  struct arena arena;
  struct json *doc;
  struct policy policy;
  struct err err;
  arena_init(&arena, 1u << 20);
  if (json_parse(&arena, str_of(rules), 0, &doc, &err) || policy_load(&arena, doc, &policy, &err))
    return 1;
  printf("| command | verdict | µs |\n|---|---|---|\n");
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    enum rein_verdict verdict = REIN_UNDECIDED;
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
      double from = now_us();
      for (int n = 0; n < ROUNDS / 5; n++)
        verdict = judge(&policy, commands[i]);
      double each = (now_us() - from) / (ROUNDS / 5);
      if (each < best) best = each;
    }
    printf("| `%s` | %s | %.1f |\n", commands[i], verdict_word(verdict), best);
  }
  arena_release(&arena);
  return 0;
}
