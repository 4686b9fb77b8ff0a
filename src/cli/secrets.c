/* Masks several values one after the other; driver/secret.c knows how one is
 * found. */
#include "cli/secrets.h"

#include <assert.h>

void secrets_add(struct secrets *secrets, struct str value) {
  value = str_trim(value);
  if (!value.n) return;
  assert(secrets->count < SECRETS_MAX);
  /* Masking only reads; the struct's pointer is for owners that wipe. */
  secrets->values[secrets->count++] = (struct secret){(char *)(uintptr_t)value.p, value.n};
}

void secrets_mask(const struct secrets *secrets, struct buf *out, struct str s) {
  struct buf room[2] = {{0}, {0}};
  size_t used = 0;
  for (size_t i = 0; i < secrets->count; i++) {
    if (secrets->values[i].n < SECRET_MASK_MIN) continue;
    struct buf *to = &room[used++ % 2];
    buf_release(to);
    buf_init(to, out->max);
    secret_mask(to, &secrets->values[i], s);
    if (to->fail) out->fail = to->fail;
    s = buf_str(to);
  }
  buf_put(out, s);
  buf_release(&room[0]);
  buf_release(&room[1]);
}

/* Bytes at the end of s that a secret begins with. */
static size_t open_tail(const struct secret *secret, struct str s) {
  if (secret->n < SECRET_MASK_MIN) return 0;
  size_t n = secret->n - 1 < s.n ? secret->n - 1 : s.n;
  while (n && memcmp(s.p + s.n - n, secret->p, n) != 0)
    n--;
  return n;
}

void secrets_join(const struct secrets *secrets, struct buf *held, struct buf *out,
                  struct str piece) {
  size_t tail = 0;
  buf_put(held, piece);
  struct str s = buf_str(held);
  for (size_t i = 0; i < secrets->count; i++) {
    size_t n = open_tail(&secrets->values[i], s);
    if (n > tail) tail = n;
  }
  secrets_mask(secrets, out, str_part(s, 0, s.n - tail));
  if (held->fail) out->fail = held->fail;
  if (tail) memmove(held->p, held->p + s.n - tail, tail);
  buf_cut(held, tail);
}
