/* What the tests of exchanges share: a peer, a loop with an http on it, and one
 * exchange that is watched.
 */
#pragma once

#include "seen.h"

#include "support/peer.h"

struct world {
  struct loop *loop;
  struct http *http;
  struct peer *peer;
  struct seen seen;
  char url[128];
};

static inline void open_with(struct world *w, peer_fn fn, void *ctx,
                             const struct http_options *options) {
  struct err err = {0};
  w->peer = peer_start(fn, ctx);
  assert_int_equal(loop_new(&w->loop, &err), REIN_OK);
  assert_int_equal(http_new(w->loop, options, &w->http, &err), REIN_OK);
  (void)snprintf(w->url, sizeof w->url, "%s/v1/x", peer_url(w->peer));
  seen_init(&w->seen, w->http);
}

static inline void open_world(struct world *w, peer_fn fn, void *ctx) {
  open_with(w, fn, ctx, &(struct http_options){0});
}

static inline void close_world(struct world *w) {
  http_free(w->http);
  loop_free(w->loop, 1000);
  peer_stop(w->peer);
  buf_release(&w->seen.log);
}

static inline struct http_request post(const struct world *w) {
  return (struct http_request){.method = "POST", .url = w->url, .body = STR("{\"a\":1}")};
}

/* One exchange to its end. */
static inline void carry(struct world *w, struct seen *s, const struct http_request *request) {
  struct err err = {0};
  assert_int_equal(seen_start(s, request, &err), REIN_OK);
  loop_run(w->loop);
}

/* One POST against a peer of this kind. */
static inline void against(peer_fn fn, void *ctx, struct world *w) {
  open_world(w, fn, ctx);
  struct http_request request = post(w);
  carry(w, &w->seen, &request);
  assert_int_equal(w->seen.ends, 1);
}

/* ---- peers ---- */

static inline bool plain(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n, (void)body;
  peer_answer(fd, 200, "X-Kind: plain\r\n", STR("hello"));
  return true;
}

static inline bool hang(void *ctx, struct peer *peer, int fd, size_t n, struct str body) {
  (void)ctx, (void)peer, (void)n, (void)body;
  peer_wait(fd);
  return false;
}
