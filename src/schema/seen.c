/* Sets of items or members, by their place in the value. */
#include "schema/eval.h"

#define FEW 64

bool seen_init(struct check *c, struct seen *seen, const struct json *value) {
  *seen = (struct seen){.n = value->count};
  if (value->count <= FEW) return true;
  seen->many = check_alloc(c, sizeof *seen->many, (value->count + FEW - 1) / FEW);
  return seen->many && check_spend(c, (int64_t)(value->count / FEW));
}

void seen_mark(struct seen *seen, size_t i) {
  uint64_t *word = seen->many ? &seen->many[i / FEW] : &seen->few;
  *word |= UINT64_C(1) << i % FEW;
}

bool seen_has(const struct seen *seen, size_t i) {
  uint64_t word = seen->many ? seen->many[i / FEW] : seen->few;
  return word >> i % FEW & 1;
}

void seen_add(struct seen *to, const struct seen *from) {
  to->few |= from->few;
  for (size_t i = 0; to->many && i < (to->n + FEW - 1) / FEW; i++)
    to->many[i] |= from->many[i];
}
