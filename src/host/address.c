/* The special-purpose registries of IANA (RFC 6890 and its updates) as a table of
 * prefixes, and the addresses at which clouds serve keys to whoever asks. Of
 * IPv6 only what is handed out for the internet (2000::/3) is public. */
#include "host/address.h"

#include <netinet/in.h>
#include <string.h>

struct prefix {
  unsigned char bytes[8]; /* longer ones are not needed */
  unsigned bits;
  enum text_id kind;
};

/* The first that fits counts. */
static const struct prefix v4[] = {
    {{0}, 8, T_HOST_AT_THIS},
    {{10}, 8, T_HOST_AT_PRIVATE},
    {{100, 64}, 10, T_HOST_AT_CGNAT},
    {{127}, 8, T_HOST_AT_LOOPBACK},
    {{168, 63, 129, 16}, 32, T_HOST_AT_METADATA}, /* Azure's, of a public range */
    {{169, 254, 169, 254}, 32, T_HOST_AT_METADATA},
    {{169, 254}, 16, T_HOST_AT_LINK},
    {{172, 16}, 12, T_HOST_AT_PRIVATE},
    {{192, 0, 0}, 24, T_HOST_AT_RESERVED},
    {{192, 0, 2}, 24, T_HOST_AT_RESERVED},
    {{192, 88, 99}, 24, T_HOST_AT_EMBEDDED}, /* relays to 6to4 */
    {{192, 168}, 16, T_HOST_AT_PRIVATE},
    {{198, 18}, 15, T_HOST_AT_RESERVED},
    {{198, 51, 100}, 24, T_HOST_AT_RESERVED},
    {{203, 0, 113}, 24, T_HOST_AT_RESERVED},
    {{255, 255, 255, 255}, 32, T_HOST_AT_MULTICAST},
    {{224}, 4, T_HOST_AT_MULTICAST},
    {{240}, 4, T_HOST_AT_RESERVED},
};

static const struct prefix v6[] = {
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 48, T_HOST_AT_EMBEDDED}, /* NAT64, a site's own */
    {{0, 0x64, 0xff, 0x9b}, 64, T_HOST_AT_EMBEDDED},       /* NAT64 */
    {{0x20, 0x01, 0, 0}, 32, T_HOST_AT_EMBEDDED},          /* Teredo */
    {{0x20, 0x01, 0}, 23, T_HOST_AT_RESERVED},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, T_HOST_AT_RESERVED},
    {{0x20, 0x02}, 16, T_HOST_AT_EMBEDDED}, /* 6to4 */
    {{0x3f, 0xff, 0}, 20, T_HOST_AT_RESERVED},
    {{0xfc}, 7, T_HOST_AT_PRIVATE},
    {{0xfe, 0x80}, 10, T_HOST_AT_LINK},
    {{0xfe, 0xc0}, 10, T_HOST_AT_PRIVATE}, /* site-local, withdrawn but routed in places */
    {{0xff}, 8, T_HOST_AT_MULTICAST},
    {{0x20}, 3, T_NONE},
    {{0}, 0, T_HOST_AT_RESERVED},
};

static bool fits(const struct prefix *prefix, const unsigned char *bytes) {
  unsigned whole = prefix->bits / 8, rest = prefix->bits % 8;
  if (memcmp(prefix->bytes, bytes, whole) != 0) return false;
  return !rest || (prefix->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0;
}

static enum text_id find(const struct prefix *table, size_t n, const unsigned char *bytes) {
  for (size_t i = 0; i < n; i++)
    if (fits(&table[i], bytes)) return table[i].kind;
  return T_NONE;
}

/* ::, ::1, and IPv4 in the last four bytes (mapped, compatible, translated). */
static enum text_id kind_of_low(const unsigned char bytes[16]) {
  static const unsigned char zeroes[15];
  if (memcmp(bytes, zeroes, 15) != 0) return T_HOST_AT_EMBEDDED;
  if (bytes[15] == 1) return T_HOST_AT_LOOPBACK;
  return bytes[15] ? T_HOST_AT_EMBEDDED : T_HOST_AT_THIS;
}

enum text_id address_kind(const struct sockaddr *address) {
  static const unsigned char zeroes[8];
  if (address->sa_family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, address, sizeof in);
    return find(v4, sizeof v4 / sizeof *v4, (const unsigned char *)&in.sin_addr);
  }
  if (address->sa_family != AF_INET6) return T_HOST_AT_RESERVED;
  struct sockaddr_in6 in;
  memcpy(&in, address, sizeof in);
  if (memcmp(in.sin6_addr.s6_addr, zeroes, 8) == 0) return kind_of_low(in.sin6_addr.s6_addr);
  return find(v6, sizeof v6 / sizeof *v6, in.sin6_addr.s6_addr);
}
