/* Where a run's requests go, and the header lines that go with each. */
#pragma once

#include "core/wire.h"
#include "driver/secret.h"

#define ADDRESS_LINES_MAX 16 /* a wire sends four; more is a mistake in its table */

struct address {
  char *url;                           /* terminated */
  const char *line[ADDRESS_LINES_MAX]; /* "name: value", NULL at the end */
  struct buf bytes;                    /* of the lines; holds the key, wiped */
};

/* `base` empty: the wire's own. REIN_INPUT: no http or https address, or one
 * that holds a user name. Release it in any case. */
enum rein_code address_init(struct address *address, const struct wire *wire, struct str base,
                            const struct secret *key, struct err *err) REIN_CHECKED;
void address_release(struct address *address); /* of a zeroed one: fine */
