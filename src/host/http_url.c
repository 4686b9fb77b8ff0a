/* Addresses as curl reads them: for those who judge one before curl is given it.
 */
#include "host/http_inside.h"

static enum rein_code code_of(CURLUcode code) {
  if (code == CURLUE_OK) return REIN_OK;
  return code == CURLUE_OUT_OF_MEMORY ? REIN_MEMORY : REIN_INPUT;
}

/* Appends one part. */
static enum rein_code get(CURLU *parts, CURLUPart part, unsigned flags, struct buf *out) {
  char *text = NULL;
  enum rein_code code = code_of(curl_url_get(parts, part, &text, flags));
  if (code == REIN_OK) buf_put(out, str_of(text));
  curl_free(text);
  return code == REIN_OK ? out->fail : code;
}

enum rein_code http_url_host(const char *url, struct buf *host) {
  CURLU *parts = curl_url();
  if (!parts) return REIN_MEMORY;
  enum rein_code code = code_of(curl_url_set(parts, CURLUPART_URL, url, 0));
  if (code == REIN_OK) code = get(parts, CURLUPART_HOST, 0, host);
  curl_url_cleanup(parts);
  return code;
}

enum rein_code http_url_join(const char *base, const char *location, struct buf *url) {
  CURLU *parts = curl_url();
  if (!parts) return REIN_MEMORY;
  enum rein_code code = code_of(curl_url_set(parts, CURLUPART_URL, base, 0));
  if (code == REIN_OK)
    code = code_of(curl_url_set(parts, CURLUPART_URL, location, CURLU_NON_SUPPORT_SCHEME));
  if (code == REIN_OK) code = get(parts, CURLUPART_URL, 0, url);
  curl_url_cleanup(parts);
  return code;
}
