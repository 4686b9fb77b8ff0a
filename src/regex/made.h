/* A made pattern, between regex.c, which makes it, and match.c, which uses it. */
#pragma once

#include "regex/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 16
#include <pcre2.h>

struct regex {
  pcre2_general_context *memory; /* PCRE2's door to mem.h */
  pcre2_code *code;
  bool jit;
  uint16_t *fold; /* fold.h; NULL: case counts */
  char *literal;  /* NULL: none */
  size_t literal_n;
};
