/* A wire's address and headers, made once per run. The base URL is taken as the
 * official SDKs take theirs; wire_url joins the path, and does not double it. */
#include "driver/address.h"

#include "base/mem.h"
#include "driver/driver.h"
#include "text/text.h"
#include "wire/wires.h"

#define URL_BYTES_MAX (64u << 10) /* servers stop at eight; this is for the sum of all */

static enum rein_code check(struct str url, struct err *err) {
  bool ok = str_starts(url, STR("http://")) || str_starts(url, STR("https://"));
  struct num_text place;
  for (size_t i = 0; ok && i < url.n; i++)
    if (url.p[i] <= ' ' || url.p[i] > '~')
      return ERR(err, REIN_INPUT, T_DRIVER_URL_BYTE, url, str_num(&place, (int64_t)i + 1));
  if (ok) {
    struct str rest = str_part(url, str_find(url, STR("//")) + 2, url.n);
    struct str host = str_part(rest, 0, str_find_char(rest, '/'));
    if (str_find_char(host, '@') < host.n) return ERR(err, REIN_INPUT, T_DRIVER_URL_SECRET);
    ok = host.n > 0;
  }
  return ok ? REIN_OK : ERR(err, REIN_INPUT, T_DRIVER_BAD_URL, url);
}

static void put_text(struct buf *out, const struct wire *wire, const struct secret *key) {
  buf_lit(out, "content-type: application/json\nuser-agent: rein/" REIN_VERSION "\n");
  wire->put_headers(out, secret_str(key));
}

static void put_lines(struct address *a, const struct wire *wire, const struct secret *key) {
  struct buf length;
  size_t count = 0;
  buf_init_count(&length, 4 * KEY_BYTES_MAX);
  put_text(&length, wire, key);
  buf_init(&a->bytes, 4 * KEY_BYTES_MAX);
  /* Room for all at once: a buffer that moved would leave the key behind. */
  buf_room(&a->bytes, length.n);
  buf_release(&length);
  put_text(&a->bytes, wire, key);
  if (a->bytes.fail) return;
  for (char *p = a->bytes.p; *p && count + 1 < ADDRESS_LINES_MAX;) {
    a->line[count++] = p;
    p += strcspn(p, "\n");
    if (*p) *p++ = '\0';
  }
}

enum rein_code address_init(struct address *address, const struct wire *wire, struct str base,
                            const struct secret *key, struct err *err) {
  struct buf url;
  if (base.n == 0) base = str_of(wire->base_url);
  while (base.n > 0 && base.p[base.n - 1] == '/')
    base.n--;
  enum rein_code code = check(base, err);
  if (code != REIN_OK) return code;
  buf_init(&url, URL_BYTES_MAX);
  wire_url(&url, wire, base);
  address->url = url.p; /* taken */
  put_lines(address, wire, key);
  code = url.fail ? url.fail : address->bytes.fail;
  return code == REIN_OK ? REIN_OK : ERR(err, code, T_DRIVER_NO_MEMORY);
}

void address_release(struct address *address) {
  mem_free(address->url);
  if (address->bytes.p) mem_wipe(address->bytes.p, address->bytes.cap);
  buf_release(&address->bytes);
  *address = (struct address){0};
}
