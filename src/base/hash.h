/* A 64-bit hash for telling texts apart (FNV-1a with a final mix). Not for
 * keeping secrets, nor against someone who builds collisions. */
#pragma once

#include "base/str.h"

#define HASH_START UINT64_C(0xcbf29ce484222325)

uint64_t hash_add(uint64_t h, struct str s); /* more text */
uint64_t hash_num(uint64_t h, uint64_t v);   /* a number, all 64 bits */
uint64_t hash_end(uint64_t h);               /* spreads the bits */
uint64_t hash_bytes(struct str s);           /* another one, eight bytes at a time: for megabytes */
static inline uint64_t hash_str(struct str s) {
  return hash_end(hash_add(HASH_START, s));
}
