/* Keys: taken once, checked, masked in all that is told, wiped at the end. What
 * a transfer library keeps of a header while it sends it is out of reach here. */
#include "driver/secret.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "driver/driver.h"
#include "text/text.h"

#define TOLD_BYTES_MAX (512u << 20) /* an error's body is long before that cut by the attempt */

enum rein_code secret_take(struct secret *secret, struct str raw, struct err *err) {
  struct num_text at, max;
  struct str key = str_trim(raw);
  if (raw.n > 0 && key.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_KEY_BLANK);
  if (key.n > KEY_BYTES_MAX)
    return ERR(err, REIN_INPUT, T_DRIVER_KEY_LONG, str_num(&at, (int64_t)key.n),
               str_num(&max, KEY_BYTES_MAX));
  for (size_t i = 0; i < key.n; i++)
    if (key.p[i] <= ' ' || key.p[i] > '~')
      return ERR(err, REIN_INPUT, T_DRIVER_KEY_BYTE, str_num(&at, (int64_t)i + 1));
  if (key.n == 0) return REIN_OK;
  secret->p = mem_resize(NULL, key.n);
  if (!secret->p) return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
  memcpy(secret->p, key.p, key.n);
  secret->n = key.n;
  return REIN_OK;
}

void secret_release(struct secret *secret) {
  if (secret->p) mem_wipe(secret->p, secret->n);
  mem_free(secret->p);
  *secret = (struct secret){0};
}

static void spell_url(struct buf *out, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    unsigned char c = (unsigned char)s.p[i];
    bool plain =
        (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || memchr("-._~", c, 4);
    if (plain)
      buf_c(out, (char)c);
    else
      buf_fmt(out, "%%%02X", (unsigned)c);
  }
}

static void spell_json(struct buf *out, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '"' || s.p[i] == '\\') buf_c(out, '\\');
    buf_c(out, s.p[i]);
  }
}

/* Whole groups of three alone: what follows them depends on what stands behind
 * the key, and a key without its last two characters is no key. */
static void spell_base64(struct buf *out, struct str s) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i + 3 <= s.n; i += 3) {
    unsigned v = (unsigned)(unsigned char)s.p[i] << 16 | (unsigned)(unsigned char)s.p[i + 1] << 8 |
                 (unsigned char)s.p[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6)
      buf_c(out, digit[v >> shift & 63]);
  }
}

enum { SPELLINGS = 4 };

static void spell(struct buf *out, int how, struct str s) {
  if (how == 0) buf_put(out, s);
  if (how == 1) spell_url(out, s);
  if (how == 2) spell_json(out, s);
  if (how == 3) spell_base64(out, s);
}

/* The spelling that stands first in the text, the longest of those; its place
 * in *at, text.n when none is there. */
static size_t first_of(const struct buf *spelled, struct str text, size_t *at) {
  size_t length = 0;
  *at = text.n;
  for (int i = 0; i < SPELLINGS; i++) {
    size_t found = str_find(text, buf_str(&spelled[i]));
    if (found == text.n || found > *at) continue;
    if (found < *at || spelled[i].n > length) length = spelled[i].n;
    *at = found;
  }
  return length;
}

static void put_masked(struct buf *out, const struct buf *spelled, struct str text) {
  while (text.n > 0 && !out->fail) {
    size_t at, length = first_of(spelled, text, &at);
    buf_put(out, str_part(text, 0, at));
    if (length > 0) buf_lit(out, "[key]");
    text = str_part(text, at + length, text.n);
  }
}

void secret_mask(struct buf *out, const struct secret *secret, struct str text) {
  struct buf spelled[SPELLINGS];
  if (secret->n < SECRET_MASK_MIN) {
    buf_put(out, text);
    return;
  }
  for (int i = 0; i < SPELLINGS; i++) {
    buf_init(&spelled[i], 4 * secret->n + 16); /* also one too long to be taken */
    spell(&spelled[i], i, secret_str(secret));
    if (spelled[i].fail) out->fail = spelled[i].fail; /* better nothing than the key */
  }
  put_masked(out, spelled, text);
  for (int i = 0; i < SPELLINGS; i++) {
    if (spelled[i].p) mem_wipe(spelled[i].p, spelled[i].cap);
    buf_release(&spelled[i]);
  }
}

bool secret_tidy(struct arena *arena, const struct secret *secret, struct str text,
                 struct str *out) {
  struct buf whole, masked;
  *out = STR_NONE;
  buf_init(&whole, TOLD_BYTES_MAX);
  buf_init(&masked, TOLD_BYTES_MAX);
  utf8_repair(&whole, text);
  secret_mask(&masked, secret, buf_str(&whole));
  bool ok = !whole.fail && !masked.fail && arena_str(arena, buf_str(&masked), out);
  buf_release(&whole);
  buf_release(&masked);
  return ok;
}

bool secret_tidy_fault(struct arena *arena, const struct secret *secret, struct fault *fault) {
  bool message = secret_tidy(arena, secret, fault->message, &fault->message);
  bool type = secret_tidy(arena, secret, fault->type, &fault->type);
  bool id = secret_tidy(arena, secret, fault->request_id, &fault->request_id);
  return message && type && id;
}
