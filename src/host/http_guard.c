/* Where a request may really go. The text of an address is no promise: a name
 * leads where a name server says, and says otherwise a moment later. So the
 * guard is asked about the address that a socket is opened to, and again about
 * the one that the request is about to be sent to. Which addresses those are
 * is its owner's business.
 */
#include "host/http_inside.h"

#include "host/address.h"

#include <arpa/inet.h>
#include <unistd.h>

#define PLACE_BYTES_MAX (INET6_ADDRSTRLEN + 2) /* an address in brackets */

/* ---- is it let through? -------------------------------------------------------- */

/* IPv6 in brackets, as in a URL. */
static bool put_ip(const struct sockaddr *address, char text[PLACE_BYTES_MAX], int *port) {
  struct sockaddr_in in = {0};
  struct sockaddr_in6 in6 = {0};
  if (address->sa_family == AF_INET) {
    memcpy(&in, address, sizeof in);
    *port = ntohs(in.sin_port);
    return inet_ntop(AF_INET, &in.sin_addr, text, PLACE_BYTES_MAX) != NULL;
  }
  if (address->sa_family != AF_INET6) return false;
  memcpy(&in6, address, sizeof in6);
  *port = ntohs(in6.sin6_port);
  text[0] = '[';
  if (!inet_ntop(AF_INET6, &in6.sin6_addr, text + 1, PLACE_BYTES_MAX - 2)) return false;
  size_t n = strlen(text);
  text[n] = ']';
  text[n + 1] = '\0';
  return true;
}

static bool may(const struct http_call *call, const struct sockaddr *address) {
  char text[PLACE_BYTES_MAX];
  struct num_text room;
  int port;
  if (!put_ip(address, text, &port)) return false;
  struct http_place place = {str_of(text), str_num(&room, port), address_kind(address)};
  return call->guard.may(call->guard.ctx, &place);
}

/* What getaddrinfo would make of it, without asking anybody. */
static bool read_ip(struct str text, int port, struct sockaddr_storage *address) {
  char z[INET6_ADDRSTRLEN];
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
  if (str_starts(text, STR("["))) text = str_part(text, 1, text.n - 2);
  text = str_part(text, 0, str_find_char(text, '%')); /* the zone of a link-local one */
  if (text.n >= sizeof z) return false;
  if (text.n) memcpy(z, text.p, text.n);
  z[text.n] = '\0';
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, z, &in.sin_addr) == 1) {
    memcpy(address, &in, sizeof in);
    return true;
  }
  if (inet_pton(AF_INET6, z, &in6.sin6_addr) != 1) return false;
  memcpy(address, &in6, sizeof in6);
  return true;
}

bool http_literal(struct str host, enum text_id *kind) {
  struct sockaddr_storage address;
  if (!read_ip(host, 0, &address)) return false;
  *kind = address_kind((const struct sockaddr *)&address);
  return true;
}

curl_socket_t http_on_socket(void *ctx, curlsocktype what, struct curl_sockaddr *address) {
  const struct http_call *call = ctx;
  (void)what;
  if (!call->proxied && !may(call, &address->addr)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

bool http_guarded_ok(const struct http_call *call, const char *ip, int port) {
  struct sockaddr_storage address;
  if (!call->guard.may || call->proxied) return true;
  return read_ip(str_of(ip), port, &address) && may(call, (const struct sockaddr *)&address);
}

/* ---- through a proxy? ------------------------------------------------------------ */

static bool bits_equal(const unsigned char *a, const unsigned char *b, int64_t bits) {
  size_t whole = (size_t)bits / 8, rest = (size_t)bits % 8;
  return memcmp(a, b, whole) == 0 && (!rest || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

/* "10.0.0.0/8", "::1" against an address. */
static bool range_holds(struct str entry, const struct sockaddr_storage *address) {
  struct str base = entry, bits_text = STR_NONE;
  struct sockaddr_storage from;
  bool ranged = str_split(entry, '/', &base, &bits_text);
  if (!read_ip(base, 0, &from) || from.ss_family != address->ss_family) return false;
  bool four = from.ss_family == AF_INET;
  size_t at =
      four ? offsetof(struct sockaddr_in, sin_addr) : offsetof(struct sockaddr_in6, sin6_addr);
  int64_t all = four ? 32 : 128, bits = all;
  if (ranged && (!str_to_num(bits_text, &bits) || bits < 0 || bits > all)) return false;
  return bits_equal((const unsigned char *)&from + at, (const unsigned char *)address + at, bits);
}

/* "corp.example" and ".corp.example" stand for the name and all below it. */
static bool name_below(struct str entry, struct str host) {
  if (str_starts(entry, STR("."))) entry = str_part(entry, 1, entry.n);
  if (str_ends(entry, STR("."))) entry.n--;
  if (!entry.n || entry.n > host.n) return false;
  struct str tail = str_part(host, host.n - entry.n, entry.n);
  return str_eq_nocase(tail, entry) && (tail.n == host.n || host.p[host.n - entry.n - 1] == '.');
}

static bool goes_direct(struct str list, struct str host) {
  struct sockaddr_storage address;
  bool literal = read_ip(host, 0, &address);
  for (size_t i = 0; i < list.n;) {
    size_t from = i;
    while (i < list.n && list.p[i] != ',' && list.p[i] != ' ')
      i++;
    struct str entry = str_part(list, from, i++ - from);
    if (str_is(entry, "*")) return true;
    if (literal ? range_holds(entry, &address) : name_below(entry, host)) return true;
  }
  return false;
}

bool http_by_proxy(const struct http *http, struct str host) {
  if (!http->proxy || !*http->proxy) return false;
  return !goes_direct(str_of(http->no_proxy ? http->no_proxy : ""), host);
}
