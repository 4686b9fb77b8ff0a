/* The packs that come with rein (packs/NAME.json), carried inside: one file to install. */
#include "pack/pack.h"

#define EMBED(name)                                                                                \
  __asm__(".section .rodata\n"                                                                     \
          "rein_pack_" #name "_begin:\n.incbin \"packs/" #name ".json\"\n"                         \
          "rein_pack_" #name "_end:\n.byte 0\n.previous\n");                                       \
  extern const char rein_pack_##name##_begin[] __attribute__((visibility("hidden")));              \
  extern const char rein_pack_##name##_end[] __attribute__((visibility("hidden")));

#define SHIPPED(X) X(notion) X(airtable) X(github) X(git)

SHIPPED(EMBED)
EMBED(skeleton)

static const struct {
  const char *name, *begin, *end;
} shipped[] = {
#define ROW(name) {#name, rein_pack_##name##_begin, rein_pack_##name##_end},
    SHIPPED(ROW)
#undef ROW
};

struct str pack_skeleton(void) {
  return (struct str){rein_pack_skeleton_begin,
                      (size_t)(rein_pack_skeleton_end - rein_pack_skeleton_begin)};
}

const char *pack_shipped_name(size_t i) {
  return i < sizeof shipped / sizeof *shipped ? shipped[i].name : NULL;
}

bool pack_shipped(struct str name, struct str *text) {
  for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
    if (!str_is(name, shipped[i].name)) continue;
    *text = (struct str){shipped[i].begin, (size_t)(shipped[i].end - shipped[i].begin)};
    return true;
  }
  return false;
}
