/* packs/pack.schema.json, carried inside: what is published is what is held. */
#include "pack/pack.h"

__asm__(".section .rodata\n"
        "rein_pack_shape_begin:\n.incbin \"packs/pack.schema.json\"\n"
        "rein_pack_shape_end:\n.byte 0\n.previous\n");

extern const char rein_pack_shape_begin[] __attribute__((visibility("hidden")));
extern const char rein_pack_shape_end[] __attribute__((visibility("hidden")));

struct str pack_shape(void) {
  return (struct str){rein_pack_shape_begin, (size_t)(rein_pack_shape_end - rein_pack_shape_begin)};
}
