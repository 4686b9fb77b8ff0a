/* What kind of place an address is: the public internet, or one that only those
 * inside can reach. Judged on the bytes that a socket is given, never on text.
 */
#pragma once

#include "text/text.h"

#include <sys/socket.h>

/* T_NONE: an address of the public internet. Else its kind in words
 * (T_HOST_AT_LOOPBACK …); one of another family than IPv4 and IPv6 is
 * T_HOST_AT_RESERVED. */
enum text_id address_kind(const struct sockaddr *address);
