/* A policy, a tool that takes everything, and calls of it judged by rules alone. */
#pragma once

#include "policy/policy.h"
#include "text/text.h"

#include "support/test.h"

struct judged {
  struct arena arena;
  struct policy policy;
  struct err err;
  enum rein_code code;
};

static const struct rein_tool judged_rows[] = {
    {.name = "read_file", .touches = REIN_READS_PRIVATE, .verdict = REIN_ALLOW, .paths = "path"},
    {.name = "write_file", .touches = REIN_WRITES, .verdict = REIN_ASK, .paths = "path"},
    {.name = "http_get", .touches = REIN_OUTSIDE, .verdict = REIN_ASK, .urls = "url"},
    {.name = "exec",
     .touches = REIN_READS_PRIVATE | REIN_WRITES,
     .verdict = REIN_ASK,
     .commands = "command,argv"},
    {.name = "github", .touches = REIN_OUTSIDE, .verdict = REIN_ALLOW, .hosts = "api.github.com"},
    {.name = "get_time", .touches = REIN_TOUCHES_NOTHING, .verdict = REIN_ALLOW},
};
#define JUDGED_ROWS (sizeof judged_rows / sizeof *judged_rows)

static inline void judged_load(struct judged *j, const char *text) {
  struct json *doc;
  *j = (struct judged){0};
  arena_init(&j->arena, 64u << 20);
  j->code = json_parse(&j->arena, str_of(text), JSON_COMMENTS | JSON_UNIQUE, &doc, &j->err);
  if (j->code == REIN_OK) j->code = policy_load(&j->arena, doc, &j->policy, &j->err);
}

static inline const struct rein_tool *judged_row(const char *tool) {
  for (size_t i = 0; i < JUDGED_ROWS; i++)
    if (strcmp(judged_rows[i].name, tool) == 0) return &judged_rows[i];
  return NULL;
}

/* REIN_MEMORY, or the decision about the tool's call with this JSON. */
static inline enum rein_code judged_call(struct judged *j, const char *tool, struct str args,
                                         struct decision *d) {
  struct json *doc;
  struct subject subject;
  struct err err;
  enum rein_code code = json_parse(&j->arena, args, JSON_UNIQUE, &doc, &err);
  if (code == REIN_OK)
    code = subject_read(&j->arena, judged_row(tool), doc, STR("/home/u/proj"), &subject);
  return code ? code : policy_decide(&j->arena, &j->policy, &subject, d);
}

/* The same for a call of exec with this text. */
static inline struct decision judged_command(struct judged *j, struct str command) {
  struct json text = {.kind = JSON_STRING, .text = command, .key = STR("command")};
  struct json args = {.kind = JSON_OBJECT, .first = &text, .count = 1};
  struct subject subject;
  struct decision d = {0};
  assert_int_equal(
      subject_read(&j->arena, judged_row("exec"), &args, STR("/home/u/proj"), &subject), REIN_OK);
  assert_int_equal(policy_decide(&j->arena, &j->policy, &subject, &d), REIN_OK);
  return d;
}
