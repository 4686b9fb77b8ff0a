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

/* Multiply and fold, eight bytes a step (as in FNV, but wider); the length ends it. */
uint64_t hash_bytes(struct str s) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t h = HASH_START, word = 0;
  size_t i = 0;
  for (; i + sizeof word <= s.n; i += sizeof word) {
    memcpy(&word, s.p + i, sizeof word);
    h = (h ^ word) * odd;
    h ^= h >> 29;
  }
  word = 0;
  if (i < s.n) memcpy(&word, s.p + i, s.n - i);
  return hash_end(hash_num((h ^ word) * odd, s.n));
}
