/* What a turn costs at least with libcurl: posts the bodies that mock kept, one
 * after the other over one connection, and throws the answers away. No JSON is
 * read or made, no tool is run.
 *
 *   bare_curl URL FILE
 */
#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t forget(char *bytes, size_t size, size_t n, void *ctx) {
  (void)bytes, (void)ctx;
  return size * n;
}

static struct curl_slist *headers(void) {
  static const char *const lines[] = {"content-type: application/json",
                                      "anthropic-version: 2023-06-01", "x-api-key: none",
                                      "accept: text/event-stream", "Expect:"};
  struct curl_slist *list = NULL;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    list = curl_slist_append(list, lines[i]);
  return list;
}

static int post_all(CURL *easy, FILE *bodies) {
  char *body = NULL;
  int bad = 0;
  for (uint32_t n; !bad && fread(&n, sizeof n, 1, bodies) == 1;) {
    char *room = realloc(body, n);
    if (room) body = room;
    bad = !room || fread(body, 1, n, bodies) != n;
    if (bad) continue;
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)n);
    bad = curl_easy_perform(easy) != CURLE_OK;
  }
  free(body);
  return bad;
}

int main(int argc, char **argv) {
  FILE *bodies = argc == 3 ? fopen(argv[2], "rbe") : NULL;
  char url[256];
  if (!bodies) return 2;
  snprintf(url, sizeof url, "%s/v1/messages", argv[1]);
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  struct curl_slist *list = headers();
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, forget);
  int bad = post_all(easy, bodies);
  curl_easy_cleanup(easy);
  curl_slist_free_all(list);
  curl_global_cleanup();
  fclose(bodies);
  return bad;
}
