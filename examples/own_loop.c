/* The bare machine in a loop of one's own: many runs at once, one thread, and
 * curl's multi interface for the bytes. The machine says what it wants, this file
 * does it. `make examples`, then
 *   ANTHROPIC_API_KEY=... build/plain/examples/own_loop anthropic/MODEL [RUNS [BASE_URL]]
 * Each run reads a manual page by page. Exits 0 when all of them finished. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <rein.h>

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct run {
  struct rein_machine *machine;
  CURL *easy; /* one connection for the whole run */
  struct curl_slist *headers;
  uint32_t sending; /* id of the request in flight; 0: none */
  int page;
  bool done;
  enum rein_outcome outcome;
};

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the tool ----------------------------------------------------------------- */

static const struct rein_tool tools[] = {{.name = "next_page",
                                          .description = "The next page of the manual.",
                                          .schema = "{\"type\":\"object\",\"properties\":{}}",
                                          .touches = REIN_READS_PRIVATE,
                                          .verdict = REIN_ALLOW}};

/* A slow tool would be started here, and rein_machine_result called when it ends. */
static void do_call(struct run *r, uint32_t id) {
  char text[1024];
  rein_machine_started(r->machine, id, now_ms());
  int n = snprintf(text, sizeof text, "Page %d.\n", ++r->page);
  for (int line = 1; line <= 16; line++)
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "%2d. Keep the lid closed while the machine runs; then wait.\n", line);
  rein_machine_result(r->machine, id, text, (size_t)n, false, now_ms());
}

/* ---- the request ---------------------------------------------------------------- */

static size_t on_header(char *line, size_t size, size_t n, void *ctx) {
  struct run *r = ctx;
  char text[1024];
  long status = 0;
  if (n >= 5 && memcmp(line, "HTTP/", 5) == 0) {
    curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    rein_machine_status(r->machine, r->sending, (int)status);
  }
  snprintf(text, sizeof text, "%.*s", (int)(size * n), line);
  char *value = strchr(text, ':');
  if (!value) return size * n;
  *value++ = '\0';
  rein_machine_header(r->machine, r->sending, text, value);
  return size * n;
}

static size_t on_bytes(char *bytes, size_t size, size_t n, void *ctx) {
  struct run *r = ctx;
  rein_machine_bytes(r->machine, r->sending, bytes, size * n);
  return size * n; /* rein_machine_piece would now give what the model is saying */
}

static void send_request(struct run *r, CURLM *multi, const struct rein_want *want) {
  curl_slist_free_all(r->headers);
  r->headers = curl_slist_append(NULL, "Expect:");
  for (const char *const *line = want->headers; *line; line++)
    r->headers = curl_slist_append(r->headers, *line);
  curl_easy_setopt(r->easy, CURLOPT_URL, want->url);
  curl_easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->headers);
  curl_easy_setopt(r->easy, CURLOPT_POSTFIELDSIZE, (long)want->body_len);
  curl_easy_setopt(r->easy, CURLOPT_POSTFIELDS, want->body);
  r->sending = want->id;
  curl_multi_add_handle(multi, r->easy);
}

static void stop_request(struct run *r, CURLM *multi) {
  if (r->sending) curl_multi_remove_handle(multi, r->easy);
  r->sending = 0;
}

static void end_requests(CURLM *multi) {
  int left;
  for (CURLMsg *msg; (msg = curl_multi_info_read(multi, &left));) {
    struct run *r;
    CURLcode code = msg->data.result; /* msg is gone once the handle is out */
    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&r);
    uint32_t id = r->sending;
    stop_request(r, multi);
    rein_machine_end(r->machine, id, code == CURLE_OK, curl_easy_strerror(code), now_ms());
  }
}

/* ---- the loop --------------------------------------------------------------------- */

