/* Which addresses are public: the table, the edges of every prefix. */
#include "host/address.h"

#include "host/http.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct row {
  const char *ip;
  enum text_id kind;
};

static const struct row rows[] = {
    {"0.0.0.0", T_HOST_AT_THIS},
    {"0.255.255.255", T_HOST_AT_THIS},
    {"1.0.0.0", T_NONE},
    {"9.255.255.255", T_NONE},
    {"10.0.0.0", T_HOST_AT_PRIVATE},
    {"10.255.255.255", T_HOST_AT_PRIVATE},
    {"11.0.0.0", T_NONE},
    {"100.63.255.255", T_NONE},
    {"100.64.0.0", T_HOST_AT_CGNAT},
    {"100.100.100.200", T_HOST_AT_CGNAT},
    {"100.127.255.255", T_HOST_AT_CGNAT},
    {"100.128.0.0", T_NONE},
    {"126.255.255.255", T_NONE},
    {"127.0.0.1", T_HOST_AT_LOOPBACK},
    {"127.255.255.255", T_HOST_AT_LOOPBACK},
    {"128.0.0.0", T_NONE},
    {"168.63.129.15", T_NONE},
    {"168.63.129.16", T_HOST_AT_METADATA},
    {"169.253.255.255", T_NONE},
    {"169.254.0.0", T_HOST_AT_LINK},
    {"169.254.169.254", T_HOST_AT_METADATA},
    {"169.255.0.0", T_NONE},
    {"172.15.255.255", T_NONE},
    {"172.16.0.0", T_HOST_AT_PRIVATE},
    {"172.31.255.255", T_HOST_AT_PRIVATE},
    {"172.32.0.0", T_NONE},
    {"192.0.0.192", T_HOST_AT_RESERVED},
    {"192.0.1.0", T_NONE},
    {"192.0.2.1", T_HOST_AT_RESERVED},
    {"192.88.99.1", T_HOST_AT_EMBEDDED},
    {"192.167.255.255", T_NONE},
    {"192.168.0.0", T_HOST_AT_PRIVATE},
    {"192.169.0.0", T_NONE},
    {"198.17.255.255", T_NONE},
    {"198.18.0.0", T_HOST_AT_RESERVED},
    {"198.19.255.255", T_HOST_AT_RESERVED},
    {"198.20.0.0", T_NONE},
    {"198.51.100.7", T_HOST_AT_RESERVED},
    {"203.0.113.7", T_HOST_AT_RESERVED},
    {"223.255.255.255", T_NONE},
    {"224.0.0.1", T_HOST_AT_MULTICAST},
    {"239.255.255.255", T_HOST_AT_MULTICAST},
    {"240.0.0.1", T_HOST_AT_RESERVED},
    {"255.255.255.255", T_HOST_AT_MULTICAST},
    {"8.8.8.8", T_NONE},
    {"::", T_HOST_AT_THIS},
    {"::1", T_HOST_AT_LOOPBACK},
    {"::2", T_HOST_AT_EMBEDDED},
    {"::127.0.0.1", T_HOST_AT_EMBEDDED},
    {"::ffff:127.0.0.1", T_HOST_AT_EMBEDDED},
    {"::ffff:8.8.8.8", T_HOST_AT_EMBEDDED},
    {"::ffff:0:127.0.0.1", T_HOST_AT_EMBEDDED},
    {"64:ff9b::7f00:1", T_HOST_AT_EMBEDDED},
    {"64:ff9b:1::1", T_HOST_AT_EMBEDDED},
    {"100::1", T_HOST_AT_RESERVED},
    {"1fff::1", T_HOST_AT_RESERVED},
    {"2001::1", T_HOST_AT_EMBEDDED},
    {"2001:1::1", T_HOST_AT_RESERVED},
    {"2001:200::1", T_NONE},
    {"2001:db8::1", T_HOST_AT_RESERVED},
    {"2002:7f00:1::", T_HOST_AT_EMBEDDED},
    {"2606:4700::1111", T_NONE},
    {"3fff::1", T_HOST_AT_RESERVED},
    {"3fff:1000::1", T_NONE},
    {"4000::1", T_HOST_AT_RESERVED},
    {"fc00::1", T_HOST_AT_PRIVATE},
    {"fd00:ec2::254", T_HOST_AT_PRIVATE},
    {"fe80::1", T_HOST_AT_LINK},
    {"febf::1", T_HOST_AT_LINK},
    {"fec0::1", T_HOST_AT_PRIVATE},
    {"ff02::1", T_HOST_AT_MULTICAST},
};

static enum text_id kind_of_ip(const char *ip) {
  struct sockaddr_storage at = {0};
  struct sockaddr_in in = {.sin_family = AF_INET};
  struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
  if (strchr(ip, ':')) {
    assert_int_equal(inet_pton(AF_INET6, ip, &in6.sin6_addr), 1);
    memcpy(&at, &in6, sizeof in6);
  } else {
    assert_int_equal(inet_pton(AF_INET, ip, &in.sin_addr), 1);
    memcpy(&at, &in, sizeof in);
  }
  return address_kind((const struct sockaddr *)&at);
}

static void table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (kind_of_ip(rows[i].ip) != rows[i].kind) fail_msg("%s is of another kind", rows[i].ip);
}

static void other_families(void **state) {
  (void)state;
  struct sockaddr_storage at = {.ss_family = AF_UNIX};
  assert_int_equal(address_kind((const struct sockaddr *)&at), T_HOST_AT_RESERVED);
}

/* As curl reads it, whatever way it is written. */
static void spellings(void **state) {
  (void)state;
  static const char *const same[] = {"http://127.0.0.1/",  "http://2130706433/",
                                     "http://0x7f000001/", "http://0177.0.0.1/",
                                     "http://127.1/",      "http://0x7f.1:80/"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    struct buf host;
    enum text_id kind = T_NONE;
    buf_init(&host, 512);
    assert_int_equal(http_url_host(same[i], &host), REIN_OK);
    assert_string_equal(buf_z(&host), "127.0.0.1");
    assert_true(http_literal(buf_str(&host), &kind));
    assert_int_equal(kind, T_HOST_AT_LOOPBACK);
    buf_release(&host);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table),
      cmocka_unit_test(other_families),
      cmocka_unit_test(spellings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
