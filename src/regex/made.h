/* A made pattern, between regex.c, which makes it, and match.c, which uses it. */
#pragma once

#include "regex/look.h"
#include "regex/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 16
#include <pcre2.h>

struct regex {
  pcre2_general_context *memory; /* PCRE2's door to mem.h */
  pcre2_code *code;
  bool jit, names_cr;
  uint16_t *fold; /* fold.h; NULL: case counts */
  struct look look;
};

struct look_run *regex_scratch_look(struct regex_scratch *scratch);