/* Does all that a run wants now. */
static void go_on(struct run *r, CURLM *multi) {
  for (struct rein_want want; rein_machine_next(r->machine, &want) != REIN_WANT_NOTHING;)
    switch (want.kind) {
    case REIN_WANT_NOTHING:
    case REIN_WANT_ABORT_RUN: break; /* its calls are done at once */
    case REIN_WANT_SEND: send_request(r, multi, &want); break;
    case REIN_WANT_ABORT_SEND: stop_request(r, multi); break;
    case REIN_WANT_ASK: /* a person, or a rule of yours */
      rein_machine_verdict(r->machine, want.id, REIN_DENY, "nobody is here", now_ms());
      break;
    case REIN_WANT_RUN: do_call(r, want.id); break;
    case REIN_WANT_DONE:
      r->done = true;
      r->outcome = want.outcome;
      break;
    }
}

/* False: all are done. */
static bool round_of(struct run *runs, size_t count, CURLM *multi) {
  int64_t due = INT64_MAX, now = now_ms();
  bool any = false;
  int busy;
  for (size_t i = 0; i < count; i++) {
    struct run *r = &runs[i];
    if (r->done) continue;
    if (rein_machine_deadline(r->machine) <= now) rein_machine_tick(r->machine, now);
    go_on(r, multi);
    int64_t deadline = rein_machine_deadline(r->machine);
    if (deadline < due) due = deadline;
    any = any || !r->done;
  }
  if (!any) return false;
  int64_t wait_ms = due - now_ms();
  curl_multi_poll(multi, NULL, 0, wait_ms < 0 ? 0 : wait_ms > 60000 ? 60000 : (int)wait_ms, NULL);
  curl_multi_perform(multi, &busy);
  end_requests(multi);
  return true;
}

static bool begin(struct run *r, const struct rein_options *o, size_t number) {
  char task[64];
  struct rein_error error;
  snprintf(task, sizeof task, "Run %zu: read the manual, then sum it up.", number);
  if (rein_machine_new(o, task, now_ms(), &r->machine, &error) != REIN_OK) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  r->easy = curl_easy_init();
  curl_easy_setopt(r->easy, CURLOPT_PRIVATE, r);
  curl_easy_setopt(r->easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(r->easy, CURLOPT_HEADERDATA, r);
  curl_easy_setopt(r->easy, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(r->easy, CURLOPT_WRITEDATA, r);
  curl_easy_setopt(r->easy, CURLOPT_BUFFERSIZE, 2048L); /* there are many of them */
  return true;
}

static void finish(struct run *r) {
  rein_machine_free(r->machine);
  curl_easy_cleanup(r->easy);
  curl_slist_free_all(r->headers);
}

/* Says how it went; how many finished. */
static size_t tell(const struct run *runs, size_t count) {
  long long requests = 0, tokens = 0;
  size_t finished = 0;
  for (size_t i = 0; i < count; i++) {
    struct rein_usage usage = rein_machine_usage(runs[i].machine);
    requests += (long long)rein_machine_requests(runs[i].machine);
    tokens += (long long)(usage.input + usage.output + usage.cache_read + usage.cache_write);
    finished += runs[i].outcome == REIN_OUTCOME_FINISHED;
  }
  printf("%zu runs, %zu finished, %lld requests, %lld tokens\n", count, finished, requests, tokens);
  return finished;
}

int main(int argc, char **argv) {
  size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 200, begun = 0;
  struct rein_options o = {.size = sizeof o,
                           .model = argc > 1 ? argv[1] : "",
                           .base_url = argc > 3 ? argv[3] : NULL,
                           .api_key = getenv("ANTHROPIC_API_KEY"),
                           .tools = tools,
                           .tool_count = 1};
  struct run *runs = calloc(count ? count : 1, sizeof *runs);
  if (!runs || curl_global_init(CURL_GLOBAL_DEFAULT)) return 1;
  CURLM *multi = curl_multi_init();
  int code = 2;
  while (begun < count && begin(&runs[begun], &o, begun + 1))
    begun++;
  if (begun == count) {
    while (round_of(runs, count, multi))
      ;
    code = tell(runs, count) < count;
  }
  for (size_t i = 0; i < begun; i++)
    finish(&runs[i]);
  curl_multi_cleanup(multi);
  curl_global_cleanup();
  free(runs);
  return code;
}
