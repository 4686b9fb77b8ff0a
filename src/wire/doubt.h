/* Doubts about a reply that came whole: signs that the server is set up wrongly, which no
 * error tells (fact sheet "openai-chat" §3, rows 35 and 36). They decide nothing; a
 * person is told. */
#pragma once

#include "core/block.h"
#include "core/usage.h"

/* A call left as text in a reply without calls: how its text begins, else empty. Known
 * are the marks of models' own formats, and an object of a tool's name with arguments.
 * `names`: of the tools that were offered. */
struct str doubt_left_call(const struct reply *reply, const struct str *names, size_t count);

/* Two requests of a run, the newer one with the older one's messages before its own. */
struct doubt_sizes {
  size_t body, body_before;      /* bytes; before: 0 none */
  int64_t prompt, prompt_before; /* tokens counted; 0: not told */
  int64_t output_before;         /* of all replies so far: some of it may be left out again */
};
/* Fewer tokens were counted than such a prompt can have: the server cut it silently. */
bool doubt_cut_prompt(const struct doubt_sizes *sizes);
