/* The address that a model wrote, made fit to be sent, or refused with a reason.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "policy/host.h"
#include "text/text.h"

#define URL_BYTES_MAX 8192 /* servers take some 8 KiB of a request's first line */

/* Appends the address to send: what may not stand in one is escaped (한글 as UTF-8),
 * a fragment is dropped. `host` is as the policy read it, and curl reads the same.
 * REIN_INPUT, REIN_MEMORY. */
enum rein_code outside_url(struct arena *arena, struct str url, struct buf *clean,
                           struct url_host *host, struct err *err) REIN_CHECKED;
