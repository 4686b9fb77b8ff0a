/* A key: copied in, wiped out, and kept from every text that leaves. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/fault.h"

struct secret {
  char *p; /* NULL: none */
  size_t n;
};

/* Shorter ones are not masked: they would tear holes into ordinary words. */
#define SECRET_MASK_MIN 6

/* Copies `raw` without the blanks around it. Empty raw: no secret. REIN_INPUT,
 * with a sentence that does not quote it: controls, blanks inside, non-ASCII,
 * too long. */
enum rein_code secret_take(struct secret *secret, struct str raw, struct err *err) REIN_CHECKED;
void secret_release(struct secret *secret); /* wipes it; of a zeroed one: fine */
static inline struct str secret_str(const struct secret *secret) {
  return (struct str){secret->p, secret->n};
}
/* Appends `text` with the secret, also spelled as in a URL, in JSON or in
 * base64, replaced by "[key]". */
void secret_mask(struct buf *out, const struct secret *secret, struct str text);
/* Words from outside, fit to be told: well-formed and without the secret; a
 * copy in the arena. False: no memory, and *out is empty. */
bool secret_tidy(struct arena *arena, const struct secret *secret, struct str text,
                 struct str *out);
/* The same for all words of a fault, in place. */
bool secret_tidy_fault(struct arena *arena, const struct secret *secret, struct fault *fault);
