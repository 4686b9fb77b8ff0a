/* Two tools, a policy and an approval function, on librein alone. `make examples`, then here
 *   build/plain/examples/agent                                   # offline, scripted
 *   ANTHROPIC_API_KEY=... build/plain/examples/agent anthropic/MODEL "your words" */
#include <rein.h>
#include <stdio.h>
#include <stdlib.h>

static int stock(struct rein_call *call) {
  char line[128];
  snprintf(line, sizeof line, "%.80s: 3 left", rein_call_text(call, "item", ""));
  return rein_call_result(call, line, SIZE_MAX);
}

static int reorder(struct rein_call *call) {
  printf("  [reorder] %lld ordered\n", (long long)rein_call_int(call, "count", 1));
  return rein_call_result(call, "ordered, arriving tomorrow", SIZE_MAX);
}

static enum rein_verdict approve(void *ctx, const struct rein_question *q, char *why, size_t cap) {
  (void)ctx;
  printf("  [approve] %s(%.*s), because of: %s\n", q->tool, (int)q->args_len, q->args, q->rule);
  snprintf(why, cap, "small orders are fine");
  return REIN_ALLOW; /* a real one asks a person */
}

#define ITEM "{\"type\":\"object\",\"properties\":{\"item\":{\"type\":\"string\"}"
static const struct rein_tool tools[] = {
    {.name = "stock",
     .description = "How many of an item are on the shelf.",
     .run = stock,
     .touches = REIN_READS_PRIVATE,
     .schema = ITEM "}}"},
    {.name = "reorder",
     .description = "Order more of an item.",
     .run = reorder,
     .schema = ITEM ",\"count\":{\"type\":\"integer\"}}}"},
};

int main(int argc, char **argv) {
  struct rein_options o = {
      .size = sizeof o,
      .model = argc > 1 ? argv[1] : "script:examples/agent.json",
      .api_key = getenv("ANTHROPIC_API_KEY"),
      .tools = tools,
      .tool_count = 2,
      .approve = approve,
      .policy_json = "{\"default\":\"deny\",\"rules\":{\"stock\":\"allow\",\"reorder\":\"ask\"}}",
      .limits = {.max_turns = 8, .time_ms = 120000}};
  const char *task = argc > 2 ? argv[2] : "Is there enough tea? If not, order ten.";
  struct rein_report *report;
  struct rein_error error;
  if (rein_run(&o, task, &report, &error) != REIN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 2;
  }
  printf("%s\n(%s)\n", rein_report_text(report), rein_report_reason(report));
  int code = rein_outcome_exit(rein_report_outcome(report));
  rein_report_free(report);
  return code;
}
