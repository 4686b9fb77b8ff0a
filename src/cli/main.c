/* The program rein. All of it is in program.c, which tests can link as well. */
#include "cli/program.h"

#include <malloc.h>

/* What a turn frees, the next one wants again: given back to the system and
 * asked for anew, it would cost more than the turn's own work. Above the bodies
 * of most requests. */
#define HEAP_KEPT (4 << 20)

int main(int argc, char **argv, char **envp) {
  (void)mallopt(M_TRIM_THRESHOLD, HEAP_KEPT);
  (void)mallopt(M_MMAP_THRESHOLD, HEAP_KEPT);
  return program(argc, argv, envp);
}
