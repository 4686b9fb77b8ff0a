/* The guard's program (src/child), carried inside rein: so there is no second file
 * to install, to find or to be exchanged. */
#include "host/guard_image.h"

__asm__(".section .rodata\n.balign 16\n"
        "rein_guard_begin:\n.incbin \"" GUARD_FILE "\"\n"
        "rein_guard_end:\n.byte 0\n.previous\n");

extern const char rein_guard_begin[] __attribute__((visibility("hidden")));
extern const char rein_guard_end[] __attribute__((visibility("hidden")));

struct str guard_image(void) {
  return (struct str){rein_guard_begin, (size_t)(rein_guard_end - rein_guard_begin)};
}
