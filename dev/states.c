/* Prints the machine's states as a Mermaid diagram, from the table of legal moves
 * that src/core/agent.c asserts against. `make docs` puts it into
 * docs/ARCHITECTURE.md, dev/check-docs compares. Built for the project alone.
 */
#include "core/state.h"

#include <stdio.h>
#include <string.h>

static const char *word(const char *id) {
#define WORD_X(name, text)                                                                         \
  if (strcmp(id, #name) == 0) return text;
  STATES(WORD_X)
#undef WORD_X
  return id;
}

int main(void) {
  puts("```mermaid\nstateDiagram-v2\n  [*] --> ready");
#define MOVE_X(from, to, why) printf("  %s --> %s: %s\n", word(#from), word(#to), why);
  MOVES(MOVE_X)
#undef MOVE_X
  puts("```");
  return 0;
}
