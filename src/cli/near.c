/* Edit distance between short names (insert, delete, replace, swap of
 * neighbours), by the usual three rows. Not for text: names of at most 32 bytes. */
#include "cli/near.h"

#define NAME_MAX_BYTES 32 /* no option, tool or key is longer; longer words are no typos of one */

static size_t min3(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

static size_t distance(struct str a, struct str b) {
  size_t rows[3][NAME_MAX_BYTES + 1];
  for (size_t j = 0; j <= b.n; j++)
    rows[0][j] = j;
  size_t *older = rows[2], *last = rows[0], *row = rows[1];
  for (size_t i = 1; i <= a.n; i++) {
    row[0] = i;
    for (size_t j = 1; j <= b.n; j++) {
      size_t differs = a.p[i - 1] != b.p[j - 1];
      row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + differs);
      bool swapped = i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1];
      if (swapped && older[j - 2] + 1 < row[j]) row[j] = older[j - 2] + 1;
    }
    size_t *spare = older;
    older = last;
    last = row;
    row = spare;
  }
  return last[b.n];
}

void near_try(struct near *near, struct str candidate) {
  struct str wanted = near->wanted;
  if (wanted.n == 0 || wanted.n > NAME_MAX_BYTES || candidate.n > NAME_MAX_BYTES) return;
  size_t d = distance(wanted, candidate);
  size_t most = wanted.n < 4 ? 1 : wanted.n / 3;
  if (d > most || (near->best.n && d >= near->distance)) return;
  near->best = candidate;
  near->distance = d;
}
