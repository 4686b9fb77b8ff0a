/* Values that must never be shown: keys, tokens, a proxy's password. They are
 * masked wherever the program writes something that came from elsewhere. */
#pragma once

#include "base/buf.h"
#include "driver/secret.h"

#define SECRETS_MAX 272 /* the provider's key, GitHub's token, a proxy's password, and of packs */

struct secrets {
  struct secret values[SECRETS_MAX]; /* borrowed from the environment */
  size_t count;
};

/* Notes a value; blank ones are none. */
void secrets_add(struct secrets *secrets, struct str value);
/* The part of a stream that may be shown: `piece` joins what is held, all of it
 * but a tail that may be the beginning of a secret goes masked to `out`. */
void secrets_join(const struct secrets *secrets, struct buf *held, struct buf *out,
                  struct str piece);
/* Appends s with every secret in it, however spelled, replaced. */
void secrets_mask(const struct secrets *secrets, struct buf *out, struct str s);
