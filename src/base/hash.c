/* FNV-1a, 64 bits, with the final mix of SplitMix64: FNV alone leaves its high
 * bits almost untouched by the last bytes.
 */
#include "base/hash.h"

#define FNV_PRIME UINT64_C(0x100000001b3)

uint64_t hash_add(uint64_t h, struct str s) {
  for (size_t i = 0; i < s.n; i++)
    h = (h ^ (unsigned char)s.p[i]) * FNV_PRIME;
  return h;
}

uint64_t hash_num(uint64_t h, uint64_t v) {
  for (int i = 0; i < 8; i++, v >>= 8)
    h = (h ^ (v & 0xff)) * FNV_PRIME;
  return h;
}

uint64_t hash_end(uint64_t h) {
  h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
  return h ^ (h >> 31);
}
